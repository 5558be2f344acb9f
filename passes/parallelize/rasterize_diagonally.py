"""rasterize-diagonally: parallel block loops become one grid dimension, walked one diagonal of tiles after another.

As `rasterize-blocks`, with another order: tile i of diagonal d lies in row i and in column (i + d) modulo the number of
columns. Neighbouring blocks read other rows of A and other columns of B, so that they meet in fewer parts of the
memory; a wave of blocks reads more of both. `raster_group` and `snake` change nothing. A second run changes nothing.
Refuses what `rasterize-blocks` refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.passes.parallelize.rasterize_blocks import RasterizeBlocks


@dataclass(frozen=True)
class RasterizeDiagonally(RasterizeBlocks):
    """Map block loops to the grid, diagonal by diagonal."""

    name: ClassVar[str] = "rasterize-diagonally"

    def tile_at(self, number: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
        row, diagonal = indexing.rem(number, rows), indexing.div(number, rows)
        return row, indexing.rem(indexing.add(row, diagonal), columns)
