"""How blocks share the k steps of tiles that have unequal numbers of them, and a table in memory that says so.

Tiles lie in the order of their numbers. Those of the whole rounds are walked back and forth, a tile for each block; the
steps of the others form one row, which is cut into a range for each block. A block with more steps in its whole tiles
has a shorter range, so that all end at about the same time. The last range is the first block's, as where tiles are
equal (`passes/parallelize/stream_k.py`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from mlir_gemm.dialect import constants, indexing, step_ranges
from mlir_gemm.dialect.bindings import dialect
from mlir_gemm.dialect.tile_walks import Range, back_and_forth


class Row(NamedTuple):
    """What a block has of the shared steps."""

    tile: int
    """The first tile of which it has any."""
    first: int
    """The first step that it has of it: other than 0 where an earlier range begins the tile."""
    last: int
    """The last tile ..."""
    stop: int
    """... and the step of it after its last one."""
    others: int
    """How many blocks have the rest of the last tile, 0 where an earlier range begins it."""
    items: int
    """Items of work of the block: whole tiles, and those of which it has steps."""


@dataclass(frozen=True)
class Shares:
    """How tiles and steps are given out; with clusters those of one block of each, which all others follow."""

    rounds: int
    """Whole tiles of each block."""
    blocks: int
    ranges: int
    rows: tuple[Row, ...]
    """For each block; those from `ranges` on have no range."""

    @staticmethod
    def of(lengths: Sequence[int], blocks: int, share: int) -> Shares:
        """Of tiles with so many steps each. `share` as in `stream-k`: ranges for each tile that fills no whole round,
        and 1 for a whole round more."""
        rounds, left = divmod(len(lengths), blocks)
        if share == 1 and rounds:
            rounds, left = rounds - 1, left + blocks
        whole = len(lengths) - left
        shared = list(lengths[whole:])
        total = sum(shared)
        ranges = min(blocks, total, left * min(share, max(shared))) if share > 1 else min(blocks, total)
        own = [sum(lengths[_tile(item, block, blocks)] for item in range(rounds)) for block in range(ranges)]
        cuts = _cuts([own[ranges - 1 - number] for number in range(ranges)], total)
        ends = [0, *accumulate(shared)]
        found = [_range(number, cuts, ends, whole, rounds) for number in range(ranges)]
        none = Row(whole, 0, whole, 0, 0, rounds)
        blocks = blocks if rounds else ranges
        rows = (found[ranges - 1 - block] if block < ranges else none for block in range(blocks))
        return Shares(rounds, blocks, ranges, tuple(rows))


def _tile(item: int, block: int, blocks: int) -> int:
    """The number of a whole tile, back and forth."""
    return item * blocks + (blocks - 1 - block if item % 2 else block)


def _cuts(own: Sequence[int], total: int) -> list[int]:
    """Where ranges begin, and where the last one ends, so that each and the steps that its block has besides come to
    the same, as far as possible; at least one step each."""
    count = len(own)
    low, high = 0, total + max(own)
    while low < high:  # the least level up to which the ranges take all steps
        level = (low + high) // 2
        low, high = (low, level) if sum(max(1, level - each) for each in own) >= total else (level + 1, high)
    sizes = [max(1, low - each) for each in own]
    more = sum(sizes) - total
    for place in range(count):  # those of one level are more than there are by less than one each, or of one step
        if more and sizes[place] > 1:
            sizes[place], more = sizes[place] - 1, more - 1
    return [0, *accumulate(sizes)]


def _range(number: int, cuts: Sequence[int], ends: Sequence[int], whole: int, rounds: int) -> Row:
    start, end = cuts[number], cuts[number + 1]
    first, last = bisect_right(ends, start) - 1, bisect_left(ends, end) - 1
    begins = first < last or start == ends[first]
    others = bisect_left(cuts, ends[last + 1]) - 1 - number if begins else 0
    return Row(whole + first, start - ends[first], whole + last, end - ends[last], others, rounds + last - first + 1)


@dataclass(frozen=True)
class Table:
    """The shares of blocks in memory, and what they leave of a tile's steps."""

    shares: Shares
    declared: Any
    """The memref.global."""
    peeled: int
    """Steps of a tile in front of the loop that multiplies."""
    cluster: int
    """Blocks of a cluster."""

    @staticmethod
    def of(function: Any, shares: Shares, peeled: int, cluster: int) -> Table:
        """Makes the table of a function's blocks."""
        numbers = [number for row in shares.rows for number in row]
        return Table(shares, step_ranges.constant(function, "ranges", numbers), peeled, cluster)

    @property
    def blocks(self) -> int:
        return self.shares.blocks

    @property
    def ranges(self) -> int:
        return self.shares.ranges

    def range_of(self, block: Any) -> Share:
        """What a block has, as values at the insertion point."""
        memory, start = step_ranges.read_table(self.declared), indexing.mul(block, len(Row._fields))
        row = [step_ranges.entry(memory, indexing.add(start, place)) for place in range(len(Row._fields))]
        last = constants.index(self.ranges - 1)
        number = indexing.sub(last, dialect("arith").MinUIOp(block, last).result)
        rounds = back_and_forth(block, self.shares.rounds * self.blocks, self.blocks)
        return Share(self, number, rounds, *row)


@dataclass(frozen=True)
class Share:
    """What a block has, as values at the insertion point."""

    table: Table
    number: Any
    """Of its range."""
    whole: Range
    """Its whole tiles."""
    tile: Any
    first: Any
    last: Any
    stop: Any
    others: Any
    items: Any

    def item(self, item: Any, block: Any) -> Item:
        """The item of work of a number: whole tiles, then what it has of others."""
        arith, rounds, blocks = dialect("arith"), self.table.shares.rounds, self.table.blocks
        none = constants.index(0)
        tile, shares = indexing.add(self.tile, item), None
        starts = indexing.at_least(self.first, 1)
        if rounds:
            shares = indexing.at_least(item, rounds)
            place = arith.MaxUIOp(item, constants.index(rounds)).result
            of_round = self.whole.number(indexing.add(indexing.mul(item, blocks), block))
            tile = indexing.select(shares, indexing.add(self.tile, indexing.sub(place, rounds)), of_round)
        at_first = indexing.equal(tile, self.tile)
        is_part = arith.AndIOp(at_first, starts).result
        is_last = indexing.equal(tile, self.last)
        if shares is not None:
            is_part, is_last = (arith.AndIOp(each, shares).result for each in (is_part, is_last))
        first = indexing.select(is_part, self.first, none)
        others = indexing.select(is_part, none, indexing.select(is_last, self.others, none))
        return Item(self.table.peeled, tile, first, self.stop, is_last, is_part, others)


@dataclass(frozen=True)
class Item:
    """An item of work, as values at the insertion point."""

    peeled: int
    tile: Any
    first: Any
    """The first of the tile's steps."""
    stop: Any
    """The one after the last, where `is_last`."""
    is_last: Any
    is_part: Any
    """Whether another block begins the tile."""
    others: Any
    """How many blocks have the rest of the tile; their ranges follow this one's."""

    def bound(self, loop: Any, fills: bool) -> None:
        """Makes a loop over the steps of the tile one over those of the item, before it: one that fills the ring, or
        one that multiplies."""
        begin, end = loop.operands[0], loop.operands[1]
        if fills:
            loop.operands[0] = indexing.add(begin, self.first)
            loop.operands[1] = indexing.select(self.is_last, indexing.add(begin, self.stop), end)
            return
        until = indexing.select(self.is_last, self.stop, indexing.add(end, self.peeled))
        loop.operands[1] = indexing.sub(until, indexing.add(self.first, self.peeled))
