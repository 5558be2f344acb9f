"""How the model divides rows that are reduced once into parts, which others combine."""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES
from mlir_gemm.tile_model.columns import LAUNCH, parts_of_columns
from mlir_gemm.tile_model.rows import select_rows

LEAST_PART = 8192
"""Elements of a part of a row."""


def parts_of_rows(problem: RowProblem, target: Target) -> tuple[int, int]:
    """In how many parts rows are reduced side by side, and how many elements each has: few long rows keep too few
    threads busy. 1 where that does not pay for another launch, or elements are needed again."""
    schedule = select_rows(problem, target)
    if problem.again or not problem.fixed:
        return 1, problem.length
    if problem.transposed:
        return parts_of_columns(problem, schedule, target)
    busy = -(-problem.rows // schedule.tile[0]) * schedule.threads
    full = target.sms * target.threads_sm // 2
    seconds = problem.rows * problem.length * max(problem.read, 1) / target.dram_bytes_s
    parts = min(-(-full // busy), problem.length // LEAST_PART)
    if parts < 2 or seconds * (full / busy - 1) < LAUNCH:
        return 1, problem.length
    blocks = -(-problem.rows // schedule.tile[0])
    for step in (schedule.vector * LANES, schedule.vector):
        for most in (parts * 3 // 2, 2 * parts):  # what runs at once, or more
            even = [more for more in range(parts - parts // 8, most) if problem.length % (more * step) == 0]
            if even:
                best = max(even, key=lambda more: min(1.0, more / parts) * _evenly(blocks * more, target))
                return best, problem.length // best
    step = schedule.vector * LANES
    depth = problem.length // (parts * step) * step
    return (problem.length // depth, depth) if depth else (1, problem.length)


def _evenly(blocks: int, target: Target) -> float:
    """How well blocks fill the SMs, of which some have one block more than others."""
    return blocks / (-(-blocks // target.sms) * target.sms)
