"""The order of choices whose predicted times tie.

Predictions are sums, roots and powers of floating-point numbers, so that two which are equal on paper may differ in
the last bits, and by which of them is computed how. Times closer than TOLERANCE count as the same, and PREFERENCE
decides: no change of the arithmetic's order changes a choice. Every comparison of one prediction with another goes
through this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.spec.schedule import Schedule

T = TypeVar("T")

TOLERANCE = 1e-9
"""Part of a time within which another one is the same. Rounding leaves about 1e-15; schedules that the model tells
apart at all differ by 1e-7 and more."""


def is_less(seconds: float, other: float) -> bool:
    """Whether a predicted time is less than another, by more than rounding. Of alternatives that are tried one after
    another, each kept only where it is less than those before, the first of equals stays."""
    return seconds < other * (1 - TOLERANCE)


def preference(schedule: Schedule) -> tuple[Any, ...]:
    """A key that puts schedules of the same predicted time into their order, the preferred one first. It is what the
    order of proposals was among exactly equal times, and has few rows and long ones first, as everywhere:

    1. the main loop, by its rank
    2. the block tile: fewer rows, then more columns, then a longer k
    3. the warp tile: the same
    4. fewer stages: less shared memory
    5. fewer blocks in a cluster, then those below each other, then those that share the steps of k less
    6. without ping-pong first

    The values of all fields come last. No two schedules of one search are equal up to there.
    """
    (block_m, block_n, block_k), (warp_m, warp_n, warp_k) = schedule.block, schedule.warp
    return (
        mainloop_of(schedule).rank,
        (block_m, -block_n, -block_k),
        (warp_m, -warp_n, -warp_k),
        schedule.stages,
        (schedule.cluster, -schedule.cluster_m, schedule.split_k_cluster),
        schedule.ping_pong,
        tuple(map(str, vars(schedule).values())),
    )


def by_time(items: Iterable[T], seconds: Callable[[T], float], key: Callable[[T], Any]) -> list[T]:
    """The items by predicted time, those of the same time by a key, which must differ for all of them."""
    timed = sorted(((seconds(item), item) for item in items), key=lambda pair: pair[0])
    found: list[T] = []
    start = 0
    for end in range(1, len(timed) + 1):
        if end == len(timed) or timed[end][0] > timed[start][0] * (1 + TOLERANCE):
            same = [item for _, item in timed[start:end]]
            found += same if len(same) == 1 else sorted(same, key=key)
            start = end
    return found
