"""The tiles of A and B as they lie in shared memory: in the operand's own order, whose rows WMMA loads either way."""

from __future__ import annotations

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Tile

Sides = tuple[tuple[int, int], tuple[int, int]]
"""Rows and columns of the tiles of A and of B."""


def operand_tiles(problem: Problem, block: Tile) -> Sides:
    """Rows and columns of both tiles of a block tile."""
    m, n, k = block
    return (m, k) if problem.a_order == "mk" else (k, m), (k, n) if problem.b_order == "kn" else (n, k)
