"""Which lane holds which elements of an accumulator of AMD's matrix instructions.

Sources: AMD's "Instinct MI200" and "MI300" instruction set manuals, chapter "Matrix Arithmetic Instructions", and the
"RDNA 3" manual, "Wave Matrix Multiply Accumulate". An instruction has D = A B + C: of D, lane `l` of MFMA has
column `l % n`, and of that four neighbouring rows at a time; with f64 every fourth row; of WMMA every second one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.lowering.access import assemble, part_of
from mlir_gemm.lowering.layouts import Lane, Layout

WAVE = 64
"""Lanes of a wave of the chips that have MFMA."""


@dataclass(frozen=True)
class WaveLayout(Layout):
    """A division of accumulator tiles whose pieces lie anywhere in a fragment. A lane keeps a fragment as one vector of
    all its elements, which is what the instruction takes.

    Where four neighbours of D are in one column, A and B change places in the instruction, D^T = B^T A^T: a lane then
    has four neighbours of a row of the tile, which it loads and stores at once (`turned`)."""

    columns: tuple[int, ...] = (0,)
    """Where a lane's pieces lie, in columns from its first one."""
    turned: bool = False
    """Whether lanes next to each other have rows next to each other, not columns."""

    def __post_init__(self) -> None:
        assert len(self.rows) == len(self.columns)
        assert self.lanes * len(self.rows) * self.width == self.shape[0] * self.shape[1]

    def place(self, number: int, tile: tuple[int, int]) -> tuple[int, int]:
        row, column = super().place(number, tile)
        return row, column + self.columns[number % len(self.columns)]

    def kept_type(self, element: Any) -> Any:
        return ir.VectorType.get([self.share * self.width], element)

    def keep(self, pieces: list[Any], _tile: tuple[int, int]) -> list[Any]:
        type_ = self.kept_type(pieces[0].type.element_type)
        return [assemble(type_, pieces[first : first + self.share]) for first in range(0, len(pieces), self.share)]

    def take(self, kept: list[Any], number: int, tile: Any) -> Any:
        vector, piece = kept[number // self.share], number % self.share
        if self.share == 1:
            return vector
        if self.width > 1:
            return part_of(vector, piece * self.width, self.width)
        element = dialect("vector").ExtractOp(vector, [], [piece]).result
        return dialect("vector").FromElementsOp(self.piece_type(tile.element_type), [element]).result

    def lane(self) -> Lane:
        number = indexing.rem(indexing.thread(), self.lanes)
        near = indexing.rem(number, self.shape[0] if self.turned else self.shape[1])
        far = indexing.div(number, self.shape[0] if self.turned else self.shape[1])
        if self.width > 1:
            far = indexing.mul(far, self.width)
        return Lane(number, near, far) if self.turned else Lane(number, far, near)


def neighbouring(side: int) -> WaveLayout:
    """MFMA of `side` x `side` with accumulators of 32 bits: of every 4 x (64 / side) columns, four in each lane."""
    apart = 4 * WAVE // side
    columns = tuple(range(0, side, apart))
    return WaveLayout((side, side), (0,) * len(columns), 4, lanes=WAVE, columns=columns, turned=True)


DOUBLE = WaveLayout((16, 16), (0, 4, 8, 12), 1, lanes=WAVE, columns=(0,) * 4)
"""MFMA of 16x16x4 with f64."""

ALTERNATING = WaveLayout((16, 16), tuple(range(0, 16, 2)), 1, columns=(0,) * 8)
"""WMMA of 16x16x16 in waves of 32 lanes."""
