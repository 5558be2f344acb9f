"""tile_walk: each block computes several tiles, one after another, with any main loop."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import PassSpec, Placed, at, step, upstream
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE


def walks(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    given = f"tiles_per_block={schedule.tiles_per_block}"
    for name in ("persistent", "stream_k"):
        if getattr(schedule, name) != FIELDS[name]:
            value = shown_value(getattr(schedule, name))
            return f"{given} with {name}={value}: blocks walk tiles in one way; expected {name}=0, or tiles_per_block=1"
    return None


def _walk(schedule: Schedule) -> PassSpec:
    tiles, sequential = schedule.tiles_per_block, schedule.sequential_tiles
    if not mainloop_of(schedule).producer:
        return step("walk-tiles", tiles=tiles, sequential=sequential)
    consumers = 2 if schedule.ping_pong else 1
    # The tiles of k_range go from the longest to the shortest.
    back = {"back": True} if schedule.space == K_RANGE and not sequential else {}
    return step("persistent-tile-scheduler", consumers=consumers, tiles=tiles, sequential=sequential, **back)


def _passes(schedule: Schedule, _: Target) -> Iterator[Placed]:
    yield at("parallelize", "scheduler", _walk(schedule), upstream("cse"))


PART = Part(
    "tile_walk",
    lambda schedule: schedule.tiles_per_block > 1,
    _passes,
    rank=12,
    fields=(
        Field("tiles_per_block", "Tiles that each block computes, one after another.", least=1, most=2**16),
        Field("sequential_tiles", "Whether these are neighbours in the raster's order, else a grid of blocks apart."),
    ),
    rules=Rules(shape=(walks,)),
)
