"""The process that measures the schedules of `space_times.py`, and a stand-in for it without a GPU.

Every result is compared with float64 first, outputs poisoned. Then a graph of launches is made of each schedule, and
then all are timed in rounds, each in an order of its own; what is slow is left out of later rounds. Graphs are made
first because a burst after some idle milliseconds is slow: kernels that DRAM limits took up to 1.35 times as long.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from typing import Any

from launch_times import captured

LIMITS = (float("inf"), 1.3, 1.15, 1.06, 1.06, 1.03, 1.03)
"""How many times the best so far a schedule may take, to be timed in each round; the first one takes part in all."""
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
        self._drawn = operands.draw(problem, torch, seed=1)
        self._reference = Reference(self._drawn, torch)
        self._gpu = device.open_gpu(0)
        self._at = int(self._stream.cuda_stream)
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self._runs: dict[str, Any] = {}
        self._graphs: dict[str, tuple[int, Any]] = {}

    def measure(self) -> None:
        from mlir_gemm.errors import Error

        for text, file in self._request.schedules:
            self._pipe.send(("on", text))
            try:
                run = self._loaded(text, file)
            except Error as error:
                self._pipe.send(("failed", text, error.message))
                continue
            verdict = self._reference.check(run)
            if verdict.right:
                self._runs[text] = run
                self._pipe.send(("checked", text, verdict.error))
            else:
                self._pipe.send(("failed", text, f"is wrong: {verdict.error:.2e}, at most {verdict.largest:.2e}"))
        self._reference = None
        self._pipe.send(("on", ""))
        if self._request.library:
            self._add_library()
        times = self._timed()
        if "" in times:
            self._pipe.send(("library", statistics.median(times[""])))
        self._ramp(next(iter(self._graphs)))
        self._tell("times", times)
        driver = self._gpu.driver
        for _, graph in self._graphs.values():
            driver.cuGraphExecDestroy(graph)

    def _loaded(self, text: str, file: str) -> Any:
        import mlir_gemm
        from mlir_gemm.errors import Error
        from mlir_gemm.runtime.parameters import Parameters

        request = self._request
        kernel = mlir_gemm.compile(request.source, chip=request.chip, device="gpu", tuned=file or "off")
        if file and not any(str(each.schedule) == text for each in kernel.kernels):
            raise Error("the compiler does not take it as it is")
        loaded = kernel.load(0)
        parameters = Parameters(loaded.launch, loaded.constants)
        tensors = (*self._drawn.inputs, self._drawn.out)
        parameters.write([each.data_ptr() for each in tensors])
        workspace = None
        if loaded.launch.workspace_bytes:
            workspace = self._torch.empty(loaded.launch.workspace_bytes, dtype=self._torch.uint8, device="cuda")
            parameters.place(workspace.data_ptr())
        kept = (kernel, loaded, parameters, workspace)
        return lambda: kept[1].start(kept[2], self._at)

    def _add_library(self) -> None:
        """PyTorch's product beside the others, where it has one that a graph takes."""
        from mlir_gemm.bench.contenders import Contender, rivals

        found = next(iter(rivals(("torch",), self._drawn, None, None, self._torch)), "")
        if isinstance(found, Contender):
            self._runs[""] = found.run
            try:
                self._burst("")
            except Exception as error:
                del self._runs[""]
                self._pipe.send(("failed", "PyTorch", f"{type(error).__name__}: {error}"[:200]))

    def _timed(self) -> dict[str, list[float]]:
        rng = random.Random(str(self._request.row))
        times: dict[str, list[float]] = {text: [] for text in self._runs}
        kept = ("", self._request.schedules[0][0])
        for text in times:
            self._pipe.send(("on", text))
            self._burst(text)
        for limit in LIMITS:
            medians = {text: statistics.median(each) for text, each in times.items() if each}
            most = limit * min((each for text, each in medians.items() if text), default=0.0)
            part = [text for text in times if text in kept or text not in medians or medians[text] <= most]
            for text in rng.sample(part, len(part)):
                self._pipe.send(("on", text))
                times[text].append(self._burst(text))
            self._pipe.send(("on", ""))
            self._tell("so far", times)
        return times

    def _tell(self, kind: str, times: dict[str, list[float]]) -> None:
        own = {text: each for text, each in times.items() if text}
        medians = {text: statistics.median(each) for text, each in own.items()}
        self._pipe.send((kind, medians, {text: len(each) for text, each in own.items()}))

    def _burst(self, text: str) -> float:
        if text not in self._graphs:
            run = self._runs[text]
            run()
            once = self._between(lambda: [run() for _ in range(LEAST_RUNS)]) / LEAST_RUNS
            wanted = self._request.burst_ms / 2e3 / max(once, 1e-6)
            length = min(MOST_RUNS, max(LEAST_RUNS, round(wanted)))
            self._graphs[text] = length, captured(self._gpu.driver, self._at, run, length)
        length, graph = self._graphs[text]
        self._replay(graph)
        return self._between(lambda: [self._replay(graph) for _ in range(2)]) / (2 * length)

    def _ramp(self, text: str) -> None:
        """How long each of some graphs takes after an idle GPU, one after another."""
        length, graph = self._graphs[text]
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


def pretend(pipe: Any) -> None:
    """A stand-in: predicted times with errors of 15 %. One schedule in 400 ends the process, one hangs."""
    pipe.send(("ready",))
    while True:
        try:
            request = pipe.recv()
        except (EOFError, OSError):
            return
        times: dict[str, float] = {}
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
            times[text] = request.predicted.get(text, 1e-5) * rng.lognormvariate(0, 0.15)
        if request.library:
            pipe.send(("library", min(times.values(), default=1.0)))
        pipe.send(("times", times, dict.fromkeys(times, 3)))
