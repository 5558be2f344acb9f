"""throttle: the arithmetic of an epilogue works on few numbers at a time, so that it takes no issue slots from the
warpgroups that multiply meanwhile."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step

PART = Part(
    "throttle",
    lambda schedule: bool(schedule.throttle),
    lambda schedule, _: [
        at(
            "lower",
            "epilogue",
            step("throttle-epilogue", chains=schedule.throttle, consumers=2 if schedule.ping_pong else 1),
        )
    ],
    fields=(
        Field(
            "throttle",
            "Numbers of an epilogue, in pairs, that a thread has in flight at a time, so that its arithmetic leaves "
            "the tensor cores to the warpgroups that multiply; 0 leaves it to the assembler.",
            most=64,
            unit="numbers",
        ),
    ),
    on_ring=True,
    by_warpgroups=True,
)
