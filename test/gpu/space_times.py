"""Times of many schedules of many problems: compiled by several processes while one process measures.

`Compilers` explores and compiles, `Measurer` asks the process that measures (`space_worker.py`). A kernel that faults
or hangs costs itself and a new process. `Results` are on disk after each problem.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]
"""The fields of a problem of `mlir_gemm.bench.problems`."""
RESTARTS = 6
"""New processes for one table."""


@dataclass(frozen=True)
class Explored:
    """One problem with the schedules that may be tried; the model's choice first."""

    row: Row
    source: str
    name: str
    problem: Any
    """As the module has it."""
    decided: Any
    """What is computed in the end, A and B not swapped."""
    rewrites: tuple[str, ...]
    """What is done first."""
    trials: tuple[Any, ...]
    seconds: float
    """What exploring took."""


def explored(row: Row, chip: str, most: int = 0) -> Explored:
    """The space of a problem. Raises what the model raises."""
    from mlir_gemm.bench.modules import module
    from mlir_gemm.bench.problems import Problem
    from mlir_gemm.tile_model.swap import swapped
    from mlir_gemm.tuner.products import products_of

    start = time.perf_counter()
    problem = Problem(*row)
    source = module(problem)
    (product,) = products_of(source, "-", chip, most=most)
    space = product.space
    choice = space.decisions.choice
    decided = swapped(choice.problem) if choice.pinned.get("swap_ab") else choice.problem
    rewrites = tuple(name for name in space.decisions.rewrites if name != "swap_ab")
    taken = time.perf_counter() - start
    return Explored(row, source, problem.name, space.problem, decided, rewrites, space.trials, taken)


class Compilers:
    """Processes that compile. One that ends is replaced, and what was lost is tried once more."""

    def __init__(self, jobs: int, chip: str, gpu: str, load: bool) -> None:
        self.jobs, self.chip, self._gpu, self._load = jobs, chip, gpu, load
        self._folder = tempfile.mkdtemp(prefix="mlir-gemm-spaces-")
        self._lock, self._count = threading.Lock(), 0
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.jobs, multiprocessing.get_context("spawn"))

    def submit(self, call: Callable[..., Any], *given: Any) -> Future[Any]:
        with self._lock:
            try:
                return self._pool.submit(call, *given)
            except BrokenProcessPool:
                self._pool = self._new()
                return self._pool.submit(call, *given)

    def file_of(self, problem: Any, schedule: str) -> str:
        """A file of tuned schedules with just this one."""
        from mlir_gemm.tile_model import tuned

        with self._lock:
            self._count += 1
            path = Path(self._folder) / f"{self._count}.json"
        entry = tuned.Entry(problem, self.chip, self._gpu, schedule, 0.0, 0.0)
        path.write_text(json.dumps({"format": tuned.FORMAT, "entries": [entry.to_json()]}))
        return str(path)

    def begin(self, found: Explored, schedules: Sequence[str]) -> list[tuple[str, str, Future[Any]]]:
        """Schedules that are being compiled, with their files."""
        from mlir_gemm.bench.preparing import Work, compile_one

        begun: list[tuple[str, str, Future[Any]]] = []
        for schedule in schedules:
            file = self.file_of(found.problem, schedule)
            work = Work(found.source, self.chip, "", load=self._load, tuned=file)
            begun.append((schedule, file, self.submit(compile_one, work)))
        return begun

    def ended(self, found: Explored, begun: Sequence[tuple[str, str, Future[Any]]]) -> list[tuple[str, str, str]]:
        """Schedules, their files, and why they were refused; empty if they were not."""
        from mlir_gemm.bench.preparing import Work, compile_one

        done: list[tuple[str, str, str]] = []
        for schedule, file, future in begun:
            try:
                why = future.result()
            except BrokenProcessPool:
                work = Work(found.source, self.chip, "", load=self._load, tuned=file)
                try:
                    why = self.submit(compile_one, work).result()
                except BrokenProcessPool:
                    why = "internal error: the process that compiles ended"
            done.append((schedule, file, why))
        return done

    def close(self) -> None:
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for each in processes:
            each.kill()


