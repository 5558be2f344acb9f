"""The process that measures: holds the arguments and the reference of one module, checks and times its kernels.

It answers `measure` and `compare`, one after another. A kernel is timed beside the best so far, in turn, and its value
is that one's value times the median of the quotients: when the chip's clock drifts, both drift.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from multiprocessing.connection import Connection
from typing import Any

from mlir_gemm.tuner.measuring import DONE, FAILED, PRUNED, SLOW, Outcome

ROUNDS = 5
BURST_SECONDS, MOST_RUNS = 5e-3, 256
"""Of a burst of launches back to back, which are one graph."""
COLD_RUNS = 12
ENERGY_SECONDS, ENERGY_ROUNDS = 0.4, 2
"""Of a burst whose energy is read: the counter moves every 20 to 100 ms."""
COMPARED_ROUNDS = 9


@dataclass(frozen=True)
class Setup:
    """What is measured, and how."""

    source: str
    chip: str
    entry: str = ""
    objective: str = "time"
    seed: int = 0
    loads: bool = True
    """Whether those who compile have the driver compile too."""


def serve(pipe: Connection, setup: Setup) -> None:
    """Answers questions until the other side hangs up."""
    try:
        bench = _Bench(setup)
    except Exception as error:  # whatever it is, the search has to say so
        pipe.send(("fault", f"{type(error).__name__}: {error}"))
        return
    pipe.send(("ready", None))
    while True:
        try:
            kind, schedule, best, value = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = bench.measure(schedule, best, value) if kind == "measure" else bench.compare(schedule, best)
        except Exception as error:  # after a fault of a kernel the context takes no further work
            pipe.send(("fault", f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"))
            return
        pipe.send(("answer", answer))


class _Bench:
    """One module on the GPU."""

    def __init__(self, setup: Setup) -> None:
        import mlir_gemm
        from mlir_gemm.pipeline.saved import promises_in
        from mlir_gemm.runtime import device
        from mlir_gemm.simulator.expected import reference
        from mlir_gemm.simulator.random_inputs import random_arrays
        from mlir_gemm.tuner.timing import Timing

        self._setup, self._kernels = setup, dict[str, Any]()
        first = mlir_gemm.compile(setup.source, chip=setup.chip, device="gpu", entry=setup.entry, tuned="off")
        self._launch = first.launch
        self._before = random_arrays(first.launch.arguments, setup.seed, promises_in(setup.source))
        self._expected = reference(setup.source, self._before)
        self._gpu = device.open_gpu(0)
        with self._gpu.active():
            self._timing = Timing(self._gpu, self._launch.arguments, energy=setup.objective in ("energy", "compromise"))
        self._allowed: list[float] | None = None

    def measure(self, schedule: tuple[str, str], best: tuple[str, str], value: float) -> Outcome:
        with self._gpu.active():
            kernel, why = self._kernel(schedule)
            if why:
                return Outcome(FAILED, reason=why)
            error = self._error(kernel)
            if not error <= 1.0:
                self._kernels.pop(schedule[0], None)
                return Outcome(FAILED, reason="is wrong: a result is off by more than allowed", error=error)
            burst = self._burst()
            if not best[0]:
                return Outcome(DONE, statistics.median(burst(kernel) for _ in range(ROUNDS)), error=error)
            other, why = self._kernel(best)
            if why:
                return Outcome(FAILED, reason=f"the best so far cannot be measured: {why}")
            quotients: list[float] = []
            for number in range(ENERGY_ROUNDS if self._timing.energy else ROUNDS):
                quotients.append(_quotient(burst, kernel, other, number))
                if number == 0 and quotients[0] > SLOW:
                    return Outcome(PRUNED, quotients[0] * value, error=error)
            return Outcome(DONE, statistics.median(quotients) * value, error=error)

    def compare(self, schedule: tuple[str, str], other: tuple[str, str]) -> tuple[float, float]:
        with self._gpu.active():
            burst, times = self._burst(), list[tuple[float, float]]()
            one, another = self._kernel(schedule)[0], self._kernel(other)[0]
            for number in range(ENERGY_ROUNDS if self._timing.energy else COMPARED_ROUNDS):
                if number % 2:
                    second = burst(another)
                    times.append((burst(one), second))
                else:
                    first = burst(one)
                    times.append((first, burst(another)))
            return statistics.median(first for first, _ in times), statistics.median(second for _, second in times)

    def _kernel(self, schedule: tuple[str, str]) -> tuple[Any, str]:
        """The kernel with a schedule, loaded; why there is none."""
        import mlir_gemm

        text, file = schedule
        if text not in self._kernels:
            setup = self._setup
            kernel = mlir_gemm.compile(setup.source, chip=setup.chip, device="gpu", entry=setup.entry, tuned=file)
            if not any(str(each.schedule) == text for each in kernel.kernels):
                return None, "the compiler does not take it as it is"
            if self._allowed is None:
                from mlir_gemm.simulator.expected import limits

                arguments, source = self._launch.arguments, self._setup.source
                self._allowed = limits(arguments, kernel.kernels, source, self._before, self._expected)
            self._kernels = dict(list(self._kernels.items())[-3:])
            self._kernels[text] = self._timing.runner(kernel.load(0), self._before)
        return self._kernels[text], ""

    def _error(self, kernel: Any) -> float:
        """The largest relative error of an argument after a run, as a part of what is allowed; what is only read must
        not change."""
        from mlir_gemm.simulator.expected import relative_error

        after = self._timing.once(kernel, self._before)
        worst = 0.0
        for got, wanted, allowed in zip(after, self._expected, self._allowed or (), strict=True):
            error = relative_error(got, wanted)
            worst = max(worst, error / allowed if allowed else (0.0 if error == 0 else float("inf")))
        return worst

    def _burst(self) -> Callable[[Any], float]:
        timing, objective = self._timing, self._setup.objective
        if objective == "cold":
            return lambda kernel: timing.cold(kernel, COLD_RUNS)
        if objective == "time":
            return lambda kernel: timing.sustained(kernel, BURST_SECONDS, MOST_RUNS)[0]

        def spent(kernel: Any) -> float:
            seconds, joules = timing.sustained(kernel, ENERGY_SECONDS, MOST_RUNS, ceil)
            return joules if objective == "energy" else sqrt(seconds * joules)

        return spent


def _quotient(burst: Callable[[Any], float], kernel: Any, other: Any, number: int) -> float:
    """How many times the other's value; who goes first alternates."""
    if number % 2:
        second = burst(other)
        return burst(kernel) / second
    first = burst(kernel)
    return first / burst(other)
