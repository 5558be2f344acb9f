"""persistent: a fixed number of blocks walks all tiles."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step, upstream

PART = Part(
    "persistent",
    lambda schedule: bool(schedule.persistent),
    lambda schedule, _: [
        at(
            "parallelize",
            "scheduler",
            step("persistent-tile-scheduler", blocks=schedule.persistent, consumers=2 if schedule.ping_pong else 1),
            upstream("cse"),
        )
    ],
    rank=11,
    fields=(
        Field(
            "persistent",
            "The thread blocks that walk all tiles between them; 0 launches one for each tile.",
            most=2**20,
            unit="blocks",
        ),
    ),
    on_ring=True,
)
