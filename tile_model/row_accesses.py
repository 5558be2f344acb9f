"""What the choices for rows and for columns have in common: accesses, what a thread can hold, and what L2 is told."""

from __future__ import annotations

import math
from typing import Any

from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.rows import RowProblem
from mlir_gemm.spec.target import Target

ACCESS = 16
"""Bytes of the widest access."""
FEWEST_THREADS = 128
"""Threads of a block that takes several rows."""
MOST_THREADS = 1024
HELD = 32
"""Registers in which a thread holds elements of parts of rows, by choice."""
SPARE = 24
"""Registers that a thread needs for other things."""

EVICTED, PARTLY_EVICTED = 0.75, 1 / 8
"""Sums of what takes this part of L2, or more, let L2 give it up first: what is in L2 already need not be written to
memory for it. A sum of 65536 rows of 1024 f16 takes 38 us after other work, not 41. One of 4096x4096, which L2 can
hold, takes 9.0 again and again, not 5.3, since nothing makes room for it: there only as many lines are evicted first as
memory brings in the time that the others take from L2."""
L2_OF_ROWS = 0.58
"""Part of L2's rate at which rows come from it: 4096x4096 f16 in 5.3 us, 6.4 of 11 TB/s (H200)."""


def power(number: int) -> int:
    """The largest power of two that is not above a number, at least 1."""
    return 1 << (max(number, 1).bit_length() - 1)


def vector_of(problem: RowProblem, most: int) -> int:
    """Elements of one access."""
    vector = power(min(ACCESS // problem.narrowest, most))
    while problem.aligned % vector:
        vector //= 2
    return vector


def most_held(problem: RowProblem, threads: int, target: Target) -> int:
    """Elements that a thread can hold."""
    registers = min(target.registers_thread, target.registers_sm // threads) - SPARE
    return max(1, registers // problem.held)


def evicted(problem: RowProblem, target: Target) -> dict[str, Any]:
    """Whether L2 gives up first what is read, and how many lines it keeps nevertheless."""
    part = problem.rows * problem.lines * problem.length * problem.read / target.l2_bytes
    if problem.again or not target.has_l2_policies or part < PARTLY_EVICTED:
        return {}
    from_memory = min(1.0, target.dram_bytes_s / (L2_OF_ROWS * target.l2_bytes_s))
    kept = 0 if part >= EVICTED else math.floor(PARTS * (1 - from_memory))
    return {"evict_first": True, "kept": kept}
