"""Products of warp tiles as multiply-adds of lanes, or as the operations of another algebra: any type, any chip.

Lanes are arranged 4 x 8. For each k a lane multiplies each of its rows of A with its vectors of neighbours in a row of
B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import algebras, composites, constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.components import weighted
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.lowering.access import assemble, load
from mlir_gemm.lowering.composite import CompositeOperand, operand_of
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.layouts import Layout, simt
from mlir_gemm.lowering.multiples import base_multiple
from mlir_gemm.lowering.operands import Operand
from mlir_gemm.spec.algebra import Algebra

WIDEST = 16
"""Bytes of one access."""
WORD = 32
"""Bits of a register."""
HELD = 32
"""Elements of A that a lane loads at once, as a bound on registers."""


def layout_for(product: Any) -> Layout:
    """How lanes divide the accumulator of a product: up to 4 rows of up to 4 neighbours (or 16 bytes) each.

    Where K runs along the rows of B, a single column each, or those of one element: the 8 lanes side by side then read
    16 bytes each of rows of B that follow each other, which lie in different banks when padded by as much. Every fourth
    row does not."""
    type_ = product.operation.results[0].type
    rows, columns = type_.shape
    most = max(1, min(4, WIDEST * 8 // type_.element_type.width))
    if Operand.of(product, "b").contiguous:
        most = components_of(product)
    width = next(width for width in (4, 2, 1) if width <= most and (width == 1 or columns % (8 * width) == 0))
    return simt(next(height for height in (4, 2, 1) if height == 1 or rows % (4 * height) == 0), width)


def check(product: Any) -> None:
    """Refuses element types that do not extend to the accumulator's, and warp tiles that 4 x 8 lanes cannot share."""
    lhs, rhs, acc = product.operation.operands
    into = acc.type.element_type
    for operand in (lhs, rhs):
        element = operand.type.element_type
        alike = isinstance(element, ir.FloatType) == isinstance(into, ir.FloatType)
        if not alike or (element != into and element.width >= into.width):
            raise pass_error(product, f"a product of {element} into {into}; expected types that the latter can hold")
    m, n = acc.type.shape
    if m % 4 or n % 8:
        raise pass_error(product, f"a warp tile of {m}x{n}; expected multiples of 4 x 8")
    count = components_of(product)
    if layout_for(product).width % count:
        raise pass_error(
            product, f"a warp tile of {m}x{n} of {into} with elements of {count} components, which a lane must hold "
            f"whole, in at most {WIDEST} bytes; expected columns that {8 * count} divides"
        )  # fmt: skip


def components_of(product: Any) -> int:
    """Components of the elements of B."""
    view = composites.viewed(product.operation.operands[1])
    return 1 if view is None else len(composites.table_of(view))


@dataclass(frozen=True)
class LaneProducts:
    """Emits runs of products. With `singly`, multiply-adds take single numbers, in an order that spares registers'
    banks; else pieces."""

    singly: bool

    def emit(self, fragments: Fragments, run: list[Any]) -> None:
        """Emits a run of tile.mma at the insertion point."""
        for op in run:
            with op.location:
                product = _Product.of(fragments, op, self.singly)
                fragments.kept[op.results[0]] = product.emit(fragments.keep(op.operands[2]))


class _Singles:
    """Sums of pieces as single numbers: vectors of one, as upstream makes no instruction of a scalar multiply-add."""

    def __init__(self, pieces: list[Any]) -> None:
        self.type = pieces[0].type
        self.values = [[_single(piece, place) for place in range(self.type.shape[0])] for piece in pieces]

    def add(self, left: list[Any], right: list[Any], numbers: list[list[int]]) -> None:
        """Adds the products of single numbers of A and pieces of B; `numbers` has the piece of each column's each row.

        Columns of single numbers are walked down and up in turn: two multiply-adds in a row have a factor in common,
        which is read once. The registers' two banks give one operand each in a clock, and three are needed."""
        rows = list(range(len(left)))
        for piece, inside in zip(right, numbers, strict=True):
            for place in range(self.type.shape[0]):
                factor = _single(piece, place) if hasattr(piece, "type") else piece[place]
                if factor is None:  # a number that is zero whatever the elements are
                    continue
                for row in rows:
                    values = self.values[inside[row]]
                    values[place] = dialect("vector").FMAOp(left[row], factor, values[place]).result
                rows.reverse()

    def pieces(self) -> list[Any]:
        """The sums as pieces."""
        vector = dialect("vector")
        return [assemble(self.type, [vector.ExtractOp(each, [], [0]).result for each in values])
                for values in self.values]  # fmt: skip


