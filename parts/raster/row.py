"""row: one tile row after another."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster

PART = Raster("row", lambda _: 1)
