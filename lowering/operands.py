"""Fragments of the operands of mma.sync, loaded from memory by the lanes of a warp.

An operand's fragment is a few matrices of 8 rows of 16 bytes (32 for f64); lane `l` holds, of each, the elements
`l % 4 * n .. + n` of row `l // 4`, n being the elements in 4 bytes (1 for f64). Rows run along M or N, columns along K
(PTX: "Matrix Fragments for mma.m16n8k16" and the others). ldmatrix gives lanes just this, of up to four matrices at
once; with elements of 16 bits it can transpose them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.lowering.access import assemble, load, zero_of
from mlir_gemm.lowering.multiples import base_multiple

ROWS = 8
"""Rows of a matrix."""
AT_ONCE = (4, 2, 1)
"""Numbers of matrices that one ldmatrix loads."""
ROW_BYTES = 16
"""What rows of ldmatrix start at multiples of."""


@dataclass
class LaneTerms:
    """Sums of parts of the lane number, each built once, at the kernel's entry so that every block can use them."""

    lane: Any
    entry: Any
    """The operation before which they are built."""
    _known: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def sum(self, *terms: tuple[int, int, int]) -> Any:
        """The sum of `lane // divisor % modulus * factor` over terms (divisor, modulus, factor); 32 lanes."""
        if terms not in self._known:
            with ir.InsertionPoint(self.entry):
                self._known[terms] = self._build(terms)
        return self._known[terms]

    def _build(self, terms: tuple[tuple[int, int, int], ...]) -> Any:
        found = None
        for divisor, modulus, factor in terms:
            term = self.lane if divisor == 1 else indexing.div(self.lane, divisor)
            if divisor * modulus < 32:
                term = indexing.rem(term, modulus)
            if factor != 1:
                term = indexing.mul(term, factor)
            found = term if found is None else indexing.add(found, term)
        return found if found is not None else indexing.mul(self.lane, 0)


