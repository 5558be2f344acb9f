"""grouped: `raster_group` tile rows at a time, so that the blocks in flight read few rows of A and few columns of B."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster

PART = Raster("grouped", lambda schedule: schedule.raster_group, grouped=True, fields=("raster_group",), default=True)
