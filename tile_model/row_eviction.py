"""Whether L2 gives up first what a kernel of rows reads."""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.target import Target

EVICTED = 0.75
"""Sums of what takes this part of L2, or more, let L2 give it up first: what is in L2 already need not be written to
memory for it. A sum of 65536 rows of 1024 f16 takes 38 us after other work, not 41 (H200). But of what L2 can hold
nothing is there again: evict-first lines only ever take each other's places, and what others wrote stays. Sums of
4096x4096 take 9.0 us again and again, not 5.8, with 10 of 32 lines kept 9.0 too; where each warp's clock draws 2 to 4
of 32 loads that stay, 11.2, and of columns of 256x50257 f16 10.5, not 5.8, since a line that an evict-first load finds
is the first to go again (H100; after other work 17.8 for 19.6, 16.3 for 19.0; what a normal load has brought before
stays, so that a kernel measured after the usual one takes 5.8)."""


SHARED = 0.6
"""Rows that blocks of the grid share, all at once, are each read once too. Where they and their results take this part
of L2, or more, what was read goes first and results stay there, to be written to memory later or not at all: softmax of
1x10000000 f32 takes 27.6 us, not 30.3, after other work 28.7, not 31.7; of 8x1000000 f32 22.2, not 24.5, 23.9, not
26.0; of 1x10000000 f16 15.1 either way, 19.9, not 20.5; a layer norm of 1x10000000 f32 48.1, not 48.9, 49.5, not 52.2.
But rows in turns lose: softmax of 64x1000000 f32 takes 184.8 us, not 179.6 (H200)."""


def evicts(problem: RowProblem, schedule: RowSchedule, target: Target) -> bool:
    """Whether what is read of rows is the first that L2 gives up."""
    bytes_ = problem.rows * problem.lines * problem.length * problem.read
    if not target.has_l2_policies:
        return False
    if schedule.grid:
        return not schedule.groups and 2 * bytes_ >= target.l2_bytes * SHARED
    return not problem.again and bytes_ >= target.l2_bytes * EVICTED
