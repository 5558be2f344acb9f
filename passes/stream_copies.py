"""stream-copies: k tiles are copied asynchronously, some steps ahead of the compute.

Expects a k loop with tile.copy in front of the compute into buffers to which `multi-buffer` gave S stages, at least 2.
Leaves
- in front of the loop, tile.copy_async of the steps 0 to S - 2, each followed by tile.commit;
- in step i: tile.await for the copies of step i, a barrier, the copies of step i + S - 1 (where there is such a step)
  and tile.commit, the compute on step i. They go to the stage that step i - 1 read, which the barrier ends: one barrier
  a step is enough. The commit of nothing in the last steps keeps the count of groups, by which tile.await works. The
  numbers of the two stages are carried by the loop, since a remainder costs more;
- behind the loop, tile.await for everything, so that no copy is under way when the memory is used again.
The number of steps may be known at run time only: copies beyond the last step in front of the loop give zeros then.
Refuses buffers of one stage, computed operands, a k loop that does not count from 0 in steps of 1 (at least one), one
that reads a buffer before its last copy, and copies that depend on what the loop carries. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, guards, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.fills import (
    Fill,
    check_filled_first,
    check_guarded,
    check_independent,
    compute,
    copy_at_step,
    fills_of,
)
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class StreamCopies(Pass):
    """Copy k tiles asynchronously, steps ahead."""

    name: ClassVar[str] = "stream-copies"

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            fills = fills_of(loop) if affine.level_of(loop) == "k" else []
            if fills:
                _Stream(loop, fills).build()


class _Stream:
    """The new loop for an old one."""

    def __init__(self, loop: Any, fills: list[Fill]):
        trips = affine.bound_of(loop)
        if trips is None or (isinstance(trips, int) and not trips):
            raise pass_error(
                loop, "a k loop that does not count from 0 in steps of 1 to at least 1 cannot be copied ahead"
            )
        for fill in fills:
            if not fill.is_copy:
                raise pass_error(
                    fill.operation,
                    "a computed operand cannot be copied asynchronously; expected copies only (take copy=prefetch)",
                )
        check_filled_first(loop, fills)
        check_independent(loop, fills)
        if not isinstance(trips, int):
            check_guarded(loop, fills)
        self.loop, self.fills, self.trips = loop, fills, trips
        self.stages = stages_of(loop, fills[0])
        for fill in fills:
            if stages_of(loop, fill) != self.stages:
                raise pass_error(
                    fill.operation, f"a buffer of other than {self.stages} stages; expected the same for all"
                )
        self.numbers = [op.operation.results[0] for op in in_block(body(loop)) if is_turn(op, loop, self.stages)]

    def build(self) -> None:
        """Replaces the old loop."""
        old = self.loop.operation
        inits = list(old.operands)[len(old.operands) - len(old.results) :]
        with ir.InsertionPoint(old), old.location:
            for step in range(self.stages - 1):
                if not isinstance(self.trips, int) or step < self.trips:  # beyond the last step there are zeros
                    self._copy(constants.index(step), constants.index(step))
                tile.commit()
            turns = [constants.index(0), constants.index(self.stages - 1)]
            new = affine.make_for(self.trips, "k", [*inits, *turns])
            with ir.InsertionPoint(body(new)):
                self._step(new)
            tile.await_(0)
        for before, after in zip(list(old.results), list(new.operation.results)[: len(inits)], strict=True):
            before.replace_all_uses_with(after)
        old.erase()

    def _step(self, new: Any) -> None:
        iv, *carried, read, write = list(body(new).arguments)
        tile.await_(self.stages - 2)
        dialect("gpu").BarrierOp()
        if not isinstance(self.trips, int) or self.trips > self.stages - 1:
            ahead = affine.linear([(1, iv)], self.stages - 1)
            guards.do(guards.less(ahead, self.trips), lambda: self._copy(ahead, write))
        tile.commit()
        values: dict[Any, Any] = dict.fromkeys(self.numbers, read)
        values.update(zip(body(self.loop).arguments, [iv, *carried], strict=True))
        results = compute(self.loop, self.fills, values)
        affine.yield_([*results, self._following(read, write), read])

    def _following(self, read: Any, write: Any) -> Any:
        """The stage that the next step reads; the one that this step read is written in it."""
        if self.stages == 2:
            return write
        arith = dialect("arith")
        last = arith.CmpIOp(arith.CmpIPredicate.eq, read, constants.index(self.stages - 1)).result
        return arith.SelectOp(last, constants.index(0), indexing.add(read, 1)).result

    def _copy(self, step: Any, stage: Any) -> None:
        """The copies of one step into one stage."""
        values: dict[Any, Any] = dict.fromkeys(self.numbers, stage)
        values[affine.induction_variable(self.loop)] = step
        for fill in self.fills:
            with fill.operation.location:
                tile.copy_async(*copy_at_step(fill, self.loop, values))


def stages_of(loop: Any, fill: Fill) -> int:
    """How many stages a fill's buffer has. Raises PassError unless the steps take them in turn."""
    view = fill.target.owner
    if getattr(view, "name", "") == "memref.subview":
        buffer, *offsets = view.operands
        stages: int = buffer.type.shape[0]
        starts = list(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]))
        turns = len(offsets) == 1 and starts[0] == ir.ShapedType.get_dynamic_size() and stages > 1
        if turns and not hasattr(offsets[0].owner, "operations") and is_turn(offsets[0].owner, loop, stages):
            return stages
    raise pass_error(
        fill.operation,
        "a buffer that the steps do not fill by turns cannot be copied to ahead; expected two stages or more, which "
        "multi-buffer makes",
    )


def is_turn(operation: Any, loop: Any, stages: int) -> bool:
    """Whether an operation gives the step's number modulo the stages."""
    op = operation.operation
    if op.name != "affine.apply" or list(op.operands) != [affine.induction_variable(loop)]:
        return False
    modulo = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0), stages)])
    return op.attributes["map"].value == modulo
