"""A pair of reductions on tiles, by blocks that share rows: each around a pivot of its own part, until all exchange
what both have found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.paired_reductions import LEAST, Pair, divided
from mlir_gemm.dialect.reductions import Combine, reduce
from mlir_gemm.dialect.row_tiles import RowTiles

Continue = Callable[[list[Any]], list[Any]]
"""Joins what a reduction finds with what it starts from."""


@dataclass
class PairedRows:
    """Builds a pair, at the insertion point."""

    tiles: RowTiles
    pair: Pair
    between: list[Generic] = field(default_factory=list[Generic])
    """What was computed for each row from the first result while that was of this block's part."""
    own: Any = None
    """What the first reduction finds in this block's part."""
    finish_first: Continue | None = None
    done: bool = False

    def is_open(self) -> bool:
        """Whether what rows have in common is as this block's part has it."""
        return self.own is not None and not self.done

    def take(self, generic: Generic, value: Any, finish: Continue) -> None:
        """Takes what one of both finds in this block's part."""
        if generic.op == self.pair.first.op:
            self.own, self.finish_first = value, finish
            pivot = self._as_total(value) if self.pair.squares else _finite(value)
            self.tiles.narrow[self.pair.results[0]] = pivot
            return
        assert self.finish_first is not None
        found = self._squares(value) if self.pair.squares else self._exponentials(value)
        for buffer, whole, finish_it in zip(self.pair.results, found, (self.finish_first, finish), strict=True):
            (self.tiles.narrow[buffer],) = finish_it([whole])
        self.done = True

    def compute_again(self, dependent: Iterable[Any]) -> None:
        """What was computed from a result of this block's part alone is computed from that of whole rows. `dependent`
        are the buffers of it."""
        dropped = [buffer for buffer in dependent if buffer not in self._scaled]
        for held in (self.tiles.held, *self.tiles.fronts.values()):
            for buffer in dropped:
                held.pop(buffer, None)
        for generic in self.between:
            self.tiles.elementwise(generic)

    @property
    def _scaled(self) -> list[Any]:
        """The buffer of what the second adds up, if there is one and it has the type of their sum."""
        elements = self.pair.elements
        same = elements is not None and elements.type.element_type == self.pair.results[1].type.element_type
        return [elements] if same else []

    def _squares(self, squares: Any) -> tuple[Any, Any]:
        _, total, all_ = exchanged(self.tiles, [self._share(squares.type), self.own, squares], self.pair.join)
        return total, all_

    def _exponentials(self, sum_: Any) -> tuple[Any, Any]:
        """The maximum and the sum: no number where the maximum is infinite, as that of exp(x - m) is then."""
        arith, narrow = dialect("arith"), self.own.type
        own = self.own if narrow == sum_.type else arith.ExtFOp(sum_.type, self.own).result
        greatest, all_ = exchanged(self.tiles, [own, sum_], self.pair.join)
        all_ = arith.AddFOp(all_, arith.SubFOp(greatest, greatest).result).result
        self._scale(dialect("math").ExpOp(arith.SubFOp(own, greatest).result).result)
        return greatest if narrow == sum_.type else arith.TruncFOp(narrow, greatest).result, all_

    def _scale(self, factor: Any) -> None:
        """What threads hold of the exponentials becomes those around the maximum of whole rows."""
        for held in (self.tiles.held, *self.tiles.fronts.values()):
            for buffer in self._scaled:
                if buffer in held:
                    held[buffer] = dialect("arith").MulFOp(held[buffer], self.tiles.spread(factor, True)).result

    def _as_total(self, total: Any) -> Any:
        """The total that a whole row would have if all its elements were as those of this block's part: its mean is
        theirs."""
        least = constants.splat(total.type, ir.FloatAttr.get(total.type.element_type, LEAST))
        share = dialect("arith").MaxNumFOp(self._share(total.type), least).result
        return divided(total, share)

    def _share(self, type_: Any) -> Any:
        """Which part of a row this block's tiles have, as a number of each row."""
        arith, tiles = dialect("arith"), self.tiles
        before = 0 if tiles.start is None else arith.SubIOp(constants.index(0), tiles.start).result
        end = indexing.add(before, tiles.loops.sizes[-1])
        whole = indexing.mul(indexing.div(end, tiles.step), tiles.tile.elements)
        some = indexing.add(whole, self._within(indexing.rem(end, tiles.step)))
        count = some if tiles.start is None else indexing.sub(some, self._within(before))
        bits, element = arith.IndexCastUIOp(ir.IntegerType.get_signless(32), count).result, type_.element_type
        number = arith.UIToFPOp(element, bits).result
        one = arith.ConstantOp(element, ir.FloatAttr.get(element, 1.0 / self.pair.length)).result
        return dialect("vector").BroadcastOp(type_, arith.MulFOp(number, one).result).result

    def _within(self, distance: Any) -> Any:
        """How many of the first elements of a line of tiles, one of each block, lie in this block's."""
        arith, tiles = dialect("arith"), self.tiles
        distance = constants.index(distance) if isinstance(distance, int) else distance
        after = indexing.sub(arith.MaxUIOp(distance, tiles.ahead).result, tiles.ahead)
        return arith.MinUIOp(after, constants.index(tiles.tile.elements)).result


def exchanged(tiles: RowTiles, values: Sequence[Any], join: Combine) -> list[Any]:
    """What all blocks that share rows have of values of each row, combined."""
    if tiles.meeting is not None:
        return tiles.meeting.reduce(values, join)
    return reduce(values, tiles.tile.element_dim, join, tiles.cluster)


def _finite(most: Any) -> Any:
    """A maximum to subtract: of nothing but -inf, 0."""
    arith, element = dialect("arith"), most.type.element_type
    least, zero = (constants.splat(most.type, ir.FloatAttr.get(element, number)) for number in (-math.inf, 0.0))
    return arith.SelectOp(arith.CmpFOp(arith.CmpFPredicate.OEQ, most, least).result, zero, most).result
