"""How the model divides rows whose parts others have reduced: each block combines them and finishes some elements."""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES
from mlir_gemm.tile_model.row_accesses import ACCESS, power

THREADS, ACCESSES = 256, 4
"""Threads of a block, and wide accesses of each: enough bytes under way on each SM, in as few blocks as combine the
same parts again."""


def of_results(problem: RowProblem, target: Target) -> RowSchedule:
    """The schedule of a kernel that combines parts of rows and has an element for each of a row of results."""
    vector = power(min(ACCESS // problem.narrowest, problem.results))
    while problem.aligned % vector:
        vector //= 2
    threads = THREADS
    while threads > LANES and problem.rows * problem.results < threads * vector * target.sms:
        threads //= 2
    line = threads * vector
    count = max(1, min(ACCESSES, problem.rows * problem.results // (line * target.sms)))
    schedule = RowSchedule(threads, threads, vector, (1, -(-problem.length // line) * line), part=line * count)
    schedule.check()
    return schedule
