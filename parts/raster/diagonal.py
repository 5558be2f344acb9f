"""diagonal: one diagonal of tiles after another, so that neighbouring blocks read other rows of A and columns of B."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster

PART = Raster("diagonal", lambda _: 0, walk="rasterize-diagonally", diagonal=True)
