"""l2_policy: lines of A or B that are the first to leave L2, where it cannot hold all of the operand."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.passes import at, step

PART = Part(
    "l2_policy",
    lambda schedule: min(schedule.keep_a, schedule.keep_b) < PARTS,
    lambda schedule, _: [at("describe", "l2", step("l2-eviction-policy", a=schedule.keep_a, b=schedule.keep_b))],
    fields=("keep_a", "keep_b"),
    on_ring=True,
)
