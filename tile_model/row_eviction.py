"""Whether L2 gives up first what a kernel of rows reads."""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem
from mlir_gemm.spec.target import Target

EVICTED = 0.75
"""Sums of what takes this part of L2, or more, let L2 give it up first: what is in L2 already need not be written to
memory for it. A sum of 65536 rows of 1024 f16 takes 38 us after other work, not 41 (H200)."""
DRAWN, LEAST_DRAWN = 2, 0.125
"""Of what L2 can hold, from this part of it on, loads stay all the same in so many of 32 launches: else nothing makes
room for it in an L2 that others have filled, and a sum of 4096x4096 takes 9.0 us again and again, not 5.8. With 2 it
takes 5.8, and 17.9 after other work, with 4 5.8 and 17.5, without 5.8 and 19.6; sums of columns of 256x50257 f16 5.9
and 16.4, 6.05 and 16.3, 5.8 and 19.2 (H100)."""


def evicted(problem: RowProblem, target: Target) -> tuple[bool, int]:
    """Whether what is read of rows is the first that L2 gives up, and in how many of 32 launches not."""
    part = problem.rows * problem.lines * problem.length * problem.read / max(target.l2_bytes, 1)
    if problem.again or not target.has_l2_policies or part < LEAST_DRAWN:
        return False, 0
    return True, DRAWN if part < EVICTED else 0
