"""masked: of a result that is one number on one side of its diagonal only the tiles on the diagonal and on the other
side (`space`) are computed; the others are stored as that number."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.common_fields import SPACE
from mlir_gemm.parts.space.mirrored import beside_diagonal, places_known, square_tiles
from mlir_gemm.parts.spaces import open_sizes
from mlir_gemm.spec.passes import at, step, upstream
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import LOWER, UPPER

_MASKS = {LOWER: "n>m", UPPER: "n<m"}
"""Where a result must be masked for a space to be enough."""


def masked_result(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What it asks for that tiles of one side are enough."""
    wanted = _MASKS[schedule.space]
    if problem.result_mask != wanted:
        return (
            f"space={schedule.space}: the result is not known to be masked for {wanted}; expected a selection of a "
            "constant by a comparison of positions, or space=all"
        )
    return open_sizes(problem, schedule)


PART = Part(
    "masked",
    lambda schedule: schedule.space in _MASKS,
    lambda schedule, _: [
        at("parallelize", "blocks", step("fill-masked", **beside_diagonal(schedule, schedule.space)), upstream("cse"))
    ],
    fields=(SPACE,),
    rules=Rules(shape=(masked_result, square_tiles, places_known)),
)
