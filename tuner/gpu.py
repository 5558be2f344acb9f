"""Measures on the GPU of this machine: compiles in several processes, runs in one of its own.

Whatever a kernel does, the search goes on: one that faults takes the context of that process with it, one that hangs is
ended after a limit, and a new process takes the next schedule.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mlir_gemm.bench.preparing import Work
from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model import tuned
from mlir_gemm.tuner.compiling import Compilers
from mlir_gemm.tuner.measuring import FAILED, Outcome
from mlir_gemm.tuner.worker import Setup, serve

START_SECONDS = 600.0
"""In which the process that measures must be ready: it computes the reference first."""


@dataclass(frozen=True)
class Wanted:
    """The product that is tuned, in its module."""

    problem: Problem
    chip: str
    gpu: str


class OnGpu:
    """Compiles and measures schedules of one product of a module."""

    measured = True

    def __init__(
        self,
        setup: Setup,
        wanted: Wanted,
        compilers: Compilers,
        *,
        limit: float = 60.0,
        owned: bool = False,
        serve: Callable[[Connection, Setup], None] = serve,
    ) -> None:
        """After `limit` seconds a measurement counts as hanging. Compilers that are `owned` end with it. `serve` is
        what the process that measures runs."""
        self._setup, self._wanted, self._compilers, self._limit, self._serve = setup, wanted, compilers, limit, serve
        self._owned = owned
        self._folder = tempfile.TemporaryDirectory(prefix="mlir-gemm-tune-")
        self._context = multiprocessing.get_context("spawn")  # not forked: a process that has used CUDA must not be
        self._process: Any = None
        self._pipe: Connection | None = None
        self._files: dict[str, str] = {}

    def file_of(self, schedule: str) -> str:
        """A file of tuned schedules with just this one, by which the compiler takes it; none for an empty text."""
        if schedule and schedule not in self._files:
            path = Path(self._folder.name) / f"{len(self._files)}.json"
            entry = tuned.Entry(self._wanted.problem, self._wanted.chip, self._wanted.gpu, schedule, 0.0, 0.0)
            tuned.add(str(path), [entry])
            self._files[schedule] = str(path)
        return self._files.get(schedule, "")

    def prepare(self, schedules: Sequence[str]) -> Mapping[str, str]:
        works = [self._work(schedule) for schedule in schedules]
        reasons = self._compilers.compile(works)
        return {schedule: reason for schedule, reason in zip(schedules, reasons, strict=True) if reason}

    def _work(self, schedule: str) -> Work:
        setup = self._setup
        return Work(setup.source, setup.chip, "", load=setup.loads, tuned=self.file_of(schedule), entry=setup.entry)

    def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
        answer = self._ask("measure", (schedule, self.file_of(schedule)), (best, self.file_of(best)), best_value)
        return answer if isinstance(answer, Outcome) else Outcome(FAILED, reason=answer)

    def compare(self, schedule: str, other: str) -> tuple[float, float]:
        answer = self._ask("compare", (schedule, self.file_of(schedule)), (other, self.file_of(other)), 0.0)
        if isinstance(answer, str):
            raise Error(f"the best schedule could not be measured once more: {answer}")
        one, another = answer
        return one, another

    def close(self) -> None:
        self._end()
        if self._owned:
            self._compilers.close()
        self._folder.cleanup()

    def _ask(self, *question: Any) -> Any:
        """The answer of the process that measures; why there is none, as text."""
        pipe = self._ready()
        try:
            pipe.send(question)
            if not pipe.poll(self._limit):
                self._end()
                return f"hangs: it did not end within {self._limit:.0f} s"
            kind, answer = pipe.recv()
        except (EOFError, OSError):
            code = self._end()
            return f"faults: the process that measured ended (exit status {code})"
        if kind == "fault":
            self._end()
            return f"faults: {answer}"
        return answer

    def _ready(self) -> Connection:
        """The pipe to the process that measures, which is started where there is none. Raises Error."""
        if self._pipe is not None:
            return self._pipe
        own, others = self._context.Pipe()
        self._process = self._context.Process(target=self._serve, args=(others, self._setup), daemon=True)
        self._process.start()
        others.close()
        said: Any = ("fault", f"it was not ready within {START_SECONDS:.0f} s")
        try:
            if own.poll(START_SECONDS):
                said = own.recv()
        except (EOFError, OSError):
            said = ("fault", "it ended")
        if said != ("ready", None):
            self._pipe = own
            self._end()
            raise Error(f"the process that measures could not start: {said[1]}")
        self._pipe = own
        return own

    def _end(self) -> int | None:
        """Ends the process that measures, whatever it does; its exit status."""
        if self._pipe is not None:
            self._pipe.close()
        process, self._process, self._pipe = self._process, None, None
        if process is None:
            return None
        process.join(0.5)
        if process.is_alive():
            process.kill()
        process.join()
        return process.exitcode
