"""Products of warp tiles whose A is a 2:4 sparse tile: mma.sp, as assembly.

An instruction multiplies 16 rows of A by 16 of its values, which are 32 places of k, in the time that a dense one takes
for 16 places. Lanes hold the values as they hold a dense A of 16 columns. Of the metadata a lane 4 g + t has a word: in
its lower and its upper half, for the rows g and g + 8, the 16 places of k from 16 t on. A selector says which lanes'
words count: 0 those of 4 g and 4 g + 1, for 32 places, and 1 those of the two after them (PTX ISA, "Matrix
multiply-accumulate operation using mma.sp instruction", m16n8k32). So a word of each lane is for 64 places of k, and
for two instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import subview
from mlir_gemm.lowering import assembly, shared_address
from mlir_gemm.lowering.access import load, register_of
from mlir_gemm.lowering.operands import LaneTerms, Operand
from mlir_gemm.spec.sparse import DEPTH, KEPT, ROWS

SHAPE = (16, 8, DEPTH)
"""What a warp multiplies with one word of metadata in each lane: two instructions."""
STEP = 32
"""Places of k of an instruction."""


@dataclass
class SparseOperand:
    """A of a product: views of its values and of its metadata, by a warp."""

    values: Operand
    metadata: Any
    """[rows / 16, k]: in each row, for 64 places of k, a word of two elements for each lane."""
    row: Any
    """The row of metadata that is for the first rows."""
    column: Any
    _words: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])

    @staticmethod
    def of(memory: Any) -> SparseOperand:
        """A view of rows of a tile.sparse, at the insertion point."""
        root, (row, column) = shared_address.followed(memory)
        values, metadata = root.owner.operation.operands
        rows, k = memory.type.shape
        half = indexing.mul(indexing.div(column, DEPTH), DEPTH // KEPT)  # so that it is known to be a multiple
        own = subview(values, [row, half], [rows, k // KEPT])
        return SparseOperand(Operand(own, True), metadata, indexing.div(row, ROWS), column)

    def load(self, terms: LaneTerms, first: int) -> list[tuple[list[Any], Any, int]]:
        """For each 16 rows the registers of a lane of the values for 32 places of k from `first` on, its word of
        metadata, and which lanes' words count."""
        rows, start = self.values.outer, first // KEPT
        matrices = [(top + row, start + column) for top in range(0, rows, ROWS) for column in (0, 8) for row in (0, 8)]
        registers = [register_of(each) for each in self.values.rows(terms, matrices)]
        return [
            (registers[4 * block : 4 * block + 4], self._word(terms, block, first // DEPTH), first % DEPTH // STEP)
            for block in range(rows // ROWS)
        ]

    def _word(self, terms: LaneTerms, block: int, slab: int) -> Any:
        if (block, slab) not in self._words:
            place = indexing.add(self.column, indexing.add(terms.sum((1, 32, 2)), slab * DEPTH))
            pair = ir.VectorType.get([2], self.values.element)
            found = load(pair, self.metadata, [indexing.add(self.row, block), place])
            self._words[block, slab] = register_of(found)
        return self._words[block, slab]


def multiply(element: str, a: tuple[list[Any], Any, int], b: list[Any], c: list[Any], ordered: bool) -> list[Any]:
    """One instruction. Where it is told that metadata is in order, it is half as many machine instructions from sm_100
    on (ptxas: 704 for 1,440 in a kernel for sm_120), and as many before. It is marked as having side effects; otherwise
    LLVM might move it into a branch that only some lanes of the warp take."""
    values, word, selector = a
    numbers = iter(range(2 * len(c) + len(values) + len(b)))
    lists = ["{" + ", ".join(f"${next(numbers)}" for _ in registers) + "}" for registers in (c, values, b, c)]
    last = 2 * len(c) + len(values) + len(b)
    name = "mma.sp::ordered_metadata" if ordered else "mma.sp"
    text = (
        f"{name}.sync.aligned.m16n8k{STEP}.row.col.f32.{element}.{element}.f32 {', '.join(lists)}, ${last}, {selector};"
    )
    constraints = [*["=f"] * len(c), *["r"] * (len(values) + len(b)), *["f"] * len(c), "r"]
    type_ = ir.Type.parse(f"!llvm.struct<({', '.join([str(c[0].type)] * len(c))})>")
    return assembly.members_of(assembly.inline(text, constraints, [*values, *b, *c, word], type_))
