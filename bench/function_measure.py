"""Measures functions one by one: ours, eager PyTorch, torch.compile, and for rows a copy of as many bytes; everyone in
turn in one process, checked against float64."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import mlir_gemm
from mlir_gemm.bench.function_results import COMPILE, COPY, EAGER, OURS, WORSE, Entry
from mlir_gemm.bench.functions import Drawn, Function, results_of
from mlir_gemm.bench.machine import Monitor, describe
from mlir_gemm.bench.measure import Settings
from mlir_gemm.bench.preparing import Work, prepare
from mlir_gemm.bench.timing import Run, Timer

Progress = Callable[[int, int], None]


class FunctionBench:
    """One run on the GPU of this machine."""

    def __init__(self, settings: Settings, chip: str, torch: Any) -> None:
        self.settings, self.chip, self._torch = settings, chip, torch
        self._start = time.monotonic()
        self._monitor = Monitor(torch)
        self._timer = Timer(torch, settings.rounds, settings.bursts, settings.burst_ms / 1e3)
        self.machine = describe(torch, self._monitor, chip, None)

    def prepare(self, functions: Sequence[Function], progress: Progress) -> list[str]:
        """Compiles everything by several processes; for each why it was refused, empty if it was not."""
        works = [
            Work(function.source, self.chip, "", load=bool(function.source), debug_info=self.settings.debug_info)
            for function in functions
        ]
        reasons = prepare(works, self.settings.jobs, progress)
        return [reason if function.source else "nobody has exported it" for function, reason in
                zip(functions, reasons, strict=True)]  # fmt: skip

    @property
    def out_of_time(self) -> bool:
        """Whether no further function should be begun."""
        return bool(self.settings.seconds) and time.monotonic() - self._start > self.settings.seconds

    def measure(self, function: Function) -> Entry:
        """Everyone on one function."""
        torch = self._torch
        torch.backends.cuda.matmul.allow_tf32 = False
        drawn = function.draw(torch, self.settings.seed)
        kernel = mlir_gemm.compile(function.source, chip=self.chip, debug_info=self.settings.debug_info)
        arguments = [*drawn.inputs, *drawn.outputs]
        absent: list[str] = []
        with torch.no_grad():
            errors, noise = self._errors(function, drawn, kernel)
            runs: dict[str, Run] = {OURS: lambda: kernel(*arguments), EAGER: drawn.run}
            if COMPILE in self.settings.rivals:
                self._add_compiled(drawn, runs, absent)
            if function.bytes:
                runs[COPY] = self._copy(function.bytes)
            cold, sustained = self._time(list(runs.values()))
        return Entry(
            group=function.group,
            name=function.name,
            bytes=function.bytes,
            kernels=len(kernel.launch.steps),
            errors=errors,
            right=errors[OURS] <= max(WORSE * errors[EAGER], noise),
            cold=dict(zip(runs, cold, strict=True)),
            sustained=dict(zip(runs, sustained, strict=True)),
            absent=absent,
            draws=function.draws,
        )

    def _errors(self, function: Function, first: Drawn, kernel: Any) -> tuple[dict[str, float], float]:
        """Of ours, whose memory for results holds NaN before, and of eager PyTorch, and what is allowed in any case:
        over all that the function is drawn, as if the results were parts of one."""
        ours, eager, allowed = list[_Squares](), list[_Squares](), list[_Squares]()
        for number in range(function.draws):
            drawn = function.draw(self._torch, self.settings.seed + number) if number else first
            for out in drawn.outputs:
                out.fill_(math.nan)
            returned = kernel(*drawn.inputs, *drawn.outputs)
            own = tuple(drawn.outputs) or results_of(returned)
            exact = drawn.exact()
            ours.append(_squares(own, exact))
            eager.append(_squares(results_of(drawn.run()), exact))
            allowed.append([(drawn.noise**2 * whole, whole) for _, whole in ours[-1]])
        return {OURS: _pooled(ours), EAGER: _pooled(eager)}, _pooled(allowed)

    def _add_compiled(self, drawn: Drawn, runs: dict[str, Run], absent: list[str]) -> None:
        # Each is a program of its own: without the reset the ninth would be refused by the limit on recompilation.
        self._torch._dynamo.reset()
        try:
            drawn.compiled()
        except Exception as problem:  # whatever it does not support must not end the measurement
            absent.append(f"{COMPILE}: {(str(problem).strip().splitlines() or [type(problem).__name__])[0][:200]}")
        else:
            runs[COMPILE] = drawn.compiled

    def _copy(self, bytes_: int) -> Run:
        """A copy that reads and writes this many bytes in all."""
        torch = self._torch
        source = torch.empty(max(bytes_ // 2, 1), dtype=torch.int8, device="cuda")
        target = torch.empty_like(source)
        return lambda: target.copy_(source)

    def _time(self, runs: list[Run]) -> tuple[list[Any], list[Any]]:
        host = self._timer.host(runs)
        cold = self._timer.cold(runs, host)
        sustained, _ = self._timer.sustained(runs, [each.median for each in cold], host, self._monitor.sample)
        return cold, sustained


def error_of(results: Sequence[Any], exact: Sequence[Any]) -> float:
    """The largest relative error of several results, by Frobenius norm; infinite for what is not a number."""
    return _pooled([_squares(results, exact)])


_Squares = list[tuple[float, float]]
"""Of each result the squares of the Frobenius norms of its difference from what is exact, and of what is exact."""


def _squares(results: Sequence[Any], exact: Sequence[Any]) -> _Squares:
    found = _Squares()
    for got, right in zip(results, exact, strict=True):
        wide = right.double()
        difference = float((got.reshape(right.shape).double() - wide).norm())
        found.append((difference**2, float(wide.norm()) ** 2))
    return found


def _pooled(draws: Sequence[_Squares]) -> float:
    """The largest relative error of several results, each over all draws."""
    found: list[float] = []
    for each in zip(*draws, strict=True):
        error, whole = (math.fsum(squares) for squares in zip(*each, strict=True))
        found.append(math.sqrt(error) / max(math.sqrt(whole), 1e-300))
    return max(found) if all(map(math.isfinite, found)) else math.inf
