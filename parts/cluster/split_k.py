"""split_k: the blocks of a cluster share the k steps of a tile, and add up their sums in a fixed order."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.passes import at, step

PART = Part(
    "split_k",
    lambda schedule: schedule.split > 1,
    lambda _, __: [at("distribute", "split", step("split-steps")), at("distribute", "reduce", step("sum-parts"))],
)
