"""What the choices for rows and for columns have in common: accesses, and what a thread can hold."""

from __future__ import annotations

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
