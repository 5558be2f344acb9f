"""bounded_k: of a product with a triangular, banded or block-wise operand each tile walks only the k steps in which it
is not all zero, a masked tile one, and the tiles of triangles with most steps come first."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.common_fields import SPACE
from mlir_gemm.parts.grid import steps
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.spaces import open_sizes, other_fields
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE

_ALONE = ("cluster_m", "cluster_n", "split_k_cluster", "ping_pong", "persistent", "stream_k", "promotion")
"""Fields that count on the same steps in all tiles. With a block for each tile, long ones first, 4096 x 4096 x 4096
takes 104 us on the H200, with 132 blocks that walk them 111: some get more long tiles than others."""
LEAST = 3
"""Steps of k of a whole tile: two loops walk them."""


def known_zeros(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What it asks for that steps are skipped."""
    if not (problem.zeros or problem.result_mask):
        return (
            f"space={K_RANGE}: no operand is known to be triangular, banded or of blocks, and no result to be masked; "
            "expected one that is computed by comparisons of its positions, or an argument with tile.triangular, "
            "tile.banded, tile.block_diagonal or tile.blocks, or space=all"
        )
    unknown = open_sizes(problem, schedule)
    if unknown is None and steps(problem, schedule) < LEAST:
        return f"space={K_RANGE}: {steps(problem, schedule)} k steps; expected at least {LEAST}"
    return unknown


def tiles_alone(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Each tile has steps of its own, which one loop copies and another multiplies."""
    other = other_fields(schedule, _ALONE)
    if other is None and not (mainloop_of(schedule).producer and mma_of(schedule).asynchronous):
        return f"space={K_RANGE} with mma={schedule.mma}, mainloop={schedule.mainloop}: expected a ring, and wgmma"
    return other


PART = Part(
    "bounded_k",
    lambda schedule: schedule.space == K_RANGE,
    lambda _, __: [at("parallelize", "blocks", step("bound-steps"))],
    fields=(SPACE,),
    rules=Rules(shape=(known_zeros, tiles_alone)),
)
