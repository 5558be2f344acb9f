"""mma_sync: ldmatrix and mma.sync, a warp at a time."""

from __future__ import annotations

from mlir_gemm.parts.base import Mma
from mlir_gemm.spec.passes import at, step

PART = Mma(
    "mma_sync",
    lambda schedule, _: [at("lower", "mma", step("mma-to-sync", instruction=schedule.instruction))],
    stores_rows=True,
)
