"""snake: groups of tile rows as `grouped` has them, every other group walked backwards."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster

PART = Raster("snake", lambda schedule, rows: min(schedule.raster_group, rows), grouped=True, fields=("raster_group",))
