"""l2_policy: lines of A or B that are the first to leave L2, where it cannot hold all of the operand."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.passes import at, step

PART = Part(
    "l2_policy",
    lambda schedule: min(schedule.l2_keep_a, schedule.l2_keep_b) < PARTS,
    lambda schedule, _: [at("describe", "l2", step("l2-eviction-policy", a=schedule.l2_keep_a, b=schedule.l2_keep_b))],
    fields=(
        Field(
            "l2_keep_a",
            f"Of {PARTS} parts of A, how many L2 keeps like any other data; the rest is marked as the first to leave "
            f"it. {PARTS} marks nothing.",
            most=PARTS,
            unit="parts of an operand",
        ),
        Field("l2_keep_b", "The same of B.", most=PARTS, unit="parts of an operand"),
    ),
    on_ring=True,
)
