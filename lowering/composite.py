"""Operands of elements with components (`tile.composite`): lanes load each element whole, and make its block of numbers
in registers.

An element at row r and place s of what is in memory is the block of rows c r .. and columns c s .., c being the number
of components, which are neighbours in memory. So the c x c numbers cost one access, and at most a few selections and
changes of sign: which number of a block a lane needs may depend on the lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import composites, constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.components import weighted
from mlir_gemm.dialect.memory import subview
from mlir_gemm.lowering import shared_address
from mlir_gemm.lowering.access import assemble, load
from mlir_gemm.lowering.operands import ROWS, LaneTerms, Operand, plus
from mlir_gemm.spec.bilinear import Table

Cached = Callable[[Any, Callable[[], Operand]], Operand]
SHARE = 4
"""Lanes that hold a row of a matrix of `mma.sync`."""


@dataclass(frozen=True)
class CompositeOperand(Operand):
    """A view of a tile.composite, by a warp."""

    elements: Any
    """What is in memory of it: a view of as many columns, and a row for each row of elements."""
    table: Table
    """The number at (row, column) of a block, as sums of components: `table[row][component][column]`."""

    @property
    def count(self) -> int:
        """Components of an element."""
        return len(self.table)

    def by_matrix(self) -> bool:
        return False

    def number(self, at: tuple[int, int], values: Sequence[Any]) -> Any | None:
        """The number at a place (row and column) of a block; None where it is zero whatever the element is."""
        row, column = at
        terms = [(value, self.table[row][j][column]) for j, value in enumerate(values) if self.table[row][j][column]]
        return weighted(terms, self.element) if terms else None

    def _load_piece(self, terms: LaneTerms, at: tuple[int, int]) -> Any:
        """What a lane holds of a matrix of 8 rows along N: `each` neighbours along k."""
        count, each = self.count, self.each
        apart = max(1, each // count)  # elements along k that a lane needs
        step = (1, SHARE, apart) if each >= count else (count // each, SHARE * each // count, 1)
        across, along = terms.sum((SHARE * count, ROWS // count, 1)), terms.sum(step)
        loaded = [
            self._element(plus(across, at[0] // count), plus(along, at[1] // count + number)) for number in range(apart)
        ]
        row = terms.sum((SHARE, count, 1))
        first = terms.sum((1, count // each, each)) if each < count else None
        chosen: list[Any] = []
        for part in range(max(1, count // each)):  # the number along k at which what a lane holds begins
            for across_at in range(count):
                values: list[Any] = []
                for number in range(each):
                    along_at = part * each + number
                    which = loaded[along_at // count]
                    place = (across_at, along_at % count) if self.contiguous else (along_at % count, across_at)
                    found = self.number(place, which)
                    values.append(found if found is not None else weighted([], self.element))
                chosen.append(assemble(ir.VectorType.get([each], self.element), values))
        parts = [_selected(row, 1, chosen[start : start + count]) for start in range(0, len(chosen), count)]
        return parts[0] if first is None else _selected(first, each, parts)

    def _element(self, across: Any, along: Any) -> list[Any]:
        """The components of an element, by its places across and along k."""
        row, place = (across, along) if self.contiguous else (along, across)
        return self.components(row, indexing.mul(place, self.count), self.count)

    def components(self, row: Any, column: Any, count: int) -> list[Any]:
        """So many neighbours in a row of what is in memory, as wide as accesses are surely aligned. The column is a
        multiple of `count`."""
        width, type_ = count, self.element
        whole = Operand(self.elements, True)
        while width > 1 and (width * type_.width > WIDEST or not whole.is_aligned(width)):
            width //= 2
        found: list[Any] = []
        for start in range(0, count, width):
            place = [row, indexing.add(column, start)]
            if width == 1:
                found.append(load(type_, self.elements, place))
                continue
            vector = load(ir.VectorType.get([width], type_), self.elements, place)
            found += [dialect("vector").ExtractOp(vector, [], [number]).result for number in range(width)]
        return found


WIDEST = 128
"""Bits of one access."""


def _selected(index: Any, step: int, values: Sequence[Any]) -> Any:
    """The value whose number, times `step`, an index is."""
    arith = dialect("arith")
    found = values[-1]
    for number in reversed(range(len(values) - 1)):
        here = arith.CmpIOp(arith.CmpIPredicate.eq, index, constants.index(number * step)).result
        found = arith.SelectOp(here, values[number], found).result
    return found


def operand_of(product: Any, which: str, cached: Cached | None = None) -> Operand:
    """Operand `a` or `b` of a tile.mma, at the insertion point. `cached` keeps what is built for one product."""
    plain = Operand.of(product, which)
    view = composites.viewed(plain.memory)
    if view is None:
        return plain

    def build() -> CompositeOperand:
        _, (row, column) = shared_address.followed(plain.memory)
        rows, columns = plain.memory.type.shape
        table = composites.table_of(view)
        count = len(table)
        top = indexing.div(row, count)
        elements = subview(view.operands[0], [top, column], [rows // count, columns])
        return CompositeOperand(plain.memory, plain.contiguous, elements, table)

    return build() if cached is None else cached((product.operation, which), build)
