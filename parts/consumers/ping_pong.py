"""ping_pong: two warpgroups take the tiles of a block by turns; one multiplies while the other finishes its tile. The
order barrier between them is made with the persistent blocks."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def tiles_of_their_own(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.turns == 2 and schedule.warps == 1 and schedule.persistent:
        return None
    return (
        f"turns={schedule.turns}: expected 1, or 2 with persistent blocks and tiles of one warpgroup each "
        f"(persistent={schedule.persistent}, {schedule.warps} warpgroups)"
    )


PART = Part(
    "ping_pong",
    lambda schedule: schedule.turns > 1,
    lambda _, __: [],
    fields=("turns",),
    rules=Rules(shape=(tiles_of_their_own,)),
    on_ring=True,
    by_warpgroups=True,
)
