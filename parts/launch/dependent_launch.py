"""dependent_launch: the kernel starts while the one before it in the stream still runs, and waits before it touches
memory (programmatic dependent launch)."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step

PART = Part(
    "dependent_launch",
    lambda schedule: schedule.dependent_launch and mainloop_of(schedule).producer,
    lambda schedule, _: [at("lower", "roles", step("programmatic-dependent-launch", early=schedule.early_trigger))],
    rank=0,
    fields=(
        Field(
            "dependent_launch",
            "The kernel starts while the one in front of it in the stream still runs, and waits before it touches "
            "memory.",
        ),
        Field(
            "early_trigger",
            "With `dependent_launch`: the next kernel starts as soon as all blocks of this one have, so that its "
            "blocks get SMs in the order in which they become free. Without, it starts when this one ends, and its "
            "blocks lie as they are numbered.",
        ),
    ),
    on_ring=True,
)
