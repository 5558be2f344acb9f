"""Registers of WMMA. The constants were fitted and stand in `RegisterModel`."""

from __future__ import annotations

from functools import lru_cache

from mlir_gemm.parts.block import threads
from mlir_gemm.parts.layout import VECTOR_ELEMENT_BITS, loaded_bytes, staged
from mlir_gemm.parts.mma.wmma.tiles import Sides, operand_tiles
from mlir_gemm.parts.registers import FRAGMENT, UNEVEN_COPY, UNEVEN_ROW, WARP_SIZE, model_of
from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

WALKING = 20
"""What a loop over tiles takes: the place of a tile is computed again for each."""


def registers_needed(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the registers that a thread needs: accumulators, prefetched vectors, fragments, addressing."""
    warp_m, warp_n, _ = schedule.warp
    count = warp_m * warp_n // WARP_SIZE + _fragments(schedule, target) + model_of(target).addressing
    count += WALKING * (schedule.tiles_per_block > 1)
    if not schedule.promote:
        return count
    vectors, rows_odd = _uneven(operand_tiles(problem, schedule.block), schedule.vector, threads(schedule))
    if staged(schedule) != "ab":
        vectors = rows_odd = 0  # rules see to it that what is copied divides evenly
    count += UNEVEN_COPY * vectors + UNEVEN_ROW * rows_odd
    if mainloop_of(schedule).in_registers:
        # A vector narrower than a register takes one all the same.
        loads = -(-loaded_bytes(problem, schedule) * 8 // (schedule.vector * threads(schedule)))
        # A loop of two steps is unrolled, and then the assembler has both tiles in flight.
        tiles = 2 if problem.k == 2 * schedule.block[2] else 1
        count += tiles * loads * max(1, schedule.vector // 32)
    return count


def _fragments(schedule: Schedule, target: Target) -> int:
    """Registers of the fragments of A and B. Where they hold every element twice, those of 32 and of 8 rows take as
    many as those of 16: the longer holds each once, the shorter four times."""
    model = model_of(target)
    m, n, _ = schedule.instruction
    rows, columns = schedule.warp[0] // m, schedule.warp[1] // n
    if schedule.fragments_ahead:  # those of a column's products, and as many of the next k tile
        first = rows * model.fragment * max(1, m // FRAGMENT) + model.fragment * max(1, n // FRAGMENT)
        return max(2 * first, (rows + columns) * model.fragment * (not model.alive))
    if not model.alive:
        return (rows + columns) * model.fragment
    a, b = model.fragment * m // FRAGMENT, model.fragment * n // FRAGMENT
    wide = model.wide * max(0, (schedule.warp[1] - schedule.warp[0]) // FRAGMENT)
    return min(rows * a + b, a + columns * b, model.alive * model.fragment) + wide


def uneven_vectors(problem: Problem, schedule: Schedule) -> int:
    """Vectors of A and B that one thread copies from tiles whose rows do not hold a whole part or multiple of the
    threads' vectors, so that from one to the next the row and the column change."""
    return _uneven(operand_tiles(problem, schedule.block), schedule.vector, threads(schedule))[0]


@lru_cache(maxsize=1 << 14)
def _uneven(lying: Sides, vector: int, threads: int) -> tuple[int, int]:
    """The uneven vectors of A and B, and how many of the two have rows that do not hold a power of two of vectors."""
    width = max(1, vector // VECTOR_ELEMENT_BITS)
    vectors = rows_odd = 0
    for rows, columns in lying:
        in_row = max(1, columns // width)
        if threads % in_row and in_row % threads:
            vectors += rows * in_row // threads
        rows_odd += in_row & (in_row - 1) != 0
    return vectors, rows_odd
