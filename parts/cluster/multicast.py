"""multicast: the blocks of a cluster copy what they have in common together."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.passes import at, step, upstream

PART = Part(
    "multicast",
    lambda schedule: schedule.cluster_m * schedule.cluster_n > 1,
    lambda _, __: [at("parallelize", "cluster", step("share-copies"), upstream("cse"))],
)
