"""What a k loop must have for its tiles to be copied steps ahead of the compute: known steps, and stages
that the steps take one after another, as `multi-buffer` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import affine, constants, guards, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.fills import Fill, check_filled_first, check_guarded, check_independent, copy_at_step
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block


@dataclass(frozen=True)
class Steps:
    """The steps of a k loop whose tiles can be copied ahead."""

    trips: Any
    """How many there are: an int, or a value."""
    stages: int
    """The stages of every buffer."""
    slots: list[Any]
    """The values in the loop that say which stage a step takes."""

    def values(self, loop: Any, step: Any, slot: Any) -> dict[Any, Any]:
        """What stands for the values of a step of the loop that takes a stage."""
        found: dict[Any, Any] = dict.fromkeys(self.slots, slot)
        found[affine.induction_variable(loop)] = step
        return found

    def copy(self, loop: Any, copies: list[Fill], step: Any, slot: Any) -> None:
        """The copies of one step into one stage, asynchronously, at the insertion point."""
        values = self.values(loop, step, slot)
        for fill in copies:
            with fill.operation.location:
                tile.copy_async(*copy_at_step(fill, loop, values))

    def copy_first(self, loop: Any, copies: list[Fill]) -> None:
        """The copies of all steps that are in flight when the loop begins, each a group."""
        for step in range(self.stages - 1):
            number = constants.index(step)
            if not isinstance(self.trips, int) or step < self.trips:  # beyond the last step there are zeros
                self.copy(loop, copies, number, number)
            tile.commit()

    def copy_ahead(self, loop: Any, copies: list[Fill], step: Any, write: Any) -> None:
        """Waits for the copies of a step, and issues those of the step that is as far ahead as there are stages."""
        tile.await_(self.stages - 2)
        dialect("gpu").BarrierOp()
        if not isinstance(self.trips, int) or self.trips > self.stages - 1:
            ahead = affine.linear([(1, step)], self.stages - 1)
            guards.do(guards.less(ahead, self.trips), lambda: self.copy(loop, copies, ahead, write))
        tile.commit()

    def following(self, read: Any, write: Any) -> Any:
        """The stage that the next step reads; the one that this step read is written in it."""
        if self.stages == 2:
            return write
        arith = dialect("arith")
        last = arith.CmpIOp(arith.CmpIPredicate.eq, read, constants.index(self.stages - 1)).result
        return arith.SelectOp(last, constants.index(0), indexing.add(read, 1)).result


def steps_of(loop: Any, fills: list[Fill], manner: str, refused: str, *, computed: bool = False) -> Steps:
    """The steps of a k loop with these fills, some of them computed where `computed` says so.

    `manner` says how tiles are copied, and `refused` what becomes of a loop whose steps cannot be counted. Raises
    PassError, in these words, for such a loop and for other computed operands; and for buffers whose stages the steps
    do not take one after another, or that are used before their last copy, and for copies of what depends on what the
    loop carries.
    """
    trips = affine.bound_of(loop)
    if trips is None or (isinstance(trips, int) and not trips):
        raise pass_error(loop, f"a k loop that does not count from 0 in steps of 1 to at least 1 {refused}")
    for fill in fills:
        if not fill.is_copy and not computed:
            raise pass_error(
                fill.operation,
                f"a computed operand cannot be copied {manner}; expected copies only (take mainloop=register_prefetch)",
            )
    check_filled_first(loop, fills)
    check_independent(loop, fills)
    if not isinstance(trips, int):
        check_guarded(loop, fills)
    stages = _stages_of(loop, fills[0])
    for fill in fills:
        if _stages_of(loop, fill) != stages:
            raise pass_error(fill.operation, f"a buffer that does not have {stages} stages; expected the same for all")
    inside = [op.operation for op in in_block(body(loop))]
    return Steps(trips, stages, [op.results[0] for op in inside if _is_slot(op, loop, stages)])


def steps_before_the_last(loop: Any, trips: Any) -> Any:
    """One less than the steps of the loop. Where there may be none, the last step is computed nevertheless: its copies
    are beyond the end of k, so that it adds zeros."""
    if isinstance(trips, int):
        return trips - 1
    arith = dialect("arith")
    is_argument = hasattr(trips.owner, "operations")
    behind = ir.InsertionPoint.at_block_begin(trips.owner) if is_argument else ir.InsertionPoint.after(trips.owner)
    with behind, loop.location:
        return indexing.sub(arith.MaxUIOp(trips, constants.index(1)).result, 1)


def _stages_of(loop: Any, fill: Fill) -> int:
    """How many stages a fill's buffer has. Raises PassError unless the steps take them one after
    another."""
    view = fill.target.owner
    if getattr(view, "name", "") == "memref.subview":
        buffer, *offsets = view.operands
        stages: int = buffer.type.shape[0]
        starts = list(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]))
        staged = len(offsets) == 1 and starts[0] == ir.ShapedType.get_dynamic_size() and stages > 1
        if staged and not hasattr(offsets[0].owner, "operations") and _is_slot(offsets[0].owner, loop, stages):
            return stages
    raise pass_error(
        fill.operation,
        "a buffer that has no stages for the steps to fill one after another cannot be copied to ahead; expected two "
        "stages or more, which multi-buffer makes",
    )


def _is_slot(operation: Any, loop: Any, stages: int) -> bool:
    """Whether an operation gives the step's number modulo the stages."""
    op = operation.operation
    if op.name != "affine.apply" or list(op.operands) != [affine.induction_variable(loop)]:
        return False
    modulo = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0), stages)])
    return op.attributes["map"].value == modulo
