"""Products of warp tiles of bytes as dp4a of lanes: four products along k and their sum, of 32 bits, which wraps.

Lanes are arranged 4 x 8, as in `fma`. A lane takes four neighbours in k of each of its rows of A and of its columns of
B as a word, and multiplies each of the former with each of the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.lowering import fma
from mlir_gemm.lowering.access import assemble
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.operands import Operand

PRODUCTS = 4
"""Of one instruction, along k."""
HELD = 32
"""Words of A that a lane loads at once, as a bound on registers."""


def check(product: Any) -> None:
    """Refuses other element types, and warp tiles that 4 x 8 lanes, or words of four elements of k, do not divide."""
    fma.check(product)
    lhs, rhs, acc = (value.type.element_type for value in product.operation.operands)
    if [str(each) for each in (lhs, rhs, acc)] != ["i8", "i8", "i32"]:
        raise pass_error(product, f"a product of {lhs} and {rhs} into {acc}; expected i8 and i8 into i32")
    depth = Operand.of(product, "a").depth
    if depth % PRODUCTS:
        raise pass_error(product, f"a product over a K of {depth}; expected a multiple of {PRODUCTS}")


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
    kinds: tuple[Any, Any]
    """Whether the bytes of A and of B have a sign, as attributes."""

    @staticmethod
    def of(fragments: Fragments, op: Any) -> _Product:
        unsigned = ir.StringAttr(op.attributes["unsigned"]).value if "unsigned" in op.attributes else ""
        nvvm = dialect("nvvm")
        kinds = nvvm.DotAccumulateType.SIGNED, nvvm.DotAccumulateType.UNSIGNED
        a, b = Operand.of(op, "a"), Operand.of(op, "b")
        return _Product(fragments, a, b, (kinds["a" in unsigned], kinds["b" in unsigned]))

    def emit(self, sums: list[Any]) -> list[Any]:
        """The sums with the product added; a piece for each."""
        layout, lane = self.fragments.layout, self.fragments.lane
        shape = (self.a.outer, self.b.outer)
        places = [layout.place(number, shape) for number in range(layout.count(shape))]
        rows = list(dict.fromkeys(row for row, _ in places))
        columns = [column + along for column in dict.fromkeys(column for _, column in places)
                   for along in range(layout.width)]  # fmt: skip
        totals = [[dialect("vector").ExtractOp(total, [], [along]).result for along in range(layout.width)]
                  for total in sums]  # fmt: skip
        chunk = self._chunk(len(rows))
        for first in range(0, self.a.depth, chunk):
            left = _words(self.a, lane.row, rows, len(layout.rows), first, chunk)
            right = _words(self.b, lane.column, columns, layout.width, first, chunk)
            for word in range(chunk // PRODUCTS):
                for number, (row, column) in enumerate(places):
                    for along in range(layout.width):
                        total = totals[number][along]
                        totals[number][along] = self._dot(left[row, word], right[column + along, word], total)
        return [assemble(layout.piece_type(each[0].type), each) for each in totals]

    def _chunk(self, rows: int) -> int:
        """Elements of K that are loaded together: up to 16 bytes, where K runs along rows."""
        chunk = fma.WIDEST if self.a.contiguous or self.b.contiguous else PRODUCTS
        while chunk > PRODUCTS and (rows * chunk > HELD * PRODUCTS or self.a.depth % chunk):
            chunk //= 2
        return chunk

    def _dot(self, left: Any, right: Any, total: Any) -> Any:
        a, b = self.kinds
        return dialect("nvvm").DotAccumulate4WayOp(left, a, right, b, total, results=[total.type]).result


def _words(operand: Operand, lane: Any, outer: list[int], width: int, first: int, count: int) -> dict[Any, Any]:
    """Four neighbours in K each, by place along M or N and number, from `first` on: `count` elements of K. `width` is
    how many places lie beside each other."""
    vector, found = dialect("vector"), dict[Any, Any]()
    if operand.contiguous:
        for place in outer:
            loaded = fma.neighbours(operand.memory, [indexing.add(lane, place), constants.index(first)], count)
            found |= {(place, word): _part(loaded, word) for word in range(count // PRODUCTS)}
        return found
    for word in range(count // PRODUCTS):
        for start in outer[::width]:
            at = [constants.index(first + PRODUCTS * word + step) for step in range(PRODUCTS)]
            loaded = [fma.neighbours(operand.memory, [k, indexing.add(lane, start)], width) for k in at]
            for number in range(width):
                bytes_ = [vector.ExtractOp(each, [], [number]).result for each in loaded]
                found[start + number, word] = assemble(ir.VectorType.get([PRODUCTS], operand.element), bytes_)
    return found


def _part(loaded: Any, word: int) -> Any:
    """Four bytes of a vector of more, taken as a word, so that they stay in one register."""
    count = loaded.type.shape[0] // PRODUCTS
    if count == 1:
        return loaded
    vector, i32 = dialect("vector"), ir.IntegerType.get_signless(32)
    words = vector.BitCastOp(ir.VectorType.get([count], i32), loaded).result
    one = vector.FromElementsOp(ir.VectorType.get([1], i32), [vector.ExtractOp(words, [], [word]).result]).result
    return vector.BitCastOp(ir.VectorType.get([PRODUCTS], loaded.type.element_type), one).result
