"""snake: groups of tile rows as `grouped` has them, every other group walked backwards."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster
from mlir_gemm.parts.common_fields import RASTER_GROUP

PART = Raster("snake", lambda schedule: schedule.raster_group, snake=True, grouped=True, fields=(RASTER_GROUP,))
