"""Registers of AMD's matrix instructions, which waves of 64 lanes (`mfma`) or 32 (`rdna_wmma`) share. An estimate from
what a lane holds, compared with what LLVM allocates (docs/targets.md)."""

from __future__ import annotations

from mlir_gemm.parts.block import threads
from mlir_gemm.parts.grid import ragged
from mlir_gemm.parts.layout import copied, is_staged
from mlir_gemm.parts.registers import REGISTER_BITS, WARP_SIZE, copy_registers
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

CHUNK = 16
"""Bytes that a lane loads at most at a time."""
ADDRESSING = 32
"""Addresses of loads and stores, and counters."""
GUARDS = 16
"""Bounds and predicates where a tile reaches over the edge."""
ALONE = 3
"""Registers for each element that a lane copies alone, behind a branch of its own, as of open sizes: an address of 64
bits, and the element. Two products of open sizes for gfx1100 (f16, bytes) with estimates of 151 and 140 without this
spilled 340 and 184 bytes."""
EPILOGUE = 8
"""Operands of the epilogue beside the accumulators, and converted results."""


def registers_needed(problem: Problem, schedule: Schedule, target: Target) -> int:
    """Estimate of the 32-bit registers that a lane needs, accumulators among them."""
    mma = mma_of(schedule)
    lanes = WARP_SIZE * mma.warps
    count = schedule.warp[0] * schedule.warp[1] * ELEMENT_BYTES[problem.acc] // (4 * lanes)
    count += wave_fragments(problem, schedule) + ADDRESSING
    if ragged(problem, schedule):
        count += GUARDS
    if problem.extra_bytes or problem.out != problem.acc:
        count += EPILOGUE
    if problem.dynamic and target.index_bits == 64:
        count += ALONE * sum(_alone(problem, schedule, operand) for operand in "ab")
    return count + sum(copy_registers(problem, schedule, operand) for operand in "ab")


def _alone(problem: Problem, schedule: Schedule, operand: str) -> int:
    """Elements of an operand that a lane copies one by one in a step, each less than a register."""
    if not (schedule.unroll and is_staged(schedule, operand)):
        return 0
    lying, vector, _ = copied(problem, schedule, operand)
    return 0 if vector >= REGISTER_BITS else lying.rows * lying.row * 8 // vector // threads(schedule)


def wave_fragments(problem: Problem, schedule: Schedule) -> int:
    """Registers of the fragments of one step of the warp tile's k. Elements that are loaded one by one take a register
    each until they are put together."""
    mma = mma_of(schedule)
    lanes = WARP_SIZE * mma.warps
    copies = 2 if mma.warps == 1 else 1  # of WMMA, both halves of a wave hold the same
    held = 0
    for operand, across in (("a", schedule.warp[0]), ("b", schedule.warp[1])):
        element = element_bytes(problem, operand)
        each = copies * across * schedule.warp[2] // lanes
        held += each if not mma.by_matrix(problem, operand) else each * element // 4
    return held
