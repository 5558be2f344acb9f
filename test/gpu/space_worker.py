"""The process that measures the schedules of `space_times.py`, and a stand-in for it without a GPU.

Every result is compared with float64 first, outputs poisoned. Then a graph of launches is made of each schedule, and
then all are timed in rounds, each in an order of its own; what is slow is left out of later rounds. Graphs are made
first because a burst after some idle milliseconds is slow: kernels that DRAM limits took up to 1.35 times as long.

The same kernel takes up to 1.5 times as long where L2 holds something else, and a little longer or shorter on other
memory. So L2 is overwritten before each burst, and a schedule is timed on several copies of the operands and results,
each at its own addresses (`PLACES`), of which the median counts. Of the last rounds, in which the chip is warmest, only
few schedules have times: what the chip lost since the first round is taken from all (`level`).
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from launch_times import captured

LIMITS = (float("inf"), 1.3, 1.15, 1.06, 1.06)
"""How many times the best so far a schedule may take, to be timed in each round; the first one takes part in all."""
PLACES = 3
"""Where operands and results lie: as they were drawn, and copies of them elsewhere."""
LONG_SECONDS = 3e-4
"""Of the fastest schedule, from which one place is enough: what L2 holds decides little then."""
HOLES = 32
"""Megabytes left free between copies, at most."""
FLUSH_BYTES = 128 << 20
"""Written before each burst, of which half is not timed: what L2 holds then is its own doing."""
IDLE_SECONDS, RAMP = 5e-3, 16
"""Of the burst after idling whose graphs are timed one by one."""
MOST_RUNS = 300
LEAST_RUNS = 3


def serve(pipe: Any) -> None:
    """Answers requests until the other side hangs up."""
    import torch

    torch.zeros(1, device="cuda")
    pipe.send(("ready",))
    while True:
        try:
            request = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            _Tables(torch, pipe, request).measure()
        except Exception as error:  # after a fault of a kernel the context takes no further work
            pipe.send(("fault", f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"))
            return


class _Tables:
    def __init__(self, torch: Any, pipe: Any, request: Any) -> None:
        from mlir_gemm.bench import operands
        from mlir_gemm.bench.problems import Problem
        from mlir_gemm.bench.sweep_measure import Reference
        from mlir_gemm.runtime import device

        self._torch, self._pipe, self._request = torch, pipe, request
        problem = Problem(*request.row)
        torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
        self._stream = torch.cuda.Stream()
        torch.cuda.set_stream(self._stream)
        self._places = [operands.draw(problem, torch, seed=1)]
        self._holes: list[Any] = []
        self._reference = Reference(self._places[0], torch)
        self._gpu = device.open_gpu(0)
        self._at = int(self._stream.cuda_stream)
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self._flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self._loaded: dict[str, Any] = {}
        """By schedule: the kernel, and what is on the GPU of it."""
        self._runs: dict[tuple[str, int], Callable[[], object]] = {}
        """By schedule and place."""
        self._graphs: dict[tuple[str, int], tuple[int, Any]] = {}

    def measure(self) -> None:
        for text, file in self._request.schedules:
            self._pipe.send(("on", text))
            self._check(text, file)
        self._reference = None
        self._pipe.send(("on", ""))
        texts = [text for text, _ in self._runs]
        if texts and min(self._once(text) for text in texts) < LONG_SECONDS:
            for seed in range(1, PLACES):
                self._places.append(self._copied(seed))
                self._runs |= {(text, seed): self._run_of(text, seed) for text in texts}
        if self._request.library:
            self._add_library()
        times = self._timed()
        if "" in times:
            self._pipe.send(("library", _middle(level(times)[""])))
        self._ramp(next(iter(self._graphs)))
        self._tell("times", times)
        driver = self._gpu.driver
        for _, graph in self._graphs.values():
            driver.cuGraphExecDestroy(graph)

    def _check(self, text: str, file: str) -> None:
        """Loads a schedule, and compares its result with the reference."""
        from mlir_gemm.errors import Error

        try:
            self._loaded[text] = self._load(text, file)
        except Error as error:
            self._pipe.send(("failed", text, error.message))
            return
        run = self._run_of(text, 0)
        verdict = self._reference.check(run)
        if verdict.right:
            self._runs[text, 0] = run
            self._pipe.send(("checked", text, verdict.error))
        else:
            self._pipe.send(("failed", text, f"is wrong: {verdict.error:.2e}, at most {verdict.largest:.2e}"))

    def _load(self, text: str, file: str) -> Any:
        import mlir_gemm
        from mlir_gemm.errors import Error

        request = self._request
        kernel = mlir_gemm.compile(request.source, chip=request.chip, device="gpu", tuned=file or "off")
        if file and not any(str(each.schedule) == text for each in kernel.kernels):
            raise Error("the compiler does not take it as it is")
        return kernel, kernel.load(0)

    def _run_of(self, text: str, place: int) -> Callable[[], object]:
        """What starts a schedule on the operands of a place, with parameters and a workspace of its own."""
        from mlir_gemm.runtime.parameters import Parameters

        _, loaded = self._loaded[text]
        parameters = Parameters(loaded.launch, loaded.constants)
        drawn = self._places[place]
        parameters.write([each.data_ptr() for each in (*drawn.inputs, drawn.out)])
        workspace = None
        if loaded.launch.workspace_bytes:
            workspace = self._torch.empty(loaded.launch.workspace_bytes, dtype=self._torch.uint8, device="cuda")
            parameters.place(workspace.data_ptr())
        kept = (loaded, parameters, workspace)
        return lambda: kept[0].start(kept[1], self._at)

    def _copied(self, seed: int) -> Any:
        """The operands at other addresses, with holes of random sizes between them."""
        rng, drawn = random.Random(seed), self._places[0]

        def copied(tensor: Any) -> Any:
            if tensor is None:
                return None
            for most in (HOLES << 20, 1 << 18):  # of the allocator's large and small blocks
                hole = self._torch.empty(rng.randrange(1, most), dtype=self._torch.uint8, device="cuda")
                self._holes.append(hole)
            return tensor.clone()

        tensors = {name: copied(getattr(drawn, name)) for name in ("a", "b", "bias", "factor", "out")}
        return replace(drawn, **tensors)

    def _add_library(self) -> None:
        """PyTorch's product beside the others, where it has one that a graph takes."""
        from mlir_gemm.bench.contenders import Contender, rivals

        for place, drawn in enumerate(self._places):
            found = next(iter(rivals(("torch",), drawn, None, None, self._torch)), "")
            if isinstance(found, Contender):
                self._runs["", place] = found.run
        try:
            for place in range(len(self._places)):
                if ("", place) in self._runs:
                    self._burst("", place)
        except Exception as error:
            self._runs = {key: run for key, run in self._runs.items() if key[0]}
            self._pipe.send(("failed", "PyTorch", f"{type(error).__name__}: {error}"[:200]))

    def _timed(self) -> dict[str, list[list[float]]]:
        """The times of each schedule in each place."""
        rng, places = random.Random(str(self._request.row)), range(len(self._places))
        times: dict[str, list[list[float]]] = {text: [[] for _ in places] for text, place in self._runs if not place}
        kept = ("", self._request.schedules[0][0])
        for text, place in self._runs:
            self._pipe.send(("on", text))
            self._burst(text, place)
        for limit in LIMITS:
            medians = {text: _middle(each) for text, each in times.items() if each[0]}
            most = limit * min((each for text, each in medians.items() if text), default=0.0)
            part = [text for text in times if text in kept or text not in medians or medians[text] <= most]
            for place in rng.sample(places, len(places)):
                for text in rng.sample(part, len(part)):
                    self._pipe.send(("on", text))
                    times[text][place].append(self._burst(text, place))
            self._pipe.send(("on", ""))
            self._tell("so far", times)
        return times

    def _tell(self, kind: str, times: dict[str, list[list[float]]]) -> None:
        own = {text: each for text, each in level(times).items() if text}
        medians = {text: _middle(each) for text, each in own.items()}
        places = {text: [statistics.median(part) for part in each] for text, each in own.items()}
        self._pipe.send((kind, medians, {text: len(each[0]) for text, each in own.items()}, places))

    def _once(self, text: str, place: int = 0) -> float:
        """Seconds of a run, roughly."""
        run = self._runs[text, place]
        run()
        return self._between(lambda: [run() for _ in range(LEAST_RUNS)]) / LEAST_RUNS

    def _burst(self, text: str, place: int) -> float:
        if (text, place) not in self._graphs:
            wanted = self._request.burst_ms / 2e3 / len(self._places) ** 0.5 / max(self._once(text, place), 1e-6)
            length = min(MOST_RUNS, max(LEAST_RUNS, round(wanted)))
            graph = captured(self._gpu.driver, self._at, self._runs[text, place], length)
            self._graphs[text, place] = length, graph
        length, graph = self._graphs[text, place]
        self._gpu.driver.cuMemsetD8Async(self._flushed.data_ptr(), 0, FLUSH_BYTES, self._at)
        self._replay(graph)
        return self._between(lambda: [self._replay(graph) for _ in range(2)]) / (2 * length)

    def _ramp(self, which: tuple[str, int]) -> None:
        """How long each of some graphs takes after an idle GPU, one after another."""
        text, (length, graph) = which[0], self._graphs[which]
        marks = [self._torch.cuda.Event(enable_timing=True) for _ in range(RAMP + 1)]
        self._torch.cuda.synchronize()
        time.sleep(IDLE_SECONDS)
        marks[0].record(self._stream)
        for mark in marks[1:]:
            self._replay(graph)
            mark.record(self._stream)
        marks[-1].synchronize()
        pairs = itertools.pairwise(marks)
        self._pipe.send(("ramp", text, length, [one.elapsed_time(other) / 1e3 / length for one, other in pairs]))

    def _between(self, call: Any) -> float:
        start, end = self._events
        start.record(self._stream)
        call()
        end.record(self._stream)
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def _replay(self, graph: Any) -> None:
        (status,) = self._gpu.driver.cuGraphLaunch(graph, self._at)
        if int(status):
            raise RuntimeError(f"launching a graph: {status}")


