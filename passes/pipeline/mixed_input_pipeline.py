"""mixed-input-pipeline: one operand is copied asynchronously, some steps ahead; the other is computed on its way
through registers, one step ahead.

Expects a k loop that fills, in front of the compute, buffers to which `multi-buffer` gave S stages, at least 2: some by
tile.copy, some by tile.store of tiles computed from tile.load. Leaves
- in front of the loop, tile.copy_async of the steps 0 to S - 2, each followed by tile.commit, and what computes and
  stores the tiles of step 0;
- in step i: tile.load of what the tiles of step i + 1 are computed from; tile.await for the copies of step i, a
  barrier, the copies of step i + S - 1 (where there is such a step) and tile.commit; the compute on step i; the
  arithmetic on what was loaded, and tile.store. Copies go to the stage that step i - 1 read, stores to that of step
  i + 1, which step i + 1 - S read: one barrier a step is enough for both;
- after the loop, tile.await, a barrier and the compute on the last step (peeled).
The number of steps may be known at run time only: what is beyond the last step gives zeros then. Refuses a loop all of
whose operands are copied, or all computed, buffers of one stage, a k loop that does not count from 0 in steps of 1 (at
least one), one that reads a buffer before all are filled, and fills that depend on what the loop carries. A second run
changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.fills import (
    Fill,
    at_step,
    compute,
    fills_of,
    load_ahead,
    store_loaded,
)
from mlir_gemm.dialect.copies.pipelined_steps import steps_before_the_last, steps_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class MixedInputPipeline(Pass):
    """Copy one operand asynchronously, compute the other through registers."""

    name: ClassVar[str] = "mixed-input-pipeline"

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            done = any(op.operation.name == "gpu.barrier" for op in in_block(body(loop)))
            fills = fills_of(loop) if affine.level_of(loop) == "k" and not done else []
            if fills:
                _Stream(loop, fills).build()


class _Stream:
    """The new loop for an old one."""

    def __init__(self, loop: Any, fills: list[Fill]):
        self.steps = steps_of(loop, fills, "asynchronously", "cannot be copied ahead", computed=True)
        self.loop, self.fills = loop, fills
        self.copies = [fill for fill in fills if fill.is_copy]
        self.computed = [fill for fill in fills if not fill.is_copy]
        if not self.copies or not self.computed:
            kind = "computed" if self.computed else "copied"
            raise pass_error(loop, f"all operands are {kind}; expected one that is copied and one that is computed")

    def build(self) -> None:
        """Replaces the old loop."""
        old = self.loop.operation
        results = list(old.operands)[len(old.operands) - len(old.results) :]
        with ir.InsertionPoint(old), old.location:
            self._first_steps()
            before = steps_before_the_last(self.loop, self.steps.trips)
            slots = [constants.index(0), constants.index(self.steps.stages - 1)]
            if not isinstance(before, int) or before:
                new = affine.make_for(before, "k", [*results, *slots])
                with ir.InsertionPoint(body(new)):
                    self._step(new)
                *results, read, _ = list(new.operation.results)
            else:
                read = slots[0]
            tile.await_(0)
            dialect("gpu").BarrierOp()
            number = constants.index(before) if isinstance(before, int) else before
            last = self._compute(number, results, read)
        for result, value in zip(list(old.results), last, strict=True):
            result.replace_all_uses_with(value)
        old.erase()

    def _first_steps(self) -> None:
        self.steps.copy_first(self.loop, self.copies)
        values = self.steps.values(self.loop, constants.index(0), constants.index(0))
        for fill in self.computed:
            for member in fill.members:
                at_step(member, self.loop, values)

    def _step(self, new: Any) -> None:
        iv, *carried, read, write = list(body(new).arguments)
        following = self.steps.following(read, write)
        values = self.steps.values(self.loop, affine.linear([(1, iv)], 1), following)
        for fill in self.computed:
            load_ahead(fill, self.loop, values)
        self.steps.copy_ahead(self.loop, self.copies, iv, write)
        results = self._compute(iv, carried, read)
        for fill in self.computed:
            store_loaded(fill, self.loop, values, None)
        affine.yield_([*results, following, read])

    def _compute(self, iv: Any, carried: list[Any], read: Any) -> list[Any]:
        values = self.steps.values(self.loop, iv, read)
        values.update(zip(body(self.loop).arguments, [iv, *carried], strict=True))
        return compute(self.loop, self.fills, values)
