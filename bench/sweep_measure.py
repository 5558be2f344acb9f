"""How a sweep measures the many kernels of one problem: in random order in every round, each checked, and a watchdog
beside them.

Under its power limit a chip gives a kernel a clock that depends on what ran in the 30 ms before. A fixed order
therefore measures the neighbours of slow kernels as faster than those of fast ones, by up to 15 %. Here every round has
an order of its own, and each burst begins with runs of the same kernel that are not timed.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.bench.operands import BOUNDS, LARGEST, TF32_BOUND, Operands, Verdict, apply, poison
from mlir_gemm.bench.timing import QUEUE, SLEEP_CYCLES_S, Run

MOST_RUNS = 4000
"""Runs of a burst."""
CHUNK = 1 << 25
"""Elements that are compared at a time."""
HUNG = 5
"""Exit status when a kernel does not end."""


@dataclass(frozen=True)
class Rounds:
    """How often everything is measured, and for how long."""

    rounds: int = 7
    burst_ms: float = 10.0
    lead: float = 0.5
    """Runs before a burst that are not timed, as a part of it."""
    near: float = 1.3
    """From the second round on only what takes at most so many times the best ..."""
    close: float = 1.08
    """... and from the fourth on."""

    def limit(self, number: int) -> float:
        """Of round `number`, from 0."""
        return math.inf if number == 0 else self.near if number < 3 else self.close

    def length(self, seconds: float) -> int:
        """Runs of a burst of a kernel that takes `seconds`; at least three, for those that take longer than a burst."""
        return min(MOST_RUNS, max(3, math.ceil(self.burst_ms / 1e3 / max(seconds, 1e-7))))


Burst = Callable[[Run, int, int], float]
"""Runs so many times untimed, then so many times timed; seconds of one."""


def in_random_order(
    runs: Sequence[Run],
    kept: Sequence[int],
    burst: Burst,
    rounds: Rounds,
    rng: random.Random,
    is_over: Callable[[], bool] = lambda: False,
) -> list[list[float]]:
    """Seconds of each run in each round that it took part in, at least one. Those of `kept` take part in all of them.
    After the first round it ends when `is_over`."""
    places = list(range(len(runs)))
    guesses = [0.0] * len(runs)
    for place in shuffled(places, rng):
        guesses[place] = burst(runs[place], 1, 2)
    times: list[list[float]] = [[] for _ in runs]
    for number in range(rounds.rounds):
        if number and is_over():
            break
        for place in shuffled(_taking_part(times, kept, rounds.limit(number)), rng):
            count = rounds.length(times[place][-1] if times[place] else guesses[place])
            times[place].append(burst(runs[place], max(1, round(rounds.lead * count)), count))
    return times


def _taking_part(times: Sequence[Sequence[float]], kept: Sequence[int], limit: float) -> list[int]:
    if math.isinf(limit):
        return list(range(len(times)))
    medians = [statistics.median(each) for each in times]
    most = limit * min(medians, default=0.0)
    return [place for place, median in enumerate(medians) if median <= most or place in kept]


def shuffled(places: Sequence[int], rng: random.Random) -> list[int]:
    return rng.sample(list(places), len(places))


class GpuBursts:
    """Bursts on PyTorch's current stream. Without `queued` the host launches while the GPU works, as a program does, so
    that the shortest kernels wait for it; with it the GPU waits until the whole burst is queued. `sample` is called
    while the GPU is at each burst."""

    def __init__(self, torch: Any, queued: bool, sample: Callable[[], None]) -> None:
        self._torch, self._queued, self._sample = torch, queued, sample

    def __call__(self, run: Run, lead: int, count: int) -> float:
        torch = self._torch
        if self._queued:
            lead, count = min(lead, QUEUE // 4), min(count, QUEUE)
            torch.cuda._sleep(int(12e-6 * (lead + count) * SLEEP_CYCLES_S))
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(lead):
            run()
        start.record()
        for _ in range(count):
            run()
        end.record()
        self._sample()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / count


class Reference:
    """The whole result in float64, computed once for all kernels of a problem."""

    def __init__(self, operands: Operands, torch: Any) -> None:
        self._operands, self._torch = operands, torch
        a, b = ((each.to(torch.float32) if each.element_size() == 1 else each).double() for each in operands.matrices)
        bias, factor = (None if each is None else each.double() for each in (operands.bias, operands.factor))
        self._wanted = apply(operands.problem.steps, a @ b, bias, factor, torch)
        self._size = max(float(torch.linalg.norm(self._wanted)), 1e-300)
        self._extent = max(float(self._wanted.abs().max()), 1e-300)

    def check(self, run: Run) -> Verdict:
        """Runs on a poisoned result and compares all of it."""
        torch, problem, out = self._torch, self._operands.problem, self._operands.out
        poison(out)
        run()
        torch.cuda.synchronize()
        bound = TF32_BOUND if problem.dtype == "tf32" else BOUNDS[problem.out]
        rows = max(1, CHUNK // problem.n)
        squares, largest = 0.0, 0.0
        for first in range(0, problem.m, rows):
            off = (out[first : first + rows].double() - self._wanted[first : first + rows]).abs()
            squares += float((off * off).sum())
            # Not max(): it would lose a NaN.
            worst = float(off.max())
            largest = worst if worst != worst or worst > largest else largest
            if largest != largest:
                break
        error, furthest = math.sqrt(squares) / self._size, largest / self._extent
        right = error <= bound and furthest <= LARGEST * bound
        return Verdict(error, furthest, error == error, right)


class Watchdog:
    """Ends the process when one kernel takes too long: a GPU that hangs must not use up its owner's time. `note` is
    called with the name of the kernel first, to write down what hung."""

    def __init__(
        self, seconds: float, note: Callable[[str], None], end: Callable[[int], object] = os._exit, every: float = 0.5
    ) -> None:
        self._seconds, self._note, self._end, self._every = seconds, note, end, every
        self._name, self._since = "", math.inf
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def now(self, name: str) -> None:
        """A kernel begins; an empty name: nothing runs."""
        self._name, self._since = name, time.monotonic() if name else math.inf

    def _watch(self) -> None:
        while True:
            time.sleep(self._every)
            if time.monotonic() - self._since > self._seconds:
                self._note(self._name)
                print(f"\nnot ended after {self._seconds:.0f} s: {self._name}", file=sys.stderr, flush=True)
                self._end(HUNG)
                return
