"""tile_walk: each block computes several tiles, one after another, with any main loop whose threads copy themselves."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.registry import mainloop_of, mma_of, mmas_on
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step, upstream
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import ALL


def walks(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    given = f"tiles_per_block={schedule.tiles_per_block}"
    if mainloop_of(schedule).producer:
        return f"{given} with mainloop={schedule.mainloop}: expected tiles_per_block=1, and persistent blocks instead"
    if mma_of(schedule).opaque:
        able = " or ".join(each.name for each in mmas_on(target) if not each.opaque and not each.by_descriptor)
        return f"{given} with mma={mma_of(schedule).name}: expected tiles_per_block=1, or mma={able}"
    if schedule.space not in ("", ALL):
        return f"{given} with space={schedule.space}: expected tiles_per_block=1, or space={ALL}"
    return None


PART = Part(
    "tile_walk",
    lambda schedule: schedule.tiles_per_block > 1,
    lambda schedule, _: [
        at(
            "parallelize",
            "scheduler",
            step("walk-tiles", tiles=schedule.tiles_per_block, sequential=schedule.sequential_tiles),
            upstream("cse"),
        )
    ],
    rank=12,
    fields=(
        Field("tiles_per_block", "Tiles that each block computes, one after another.", least=1, most=2**16),
        Field("sequential_tiles", "Whether these are neighbours in the raster's order, else a grid of blocks apart."),
    ),
    rules=Rules(shape=(walks,)),
)
