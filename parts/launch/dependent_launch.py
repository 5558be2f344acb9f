"""dependent_launch: the kernel starts while the one before it in the stream still runs, and waits before it touches
memory (programmatic dependent launch)."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.spec.passes import at, step

PART = Part(
    "dependent_launch",
    lambda schedule: schedule.dependent_launch and mainloop_of(schedule).producer,
    lambda schedule, _: [at("lower", "roles", step("programmatic-dependent-launch", early=schedule.early_trigger))],
    rank=0,
    fields=("dependent_launch", "early_trigger"),
    on_ring=True,
)
