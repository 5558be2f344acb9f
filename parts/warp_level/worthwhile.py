"""What is worth proposing for any warp-level mma."""

from __future__ import annotations

from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Tile
from mlir_gemm.spec.target import Target

LARGEST = 256
"""Largest block tile in m and n that is proposed; larger ones do not fit in the registers of an SM."""
MANY_BLOCKS = 32
"""Blocks for each SM from which tiles of an eighth of the largest area, or less, are no longer proposed."""
MOST_ASPECT = 4
"""Of a warp tile."""
STAGES = ((2, 4, 6), (2, 3, 4))
"""Stages that are proposed for asynchronous copies of small and of large tiles."""
SMALL_STAGE = 16 * 1024
"""Bytes of A and B in a stage up to which the tiles are small."""


def worthwhile(problem: Problem, target: Target, rows: list[int], columns: list[int], depths: list[int]) -> list[Tile]:
    """Block tiles of these sizes, less the small ones where there are many blocks anyway."""
    largest = rows[0] * columns[0]
    few = MANY_BLOCKS * target.sms
    return [
        (m, n, k)
        for m in rows
        for n in columns
        if 8 * m * n >= largest or problem.batch * problem.m * problem.n <= few * m * n
        for k in depths
    ]


def stages_of(problem: Problem, block: Tile) -> tuple[int, ...]:
    """Stages worth their shared memory: no more than the loop has steps."""
    m, n, k = block
    size = k * (m * element_bytes(problem, "a") + n * element_bytes(problem, "b"))
    proposed = STAGES[size > SMALL_STAGE]
    return tuple(count for count in proposed if count <= max(proposed[0], -(-problem.k // k)))
