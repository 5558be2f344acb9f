"""Reductions along the rows of a kernel, on tiles: in the passes that go over rows, and across a tile at their end."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.body_cuts import Body
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.paired_rows import PairedRows, exchanged
from mlir_gemm.dialect.reductions import AnyCombination, Choice, combinations_of, reduce, why_uncombined
from mlir_gemm.dialect.row_tiles import RowTiles
from mlir_gemm.dialect.running import Running

TYPES_AT_ONCE = 2
"""Runs of values of one type that blocks of the grid exchange at once: as a tile.grid_reduce takes them."""
PLACE_BITS, PLACES = 32, (1 << 31) - 1
"""Bits in which places in a row are counted where rows have fewer elements, and the place after all of them."""

_Part = tuple[int, list[Any]]
"""A number of tiles, and what they have."""


def reduce_rows(
    tiles: RowTiles, generics: Sequence[Generic], starts: dict[Any, Any], paired: PairedRows | None = None
) -> None:
    """Reductions of which none needs another's result. `starts` says what each output's buffer holds before: the
    attribute of a number, or None where that is in memory. Those of a pair are of this block's part until both are
    known."""
    found = [_Reduction(tiles, generic, each) for generic in generics for each in _combinations(generic)]

    neutrals = [each.neutral(number) for each in found for number in range(len(each.combination.values))]

    def elements() -> list[Any]:
        return [value for each in found for value in each.elements()]

    def combined(carried: list[Any]) -> list[Any]:
        old = iter(carried)
        if tiles.shift:
            tiles.load_ahead([each.generic for each in found])
        parts: list[list[_Part]] = [[] for _ in found]
        for number, _ in enumerate(tiles.each_tile()):
            if tiles.is_uneven(number):  # a product that is added is one instruction with the sum in the same block
                for each, own in zip(found, parts, strict=True):
                    each.join_equal(own)
            values = iter(tiles.unless_beyond(number, elements, neutrals))
            for each, own in zip(found, parts, strict=True):
                own.append((1, [next(values) for _ in each.combination.values]))
        return [value for each, own in zip(found, parts, strict=True)
                for value in each.joined([next(old) for _ in each.combination.values], own)]  # fmt: skip

    first = [] if tiles.whole else [value for each in found for value in each.first()]
    totals = elements() if tiles.whole else tiles.go_over(first, combined)
    rest = iter(totals)
    mine = [[next(rest) for _ in each.combination.values] for each in found]
    if paired is not None:
        for each, values in zip(found, mine, strict=True):
            (value,) = reduce(values, tiles.tile.element_dim, each.combination.join)
            paired.take(each.generic, value, functools.partial(each.continued, starts=starts))
        return
    whole = [each.within(values) for each, values in zip(found, mine, strict=True)]
    if tiles.meeting is not None:
        whole = _exchanged(tiles, found, whole)
    for each, values in zip(found, whole, strict=True):
        tiles.narrow.update(zip(each.outputs, each.continued(each.widened(values), starts), strict=True))


def _exchanged(tiles: RowTiles, found: list[_Reduction], values: list[list[Any]]) -> list[list[Any]]:
    """What all blocks of a group have of several reductions: at once, where the values of each type stand together and
    are of two types at most."""
    types = [value.type for each in values for value in each]
    runs = 1 + sum(one != other for one, other in itertools.pairwise(types))
    if runs > TYPES_AT_ONCE:
        return [exchanged(tiles, each, one.combination.join) for one, each in zip(found, values, strict=True)]
    counts = [len(each) for each in values]

    def split(flat: Sequence[Any]) -> list[list[Any]]:
        ends = list(itertools.accumulate(counts))
        return [list(flat[end - count : end]) for end, count in zip(ends, counts, strict=True)]

    def join(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        sides = zip(found, split(left), split(right), strict=True)
        return [value for each, one, other in sides for value in each.combination.join(one, other)]

    return split(exchanged(tiles, [value for each in values for value in each], join))


@dataclass(frozen=True)
class _Reduction:
    """What a generic does with some of its outputs."""

    tiles: RowTiles
    generic: Generic
    combination: AnyCombination

    @property
    def outputs(self) -> list[Any]:
        return [self.generic.outputs[number] for number in self.combination.outputs]

    def elements(self) -> list[Any]:
        """What is combined, as tiles with neutral elements beyond the ends of rows."""
        return [self._element(number) for number in range(len(self.combination.values))]

    def first(self) -> list[Any]:
        """What a pass starts from: neutral elements, at a thread's first place where those that follow are taken only
        if they are better."""
        tiles = self.tiles
        neutrals = [self.neutral(number) for number in range(len(self.combination.values))]
        if not self._in_order:
            return [constants.splat(tiles.tile.type(neutral.type, True), neutral) for neutral in neutrals]
        start = constants.splat(tiles.tile.type(neutrals[0].type, True), neutrals[0])
        return [start, tiles.at_start(lambda: self._element(1))]

    def joined(self, before: list[Any], parts: list[_Part]) -> list[Any]:
        """What a pass has, with what an iteration's tiles have, neighbours first."""
        values = [part for _, part in parts]
        if isinstance(self.combination, Choice) and self._in_order:
            return functools.reduce(self.combination.join_further, values, before)
        if isinstance(self.combination, Running):
            return self.combination.join_all(before, values)
        while len(parts) > 1:
            self.join_equal(parts)
            last = parts[-2:]
            if len(last) > 1:
                parts[-2:] = [(last[0][0] + last[1][0], self.combination.join(last[0][1], last[1][1]))]
        return self.combination.join(before, parts[0][1])

    def join_equal(self, parts: list[_Part]) -> None:
        """Joins neighbours that have as many tiles each, where the order of tiles does not matter. Tiles that are all
        loaded first are joined one after another: a product is then added by the instruction that forms it."""
        if isinstance(self.combination, Running) or (isinstance(self.combination, Choice) and self._in_order):
            return
        joined: list[_Part] = []
        for part in parts:
            joined.append(part)
            while len(joined) > 1 and (joined[-1][0] == joined[-2][0] or self.tiles.shift):
                (count, one), (_, other) = joined[-2:]
                joined[-2:] = [(2 * count, self.combination.join(one, other))]
        parts[:] = joined

    def within(self, values: list[Any]) -> list[Any]:
        """What tiles of values give for each row, in this block or in its cluster."""
        if isinstance(self.combination, Running):
            return self._running(*values)
        return reduce(values, self.tiles.tile.element_dim, self.combination.join, self._cluster)

    def widened(self, values: list[Any]) -> list[Any]:
        """Values of each row in the types of the outputs."""
        return [_widened(each, value.type) for each, value in zip(values, self.combination.values, strict=True)]

    def continued(self, reduced: list[Any], starts: dict[Any, Any]) -> list[Any]:
        """What the reduction gives, from what its rows give and what it starts from."""
        given = [starts.get(output) for output in self.outputs]
        is_neutral = all(a is b or (a is not None and b is not None and a == b)
                         for a, b in zip(given, self.combination.neutrals, strict=True))  # fmt: skip
        if is_neutral and (not isinstance(self.combination, Body) or self.combination.is_whole):
            return reduced
        if not is_neutral and isinstance(self.combination, Body) and not self.combination.any_start:
            raise pass_error(self.generic.op, "a reduction whose result depends on when its start is combined")
        tiles, before = self.tiles, list[Any]()
        for output, value in zip(self.outputs, reduced, strict=True):
            start, known = starts.get(output), tiles.narrow.get(output)
            if start is not None:
                before.append(constants.splat(value.type, start))
            else:
                before.append(tiles.load(output, _map_of(self.generic, output), False) if known is None else known)
        return self.combination.join(before, reduced)

    def _element(self, number: int) -> Any:
        tiles, neutral = self.tiles, self.neutral(number)
        found = tiles.value(self.generic, self.combination.values[number])
        if neutral.type != found.type.element_type:
            found = dialect("arith").TruncIOp(tiles.tile.type(neutral.type, True), found).result
        return tiles.clipped(found, neutral)

    def neutral(self, number: int) -> Any:
        """The attribute of what changes nothing in a value, of the type in which tiles have it: places in a row are
        counted in 32 bits where that is enough, in half the registers."""
        loops, neutral = self.tiles.loops, self.combination.neutrals[number]
        sizes = loops.sizes[loops.outer :]
        few = all(isinstance(size, int) for size in sizes) and math.prod(sizes) < PLACES
        if number and isinstance(self.combination, Choice) and few and neutral.type.width > PLACE_BITS:
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(PLACE_BITS), PLACES)
        return neutral

    @property
    def _cluster(self) -> int:
        """Blocks that combine through each other's shared memory."""
        return 1 if self.tiles.meeting is not None else self.tiles.cluster

    @property
    def _in_order(self) -> bool:
        """Whether a pass meets the elements of a row in the order of their places, of which a choice takes the
        first."""
        loops = self.tiles.loops
        return isinstance(self.combination, Choice) and loops.element == loops.outer

    def _running(self, most: Any, sum_: Any) -> list[Any]:
        """Across a tile the maximum comes first, and each sum is scaled once. Scaled in each step they err more, since
        nothing averages the last few: a softmax of 10 million f32 by 1.5e-7, where eager PyTorch errs by 1.0e-7."""
        tiles, arith = self.tiles, dialect("arith")
        dim, cluster = tiles.tile.element_dim, self._cluster
        (greatest,) = reduce([most], dim, lambda one, other: [arith.MaximumFOp(one[0], other[0]).result], cluster)
        spread = tiles.spread(greatest, True)
        same = arith.CmpFOp(arith.CmpFPredicate.OEQ, most, spread).result  # both -inf too, whose difference is NaN
        nothing = constants.splat(most.type, ir.FloatAttr.get(most.type.element_type, 0.0))
        distance = arith.SelectOp(same, nothing, arith.SubFOp(most, spread).result).result
        scaled = arith.MulFOp(sum_, dialect("math").ExpOp(distance).result).result
        (whole,) = reduce([scaled], dim, lambda one, other: [arith.AddFOp(one[0], other[0]).result], cluster)
        return [greatest, whole]


def _widened(value: Any, type_: Any) -> Any:
    """Places that were counted in fewer bits, in theirs."""
    if value.type.element_type == type_:
        return value
    return dialect("arith").ExtSIOp(ir.VectorType.get(value.type.shape, type_), value).result


def _combinations(generic: Generic) -> list[AnyCombination]:
    found = combinations_of(generic)
    if found is None:
        raise pass_error(generic.op, "a reduction that is not one associative operation on each output, nor a "
                         "choice of a value with its place, nor a maximum with its running sum; as a body of its own "
                         f"it cannot be done in any order: {why_uncombined(generic)}")  # fmt: skip
    return found


def _map_of(generic: Generic, output: Any) -> Any:
    return next(map_ for each, map_ in zip(generic.operands, generic.maps, strict=True) if each == output)
