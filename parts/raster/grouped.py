"""grouped: `raster_group` tile rows at a time, so that the blocks in flight read few rows of A and few columns of B."""

from __future__ import annotations

from mlir_gemm.parts.base import Raster
from mlir_gemm.parts.common_fields import RASTER_GROUP

PART = Raster("grouped", lambda schedule: schedule.raster_group, grouped=True, fields=(RASTER_GROUP,), default=True)
