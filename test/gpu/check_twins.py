"""How far times of one kernel differ that differ in nothing that a model knows: loaded again, captured again, on other
memory, with other names of its raster, with something small between its runs, and after L2 was overwritten or the
operands were written anew.

    python check_twins.py -o RESULTS.jsonl [--seconds 60] [--loads 10] [--only 14x3328x3456]

The products are some whose schedules took up to 1.7 times as long as their twins, which differ in the raster alone, in
`bench/results/2026-11-24-h200-spaces.jsonl.xz` and the file of 2026-11-27; all their tiles are in flight at once. Each
kind of twin is timed in rounds, each in an order of its own, after a check of the first against float64. A line for
each product and kind says the least, the median and the greatest of the twins' medians.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

ROWS: tuple[tuple[Any, ...], ...] = (
    ("twins", 14, 3328, 3456, "bf16", "bf16", "NT", "none"),
    ("lanes", 64, 384, 2816, "f64", "f64", "NT", "none"),
    ("lanes", 448, 384, 7552, "f32", "f32", "TN", "none"),
    ("lanes", 392, 648, 936, "f64", "f64", "NT", "none"),
    ("lanes", 616, 744, 1480, "f32", "f32", "NN", "none"),
    ("lanes", 220, 845, 2100, "f16", "f16", "TT", "none"),
    ("twins", 7, 5632, 1600, "f16", "f16", "NN", "none"),
    ("twins", 320, 2304, 2304, "bf16", "bf16", "NN", "none"),
    ("twins", 704, 2944, 1792, "bf16", "bf16", "TN", "none"),
    ("twins", 1216, 2048, 3200, "s8", "i32", "NT", "none"),
    ("twins", 768, 768, 8192, "f16", "f16", "NN", "none"),
    ("twins", 1, 6144, 10752, "f16", "f16", "NT", "none"),
)
RASTERS: tuple[dict[str, Any], ...] = (
    {"raster": "grouped", "raster_group": 1},
    {"raster": "grouped", "raster_group": 4},
    {"raster": "grouped", "raster_group": 16},
    {"raster": "row"},
    {"raster": "column"},
    {"raster": "snake", "raster_group": 1},
    {"raster": "diagonal"},
)
ROUNDS, BURST, MOST_RUNS, LEAST_RUNS = 7, 1e-3, 300, 3
BETWEEN_BYTES = 4096
"""That are set between two runs."""
FLUSH_BYTES = 256 << 20
STAGES = (3, 4, 6, 8, 10)
"""Of other schedules that are timed among twins."""


class Bench:
    """One product: its operands, and graphs of its kernels."""

    def __init__(self, row: tuple[Any, ...], torch: Any) -> None:
        from mlir_gemm.bench import operands
        from mlir_gemm.bench.modules import module
        from mlir_gemm.bench.problems import Problem
        from mlir_gemm.runtime import device

        self.torch, self.problem = torch, Problem(*row)
        self.source = module(self.problem)
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.at = int(self.stream.cuda_stream)
        self.drawn = operands.draw(self.problem, torch, seed=1)
        self.driver = device.open_gpu(0).driver
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.between = torch.empty(BETWEEN_BYTES, dtype=torch.uint8, device="cuda")
        self.flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.copies = [each.clone() for each in self.drawn.inputs]
        self.kept: list[Any] = []

    def compiled(self, fields: dict[str, Any] | None = None) -> Any:
        import mlir_gemm

        return mlir_gemm.compile(self.source, device="gpu", schedule=fields, tuned="off")

    def right(self, run: Callable[[], object]) -> Any:
        from mlir_gemm.bench.sweep_measure import Reference

        return Reference(self.drawn, self.torch).check(run)

    def runner(self, loaded: Any, drawn: Any = None) -> Callable[[], object]:
        """What starts a loaded kernel, with parameters and a workspace of its own."""
        from mlir_gemm.runtime.parameters import Parameters

        drawn = drawn or self.drawn
        parameters = Parameters(loaded.launch, loaded.constants)
        parameters.write([each.data_ptr() for each in (*drawn.inputs, drawn.out)])
        workspace = None
        if loaded.launch.workspace_bytes:
            workspace = self.torch.empty(loaded.launch.workspace_bytes, dtype=self.torch.uint8, device="cuda")
            parameters.place(workspace.data_ptr())
        self.kept.append((loaded, parameters, workspace, drawn))
        return lambda: loaded.start(parameters, self.at)

    def cleared(self, run: Callable[[], object]) -> Callable[[], object]:
        """A run with something small before it."""

        def both() -> None:
            self.driver.cuMemsetD8Async(self.between.data_ptr(), 0, BETWEEN_BYTES, self.at)
            run()

        return both

    def seconds(self, call: Callable[[], object]) -> float:
        start, end = self.events
        start.record(self.stream)
        call()
        end.record(self.stream)
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def graph(self, run: Callable[[], object]) -> tuple[int, Callable[[], object]]:
        """A graph of as many runs as take some time, and how many."""
        from launch_times import captured

        from mlir_gemm.runtime.status import checked

        run()
        once = self.seconds(lambda: [run() for _ in range(LEAST_RUNS)]) / LEAST_RUNS
        length = min(MOST_RUNS, max(LEAST_RUNS, round(BURST / max(once, 1e-6))))
        driver = self.driver
        graph = captured(driver, self.at, run, length)
        return length, lambda: checked(driver, driver.cuGraphLaunch(graph, self.at), "launching a graph")

    def flush(self) -> None:
        """Overwrites L2."""
        self.driver.cuMemsetD8Async(self.flushed.data_ptr(), 0, FLUSH_BYTES, self.at)

    def rewrite(self) -> None:
        """Writes the operands anew, the same numbers."""
        for tensor, copy in zip(self.drawn.inputs, self.copies, strict=True):
            tensor.copy_(copy)

    def times(self, runs: list[Callable[[], object]], before: Callable[[], object] | None = None) -> list[float]:
        """The median time of each in microseconds, in rounds, each in an order of its own; with something before each
        burst."""
        graphs = [self.graph(run) for run in runs]
        found: list[list[float]] = [[] for _ in runs]
        rng = random.Random(len(runs))
        for _ in range(ROUNDS):
            for place in rng.sample(range(len(runs)), len(runs)):
                length, replay = graphs[place]
                if before is not None:
                    before()
                replay()
                twice = self.seconds(lambda replay=replay: [replay() for _ in range(2)])
                found[place].append(1e6 * twice / (2 * length))
        return [median(each) for each in found]


Kinds = dict[str, tuple[list[Callable[[], object]], Callable[[], object] | None]]


def twins(bench: Bench, loads: int) -> Kinds:
    """The runs of each kind of twin, and what comes before each burst, in the order in which they are timed."""
    from mlir_gemm.bench import operands

    kernel = bench.compiled()
    first = bench.runner(kernel.load(0))
    verdict = bench.right(first)
    if not verdict.right:
        raise SystemExit(f"{bench.problem.name}: wrong, {verdict}")
    ring = kernel.kernels[0].schedule.mainloop == "tma"
    triggers = [bench.runner(bench.compiled({"early_trigger": on}).load(0)) for on in (False, True)] if ring else []
    rasters = [bench.runner(bench.compiled(fields).load(0)) for fields in RASTERS]
    few = [first] * 4
    return {
        "captured again": (few, None),
        "after a flush": (few, bench.flush),
        "captured once more": (few, None),
        "operands written anew": (few, bench.rewrite),
        "captured a third time": (few, None),
        "early_trigger off, on": (triggers, None),
        "rasters": (rasters, None),
        "rasters after a flush": (rasters, bench.flush),
        "rasters among others": ([*rasters, *_others(bench)], None),
        "loaded again": ([bench.runner(kernel.load(0)) for _ in range(loads)], None),
        "rasters, cleared between": ([bench.cleared(run) for run in rasters], None),
        "other memory": (
            [bench.runner(kernel.load(0), operands.draw(bench.problem, bench.torch, seed=at)) for at in range(loads)],
            None,
        ),
        "captured at the end": (few, None),
    }


def _others(bench: Bench) -> list[Callable[[], object]]:
    """Runs of schedules with other stages, and of the product with A and B not swapped, or swapped."""
    from mlir_gemm.errors import Error

    found: list[Callable[[], object]] = []
    for fields in (*({"stages": count} for count in STAGES), {"swap_ab": False}, {"swap_ab": True}):
        try:
            found.append(bench.runner(bench.compiled(fields).load(0)))
        except Error:  # what does not fit
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="no product begins later")
    parser.add_argument("--loads", type=int, default=10, help="twins of each kind")
    parser.add_argument("--only", default="", help="products with this in their names")
    options = parser.parse_args()
    import torch

    start = time.perf_counter()
    with options.output.open("w") as file:
        for row in ROWS:
            if time.perf_counter() - start > options.seconds:
                break
            bench = Bench(row, torch)
            if options.only not in bench.problem.name:
                continue
            for kind, (runs, before) in twins(bench, options.loads).items():
                if not runs:
                    continue
                found = bench.times(runs, before)
                low, middle, high = min(found), median(found), max(found)
                print(
                    f"{bench.problem.name:24} {kind:32} {low:7.2f} {middle:7.2f} {high:7.2f} us: {high / low:.3f}",
                    flush=True,
                )
                line = {"name": bench.problem.name, "kind": kind, "us": found, "device": torch.cuda.get_device_name()}
                file.write(json.dumps(line) + "\n")
                file.flush()


if __name__ == "__main__":
    main()
