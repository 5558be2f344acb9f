"""tma_store: results leave through shared memory by the copy engine, where it can write them."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.mainloop.table import mainloop_of
from mlir_gemm.spec.passes import at, step

PART = Part(
    "tma_store",
    lambda schedule: schedule.bulk and mainloop_of(schedule).producer,
    lambda _, __: [at("describe", "store", step("stage-stores"))],
)