@dataclass
class Table:
    """Times of some schedules of one problem."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    errors: dict[str, float] = field(default_factory=dict[str, float])
    rounds: dict[str, int] = field(default_factory=dict[str, int])
    places: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Seconds on each copy of the operands; `seconds` has their median."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Why there is no time."""
    library: float = 0.0
    """Seconds of PyTorch's product; 0 where it has none."""
    taken: float = 0.0
    ramp: list[Any] = field(default_factory=list[Any])
    """Of one schedule the runs of a graph and the seconds of one run, for each graph after an idle GPU."""


@dataclass(frozen=True)
class Request:
    """What the process that measures is asked."""

    row: Row
    source: str
    chip: str
    schedules: tuple[tuple[str, str], ...]
    """Each with its file; without one it is the model's choice, whatever it is called."""
    predicted: Mapping[str, float]
    """Of a stand-in without a GPU."""
    library: bool
    burst_ms: float = 2.0


class Measurer:
    """Asks one process for tables, one after another."""

    def __init__(self, serve: Callable[..., None], limit: float) -> None:
        self._serve, self._limit = serve, limit
        self._lock = threading.Lock()
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Any = None
        self.restarts = 0
        self.busy = 0.0

    def start(self) -> None:
        """Starts the process, without waiting for it."""
        own, other = self._context.Pipe()
        self._process = self._context.Process(target=self._serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._pipe = own

    def table(self, request: Request) -> Table:
        with self._lock:
            begun = time.perf_counter()
            table = Table()
            left = request
            for _ in range(RESTARTS):
                culprit = self._ask(left, table)
                if culprit is None:
                    break
                self.restarts += 1
                known = {*table.failed}
                left = replace(left, schedules=tuple(each for each in left.schedules if each[0] not in known))
            table.taken = time.perf_counter() - begun
            self.busy += table.taken
            return table

    def _ask(self, request: Request, table: Table) -> str | None:
        """Fills the table; the reason why the process ended meanwhile, None if it did not."""
        if self._process is None:
            self.start()
        on, ready = "", False
        try:
            self._pipe.send(request)
            while True:
                if not self._pipe.poll(self._limit if ready else 60):
                    return self._failed(table, on, f"hangs: not ended within {self._limit:.0f} s")
                kind, *rest = self._pipe.recv()
                ready = ready or kind != "ready"
                if kind == "on":
                    (on,) = rest
                elif kind == "fault":
                    return self._failed(table, on, f"faults: {rest[0]}")
                elif kind == "failed":
                    table.failed[rest[0]] = rest[1]
                elif kind == "checked":
                    table.errors[rest[0]] = rest[1]
                elif kind == "ramp":
                    table.ramp = rest
                elif kind == "library":
                    table.library = rest[0]
                elif kind in ("so far", "times"):
                    table.seconds, table.rounds, table.places = rest
                    if kind == "times":
                        return None
        except (EOFError, OSError):
            return self._failed(table, on, "faults: the process ended")

    def _failed(self, table: Table, on: str, why: str) -> str:
        if on:
            table.failed[on] = why
            table.errors.pop(on, None)
            table.seconds.pop(on, None)
        self.close()
        return why

    def close(self) -> None:
        process, self._process = self._process, None
        with contextlib.suppress(OSError, AttributeError):
            self._pipe.close()
        if process is not None:
            process.join(0.2)
            if process.is_alive():
                process.kill()
            process.join(5)


class Results:
    """A file of lines, one for each thing that came, on disk at once."""

    def __init__(self, path: Path, **about: Any) -> None:
        self._path, self._lock, self.start = path, threading.Lock(), time.perf_counter()
        path.write_text("")
        self.add("about", date=time.strftime("%Y-%m-%d %H:%M"), **about)

    def add(self, kind: str, **what: Any) -> None:
        with self._lock, self._path.open("a") as file:
            file.write(json.dumps({"kind": kind, "at": round(self.now, 2), **what}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    @property
    def now(self) -> float:
        return time.perf_counter() - self.start


def in_parallel(calls: Sequence[Callable[[], None]]) -> None:
    """Runs all, each in a thread of its own; a fault of one is printed and ends none of the others."""

    def guarded(call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:
            print(f"{getattr(call, 'args', call)}: {type(error).__name__}: {str(error)[:300]}", flush=True)

    threads = [threading.Thread(target=guarded, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
