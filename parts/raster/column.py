"""column: one tile column after another."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster

PART = Raster("column", lambda _: 0)
