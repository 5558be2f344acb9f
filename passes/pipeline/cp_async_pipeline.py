"""cp-async-pipeline: k tiles are copied asynchronously, some steps ahead of the compute.

Expects a k loop with tile.copy before the compute into buffers to which `multi-buffer` gave S stages, at least 2.
Leaves
- before the loop, tile.copy_async of the steps 0 to S - 2, each followed by tile.commit;
- in step i: tile.await for the copies of step i, a barrier, the copies of step i + S - 1 (where there is such a step)
  and tile.commit, the compute on step i. They go to the stage that step i - 1 read, which the barrier ends: one barrier
  a step is enough. The empty commits in the last steps keep the number of groups right, which tile.await counts. The
  numbers of the two stages are carried by the loop, since a remainder costs more;
- after the loop, tile.await for everything, so that no copy is in flight when the memory is used again.
The number of steps may be known at run time only: copies beyond the last step before the loop give zeros then.
Refuses buffers of one stage, computed operands, a k loop that does not count from 0 in steps of 1 (at least one), one
that reads a buffer before its last copy, and copies that depend on what the loop carries. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.copies.fills import Fill, compute, fills_of
from mlir_gemm.dialect.copies.pipelined_steps import steps_of
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class CpAsyncPipeline(Pass):
    """Copy k tiles asynchronously, steps ahead."""

    name: ClassVar[str] = "cp-async-pipeline"

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            fills = fills_of(loop) if affine.level_of(loop) == "k" else []
            if fills:
                _Stream(loop, fills).build()


class _Stream:
    """The new loop for an old one."""

    def __init__(self, loop: Any, fills: list[Fill]):
        self.steps = steps_of(loop, fills, "asynchronously", "cannot be copied ahead")
        self.loop, self.fills = loop, fills

    def build(self) -> None:
        """Replaces the old loop."""
        old, steps = self.loop.operation, self.steps
        inits = list(old.operands)[len(old.operands) - len(old.results) :]
        with ir.InsertionPoint(old), old.location:
            steps.copy_first(self.loop, self.fills)
            slots = [constants.index(0), constants.index(steps.stages - 1)]
            new = affine.make_for(steps.trips, "k", [*inits, *slots])
            with ir.InsertionPoint(body(new)):
                self._step(new)
            tile.await_(0)
        for before, after in zip(list(old.results), list(new.operation.results)[: len(inits)], strict=True):
            before.replace_all_uses_with(after)
        old.erase()

    def _step(self, new: Any) -> None:
        iv, *carried, read, write = list(body(new).arguments)
        self.steps.copy_ahead(self.loop, self.fills, iv, write)
        values = self.steps.values(self.loop, iv, read)
        values.update(zip(body(self.loop).arguments, [iv, *carried], strict=True))
        results = compute(self.loop, self.fills, values)
        affine.yield_([*results, self.steps.following(read, write), read])
