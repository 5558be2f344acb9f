"""stream-k: blocks walk all tiles between them, and share the k steps of those that fill no whole wave.

Expects what `persistent-tile-scheduler` does, with numbers of tiles and of k steps that are known, and one product
whose sum starts from zero. Where the tiles do not divide into whole waves of `blocks`, the steps of those left over
form one row, which is cut into equal ranges, `share` for each such tile but at most one for each block. With `share=1`
the tiles of the last whole wave belong to it too, so that each block has a tile and a part. Leaves in both roles a loop
over a block's items of work:
- its tiles of the whole waves, as `persistent-tile-scheduler` gives them out;
- the part of a tile that an earlier range began: it leaves its sum in global memory (tile.store_partials);
- what its range has of the tiles that begin in its range, of which the last may be a part: it waits for the blocks that
  have the rest, adds up what they left in the order of the steps (tile.fix_up), and finishes the tile. The last range
  is the first block's. So a block waits for blocks of lower numbers only, which the machine starts before it, and for
  what these do first. The same steps are added up in the same order in every run. A second run changes nothing, nor
  does the first where tiles fill whole waves: `persistent-tile-scheduler` does what is left. The blocks of a cluster
  have the same ranges, of tiles of their own. Refuses blocks that are not whole clusters, or that share the steps of a
  tile already, and sums that do not start from zero.

Where tiles have other numbers of steps (`bound-steps`), these are computed here for each tile, and a table in memory
(memref.global) says which steps each block has: the tiles of whole waves go back and forth, and the ranges are as long
as it takes for all blocks to have the same number of steps (`dialect/step_shares.py`). There `share=1` shares steps
also where tiles fill whole waves, or one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlir_gemm.dialect import constants, indexing, rings, stream_k
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.guards import less
from mlir_gemm.dialect.known_numbers import numbers_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.step_shares import Item, Shares, Table
from mlir_gemm.dialect.walk import body, in_block, named, parents, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.distribute.split_k_in_cluster import check_starts, loop_of, trips_of
from mlir_gemm.passes.parallelize.persistent_tile_scheduler import Work, into_loop, is_walked, tiles_of
from mlir_gemm.spec.attributes import CLUSTER, SPLIT_K_CLUSTER


@dataclass(frozen=True)
class StreamK(Pass):
    """Share the k steps of the last tiles among all blocks."""

    name: ClassVar[str] = "stream-k"
    blocks: int = 1
    """Thread blocks."""
    share: int = 2
    """Ranges for each tile whose steps are shared, as far as there are blocks; 1 shares one whole wave more."""

    def run(self, module: Any) -> None:
        if self.blocks < 1 or self.share < 1:
            raise PassError(f"pass '{self}': expected at least 1 block, and 1 range for each tile")
        for forall in named(module, "scf.forall"):
            roles = named(forall, "tile.warp_specialize")
            if not roles or is_walked(forall):
                continue
            tiles = tiles_of(forall)
            if not isinstance(tiles, int):
                raise pass_error(forall, "the steps of a number of tiles that is not known cannot be shared evenly")
            _check(forall, self.blocks)
            several = tiles % self.blocks and (tiles > self.blocks or self.share > 1)
            if several or (self.share == 1 and _is_unequal(loop_of(roles[0], "tile.tma_load"))):
                _stream(forall, roles, tiles, self)


def _check(forall: Any, blocks: int) -> None:
    size = constants.number_of(forall, CLUSTER, 1)
    if blocks % size:
        raise pass_error(forall, f"{blocks} blocks do not make whole clusters of {size}")
    if SPLIT_K_CLUSTER in forall.operation.attributes:
        raise pass_error(forall, "blocks of a cluster that share the steps of a tile cannot share them with others")


def _stream(forall: Any, roles: list[Any], tiles: int, options: StreamK) -> None:
    work = Work.of(forall, roles)
    role = work.role
    copies, products = (loop_of(role, name) for name in ("tile.tma_load", "tile.mma"))
    sums = [op for op in named(role, "tile.mma_wait") if constants.number_of(op, "pending") == 0]
    if copies is None or products is None or len(sums) != 1 or users(body(products).arguments[0]):
        raise pass_error(role, "the steps of one product in a loop can be shared; expected one, of two steps or more")
    check_starts(role)
    size = constants.number_of(forall, CLUSTER, 1)
    if _is_unequal(copies):
        plan = _unequal(work, (copies, products), tiles, options, size)
    else:
        steps = trips_of(copies)
        tiles, blocks = tiles // size, options.blocks // size
        left = tiles % blocks + (blocks if options.share == 1 else 0)
        ranges = min(blocks, left * min(options.share, steps))
        plan = _Plan(tiles - left, left, steps, blocks if tiles >= blocks else ranges, ranges, size)
    with ir.InsertionPoint(forall), role.location:
        scratch = stream_k.make_scratch(plan.ranges * size, sums[0].operation.results[0].type)
    new = work.on_blocks(plan.blocks * size)
    with role.location:
        for region, loop in zip(role.regions, (copies, products), strict=True):
            _walk(region.blocks[0], work, plan, loop, body(new).arguments[0], scratch)
    work.erase_old()


def _is_unequal(copies: Any | None) -> bool:
    """Whether tiles have steps of their own."""
    return copies is not None and any(constants.integer_of(bound) is None for bound in list(copies.operands)[:2])


def _unequal(work: Work, loops: tuple[Any, Any], tiles: int, options: StreamK, size: int) -> Table:
    """The plan where tiles have other numbers of steps."""
    copies, products = loops
    known = {work.number: np.arange(tiles)}
    first, end, later = (numbers_of(each, known) for each in (*list(copies.operands)[:2], products.operands[1]))
    if first is None or end is None or later is None:
        raise pass_error(copies, "numbers of k steps of tiles that are not known cannot be shared evenly")
    lengths = np.broadcast_to(end - first, tiles)
    peeled = np.unique(lengths - later)
    if len(peeled) != 1 or any((lengths[place::size] != lengths[::size]).any() for place in range(size)):
        raise pass_error(copies, "tiles of a cluster have other numbers of k steps, or are multiplied in other loops")
    shares = Shares.of(lengths[::size].tolist(), options.blocks // size, options.share)
    function = next(each.operation for each in parents(work.forall) if each.operation.name == "func.func")
    return Table.of(function, shares, int(peeled[0]), size)


@dataclass(frozen=True)
class _Plan:
    """How tiles and steps are given out: those of one block of each cluster, which all others follow."""

    whole: int
    """Tiles of the whole waves: the first ones."""
    left: int
    """Tiles whose steps are shared."""
    steps: int
    """Of a tile."""
    blocks: int
    ranges: int
    cluster: int
    """Blocks of a cluster."""

    @property
    def total(self) -> int:
        """Steps that are shared."""
        return self.left * self.steps

    def range_of(self, block: Any) -> _Range:
        """What a block has of the shared steps, as values at the insertion point."""
        return _Range.of(self, block)


@dataclass(frozen=True)
class _Range:
    """What a block has of the shared steps, as values at the insertion point."""

    plan: _Plan
    number: Any
    start: Any
    """The first of the shared steps that it has ..."""
    end: Any
    """... and the first that it does not."""
    begun: Any
    """Where the first tile that it begins starts; its end where there is none."""
    before: Any
    """1 where it starts in the middle of a tile, else 0."""
    items: Any
    """Items of work of the block, whole tiles among them."""

    @staticmethod
    def of(plan: _Plan, block: Any) -> _Range:
        """The range of a block: the last one is the first block's."""
        arith, last = dialect("arith"), constants.index(plan.ranges - 1)
        number = has = None
        if plan.ranges == plan.blocks:
            number = indexing.sub(last, block)
        else:
            has = arith.CmpIOp(arith.CmpIPredicate.ult, block, constants.index(plan.ranges)).result
            number = indexing.sub(last, arith.MinUIOp(block, last).result)
        start = _cut(plan, number)
        end = _cut(plan, indexing.add(number, 1))
        if has is not None:
            end = arith.SelectOp(has, end, start).result
        begun = arith.MinUIOp(indexing.mul(indexing.ceildiv(start, plan.steps), plan.steps), end).result
        before = arith.MinUIOp(indexing.sub(begun, start), constants.index(1)).result
        own = indexing.ceildiv(indexing.sub(end, begun), plan.steps)
        items = indexing.add(indexing.add(before, own), plan.whole // plan.blocks)
        return _Range(plan, number, start, end, begun, before, items)

    def item(self, item: Any, block: Any) -> _Item:
        """The item of work of a number."""
        return _Item.of(self, item, block)


def _cut(plan: _Plan, number: Any) -> Any:
    """Where the range of a number starts."""
    return indexing.div(indexing.mul(number, plan.total), plan.ranges)


@dataclass(frozen=True)
class _Item:
    """An item of work, as values at the insertion point."""

    tile: Any
    first: Any
    """The first k step."""
    count: Any
    """k steps."""
    is_part: Any
    """Whether another block begins the tile."""
    others: Any
    """How many blocks have the rest of the tile, 0 unless this one begins it; their ranges follow this one's."""
    steps: int
    """Of a tile."""

    def bound(self, loop: Any, fills: bool) -> None:
        """Makes a loop over the steps of the tile one over those of the item, before it."""
        if fills:
            loop.operands[0], loop.operands[1] = self.first, indexing.add(self.first, self.count)
        else:
            peeled = self.steps - trips_of(loop)
            loop.operands[1] = indexing.sub(self.count, constants.index(peeled))

    @staticmethod
    def of(range_: _Range, item: Any, block: Any) -> _Item:
        """The item of a number: whole tiles, then the part, then tiles that the range begins. With the part before
        whole tiles blocks would be at different steps of k all the time, and L2 would serve each by itself: up to 25 %
        slower on the H200, and never 3 % faster."""
        arith, plan, before = dialect("arith"), range_.plan, range_.before
        steps, waves = plan.steps, constants.index(plan.whole // plan.blocks)
        rest = _beyond(item, waves)
        is_own, later = _not_below(item, waves), _beyond(rest, before)
        is_part = arith.AndIOp(is_own, less(rest, before)).result
        at = indexing.add(range_.begun, indexing.mul(later, steps))
        at = arith.SelectOp(is_part, range_.start, at).result
        shared = indexing.div(at, steps)
        shares = arith.OrIOp(is_part, is_own).result
        of_wave = indexing.add(indexing.mul(item, plan.blocks), block)
        tile = arith.SelectOp(shares, indexing.add(shared, plan.whole), of_wave).result
        first = arith.SelectOp(is_part, indexing.rem(range_.start, steps), constants.index(0)).result
        stop = indexing.mul(indexing.add(shared, 1), steps)
        until = arith.MinUIOp(stop, range_.end).result
        count = arith.SelectOp(shares, indexing.sub(until, at), constants.index(steps)).result
        # The last range that starts before the tile ends.
        last = indexing.div(indexing.sub(indexing.mul(stop, plan.ranges), constants.index(1)), plan.total)
        behind = _beyond(last, range_.number)
        none = constants.index(0)
        others = arith.SelectOp(is_part, none, arith.SelectOp(is_own, behind, none).result).result
        return _Item(tile, first, count, is_part, others, steps)


def _not_below(left: Any, right: Any) -> Any:
    """Whether a number is not less than another."""
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.uge, left, right).result


def _beyond(number: Any, least: Any) -> Any:
    """How far a number is beyond another; 0 if it is not."""
    return indexing.sub(dialect("arith").MaxUIOp(number, least).result, least)


def _walk(block: Any, work: Work, plan: _Plan | Table, loop: Any, number: Any, scratch: tuple[Any, Any]) -> None:
    """Puts a role's work on one tile into a loop over the items of its block."""
    inside = [op.operation for op in in_block(block)]
    with ir.InsertionPoint(inside[0]):
        start, rank = rings.enter(), None
        if plan.cluster > 1:  # not tile.rank, on which the place of what all of them copy would seem to depend
            number, rank = indexing.div(number, plan.cluster), indexing.rem(number, plan.cluster)
        range_ = plan.range_of(number)
        items = dialect("scf").ForOp(constants.index(0), range_.items, constants.index(1), list(start))
    with ir.InsertionPoint(items.body):
        item = range_.item(items.induction_variable, number)
        tile = item.tile if rank is None else indexing.add(indexing.mul(item.tile, plan.cluster), rank)
    end = into_loop(inside, items, work.place, {work.number: tile})
    with ir.InsertionPoint(loop):
        fills = bool(named(loop, "tile.tma_load"))
        item.bound(loop, fills)
        if not fills:
            first = range_.number
            if rank is not None:
                first = indexing.add(first, indexing.mul(rank, plan.ranges))
            _finish(inside, first, item, scratch)
    with ir.InsertionPoint(items.body):
        dialect("scf").YieldOp(end)
    with ir.InsertionPoint(block):
        rings.leave(*items.results)


def _finish(work: list[Any], place: Any, item: _Item | Item, scratch: tuple[Any, Any]) -> None:
    """Leaves a part at its place, or adds those at the next places and finishes the tile. The branch is after the wait
    for products: before it, it would make ptxas serialize them."""
    scf = dialect("scf")
    wait = next(op for op in work if op.name == "tile.mma_wait" and constants.number_of(op, "pending") == 0)
    releases = [op for op in work[work.index(wait) :] if op.name == "tile.consumer_release"]
    finishing = [op for op in work[work.index(wait) + 1 :] if op not in releases]
    value = wait.results[0]
    with ir.InsertionPoint.after(releases[-1] if releases else wait), wait.location:
        branch = scf.IfOp(item.is_part, has_else=True)
    with ir.InsertionPoint(branch.then_block), wait.location:
        stream_k.store_partials(value, *scratch, place)
        scf.YieldOp([])
    with ir.InsertionPoint(branch.else_block), wait.location:
        total = stream_k.fix_up(value, *scratch, indexing.add(place, 1), item.others)
    for op in finishing:
        branch.else_block.append(op)
        for position, operand in enumerate(op.operands):
            if operand == value:
                op.operands[position] = total
    with ir.InsertionPoint(branch.else_block), wait.location:
        scf.YieldOp([])
