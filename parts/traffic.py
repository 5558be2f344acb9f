"""Bytes that a schedule moves: through L2, from DRAM, and in the epilogue."""

from __future__ import annotations

from mlir_gemm.parts.grid import covered, grid, share, steps
from mlir_gemm.parts.layout import is_staged
from mlir_gemm.parts.registry import raster_of
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.problem import Problem, memory_bytes, stored_part
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

UNPROMOTED_L2 = 2.0
"""Factor on L2 traffic without shared memory: L1 does not keep all of a block's tiles. Fitted."""
STAYING = 0.8
"""Part of L2 under which operands and result stay there from one run of a kernel to the next: it reads nothing from
DRAM."""
L2_SHARE = 0.75
"""Part of L2 that the operands of a wave can count on. Fitted."""


def l2_bytes(problem: Problem, schedule: Schedule) -> float:
    """Bytes that all blocks move through L2: each tile row of the result reads its rows of A for every tile column,
    each tile column its columns of B, and without accumulation C is read and written in each step. What lies beyond an
    edge is not read."""
    rows, columns = grid(problem, schedule)
    read_a = problem.m * columns * memory_bytes(problem, "a")
    read_b = problem.n * rows * memory_bytes(problem, "b")
    times = {operand: 1.0 if is_staged(schedule, operand) else UNPROMOTED_L2 for operand in "ab"}
    moved = problem.k * (times["a"] * read_a + times["b"] * read_b)
    if not schedule.accumulate:
        moved += steps(problem, schedule) * 2 * problem.m * problem.n * ELEMENT_BYTES[problem.acc]
    return problem.batch * moved * share(problem, schedule)


def dram_bytes(problem: Problem, schedule: Schedule, target: Target, resident: int) -> float:
    """Bytes of A and B that come from DRAM.

    None where all stays in L2 from one run of the kernel to the next. Each once when both, of one product, stay there
    while it runs. Otherwise every wave of resident blocks reads the rows of A and the columns of B that it covers; the
    raster decides what it covers. What L2 keeps from one run to the next is not read.
    """
    bytes_a = problem.m * problem.k * memory_bytes(problem, "a")
    bytes_b = problem.k * problem.n * memory_bytes(problem, "b")
    if problem.batch * (bytes_a + bytes_b) + epilogue_bytes(problem) <= STAYING * target.l2_bytes:
        return 0.0
    if bytes_a + bytes_b <= L2_SHARE * target.l2_bytes:
        return problem.batch * (bytes_a + bytes_b)
    grid_m, grid_n = grid(problem, schedule)
    wave = min(target.sms * resident, grid_m * grid_n)
    raster = raster_of(schedule)
    if schedule.tiles_per_block > 1 or raster.diagonal:
        rows, columns = covered(schedule, raster, grid_m, grid_n, wave)
    else:
        rows = raster.rows(schedule, grid_m)
        columns = min(grid_n, wave / rows)
        rows = min(grid_m, wave / columns)
    waves = grid_m * grid_n * share(problem, schedule) / wave
    read = waves * (rows / grid_m * bytes_a + columns / grid_n * bytes_b)
    parts = ((bytes_a, schedule.l2_keep_a), (bytes_b, schedule.l2_keep_b))
    kept = sum(size * part / PARTS for size, part in parts if part < PARTS)
    return problem.batch * (max(read, bytes_a + bytes_b) - kept)


def stays(problem: Problem, target: Target) -> bool:
    """Whether operands and result stay in L2 from one run of a kernel to the next."""
    read = operand_bytes(problem, "a") + operand_bytes(problem, "b")
    return read + epilogue_bytes(problem) <= STAYING * target.l2_bytes


def operand_bytes(problem: Problem, operand: str) -> int:
    """Bytes of A or B in memory, for the whole batch."""
    across = problem.m if operand == "a" else problem.n
    return int(problem.batch * across * problem.k * memory_bytes(problem, operand) * stored_part(problem, operand))


def epilogue_bytes(problem: Problem, read: bool = True) -> int:
    """Bytes of the result written, of C read, and of what the epilogue writes beside them, or reads where that counts
    too."""
    element = ELEMENT_BYTES[problem.out] * (2 if problem.reads_c else 1) + problem.extra_bytes
    if read and problem.epilogue_types:
        element += sum(ELEMENT_BYTES[each] for each in problem.epilogue_types.split())
    return problem.batch * problem.m * problem.n * element // (problem.b_matrices or 1)
