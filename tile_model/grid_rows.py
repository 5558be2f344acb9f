"""How the model divides a few long rows among all SMs: the blocks that share a row are any of the grid, all of which
run at the same time.

Each block loads its part of a row once, and keeps it in registers and in shared memory until what all blocks have
reduced is known: a few kernels that read the row again, one for each step, take its bytes twice from memory.
"""

from __future__ import annotations

from mlir_gemm.spec.rows import MOST_CLUSTER, MOST_UNROLLED, RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.row_accesses import vector_of

RESERVED = 4096
"""Bytes of shared memory that reductions and the system need."""
THREADS, HELD = 512, 48
"""Threads of a block, of which an SM has one, and registers in which each holds elements from the first pass to the
last: a thread has 128 at most."""
UNDER_WAY = 128
"""Bytes that a thread loads at once: 64 KB of an SM."""
LEAST = 2 << 20
"""Bytes of rows, or more, that are worth the exchange between blocks: a microsecond or so for each step."""


def room(target: Target) -> tuple[int, int]:
    """Blocks that run at the same time, and the bytes that each can hold of a row."""
    if not target.has_cooperative_launch:
        return 0, 0
    return target.sms, target.smem_block - RESERVED + THREADS * HELD * 4


def of_grid(problem: RowProblem, target: Target) -> RowSchedule | None:
    """The schedule of rows that the blocks of the grid share; None where others take them, or nothing holds them."""
    blocks = room(target)[0] // problem.rows
    counted = problem.fixed and not (problem.open_rows or problem.transposed or problem.results)
    bytes_ = problem.rows * problem.length * problem.read
    if not counted or not problem.again or blocks <= MOST_CLUSTER or bytes_ < LEAST:
        return None
    vector = vector_of(problem, problem.length)
    line = THREADS * vector
    tiles = -(-problem.length // (line * blocks))
    if tiles * vector * problem.held <= HELD:
        return _checked(RowSchedule(THREADS, THREADS, vector, (1, tiles * line), grid=blocks))
    shared = (target.smem_block - RESERVED) // (line * problem.read)
    front, unroll = max(tiles - shared, 0), max(1, min(MOST_UNROLLED, UNDER_WAY // (vector * problem.narrowest)))
    if front * vector * problem.held > HELD:
        return None
    unroll = max(1, min(unroll, tiles - front))
    return _checked(RowSchedule(THREADS, THREADS, vector, (1, line), staged=True, unroll=unroll, grid=blocks,
                                front=front))  # fmt: skip


def _checked(schedule: RowSchedule) -> RowSchedule:
    schedule.check()
    return schedule


def is_grid_too_large(problem: RowProblem, schedule: RowSchedule, target: Target) -> str:
    """Why the blocks of a schedule cannot all run at the same time; empty where they can."""
    if not schedule.grid:
        return ""
    if not target.has_cooperative_launch:
        return f"{target.chip} has no cooperative launches; expected grid=0"
    kept = schedule.kept(problem.length) * problem.read if schedule.staged else 0
    shared = target.smem_sm // (kept + target.smem_reserved) if kept else target.blocks_sm
    each = min(target.threads_sm // schedule.threads, shared, target.blocks_sm)
    blocks = problem.rows * schedule.grid
    if blocks <= each * target.sms:
        return ""
    return f"{blocks} blocks do not fit on {target.chip} at once: {each} on each of {target.sms} SMs; expected fewer"
