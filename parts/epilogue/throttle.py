"""throttle: few numbers of an epilogue are under way at a time, so that its arithmetic leaves the tensor cores to the
warpgroups that multiply meanwhile."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
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
    fields=("throttle",),
    on_ring=True,
    by_warpgroups=True,
)
