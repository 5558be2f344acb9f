"""How many bytes of instructions one k step of a warp takes where lanes multiply: its products are unrolled, one by
one. What does not fit in the instruction cache of an SM is fetched again in each step."""

from __future__ import annotations

from mlir_gemm.parts.layout import CHUNK
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.spec.algebra import parse
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

INSTRUCTION = 16
"""Bytes of an instruction, from Volta on."""
KB = 1024
CACHE, SMALLER = 128 * KB, {64 * KB: 46 * KB}
"""Bytes of the last instruction cache of an SM, by the most shared memory of an SM where they are fewer: measured on a
V100 (Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, arXiv 1804.06826) and
a T4 (the same of Turing, 2019, arXiv 1903.07486). Later chips are taken to be like the V100."""
FETCHED = 11.0
"""Bytes of instructions that an SM gets in one clock from beyond that cache: f16 by lanes takes 8.5 ms at 4096^3 on the
H200 with 171 KB, 128x128x64 by 32x128x8, where it takes 4.0 ms by all other terms."""


def step_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the instructions of a warp's k step: products, what extends operands to the accumulator's type, loads
    of fragments. Counted so are 158 of the 171 KB of the kernel above."""
    lanes = mma_of(schedule).lanes
    if not lanes:
        return 0
    rows, columns = schedule.warp[0] // lanes[0], schedule.warp[1] // lanes[1]
    depth = schedule.block[2]
    if not schedule.unroll:
        depth = schedule.warp[2]
    elif schedule.unroll_by:
        depth = min(depth, schedule.unroll_by * schedule.warp[2])
    depth //= schedule.instruction[2]
    each = len(parse(problem.algebra).operations) if problem.algebra else 1
    count = rows * columns * max(1, each)
    for operand, side in (("a", rows), ("b", columns)):
        element = element_bytes(problem, operand)
        extended = getattr(problem, operand) != problem.acc and schedule.instruction[2] == 1
        count += side * extended + -(-side * element // CHUNK)
    return INSTRUCTION * depth * count


def cache_bytes(target: Target) -> int:
    """Bytes of instructions that an SM keeps."""
    return SMALLER.get(target.smem_sm, CACHE)


def fetch_clocks(problem: Problem, schedule: Schedule, target: Target) -> float:
    """Clocks of a block's k step in which its warps wait for instructions: all of them where the step does not fit in
    the cache, as each has left it before it comes again. The warps of a block share what one fetches."""
    if target.backend != NVPTX:
        return 0.0
    code = step_bytes(problem, schedule)
    return code / FETCHED if code > cache_bytes(target) else 0.0
