"""warp-specialize: one role of the block copies k tiles into a ring of stages, another one computes on them.

Expects a k loop with tile.copy before the compute into buffers to which `multi-buffer` gave S stages, at least 2,
directly in a block loop. Leaves, in the block loop, the buffers, the barriers of the ring (tile.ring) and one
tile.warp_specialize:
- the producer walks the ring: tile.producer_acquire, and a tile.tma_load for each copy of the step;
- the consumer waits for a stage (tile.consumer_wait) and multiplies. Everything that follows the k loop, and all
  arithmetic on tiles, is the consumer's. With `asynchronous` products may be in flight (`async`): those of a step are
  waited for (tile.mma_wait) when those of the next have been issued, and only then is the stage before it handed
  back (tile.consumer_release). The first step stands before the loop, so that an accumulator that starts at zero
  need not be cleared. With `promotion=P` the products of every P steps start from zero, and an arith.addf adds what
  they give to the accumulator once they are done: tensor cores truncate their sums, and ordinary additions round.
  Without `asynchronous` a stage is handed back right after its products. Both roles start at tile.enter,
  and stop at tile.leave, which a loop over tiles may carry. Of steps that are known at run time only there is one at
  least, which may copy nothing but zeros. Refuses buffers of one stage, computed operands, a k loop that does not count
  from 0 in steps of 1 (at least one), one that reads a buffer before its last copy, copies that depend on what the loop
  carries, anything but products on what the loop carries, and the promotion of sums that are not f32, of steps known at
  run time only, or of products that are not asynchronous. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, rings
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.fills import Fill, compute, copy_at_step, fills_of
from mlir_gemm.dialect.copies.pipelined_steps import steps_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass

ASYNC = "async"


@dataclass(frozen=True)
class WarpSpecialize(Pass):
    """Give copies and products to different warps."""

    name: ClassVar[str] = "warp-specialize"
    asynchronous: bool = True
    """Products may be in flight while the next stage is waited for."""
    promotion: int = 0
    """Steps whose products are added up by tensor cores, before f32 additions take over; 0: all."""

    def __post_init__(self) -> None:
        if self.promotion < 0 or (self.promotion and not self.asynchronous):
            raise PassError(f"pass '{self}': promotion expects at least 0 steps, and products that are asynchronous")

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            fills = fills_of(loop) if affine.level_of(loop) == "k" else []
            if fills:
                _Roles(loop, fills, self).build()


class _Roles:
    """The two roles for a k loop."""

    def __init__(self, loop: Any, fills: list[Fill], options: WarpSpecialize):
        steps = steps_of(loop, fills, "by the copy engine", "has no ring")
        self.loop, self.fills, self.stages, self.slots = loop, fills, steps.stages, steps.slots
        self.asynchronous, self.promotion = options.asynchronous, options.promotion
        self.trips = steps.trips if isinstance(steps.trips, int) else _at_least_one(steps.trips)
        self.products = _products_of(loop)
        if self.promotion:
            self._check_promotion()

    def _check_promotion(self) -> None:
        """Refuses sums that are not f32, and steps that cannot be divided here."""
        for product in self.products:
            type_ = ir.VectorType(product.results[0].type)
            if not isinstance(type_.element_type, ir.F32Type):
                raise pass_error(product, f"a sum of {type_.element_type}, which is not promoted; expected f32")
        if not isinstance(self.trips, int):
            raise pass_error(self.loop, "steps known at run time only, whose sums are not promoted")

    def build(self) -> None:
        """Replaces the loop, and what follows it in its block."""
        old = self.loop.operation
        inside = [op.operation for op in in_block(old.block)]
        behind = inside[inside.index(old) + 1 : -1]
        ahead = [op for op in inside[: inside.index(old)] if _is_tile_work(op)]
        with ir.InsertionPoint(old), old.location:
            barriers = rings.make_barriers(self.stages)
            rings.ring(barriers, 1)
            roles = rings.warp_specialize()
        producer, consumer = (region.blocks[0] for region in roles.regions)
        with old.location:
            with ir.InsertionPoint(producer):
                self._produce(barriers)
            with ir.InsertionPoint(consumer):
                results = self._consume(barriers)
        first = in_block(consumer)[0]
        for op in ahead:
            op.move_before(first)
        for op in behind:
            consumer.append(op)
        for before, after in zip(list(old.results), results, strict=True):
            before.replace_all_uses_with(after)
        old.erase()

    def _produce(self, barriers: Any) -> None:
        loop = affine.make_for(self.trips, "k", list(rings.enter()))
        with ir.InsertionPoint(body(loop)):
            step, slot, phase = body(loop).arguments
            rings.producer_acquire(barriers, slot, phase, sum(map(_bytes, self.fills)))
            values = self._at(step, slot)
            for fill in self.fills:
                target, source, place = copy_at_step(fill, self.loop, values)
                rings.tma_load(target, source, barriers, slot, place)
            affine.yield_(list(rings.advanced(slot, phase, self.stages)))
        rings.leave(*loop.operation.results)

    def _consume(self, barriers: Any) -> list[Any]:
        """The consumer's products; what stands for the results of the loop."""
        old = self.loop.operation
        inits = list(old.operands)[len(old.operands) - len(old.results) :]
        slot, phase = rings.enter()
        if not self.asynchronous:
            return self._consume_at_once(barriers, inits, slot, phase)
        if self.promotion and self.promotion < self.trips:
            sums, following = self._promoted(barriers, inits, slot, phase)
        else:
            sums, following = self._sums(barriers, [], 0, self.trips, inits, slot, phase)
        rings.leave(*following)
        return sums

    def _promoted(self, barriers: Any, inits: list[Any], slot: Any, phase: Any) -> tuple[list[Any], tuple[Any, Any]]:
        """The accumulators after all steps, of which tensor cores add up the products of a few only at a time; where
        the ring stands then."""
        whole, left = divmod(self.trips, self.promotion)
        loop = affine.make_for(whole, "k", [*inits, slot, phase])
        with ir.InsertionPoint(body(loop)):
            number, *totals, slot, phase = list(body(loop).arguments)
            terms = [(self.promotion, number)]
            totals, following = self._added(barriers, terms, 0, self.promotion, totals, slot, phase)
            affine.yield_([*totals, *following])
        *totals, slot, phase = list(loop.operation.results)
        if not left:
            return totals, (slot, phase)
        return self._added(barriers, [], whole * self.promotion, left, totals, slot, phase)

    def _added(
        self, barriers: Any, terms: list[Any], first: int, trips: int, totals: list[Any], slot: Any, phase: Any
    ) -> tuple[list[Any], tuple[Any, Any]]:
        """`totals` and the products of some steps, which start from zero; where the ring stands then."""
        fresh = [constants.zero(total.type) for total in totals]
        sums, following = self._sums(barriers, terms, first, trips, fresh, slot, phase)
        added = [dialect("arith").AddFOp(total, each).result for total, each in zip(totals, sums, strict=True)]
        return added, following

    def _sums(
        self, barriers: Any, terms: list[Any], first: int, trips: Any, inits: list[Any], slot: Any, phase: Any
    ) -> tuple[list[Any], tuple[Any, Any]]:
        """`inits` and the products of some steps, from `terms` and `first` on, which are done; where the ring stands
        then."""
        carried = self._multiply(barriers, affine.linear(terms, first), slot, phase, inits)
        following = rings.advanced(slot, phase, self.stages)
        last = slot
        if not isinstance(trips, int) or trips > 1:
            rest = affine.make_for(_less_one(trips), "k", [*carried, *following, slot])
            with ir.InsertionPoint(body(rest)):
                before, *arguments = list(body(rest).arguments)
                *accumulators, slot, phase, previous = arguments
                step = affine.linear([(1, before), *terms], first + 1)
                sums = self._multiply(barriers, step, slot, phase, accumulators)
                sums = [rings.mma_wait(value, len(self.products)) for value in sums]
                rings.consumer_release(barriers, previous)
                affine.yield_([*sums, *rings.advanced(slot, phase, self.stages), slot])
            *carried, slot, phase, last = list(rest.operation.results)
            following = slot, phase
        sums = [rings.mma_wait(value, 0) for value in carried]
        rings.consumer_release(barriers, last)
        return sums, following

    def _consume_at_once(self, barriers: Any, inits: list[Any], slot: Any, phase: Any) -> list[Any]:
        """The same with products that are done where they stand."""
        loop = affine.make_for(self.trips, "k", [*inits, slot, phase])
        with ir.InsertionPoint(body(loop)):
            step, *accumulators, slot, phase = list(body(loop).arguments)
            sums = self._multiply(barriers, step, slot, phase, accumulators)
            rings.consumer_release(barriers, slot).attributes[rings.LOADED] = ir.UnitAttr.get()
            affine.yield_([*sums, *rings.advanced(slot, phase, self.stages)])
        *sums, slot, phase = list(loop.operation.results)
        rings.leave(slot, phase)
        return sums

    def _multiply(self, barriers: Any, step: Any, slot: Any, phase: Any, carried: list[Any]) -> list[Any]:
        """The products of one step, which may be in flight; what the loop would carry on."""
        rings.consumer_wait(barriers, slot, phase)
        values = self._at(step, slot)
        values.update(zip(list(body(self.loop).arguments)[1:], carried, strict=True))
        results = compute(self.loop, self.fills, values)
        for product in self.products if self.asynchronous else ():
            values[product.results[0]].owner.attributes[ASYNC] = ir.UnitAttr.get()
        return results

    def _at(self, step: Any, slot: Any) -> dict[Any, Any]:
        values: dict[Any, Any] = dict.fromkeys(self.slots, slot)
        values[affine.induction_variable(self.loop)] = step
        return values


