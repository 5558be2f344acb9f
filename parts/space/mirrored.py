"""mirrored: of a result that equals its transpose only the tiles on and below the diagonal are computed, and each is
stored twice, the second time transposed."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.common_fields import SPACE
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.parts.spaces import other_fields
from mlir_gemm.parts.wording import shown_tile
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import LOWER, TRIANGLE

_ALONE = ("swap_ab",)
"""Fields that mean other tiles than those of a triangle."""


def symmetric_result(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What it asks for that half of the tiles is enough."""
    if not problem.symmetric:
        return (
            f"space={TRIANGLE}: the result is not known to equal its transpose; expected A times its own transpose, or "
            "a result marked tile.symmetric, or space=all"
        )
    return None


def square_tiles(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Tiles that mirror each other have one shape."""
    m, n, _ = schedule.block
    if problem.m != problem.n:
        return f"a result of {problem.m}x{problem.n} with space={schedule.space}: expected a square one, or space=all"
    if m != n:
        shown = shown_tile(schedule.block)
        return f"block={shown} with space={schedule.space}: expected tiles as wide as they are high"
    return other_fields(schedule, _ALONE)


def places_known(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """An element must be known to lie in a lane, so that it can be stored at two places."""
    mma = mma_of(schedule)
    if mma.opaque or mma.whole_tiles or not schedule.accumulate:
        what = f"mma={mma.name}" if mma.opaque or mma.whole_tiles else "accumulate=off"
        return f"space={schedule.space} with {what}: a tile is stored at one place; expected space=all"
    return None


def beside_diagonal(schedule: Schedule, half: str) -> dict[str, str]:
    """The option of a pass that stores tiles of one half twice, where clusters have tiles of the other half too."""
    return {"half": half} if schedule.cluster_m * schedule.cluster_n > 1 else {}


PART = Part(
    "mirrored",
    lambda schedule: schedule.space == TRIANGLE,
    lambda schedule, _: [at("parallelize", "blocks", step("mirror-stores", **beside_diagonal(schedule, LOWER)))],
    fields=(SPACE,),
    rules=Rules(shape=(symmetric_result, square_tiles, places_known)),
)
