"""Whether the k steps of a tile can be divided among blocks, whose sums are added up then."""

from __future__ import annotations

from mlir_gemm.spec.problem import Problem


def cannot_share(problem: Problem) -> str:
    """Why the steps of a sum cannot be divided among blocks; empty where they can."""
    if problem.dynamic:
        return f"sizes known at run time only ({', '.join(problem.dynamic)})"
    return "the sum starts from what is in memory, which every part would add" if problem.reads_c else ""
