"""Measures problems one by one: everyone who takes part is checked, then timed in turn in one process."""

from __future__ import annotations

import dataclasses
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.bench import cublaslt, operands
from mlir_gemm.bench.contenders import AbsentError, Contender, name_of, ours, rivals, schedule_text
from mlir_gemm.bench.figures import Entry, Figures
from mlir_gemm.bench.machine import Monitor, describe
from mlir_gemm.bench.preparing import Work, prepare
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.timing import Timer
from mlir_gemm.errors import DeviceError, Error
from mlir_gemm.runtime import device

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    """How a run measures."""

    rivals: tuple[str, ...]
    schedules: tuple[str, ...] = ("",)
    """Of ours, each a contender of its own; an empty one leaves everything to the model."""
    rounds: int = 16
    bursts: int = 8
    burst_ms: float = 20.0
    seed: int = 0
    jobs: int = 1
    seconds: float = 0.0
    """Stop after so long; 0 for never."""
    debug_info: str | None = None
    """As for `mlir_gemm.compile`: line information for a profiler that watches the run."""

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def require_gpu() -> Any:
    """PyTorch, with a GPU that both it and the driver show. Raises DeviceError."""
    device.open_gpu(0)
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as problem:
        raise DeviceError(f"mlir-gemm bench measures beside PyTorch, which does not import: {problem}") from None
    if not torch.cuda.is_available():
        raise DeviceError(f"PyTorch {torch.__version__} sees no GPU: mlir-gemm bench needs a build with CUDA")
    return torch


class Bench:
    """One run on the GPU of this machine."""

    def __init__(self, settings: Settings, chip: str, torch: Any) -> None:
        self.settings, self.chip, self._torch = settings, chip, torch
        self._start = time.monotonic()
        self._monitor = Monitor(torch)
        self._timer = Timer(torch, settings.rounds, settings.bursts, settings.burst_ms / 1e3)
        self._library: Any = _library(torch)
        version = None if isinstance(self._library, Exception) else self._library.version()
        self.machine = describe(torch, self._monitor, chip, version)

    def prepare(self, problems: Sequence[Problem], progress: Progress) -> list[tuple[Problem, str, str]]:
        """Compiles everything by several processes; what was refused, as problem, schedule and reason."""
        pairs = [(problem, schedule) for problem in problems for schedule in self.settings.schedules]
        works = [
            Work(problem, self.chip, schedule_text(problem, schedule), debug_info=self.settings.debug_info)
            for problem, schedule in pairs
        ]
        reasons = prepare(works, self.settings.jobs, progress)
        return [(*pair, reason) for pair, reason in zip(pairs, reasons, strict=True) if reason]

    @property
    def out_of_time(self) -> bool:
        """Whether no further problem should be begun."""
        return bool(self.settings.seconds) and time.monotonic() - self._start > self.settings.seconds

    @property
    def is_alive(self) -> bool:
        """Whether the GPU still works for this process: after a fault in a kernel it does not."""
        try:
            self._torch.cuda.synchronize()
        except Exception:
            return False
        return True

    def measure(self, problem: Problem, refused: Sequence[str]) -> Entry:
        """Everyone on one problem, without the schedules that were refused."""
        torch = self._torch
        torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
        drawn = operands.draw(problem, torch, seed=self.settings.seed)
        absent: list[str] = []
        contenders: list[Contender] = []
        for number, schedule in enumerate(self.settings.schedules):
            try:
                if schedule in refused:
                    raise AbsentError("refused")
                own = ours(number, drawn, self.chip, schedule, self.settings.debug_info)
                own.run()
                contenders.append(own)
            except (Error, AbsentError) as reason:
                absent.append(f"{name_of(number)}: {getattr(reason, 'message', reason)}")
        for each in rivals(self.settings.rivals, drawn, self._timer, self._library, torch):
            absent.append(each) if isinstance(each, str) else contenders.append(each)
        verdicts = [self._check(contender, drawn) for contender in contenders]
        figures = self._time(contenders, verdicts)
        return Entry(problem, figures, absent, self._monitor.summary())

    def _check(self, contender: Contender, drawn: operands.Operands) -> operands.Verdict | None:
        if not contender.same:
            return None
        operands.poison(drawn.out)
        result = contender.run()
        return operands.check(drawn, drawn.out if result is None else result, self._torch)

    def _time(self, contenders: Sequence[Contender], verdicts: Sequence[operands.Verdict | None]) -> dict[str, Figures]:
        runs = [contender.run for contender in contenders]
        host = self._timer.host(runs)
        cold = self._timer.cold(runs, host)
        sustained, lengths = self._timer.sustained(runs, [each.median for each in cold], host, self._monitor.sample)
        found: dict[str, Figures] = {}
        for i, (contender, verdict) in enumerate(zip(contenders, verdicts, strict=True)):
            figures = Figures(
                cold=cold[i],
                sustained=sustained[i],
                burst=lengths[i],
                host_seconds=host[i],
                error=verdict.error if verdict else None,
                largest_error=verdict.largest if verdict else None,
                right=verdict.right if verdict else None,
                note=contender.note if verdict is None or verdict.written else "left elements unwritten",
                schedule=contender.schedule,
                kernels=contender.kernels,
            )
            found |= {name: figures for name in (contender.name, contender.also) if name}
        return found


def _library(torch: Any) -> Any:
    """cuBLASLt, or why it cannot be used."""
    try:
        return cublaslt.Library(torch)
    except cublaslt.UnsupportedError as reason:
        return reason
