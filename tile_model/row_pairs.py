"""Whether blocks that share a row exchange at once what two reductions find: a maximum and a sum of exponentials, or a
mean and a sum of squares, each around a pivot of its own part (`paired`)."""

from __future__ import annotations

from dataclasses import replace

from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES

EXCHANGE, IN_CLUSTER = 1.4e-6, 0.6e-6
"""Seconds that blocks wait for each other, with the reduction in each before: by words in L2, of which a store and then
a load go there and back, and by the shared memory of a cluster. Softmax of 1x400000 f32 takes 6.6 us with one exchange,
7.4 with two, of 64x100000 f32 15.2, not 17.0; layer norms of 4x2000000 f32 31.9, not 32.9, of 100x600000 170.6, not
180.4. But where other blocks of an SM load while some wait, one of 906x64483 bf16 takes 86.2 us, not 77.8 (H200)."""
JOIN = 50e-9
"""Seconds more that a lane needs to combine pairs than numbers: a quotient or an exponential."""


def paired(problem: RowProblem, schedule: RowSchedule, target: Target) -> RowSchedule:
    """The schedule with one exchange, where that is predicted to be faster."""
    if not problem.pair or schedule.sharing == 1 or schedule.part:
        return schedule
    return replace(schedule, paired=_joining(schedule) < _waiting(problem, schedule, target))


def _waiting(problem: RowProblem, schedule: RowSchedule, target: Target) -> float:
    """Seconds of an exchange that nothing hides: where all blocks run at once they all wait at the same time, and else
    others load meanwhile."""
    if schedule.grid:
        return EXCHANGE
    blocks = -(-problem.rows // schedule.tile[0]) * schedule.cluster
    return IN_CLUSTER if blocks * schedule.threads <= target.sms * target.threads_sm // 2 else 0.0


def _joining(schedule: RowSchedule) -> float:
    """Seconds in which pairs are combined, beyond those for numbers: by the first warp for the whole grid, or by all
    threads of a cluster."""
    turns, lanes = -(-schedule.grid // LANES), min(schedule.sharing, LANES)
    steps = max(turns - 1, 0) + (lanes - 1).bit_length()
    return schedule.tile[0] * steps * JOIN