def level(times: dict[str, list[list[float]]]) -> dict[str, list[list[float]]]:
    """The times of each schedule in each place, round by round, as if all rounds were the first: divided by how much
    longer those that take part in a round take in it than in the first, in the median."""
    found = {text: [list(each) for each in places] for text, places in times.items()}
    for places in zip(*found.values(), strict=True):
        for number in range(1, max(map(len, places))):
            part = [each for each in places if len(each) > number]
            drift = statistics.median(each[number] / each[0] for each in part)
            for each in part:
                each[number] /= drift
    return found


def _middle(times: list[list[float]]) -> float:
    """The median over places of the median time in each."""
    return statistics.median(statistics.median(each) for each in times)


def pretend(pipe: Any) -> None:
    """A stand-in: predicted times with errors of 15 %. One schedule in 400 ends the process, one hangs."""
    pipe.send(("ready",))
    while True:
        try:
            request = pipe.recv()
        except (EOFError, OSError):
            return
        times: dict[str, float] = {}
        places: dict[str, list[float]] = {}
        for text, _ in request.schedules:
            pipe.send(("on", text))
            rng = random.Random(f"{text} {request.row}")
            fate = rng.random()
            if fate < 0.0025:
                raise SystemExit(7)
            if fate < 0.005:
                time.sleep(1000)
            if fate < 0.01:
                pipe.send(("failed", text, "is wrong: pretended"))
                continue
            pipe.send(("checked", text, 1e-4))
            middle = request.predicted.get(text, 1e-5) * rng.lognormvariate(0, 0.15)
            places[text] = [middle * rng.lognormvariate(0, 0.03) for _ in range(PLACES)]
            times[text] = statistics.median(places[text])
        if request.library:
            pipe.send(("library", min(times.values(), default=1.0)))
        pipe.send(("times", times, dict.fromkeys(times, 3), places))
