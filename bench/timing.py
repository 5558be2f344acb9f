"""How several functions are timed in turn on a GPU, and what is made of the figures.

Two regimes. *Cold*: one run each a round, with the L2 cache overwritten before it; four times as many rounds of what is
short, whose medians would be as far apart as two measurements of one kernel otherwise. *Sustained*: a burst of runs
back to back, about 20 ms each, in which the operands stay in the cache if they fit and the chip is as warm, and as
limited by its power, as under load. In both the order rotates from round to round, so that no function always follows
the same other one.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Run = Callable[[], Any]

FLUSH_BYTES = 256 << 20
"""Written before each cold run: several times the largest L2 cache."""
WARM_UPS = 2
QUEUE = 256
"""Most runs of a burst whose launches may be slower than the kernels. The driver's queue takes about 1,000 launches; it
must take the whole burst while the GPU waits, or the burst would measure the host."""
SLEEP_CYCLES_S = 2e9
"""Clock with which the time to wait is turned into cycles: above that of the chip, so that it waits long enough."""
SHORT_SECONDS, SHORT_TIMES = 100e-6, 4
"""Where all runs take less than this, there are so many times as many cold rounds."""
AHEAD = 1.6
"""How many times as long as the host should need for a burst the GPU waits for it: hosts are held up, and a burst of
1 us each was measured at 2.4 and 4 where it waited 1.2 times."""
_HOST_RUNS = 5
_AROUND_SECONDS = 20e-6
"""What the host needs for a flush and two events."""


@dataclass(frozen=True)
class Spread:
    """Seconds of one run: the median of several measurements, and the quartiles around it."""

    median: float
    low: float
    high: float
    count: int

    @staticmethod
    def of(seconds: Sequence[float]) -> Spread:
        """Of one measurement the quartiles are the measurement itself."""
        if len(seconds) < 2:
            return Spread(seconds[0], seconds[0], seconds[0], len(seconds))
        low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
        return Spread(median, low, high, len(seconds))


def rotations(count: int, rounds: int) -> Iterator[list[int]]:
    """The order of each round: every function takes every place equally often, forwards and backwards in turn."""
    for number in range(rounds):
        shift = (number // 2) % count if count else 0
        order = [*range(shift, count), *range(shift)]
        yield order if number % 2 == 0 else order[::-1]


def drawn_orders(count: int, rounds: int) -> Iterator[list[int]]:
    """The order of each round, drawn: no function comes after the same one each time."""
    rng = random.Random(0)
    for _ in range(rounds):
        yield rng.sample(range(count), count)


def is_slow_to_launch(seconds: float, host: float) -> bool:
    """Whether a burst might wait for the host, which needs `host` seconds for a launch. `seconds` is that of a cold
    run; a run out of the cache may take half of it."""
    return host > 0.4 * seconds


def burst_length(seconds: float, wanted: float, host: float) -> int:
    """How many runs of `seconds` each a burst of `wanted` seconds has, of which the host launches one in `host`."""
    runs = max(2, round(wanted / max(seconds, 1e-7)))
    return min(runs, QUEUE) if is_slow_to_launch(seconds, host) else runs


class Timer:
    """Times functions on the current GPU, on PyTorch's current stream."""

    def __init__(self, torch: Any, rounds: int, bursts: int, burst_seconds: float, apart: bool = False) -> None:
        """`apart`: bursts find nothing in L2 of what was measured before, and come in an order drawn for each round."""
        self._torch, self._apart = torch, apart
        self._rounds, self._bursts, self._burst_seconds = rounds, bursts, burst_seconds
        self._flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def cold(self, runs: Sequence[Run], host: Sequence[float] = (), rounds: int | None = None) -> list[Spread]:
        """Each run after a flush of the L2 cache. `host` is what `host` found; without it all are quick to launch.
        `rounds` rounds, or as many as the timer was made for, and more of short runs."""
        for run in runs:
            for _ in range(WARM_UPS):
                run()
        ahead = sum(host) + len(runs) * _AROUND_SECONDS
        times = self._cold(runs, rounds or self._rounds, ahead)
        found = [Spread.of(own) for own in times]
        if rounds is None and all(each.median < SHORT_SECONDS for each in found):
            more = self._cold(runs, (SHORT_TIMES - 1) * self._rounds, ahead)
            found = [Spread.of([*own, *others]) for own, others in zip(times, more, strict=True)]
        return found

    def _cold(self, runs: Sequence[Run], rounds: int, ahead: float) -> list[list[float]]:
        """Seconds of each run in each round. The GPU waits before a round, for the host, which needs `ahead` seconds
        for a round, to have queued it: a host that is held up would be measured with what it launches."""
        pairs: list[list[tuple[Any, Any]]] = [[] for _ in runs]
        for order in rotations(len(runs), rounds):
            self._wait(2 * ahead)
            for index in order:
                self._flush.zero_()
                pairs[index].append(self._timed(runs[index], 1)[:2])
        self._torch.cuda.synchronize()
        return [[_seconds(*pair) for pair in own] for own in pairs]

    def host(self, runs: Sequence[Run]) -> list[float]:
        """Seconds that the host needs to launch each run, the median of some."""
        found: list[float] = []
        for run in runs:
            for _ in range(WARM_UPS):
                run()
            self._torch.cuda.synchronize()
            marks = [time.perf_counter()]
            for _ in range(_HOST_RUNS):
                run()
                marks.append(time.perf_counter())
            found.append(statistics.median(after - before for before, after in itertools.pairwise(marks)))
        self._torch.cuda.synchronize()
        return found

    def sustained(
        self, runs: Sequence[Run], estimates: Sequence[float], host: Sequence[float], sample: Callable[[], None]
    ) -> tuple[list[Spread], list[int]]:
        """Each run in bursts, and how many it has in one. `sample` is called while the GPU is at each burst."""
        lengths = [burst_length(each, self._burst_seconds, own) for each, own in zip(estimates, host, strict=True)]
        pairs: list[list[tuple[Any, Any]]] = [[] for _ in runs]
        for order in (drawn_orders if self._apart else rotations)(len(runs), self._bursts):
            for index in order:
                if self._apart:
                    self._flush.zero_()
                if is_slow_to_launch(estimates[index], host[index]):
                    self._wait(AHEAD * lengths[index] * host[index])
                start, end, middle = self._timed(runs[index], lengths[index])
                pairs[index].append((start, end))
                # The rest of the burst is time enough to queue the next one.
                middle.synchronize()
                sample()
        self._torch.cuda.synchronize()
        return [_spread(own, length) for own, length in zip(pairs, lengths, strict=True)], lengths

    def _wait(self, seconds: float) -> None:
        """Keeps the GPU waiting, for the host to get ahead of it."""
        self._torch.cuda._sleep(int(seconds * SLEEP_CYCLES_S))

    def _timed(self, run: Run, times: int) -> tuple[Any, Any, Any]:
        """Events before the runs, after them, and about half way."""
        start, end, middle = (self._torch.cuda.Event(enable_timing=True) for _ in range(3))
        start.record()
        for number in range(times):
            if times > 1 and number == times // 2:
                middle.record()
            run()
        end.record()
        return start, end, middle


def _spread(pairs: Sequence[tuple[Any, Any]], times: int) -> Spread:
    return Spread.of([_seconds(start, end) / times for start, end in pairs])


def _seconds(start: Any, end: Any) -> float:
    return start.elapsed_time(end) / 1e3
