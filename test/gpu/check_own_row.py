"""Probes the GPU of this machine, and says how good the model is with the row that it found, without tuning.

    python check_own_row.py -o RESULTS.jsonl [--seconds 200] [--jobs N]
    python check_own_row.py -o RESULTS.jsonl --dry --sizes 1 --listed 2 --count 6              # no GPU

First `mlir-gemm probe`, into a file beside the results. Then sizes of language models, some 40 schedules each, among
them the choice with the probe's row and that with the table's: how far is the choice from the best of the space? Then
the benchmark's list in f16, NN and NT, beside PyTorch; where ours is slower, some 30 schedules more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from math import exp, log
from pathlib import Path
from typing import Any

from check_whole_spaces import Run, likely
from space_times import Explored, Request, Results, Row, Table, explored, in_parallel

SIZES: tuple[Row, ...] = (
    ("model", 3, 6400, 1600, "f16", "f16", "NN", "none"),
    ("model", 2048, 6144, 4096, "bf16", "bf16", "NT", "none"),
    ("model", 333, 10240, 8192, "bf16", "bf16", "NT", "none"),
    ("model", 2048, 7168, 18432, "bf16", "bf16", "NT", "none"),
    ("model", 6000, 4096, 14336, "bf16", "bf16", "NT", "none"),
    ("model", 2048, 28672, 4096, "bf16", "bf16", "NT", "none"),
    ("model", 4096, 151936, 3584, "bf16", "bf16", "NT", "none"),
)
SLOWER = 0.97
"""Of PyTorch: where ours is slower than this, others of the space are measured."""
CHOICE = "the model's choice"


def chosen(row: Row, chip: str) -> str:
    """The schedule that the model chooses with the figures of a chip."""
    from mlir_gemm.bench.modules import module
    from mlir_gemm.bench.problems import Problem
    from mlir_gemm.pipeline.driver import compile_module

    compilation = compile_module(module(Problem(*row)), chip=chip, until="select")
    return next(str(kernel.schedule) for kernel in compilation.kernels if kernel.schedule is not None)


class OwnRow(Run):
    """All of it."""

    def sized(self, row: Row, tables: str) -> None:
        """A size of a language model: the choice against the best of its space."""
        found: Explored = self.compilers.submit(explored, row, self.chip).result()
        other = self.compilers.submit(chosen, row, tables).result()
        schedules = likely(found, self.options.count)
        if other not in schedules and other in {trial.schedule for trial in found.trials}:
            schedules.append(other)
        table = self.measured(found, self.compilers, schedules)
        self.write("size", found, table, 0, {other: "table's row"}, by_table=other)
        own = table.seconds.get(found.trials[0].schedule)
        if own:
            with self.lock:
                self.sizes[found.name] = own / min(table.seconds.values())

    def listed(self, row: Row) -> None:
        """A problem of the list: the choice beside PyTorch, and more where it is slower."""
        from mlir_gemm.bench.modules import module
        from mlir_gemm.bench.preparing import Work, compile_one
        from mlir_gemm.bench.problems import Problem

        problem = Problem(*row)
        source = module(problem)
        load = not self.options.dry
        why = self.compilers.submit(compile_one, Work(source, self.chip, "", load=load, tuned="off")).result()
        if self.is_over:
            return
        table = Table(failed={CHOICE: why})
        if not why:
            table = self.measurer.table(Request(row, source, self.chip, ((CHOICE, ""),), {}, library=True))
        ours, theirs = table.seconds.get(CHOICE, 0.0), table.library
        ratio = theirs / ours if ours and theirs else None
        self.results.add("listed", name=problem.name, row=row, us=1e6 * ours, cublas_us=1e6 * theirs, ratio=ratio,
                         failed=table.failed)  # fmt: skip
        with self.lock:
            self.ratios[problem.name] = ratio
        if ratio is None or ratio >= SLOWER or self.is_over:
            return
        found: Explored = self.compilers.submit(explored, row, self.chip).result()
        schedules = likely(found, self.options.count * 3 // 4)
        more = self.measured(found, self.compilers, schedules)
        self.write("slower", found, more, 0, {})
        if more.seconds and more.library:
            with self.lock:
                self.best[problem.name] = more.library / min(more.seconds.values())

    def run(self) -> None:
        from mlir_gemm.bench.problems import select

        options, tables = self.options, options_table(self.chip)
        self.lock, self.ratios, self.best = threading.Lock(), dict[str, Any](), dict[str, float]()
        self.sizes: dict[str, float] = {}
        self._left = 1 << 30
        self._compiled.set()  # it measures while it compiles
        self.measurer.start()
        groups = ("types", "epilogues")
        names = [each for each in select((), ("f16",), ("NN", "NT")) if each.group not in groups]
        rows = [
            (each.group, each.m, each.n, each.k, each.dtype, each.out, each.layout, each.epilogue) for each in names
        ]
        calls: list[Callable[[], None]] = [partial(self.sized, row, tables) for row in SIZES[: options.sizes]]
        calls += [partial(self.listed, row) for row in rows[: options.listed]]
        runner = threading.Thread(target=in_parallel, args=(calls,), daemon=True)
        runner.start()
        runner.join(max(1.0, options.seconds + 8 - self.results.now))
        if self.sizes:
            mean = exp(statistics.fmean(map(log, self.sizes.values())))
            each = {name: round(loss, 3) for name, loss in self.sizes.items()}
            print(f"sizes: {len(each)}, the choice {mean:.3f} of the best in the mean (asked: 1.03): {each}")
        known = {name: ratio for name, ratio in self.ratios.items() if ratio}
        if known:
            mean = exp(statistics.fmean(log(ratio) for ratio in known.values()))
            low = {name: round(ratio, 3) for name, ratio in known.items() if ratio < 0.95}
            print(
                f"list: {len(known)} problems, geometric mean {mean:.3f} of PyTorch's (asked: 1.20); below 0.95: {low}"
            )
            print("best of their spaces:", {name: round(self.best[name], 3) for name in low if name in self.best})
        self.results.add("end", busy=self.measurer.busy, restarts=self.measurer.restarts, over=runner.is_alive())
        print(f"{self.results.now:.0f} s, of which measuring {self.measurer.busy:.0f}", flush=True)
        self.compilers.close()
        self.few.close()
        self.measurer.close()


def options_table(chip: str) -> str:
    """The chip by the package's own row, without what was probed."""
    from mlir_gemm.runtime.own_chip import VARIABLE, _of_gpu, own_chip

    before, os.environ[VARIABLE] = os.environ.get(VARIABLE, ""), "off"
    _of_gpu.cache_clear()
    try:
        found = own_chip().chip
    finally:
        os.environ[VARIABLE] = before
        _of_gpu.cache_clear()
    return found if found.partition(":")[0] == chip.partition(":")[0] else chip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--probe", type=float, default=45, help="seconds for the probe; 0: the rows as they are")
    parser.add_argument("--sizes", type=int, default=len(SIZES))
    parser.add_argument("--listed", type=int, default=110, help="problems of the list")
    parser.add_argument("--count", type=int, default=42, help="schedules of a size")
    parser.add_argument("--jobs", type=int, default=max(2, (os.cpu_count() or 2) - 2))
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a kernel counts as hanging")
    parser.add_argument("--dry", action="store_true", help="no GPU: predicted times with errors")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    for name in ("MLIR_GEMM_CACHE", "CUDA_CACHE_PATH"):
        os.environ.setdefault(name, tempfile.mkdtemp(prefix="mlir-gemm-own-row-"))
    os.environ |= {"CUDA_CACHE_MAXSIZE": str(4 << 30), "MLIR_GEMM_TUNED": "off", "OMP_NUM_THREADS": "1"}
    results = Results(options.output, options=vars(options) | {"output": ""})
    probed = options.output.with_suffix(".chips.json")
    os.environ["MLIR_GEMM_CHIPS"] = str(probed)
    if options.probe and not options.dry:
        asked = ["probe", "--seconds", str(options.probe), "-o", str(probed)]
        done = subprocess.run([sys.executable, "-m", "mlir_gemm.tools.main", *asked], check=False)
        if done.returncode:
            print(f"mlir-gemm {' '.join(asked)} failed: {done.returncode}; the table's row counts", flush=True)
    from mlir_gemm.runtime.own_chip import default_chip
    from mlir_gemm.runtime.tuned_files import this_gpu
    from mlir_gemm.tile_model.chips import target

    chip = "sm_90a:h100sxm" if options.dry else default_chip()
    gpu = target(chip).name if options.dry else this_gpu()[1]
    results.add("chip", device=gpu, chip=chip)
    print(f"{results.now:.0f} s  {gpu}: {chip}", flush=True)
    OwnRow(options, results, chip, gpu).run()
    os._exit(0)  # threads may still wait for what was ended


if __name__ == "__main__":
    main()
