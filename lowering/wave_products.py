"""Products of warp tiles as AMD's matrix instructions, MFMA and WMMA: the instructions by type, the fragments of their
operands, and the order in which they stand.

Of the first operand of MFMA, lane `l` has row `l % m` and `each` neighbours in k from `l // m * each` on; of the
second the same with columns. WMMA takes all sixteen of k in each lane, those of lanes 0 to 15 again in lanes 16 to 31
(sources: `wave_layouts.py`). Which k a place of an instruction stands for is free as long as both operands agree: where
k runs along the rows of one of them, each lane loads up to 16 bytes of neighbours, and the instructions of a step take
their parts of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.lowering.access import assemble, load, part_of
from mlir_gemm.lowering.fma import WIDEST, neighbours
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.operands import Operand
from mlir_gemm.lowering.wave_layouts import ALTERNATING, DOUBLE, WAVE, WaveLayout, neighbouring
from mlir_gemm.spec.schedule import Tile

MFMA: dict[tuple[str, str], tuple[Tile, ...]] = {
    ("f16", "f32"): ((16, 16, 16), (32, 32, 8)),
    ("bf16", "f32"): ((16, 16, 16), (32, 32, 8)),
    ("f32", "f32"): ((16, 16, 4), (32, 32, 2)),
    ("f64", "f64"): ((16, 16, 4),),
    ("i8", "i32"): ((16, 16, 32), (32, 32, 16), (16, 16, 16), (32, 32, 8)),
}
"""M, N and K of the instructions for an element type of the operands and one of the accumulator. Those of i8 with the
longer k are there from gfx942 on, which lacks the others."""
WMMA: dict[tuple[str, str], tuple[Tile, ...]] = {
    ("f16", "f32"): ((16, 16, 16),),
    ("bf16", "f32"): ((16, 16, 16),),
    ("i8", "i32"): ((16, 16, 16),),
}
"""The same of WMMA on gfx11."""


@dataclass(frozen=True)
class Instruction:
    """One matrix instruction of a wave."""

    name: str
    """`MFMA` or `WMMA`."""
    shape: Tile
    element: str
    """Element type of the operands."""

    @property
    def layout(self) -> WaveLayout:
        """Which lane holds what of its accumulator."""
        if self.name == "WMMA":
            return ALTERNATING
        return DOUBLE if self.element == "f64" else neighbouring(self.shape[0])

    @property
    def each(self) -> int:
        """Neighbours in k of a row that one lane has."""
        m, _, k = self.shape
        return k if self.name == "WMMA" else m * k // WAVE

    def emit(self, fragments: Fragments, run: list[Any]) -> None:
        """Emits a run of tile.mma at the insertion point."""
        for op in run:
            with op.location:
                sums = list(fragments.keep(op.operands[2]))
                fragments.kept[op.results[0]] = _Product(self, fragments.lane.number, op).added(sums)


@dataclass
class _Product:
    instruction: Instruction
    lane: Any
    op: Any

    def added(self, sums: list[Any]) -> list[Any]:
        """The sums with the product added: row by row of fragments, every second row backwards, so that a fragment of B
        that was just used is used again."""
        a, b = Operand.of(self.op, "a"), Operand.of(self.op, "b")
        _, _, k = self.instruction.shape
        together = self._together(a, b)
        for first in range(0, a.depth, k * together):
            left, right = self._fragments(a, first, together), self._fragments(b, first, together)
            for part in range(together):
                for i, row in enumerate(left):
                    columns = list(enumerate(right))
                    for j, column in reversed(columns) if i % 2 else columns:
                        number = i * len(right) + j
                        sums[number] = self._multiply(self._part(row, part), self._part(column, part), sums[number])
        return sums

    def _together(self, a: Operand, b: Operand) -> int:
        """Instructions along k whose operands are loaded at once."""
        count, size = 1, self.instruction.each * a.element.width // 8
        if not a.contiguous and not b.contiguous:
            return 1
        while 2 * count * size <= WIDEST and a.depth % (2 * count * self.instruction.shape[2]) == 0:
            count *= 2
        return count

    def _fragments(self, operand: Operand, first: int, together: int) -> list[Any]:
        """What the lane has of each fragment down an operand, as vectors."""
        side = self.instruction.shape[0]
        count = self.instruction.each * together
        row = indexing.rem(self.lane, side)
        start = constants.index(first)
        if self.instruction.name == "MFMA":
            start = indexing.add(indexing.mul(indexing.div(self.lane, side), count), first)
        return [
            self._neighbours(operand, indexing.add(row, top), start, count) for top in range(0, operand.outer, side)
        ]

    def _neighbours(self, operand: Operand, row: Any, start: Any, count: int) -> Any:
        """Neighbours in k of a row, or column, of an operand."""
        if operand.contiguous:
            return neighbours(operand.memory, [row, start], count)
        places = [indexing.add(start, number) for number in range(count)]
        return assemble(
            ir.VectorType.get([count], operand.element),
            [load(operand.element, operand.memory, [place, row]) for place in places],
        )

    def _part(self, vector: Any, part: int) -> Any:
        """The operand of one instruction of those whose elements a vector holds."""
        each = self.instruction.each
        if each == 1:
            return dialect("vector").ExtractOp(vector, [], [part]).result
        return vector if vector.type.shape[0] == each else part_of(vector, part * each, each)

    def _multiply(self, a: Any, b: Any, c: Any) -> Any:
        amdgpu, (m, n, k) = dialect("amdgpu"), self.instruction.shape
        if self.instruction.layout.turned:
            a, b = b, a
        if self.instruction.name == "WMMA":
            return amdgpu.WMMAOp(m, n, k, a, b, c, **self._unsigned()).operation.results[0]
        return amdgpu.MFMAOp(m, n, k, a, b, c).operation.results[0]

    def _unsigned(self) -> dict[str, bool]:
        sides = ir.StringAttr(self.op.attributes["unsigned"]).value if "unsigned" in self.op.attributes else ""
        return {"unsignedA": "a" in sides, "unsignedB": "b" in sides}


def check(product: Any, name: str, shape: Tile) -> Instruction:
    """The instruction of `shape` for a product. Refuses types without one, and sizes that are not multiples of it."""
    lhs, rhs, acc = product.operation.operands
    types = [str(value.type.element_type) for value in (lhs, rhs, acc)]
    table = MFMA if name == "MFMA" else WMMA
    shapes = table.get((types[0], types[2])) if types[0] == types[1] else None
    if shapes is None:
        known = "; ".join(f"{operand}, {operand} into {into}" for operand, into in table)
        raise pass_error(
            product, f"{name} has no product of {types[0]} and {types[1]} into {types[2]}; supported: {known}"
        )
    if shape not in shapes:
        supported = ", ".join("x".join(map(str, each)) for each in shapes)
        raise pass_error(product, f"{name} has no {'x'.join(map(str, shape))} for {types[0]}; supported: {supported}")
    if name == "MFMA" and "unsigned" in product.operation.attributes:
        raise pass_error(product, "MFMA multiplies signed bytes only; expected a product of these, or mma-to-fma")
    sizes = (*acc.type.shape, Operand.of(product, "a").depth)
    if any(size % part for size, part in zip(sizes, shape, strict=True)):
        raise pass_error(product, f"a warp tile of {sizes}; expected multiples of the instruction's {shape}")
    return Instruction(name, shape, types[0])