def _products_of(loop: Any) -> list[Any]:
    """The products of the loop, which must be all that happens to what it carries."""
    _, *arguments = list(body(loop).arguments)
    *_, terminator = in_block(body(loop))
    products: list[Any] = []
    for argument, value in zip(arguments, terminator.operation.operands, strict=True):
        maker = value.owner
        product = None if hasattr(maker, "operations") else maker.operation
        if product is None or product.name != "tile.mma" or product.operands[2] != argument:
            raise pass_error(loop, "a k loop that carries something else than the sum of products; expected c + a b")
        products.append(product)
    return products


def _is_tile_work(op: Any) -> bool:
    """Whether an operation before the loop works on tiles: the consumer needs it, not the producer."""
    vectors = any(isinstance(value.type, ir.VectorType) for value in [*op.operands, *op.results])
    return vectors and op.name != "arith.constant"


def _bytes(fill: Fill) -> int:
    type_ = fill.target.type
    return prod(type_.shape) * type_.element_type.width // 8


def _at_least_one(trips: Any) -> Any:
    """Steps that are known at run time only, and one where there are none: the consumer waits for a first step, and
    what is copied for it gives zeros, which add nothing."""
    owner = trips.owner
    behind = ir.InsertionPoint.at_block_begin(owner) if hasattr(owner, "operations") else ir.InsertionPoint.after(owner)
    with behind, ir.Location.unknown() if hasattr(owner, "operations") else owner.location:
        return dialect("arith").MaxUIOp(trips, constants.index(1)).result


def _less_one(trips: Any) -> Any:
    if isinstance(trips, int):
        return trips - 1
    one = ir.AffineMap.get(0, 1, [ir.AffineSymbolExpr.get(0) - 1])
    return affine.apply(one, [trips])
