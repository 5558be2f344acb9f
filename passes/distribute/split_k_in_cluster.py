"""split-k-in-cluster: the blocks of a cluster share the k steps of one tile, each a part of them.

Expects an scf.forall over blocks with `tile.split_k_cluster` (how many blocks share a tile, which `rasterize-blocks`
writes), and in it a tile.warp_specialize whose producer copies, and whose consumer multiplies, in an scf.for over the k
steps from 0 to a constant; the consumer's first step may stand before its loop. Leaves loops over the steps of one
part, rounded up, which start at the part of the block's rank: after the last step the copies give zeros. Each block
then has a partial sum, and `reduce-through-dsmem` adds these up. Where loops begin and end with the steps of their tile
(`bound-steps`), each block has a part of these; one for which none are left copies zeros once, from beyond the ends of
the operands. A second run changes nothing. Refuses other loops of unknown length, and sums that start from something
else than zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import CLUSTER, PART, SPLIT_K_CLUSTER


@dataclass(frozen=True)
class SplitKInCluster(Pass):
    """Divide k steps among the blocks of a cluster."""

    name: ClassVar[str] = "split-k-in-cluster"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            if SPLIT_K_CLUSTER in forall.operation.attributes:
                parts = ir.IntegerAttr(forall.operation.attributes[SPLIT_K_CLUSTER]).value
                group = blocks_of_cluster_group(forall)
                for roles in named(forall, "tile.warp_specialize"):
                    _split(roles.operation, parts, group)


def blocks_of_cluster_group(forall: Any) -> int:
    """Blocks of a cluster that have the same slice of the steps."""
    parts = constants.number_of(forall, SPLIT_K_CLUSTER, 1)
    return constants.number_of(forall, CLUSTER, parts) // parts


def _split(roles: Any, parts: int, group: int) -> None:
    producer, consumer = (loop_of(roles, name) for name in ("tile.tma_load", "tile.mma"))
    if producer is None:
        raise pass_error(roles, "no loop over k steps, so there is nothing to divide among blocks")
    if PART in producer.attributes:
        return
    check_starts(roles)
    if consumer is not None and constants.integer_of(consumer.operands[1]) is None:
        _split_own(roles, (producer, consumer), parts, group)
        return
    steps = trips_of(producer)
    part = -(-steps // parts)
    with ir.InsertionPoint(producer), producer.location:
        producer.operands[1] = constants.index(part)
        first = indexing.mul(rings.part(group), part)
    step = body(producer).arguments[0]
    using = users(step)
    with ir.InsertionPoint.at_block_begin(body(producer)), producer.location:
        moved = indexing.add(step, first)
    for user in using:
        for position, operand in enumerate(user.operands):
            if operand == step:
                user.operands[position] = moved
    if part * parts > steps:
        for copy in named(producer, "tile.tma_load"):
            _forget_bounds(copy.operation, moved)
    producer.attributes[PART] = ir.UnitAttr.get()
    if consumer is not None:
        peeled = steps - trips_of(consumer)
        with ir.InsertionPoint(consumer), consumer.location:
            consumer.operands[1] = constants.index(part - peeled)
        consumer.attributes[PART] = ir.UnitAttr.get()


def _split_own(roles: Any, loops: tuple[Any, Any], parts: int, group: int) -> None:
    """Divides the steps that a tile has of its own."""
    producer, consumer = loops
    inside = len(named(consumer, "tile.mma"))
    peeled = len(named(roles.regions[1].blocks[0].owner, "tile.mma")) // inside - 1
    with ir.InsertionPoint(producer), producer.location:
        begin, end = producer.operands[0], producer.operands[1]
        from_zero = constants.integer_of(begin) == 0
        start, count, none = _part_of(end if from_zero else indexing.sub(end, begin), parts, group)
        producer.operands[0] = start if from_zero else indexing.add(begin, start)
        producer.operands[1] = indexing.add(producer.operands[0], count)
    for copy in named(producer, "tile.tma_load"):
        _leave(copy.operation, body(producer).arguments[0], none)
    with ir.InsertionPoint(consumer), consumer.location:
        _, count, _ = _part_of(indexing.add(consumer.operands[1], peeled), parts, group)
        consumer.operands[1] = indexing.sub(count, constants.index(peeled))
    for loop in loops:
        loop.attributes[PART] = ir.UnitAttr.get()


def _part_of(length: Any, parts: int, group: int) -> tuple[Any, Any, Any]:
    """Of so many steps the first one of this block's part, how many it has, at least one, and whether there are none
    left for it, in which case the first is one that there is; at the insertion point."""
    arith, one = dialect("arith"), constants.index(1)
    each = indexing.ceildiv(length, parts)
    start = indexing.mul(rings.part(group), each)
    none = indexing.at_least(start, length)
    start = arith.SelectOp(none, constants.index(0), start).result
    count = arith.MinUIOp(each, indexing.sub(length, start)).result
    return start, arith.SelectOp(none, one, count).result, none


def _leave(copy: Any, step: Any, none: Any) -> None:
    """Makes a copy begin where its operand ends along k if this block has no steps: it gives zeros then."""
    if "pixels" in copy.attributes:
        raise pass_error(copy, "windows of an image, and tiles with k steps of their own, that blocks share")
    _forget_bounds(copy, step)
    shape = copy.operands[1].type.shape
    first = len(copy.operands) - len(shape)
    with ir.InsertionPoint(copy), copy.location:
        for axis, extent in enumerate(shape):
            offset = copy.operands[first + axis]
            if _moves(offset, step):
                copy.operands[first + axis] = indexing.select(none, extent, offset)


def check_starts(roles: Any) -> None:
    """Refuses sums that start from something else than zero: every slice would add it."""
    for product in named(roles, "tile.mma"):
        start = product.operation.operands[2]
        if hasattr(start.owner, "operations"):  # a loop carries it
            start = start.owner.owner.operation.operands[2 + start.arg_number]
        if getattr(start.owner, "name", "") in ("tile.mma", "tile.mma_wait"):
            continue
        element = constants.splat_of(start)
        if element is None or element.value != 0:
            raise pass_error(product, "a sum that does not start from zero cannot be divided: every slice would add it")


def loop_of(roles: Any, name: str) -> Any | None:
    """The loop around the operations of a name, in either role."""
    for op in named(roles, name):
        for loop in named(roles, "scf.for"):
            if op.operation.parent == loop.operation:
                return loop.operation
    return None


def trips_of(loop: Any) -> int:
    """The trips of a loop from 0 in steps of 1 to a constant. Refuses any other."""
    lower, upper, step = (constants.integer_of(value) for value in list(loop.operands)[:3])
    if lower != 0 or step != 1 or upper is None:
        raise pass_error(loop, "a loop over k steps that does not count from 0 in steps of 1 to a constant")
    return upper


def _forget_bounds(copy: Any, step: Any) -> None:
    """Removes `in_bounds` from copies in the dimensions that move with the step."""
    place = tile.place_of(copy)
    known = [known and not _moves(offset, step) for known, offset in zip(place.in_bounds, place.offsets, strict=True)]
    copy.attributes[tile.IN_BOUNDS] = ir.DenseBoolArrayAttr.get(known)


def _moves(value: Any, step: Any) -> bool:
    if value == step:
        return True
    owner = value.owner
    return not hasattr(owner, "operations") and any(_moves(operand, step) for operand in owner.operation.operands)