def _single(piece: Any, place: int) -> Any:
    """An element of a vector as a vector of one."""
    if piece.type.shape == [1]:
        return piece
    vector = dialect("vector")
    type_ = ir.VectorType.get([1], piece.type.element_type)
    return vector.BroadcastOp(type_, vector.ExtractOp(piece, [], [place]).result).result


@dataclass(frozen=True)
class _Product:
    fragments: Fragments
    a: Operand
    b: Operand
    extend: tuple[Callable[[Any], Any], Callable[[Any], Any]]
    """From the elements of A and of B to the accumulator's."""
    element: Any
    algebra: Algebra | None
    singly: bool
    """Whether numbers are multiplied one by one; where an instruction takes one."""

    @staticmethod
    def of(fragments: Fragments, op: Any, singly: bool) -> _Product:
        into = op.results[0].type.element_type
        unsigned = ir.StringAttr(op.attributes["unsigned"]).value if "unsigned" in op.attributes else ""
        a, b = Operand.of(op, "a"), operand_of(op, "b")
        extend = (_extension(a.element, into, "a" in unsigned), _extension(b.element, into, "b" in unsigned))
        algebra = tile.algebra_of(op)
        # Factors that are extended first need more registers than that order leaves: f16 at 1000 on sm_90 spilled.
        singly = singly and algebra is None and a.element == into == b.element
        singly = singly and isinstance(into, ir.FloatType) and into.width >= WORD
        return _Product(fragments, a, b, extend, into, algebra, singly)

    def emit(self, sums: list[Any]) -> list[Any]:
        """The sums with the product added; a piece for each."""
        layout = self.fragments.layout
        shape = (self.a.outer, self.b.outer)
        places = [layout.place(number, shape) for number in range(layout.count(shape))]
        rows = list(dict.fromkeys(row for row, _ in places))
        columns = list(dict.fromkeys(column for _, column in places))
        chunk = self._chunk(len(rows))
        totals = _Singles(sums) if self.singly else list(sums)
        for first in range(0, self.a.depth, chunk):
            left = self._left(rows, first, chunk)
            right = self._right(columns, first, chunk)
            for step in range(chunk):
                if isinstance(totals, _Singles):
                    factors = ([left[row, step] for row in rows], [right[column, step] for column in columns])
                    totals.add(*factors, [[places.index((row, column)) for row in rows] for column in columns])
                    continue
                for number, (row, column) in enumerate(places):
                    totals[number] = self._add(left[row, step], right[column, step], totals[number])
        return totals.pieces() if isinstance(totals, _Singles) else totals

    def _chunk(self, rows: int) -> int:
        """Steps of K whose elements are loaded together: neighbours, where K runs along rows."""
        least = self.b.count if isinstance(self.b, CompositeOperand) else 1
        chunk = 4 if self.a.contiguous or self.b.contiguous else least
        while chunk > least and (rows * chunk > HELD or self.a.depth % chunk):
            chunk //= 2
        return chunk

    def _left(self, rows: list[int], first: int, count: int) -> dict[Any, Any]:
        """The elements of A by row and step, each spread."""
        lane, found = self.fragments.lane.row, dict[Any, Any]()
        if self.a.contiguous:
            for row in rows:
                loaded = self.extend[0](
                    neighbours(self.a.memory, [indexing.add(lane, row), constants.index(first)], count)
                )
                found |= {(row, step): self._spread(loaded, step) for step in range(count)}
            return found
        height = len(self.fragments.layout.rows)
        for step in range(count):
            for top in rows[::height]:
                loaded = self.extend[0](
                    neighbours(self.a.memory, [constants.index(first + step), indexing.add(lane, top)], height)
                )
                found |= {(top + row, step): self._spread(loaded, row) for row in range(height)}
        return found

    def _right(self, columns: list[int], first: int, count: int) -> dict[Any, Any]:
        """The elements of B by column and step, as pieces."""
        lane, found = self.fragments.lane.column, dict[Any, Any]()
        width = self.fragments.layout.width
        type_ = self.fragments.layout.piece_type(self.element)
        if isinstance(self.b, CompositeOperand):
            for column in columns:
                at = indexing.add(lane, column)
                for step in range(0, count, self.b.count):
                    pieces = self._blocks(self.b, first + step, at, width)
                    found |= {(column, step + number): self._assembled(piece) for number, piece in enumerate(pieces)}
            return found
        for column in columns:
            if not self.b.contiguous:
                for step in range(count):
                    at = [constants.index(first + step), indexing.add(lane, column)]
                    found[column, step] = self.extend[1](neighbours(self.b.memory, at, width))
                continue
            starts = [[indexing.add(lane, column + number), constants.index(first)] for number in range(width)]
            loaded = [self.extend[1](neighbours(self.b.memory, at, count)) for at in starts]
            for step in range(count):
                numbers = [dialect("vector").ExtractOp(vector, [], [step]).result for vector in loaded]
                found[column, step] = assemble(type_, numbers)
        return found

    def _blocks(self, b: CompositeOperand, first: int, column: Any, width: int) -> list[list[Any]]:
        """For each step of an element along k, which begin at `first`, the numbers of `width` columns from `column` on,
        as vectors of one, extended; None for those that are zero whatever the elements are."""
        count = b.count
        if b.contiguous:
            rows = [indexing.add(indexing.div(column, count), number) for number in range(width // count)]
            values = [value for row in rows for value in b.components(row, constants.index(first), count)]
        else:
            values = b.components(constants.index(first // count), column, width)
        pieces: list[list[Any]] = []
        for step in range(count):
            pieces.append([])
            for place in range(width):
                which = values[place // count * count : (place // count + 1) * count]
                at = (place % count, step) if b.contiguous else (step, place % count)
                number, single = b.number(at, which), ir.VectorType.get([1], b.element)
                vector = None if number is None else dialect("vector").BroadcastOp(single, number).result
                pieces[-1].append(None if vector is None else self.extend[1](vector))
        return pieces

    def _assembled(self, piece: list[Any]) -> Any:
        """Numbers as they are where those are multiplied one by one; else as a piece."""
        if self.singly:
            return piece
        vector, zero = dialect("vector"), weighted([], self.element)
        numbers = [zero if each is None else vector.ExtractOp(each, [], [0]).result for each in piece]
        return assemble(self.fragments.layout.piece_type(self.element), numbers)

    def _spread(self, vector: Any, number: int) -> Any:
        """One element of a vector as a vector as wide as a piece; with `singly` of one."""
        if self.singly:
            return _single(vector, number)
        type_ = self.fragments.layout.piece_type(self.element)
        return dialect("vector").BroadcastOp(type_, dialect("vector").ExtractOp(vector, [], [number]).result).result

    def _add(self, left: Any, right: Any, total: Any) -> Any:
        if self.algebra is not None:
            return algebras.build(self.algebra, left, right, total)
        if isinstance(self.element, ir.FloatType):
            # Not math.fma: convert-gpu-to-nvvm would call a library for it.
            return dialect("vector").FMAOp(left, right, total).result
        return dialect("arith").AddIOp(dialect("arith").MulIOp(left, right).result, total).result


def _extension(element: Any, into: Any, unsigned: bool) -> Callable[[Any], Any]:
    """How a vector of operands becomes one of the accumulator's elements; exactly."""
    if element == into:
        return lambda value: value
    arith = dialect("arith")
    integers = arith.ExtUIOp if unsigned else arith.ExtSIOp
    make = arith.ExtFOp if isinstance(into, ir.FloatType) else integers
    return lambda value: make(ir.VectorType.get(list(value.type.shape), into), value).result


def neighbours(memory: Any, indices: list[Any], count: int) -> Any:
    """`count` neighbours along the last dimension as a vector, in the widest accesses that are surely aligned. The last
    index is a multiple of `count`."""
    element = memory.type.element_type
    strides, _ = memory.type.get_strides_and_offset()
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    width = count if strides[-1] == 1 else 1
    while width > 1 and (
        width * element.width > WIDEST * 8
        or any(number == marker or number % width for number in (strides[0], base_multiple(memory)))
    ):
        width //= 2
    part = element if width == 1 else ir.VectorType.get([width], element)
    starts = range(0, count, width)
    parts = [load(part, memory, [indices[0], indexing.add(indices[1], start)]) for start in starts]
    return assemble(ir.VectorType.get([count], element), parts)
