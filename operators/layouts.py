"""Which lane of a warp holds which elements of an accumulator tile.

A tile is divided into equal fragments. Of each fragment a lane holds some pieces, each a few neighbours of one row:
lane `l` holds the rows `l // across * step + rows[p]`, from the column `l % across * width` on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.passes.launch_blocks import LANES


@dataclass(frozen=True)
class Layout:
    """A division of accumulator tiles among the lanes of a warp."""

    shape: tuple[int, int]
    """Rows and columns of a fragment."""
    rows: tuple[int, ...]
    """Where a lane's pieces lie, in rows from its first one."""
    width: int
    """Elements of a piece."""
    step: int = 1
    """Rows from one group of lanes to the next."""
    stacked: bool = True
    """Whether a fragment is one vector of all its pieces (pieces x width); else it is as many vectors."""

    @property
    def across(self) -> int:
        """Lanes side by side."""
        return self.shape[1] // self.width

    def __post_init__(self) -> None:
        assert LANES % self.across == 0 and self.shape[0] == LANES // self.across * len(self.rows)

    def grid(self, tile: tuple[int, int]) -> tuple[int, int]:
        """Fragments down and along a tile of M x N elements."""
        return tile[0] // self.shape[0], tile[1] // self.shape[1]

    def count(self, tile: tuple[int, int]) -> int:
        """Pieces of a tile in one lane: those of one fragment after the other, fragments row by row."""
        down, along = self.grid(tile)
        return down * along * len(self.rows)

    def place(self, number: int, tile: tuple[int, int]) -> tuple[int, int]:
        """Row and column of a piece in the tile, beyond those of the lane."""
        fragment, piece = divmod(number, len(self.rows))
        down, along = divmod(fragment, self.grid(tile)[1])
        return down * self.shape[0] + self.rows[piece], along * self.shape[1]

    def piece_type(self, element: Any) -> Any:
        """The vector type of a piece."""
        return ir.VectorType.get([self.width], element)

    @property
    def share(self) -> int:
        """Pieces in one of the vectors that a lane keeps a tile in."""
        return len(self.rows) if self.stacked else 1

    def kept_type(self, element: Any) -> Any:
        """The type of the vectors that a lane keeps a tile in, as instructions take them and loops carry them."""
        return ir.VectorType.get([self.share, self.width] if self.stacked else [self.width], element)

    def lane(self) -> Lane:
        """Where the running lane's first piece lies in a fragment, at the insertion point."""
        gpu = dialect("gpu")
        number = indexing.rem(gpu.thread_id(gpu.Dimension.x), LANES)
        row, column = indexing.div(number, self.across), indexing.rem(number, self.across)
        if self.step > 1:
            row = indexing.mul(row, self.step)
        if self.width > 1:
            column = indexing.mul(column, self.width)
        return Lane(number, row, column)


@dataclass(frozen=True)
class Lane:
    """The running lane: its number in the warp, and the row and column of its first piece in a fragment."""

    number: Any
    row: Any
    column: Any


SYNC = Layout((16, 8), rows=(0, 8), width=2)
"""Accumulators of mma.m16n8 (PTX: "Matrix Fragments for mma.m16n8k16" and the others)."""

SYNC_DOUBLE = Layout((8, 8), rows=(0,), width=2)
"""Accumulators of mma.m8n8k4 with f64."""


def simt(rows: int, width: int) -> Layout:
    """Lanes 4 x 8, each with `rows` rows of `width` neighbours."""
    return Layout((4 * rows, 8 * width), tuple(range(rows)), width, step=rows, stacked=False)
