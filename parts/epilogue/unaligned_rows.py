"""unaligned_rows: results whose rows start between vectors leave through shared memory, by lanes, in whole vectors."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.mma.table import mma_of
from mlir_gemm.spec.passes import at, step

PART = Part(
    "unaligned_rows",
    lambda schedule: schedule.bulk and mma_of(schedule).stores_rows,
    lambda _, __: [at("describe", "store", step("stage-rows"))],
)