@dataclass(frozen=True)
class Operand:
    """An operand of a product as it lies in memory."""

    memory: Any
    contiguous: bool
    """Whether K runs along its rows: `mk` and `nk`."""

    @staticmethod
    def of(product: Any, which: str) -> Operand:
        """Operand `a` or `b` of a tile.mma."""
        return Operand(product.operation.operands["ab".index(which)], tile.order_of(product, which).endswith("k"))

    @property
    def element(self) -> Any:
        return self.memory.type.element_type

    @property
    def outer(self) -> int:
        """Its size along M or N."""
        return self.memory.type.shape[0 if self.contiguous else 1]

    @property
    def depth(self) -> int:
        """Its size along K."""
        return self.memory.type.shape[1 if self.contiguous else 0]

    @property
    def unit(self) -> int:
        """Columns of a matrix."""
        return ROW_BYTES * 8 // self.element.width if self.element.width < 64 else 4

    @property
    def each(self) -> int:
        """Elements of a row that one lane holds."""
        return self.unit // 4

    def by_matrix(self) -> bool:
        """Whether ldmatrix can load it; nvgpu's cannot where elements are 8-bit floats."""
        width = self.element.width
        return (
            in_shared(self.memory)
            and width < 64
            and not (width == 8 and isinstance(self.element, ir.FloatType))
            and (self.contiguous or width == 16)
            and self.is_aligned(ROW_BYTES * 8 // width)
        )

    def is_aligned(self, elements: int) -> bool:
        """Whether rows are of neighbours, and start at multiples of a number of elements."""
        strides, _ = self.memory.type.get_strides_and_offset()
        known = strides[1] == 1 and strides[0] != ir.ShapedType.get_dynamic_stride_or_offset()
        return known and strides[0] % elements == 0 and base_multiple(self.memory) % elements == 0

    def fragments(self, terms: LaneTerms, matrices: list[tuple[int, int]], share: int) -> list[Any]:
        """Fragments of `share` matrices each; `matrices` holds the row and the column of each matrix' first element."""
        type_ = ir.VectorType.get([share, self.each], self.element)
        loaded = self._load(terms, matrices, share)
        fragments: list[Any] = []
        for first in range(0, len(loaded), share):
            vector, _ = loaded[first]
            whole = vector.type == type_ and all(other == vector for other, _ in loaded[first : first + share])
            fragments.append(vector if whole else _stacked(type_, [_row(*at) for at in loaded[first : first + share]]))
        return fragments

    def rows(self, terms: LaneTerms, matrices: list[tuple[int, int]]) -> list[Any]:
        """What a lane holds of each matrix, as vectors of one dimension."""
        return [_row(*at) for at in self._load(terms, matrices, AT_ONCE[0])]

    def _load(self, terms: LaneTerms, matrices: list[tuple[int, int]], share: int) -> list[tuple[Any, int | None]]:
        """For each matrix a vector, and where in it the matrix stands: None for the whole of it."""
        if not self.by_matrix():
            return [(self._load_piece(terms, at), None) for at in matrices]
        found: list[tuple[Any, int | None]] = []
        while len(found) < len(matrices):
            rest = matrices[len(found) :]
            # A fragment of one matrix is taken whole: extracting it as a row of another vector would need a shape_cast.
            count = 1 if share == 1 else next(number for number in AT_ONCE if number <= len(rest))
            # ... and so it would of a last matrix alone, which is loaded as one of two that are the same.
            alone = count == 1 and share > 1
            vector = self._load_matrices(terms, rest[:1] * 2 if alone else rest[:count])
            found += [(vector, number) for number in range(count)]
        return found

    def _load_matrices(self, terms: LaneTerms, matrices: list[tuple[int, int]]) -> Any:
        """One ldmatrix. Lanes 8q .. 8q + 7 give the addresses of the rows of matrix q."""
        places = [self._in_memory(*at) for at in matrices]
        lanes: list[Any] = []
        for axis in (0, 1):
            steps = [(8 << bit, 2, places[1 << bit][axis] - places[0][axis]) for bit in range(len(places) // 2)]
            assert len(places) < 4 or places[3][axis] - places[0][axis] == steps[0][2] + steps[1][2]
            wanted = [(1, ROWS, 1)] if axis == 0 else []
            for divisor, modulus, factor in steps:
                if axis == 0 and (divisor, factor) == (ROWS, ROWS):
                    wanted = [(1, 2 * ROWS, 1)]
                elif factor:
                    wanted.append((divisor, modulus, factor))
            lanes.append(terms.sum(*wanted) if wanted else 0)
        indices = [plus(lane, start) for lane, start in zip(lanes, places[0], strict=True)]
        type_ = ir.VectorType.get([len(matrices), self.each], self.element)
        return dialect("nvgpu").LdMatrixOp(type_, self.memory, indices, not self.contiguous, len(matrices)).res

    def _load_piece(self, terms: LaneTerms, at: tuple[int, int]) -> Any:
        """What a lane holds of one matrix, element by element unless they are aligned neighbours."""
        row, column = terms.sum((4, ROWS, 1)), terms.sum((1, 4, self.each))
        type_ = ir.VectorType.get([self.each], self.element)
        if self.each > 1 and self.contiguous and self.is_aligned(self.each):
            return load(type_, self.memory, [plus(row, at[0]), plus(column, at[1])])
        numbers = range(self.each)
        places = [self._in_memory(plus(row, at[0]), plus(column, at[1] + number)) for number in numbers]
        return assemble(type_, [load(self.element, self.memory, list(place)) for place in places])

    def _in_memory(self, row: Any, column: Any) -> tuple[Any, Any]:
        return (row, column) if self.contiguous else (column, row)


def plus(lane: Any, number: int) -> Any:
    """A part of the lane number, or a number, and a number, as an index."""
    if isinstance(lane, int):
        return constants.index(lane + number)
    return indexing.add(lane, number)


def _row(vector: Any, number: int | None) -> Any:
    return vector if number is None else dialect("vector").ExtractOp(vector, [], [number]).result


def _stacked(type_: Any, rows: list[Any]) -> Any:
    value = dialect("arith").ConstantOp(type_, zero_of(type_)).result
    for number, row in enumerate(rows):
        value = dialect("vector").InsertOp(row, value, [], [number]).result
    return value
