"""Times of calls on the GPU, in turn: what the checks beside this file measure with."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

ROUNDS = 5


def microseconds(calls: list[Callable[[], object]], torch: Any, launches: int) -> list[float]:
    """The time of each call, `launches` of them back to back, in turn: the median of five rounds."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, times in zip(calls, found, strict=True):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            call()
            start.record()
            for _ in range(launches):
                call()
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop) * 1e3 / launches)
    return [median(times) for times in found]
