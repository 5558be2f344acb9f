"""persistent: a fixed number of blocks walks all tiles."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import Placed, at, step, upstream
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE


def _passes(schedule: Schedule, _: Target) -> Iterator[Placed]:
    # The tiles of k_range go from the longest to the shortest.
    back = {"back": True} if schedule.space == K_RANGE else {}
    consumers = 2 if schedule.ping_pong else 1
    walk = step("persistent-tile-scheduler", blocks=schedule.persistent, consumers=consumers, **back)
    yield at("parallelize", "scheduler", walk, upstream("cse"))


PART = Part(
    "persistent",
    lambda schedule: bool(schedule.persistent),
    _passes,
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
