"""Products of warp tiles as multiply-adds of lanes, or as the operations of another algebra: any type, any chip.

Lanes are arranged 4 x 8. For each k a lane multiplies each of its rows of A with its vectors of neighbours in a row of
B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import algebras, constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.lowering.access import assemble, load
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.layouts import Layout, simt
from mlir_gemm.lowering.multiples import base_multiple
from mlir_gemm.lowering.operands import Operand
from mlir_gemm.spec.algebra import Algebra

WIDEST = 16
"""Bytes of one access."""
HELD = 32
"""Elements of A that a lane loads at once, as a bound on registers."""


def layout_for(product: Any) -> Layout:
    """How lanes divide the accumulator of a product: up to 4 rows of up to 4 neighbours (or 16 bytes) each.

    Where K runs along the rows of B, a single column each: the 8 lanes side by side then read 16 bytes each of rows
    of B that follow each other, which lie in different banks when padded by as much. Every fourth row does not."""
    type_ = product.operation.results[0].type
    rows, columns = type_.shape
    most = max(1, min(4, WIDEST * 8 // type_.element_type.width))
    if Operand.of(product, "b").contiguous:
        most = 1
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


def emit(fragments: Fragments, run: list[Any]) -> None:
    """Emits a run of tile.mma at the insertion point."""
    for op in run:
        with op.location:
            fragments.kept[op.results[0]] = _Product.of(fragments, op).emit(fragments.keep(op.operands[2]))


@dataclass(frozen=True)
class _Product:
    fragments: Fragments
    a: Operand
    b: Operand
    extend: tuple[Callable[[Any], Any], Callable[[Any], Any]]
    """From the elements of A and of B to the accumulator's."""
    element: Any
    algebra: Algebra | None

    @staticmethod
    def of(fragments: Fragments, op: Any) -> _Product:
        into = op.results[0].type.element_type
        unsigned = ir.StringAttr(op.attributes["unsigned"]).value if "unsigned" in op.attributes else ""
        a, b = Operand.of(op, "a"), Operand.of(op, "b")
        extend = (_extension(a.element, into, "a" in unsigned), _extension(b.element, into, "b" in unsigned))
        return _Product(fragments, a, b, extend, into, tile.algebra_of(op))

    def emit(self, sums: list[Any]) -> list[Any]:
        """The sums with the product added; a piece for each."""
        layout = self.fragments.layout
        shape = (self.a.outer, self.b.outer)
        places = [layout.place(number, shape) for number in range(layout.count(shape))]
        rows = list(dict.fromkeys(row for row, _ in places))
        columns = list(dict.fromkeys(column for _, column in places))
        sums, chunk = list(sums), self._chunk(len(rows))
        for first in range(0, self.a.depth, chunk):
            left = self._left(rows, first, chunk)
            right = self._right(columns, first, chunk)
            for step in range(chunk):
                for number, (row, column) in enumerate(places):
                    sums[number] = self._add(left[row, step], right[column, step], sums[number])
        return sums

    def _chunk(self, rows: int) -> int:
        """Steps of K whose elements are loaded together: neighbours, where K runs along rows."""
        chunk = 4 if self.a.contiguous or self.b.contiguous else 1
        while chunk > 1 and (rows * chunk > HELD or self.a.depth % chunk):
            chunk //= 2
        return chunk

    def _left(self, rows: list[int], first: int, count: int) -> dict[Any, Any]:
        """The elements of A by row and step, each as a vector as wide as a piece."""
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

    def _spread(self, vector: Any, number: int) -> Any:
        """One element of a vector as a vector as wide as a piece."""
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
