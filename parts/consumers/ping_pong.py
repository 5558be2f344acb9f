"""ping_pong: two warpgroups take the tiles of a block alternately; one multiplies while the other finishes its tile.
The order barrier between them is made with the persistent blocks."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.grid import walkers
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def tiles_of_their_own(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.warps == 1 and walkers(problem, schedule):
        return None
    return (
        "ping_pong=on: expected persistent blocks and tiles of one warpgroup each "
        f"(persistent={schedule.persistent}, {schedule.warps} warpgroups), or ping_pong=off"
    )


PART = Part(
    "ping_pong",
    lambda schedule: schedule.ping_pong,
    lambda _, __: [],
    fields=(
        Field(
            "ping_pong",
            "Two warpgroups take the tiles of a persistent block alternately. One multiplies while the other "
            "finishes its tile.",
        ),
    ),
    rules=Rules(shape=(tiles_of_their_own,)),
    on_ring=True,
    by_warpgroups=True,
)
