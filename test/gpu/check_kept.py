"""What marking an operand as the first to leave L2 (`l2_keep_a`, `l2_keep_b`) costs and gains, by what L2 held before.

    python check_kept.py -o RESULTS.jsonl [--seconds 60] [--only 14x3328x3456]

Products of few rows, and others with a long k, of whose larger operand L2 holds a part or all: with as many of 32 parts
kept as the model says, and with PARTS. Each in these states:

- `flushed`: back to back, after 256 MB were written once; `rewritten`: after the operands were written anew.
- `cold`: 128 MB are written before each run; `chain`: a copy of 8 MB before each, as a small kernel of others. What
  these take by themselves is subtracted.

A line for each product, number and state: microseconds of a run, the median of rounds, each in an order of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from check_twins import Bench

ROWS: tuple[tuple[Any, ...], ...] = (
    ("kept", 14, 3328, 3456, "bf16", "bf16", "NT", "none"),
    ("kept", 7, 5632, 1600, "f16", "f16", "NN", "none"),
    ("kept", 10, 2496, 6272, "f16", "f16", "NN", "none"),
    ("kept", 9, 5760, 3648, "f16", "f16", "NN", "none"),
    ("kept", 16, 4096, 1024, "f16", "f16", "NT", "none"),
    ("kept", 256, 4096, 3072, "f16", "f16", "NT", "none"),
    ("kept", 4, 5120, 2424, "f16", "f16", "NT", "none"),
    ("kept", 64, 8192, 2048, "bf16", "bf16", "NT", "none"),
    ("kept", 11, 1744, 10944, "f16", "f16", "NT", "none"),
    ("kept", 16, 8192, 8192, "f16", "f16", "NT", "none"),
    ("kept", 960, 960, 6144, "f16", "f16", "NT", "none"),
    ("kept", 256, 1024, 16384, "f16", "f16", "NT", "none"),
    ("kept", 768, 768, 8192, "f16", "f16", "NN", "none"),
    ("kept", 384, 384, 16384, "f16", "f16", "NT", "none"),
    ("edge", 2, 9984, 2816, "f16", "f16", "NT", "none"),
    ("edge", 5, 12032, 2432, "f16", "f16", "NT", "none"),
    ("edge", 8, 7680, 4160, "f16", "f16", "NN", "none"),
)
"""Of the last three operands fill an H200's L2 to 0.89, 0.93 and 1.02."""
PARTS = (32, 16, 0)
"""Of 32."""
COLD_BYTES, CHAIN_BYTES = 128 << 20, 8 << 20
Run = Callable[[], object]


def is_asked(row: tuple[Any, ...], only: str) -> bool:
    """Whether a product has these words in its name, or is of this group."""
    from mlir_gemm.bench.problems import Problem

    return only in Problem(*row).name or only == row[0]


def variants(problem: Any, chip: str) -> list[dict[str, int] | None]:
    """What is pinned of the marked operand: nothing, and each of PARTS that is not what the model chooses."""
    from mlir_gemm.bench.modules import module
    from mlir_gemm.pipeline.driver import compile_module

    kernels = compile_module(module(problem), chip=chip, until="select").kernels
    schedule = next(each.schedule for each in kernels if each.schedule is not None)
    kept = {name: getattr(schedule, name) for name in ("l2_keep_a", "l2_keep_b") if getattr(schedule, name) < 32}
    name, chosen = next(iter(kept.items()), ("l2_keep_b", 32))
    return [None, *({name: parts} for parts in PARTS if parts != chosen)]


class Kept(Bench):
    """One product, and what may run before each of its runs."""

    def __init__(self, row: tuple[Any, ...], torch: Any, chip: str) -> None:
        super().__init__(row, torch)
        self.chip = chip
        self.sides = [torch.empty(CHAIN_BYTES, dtype=torch.uint8, device="cuda") for _ in range(2)]

    def overwrite(self) -> None:
        self.driver.cuMemsetD8Async(self.flushed.data_ptr(), 0, COLD_BYTES, self.at)

    def copy(self) -> None:
        one, other = (each.data_ptr() for each in self.sides)
        self.driver.cuMemcpyDtoDAsync(one, other, CHAIN_BYTES, self.at)

    def runs(self) -> dict[str, Run]:
        """What starts the product, by how much of the marked operand is kept."""
        found: dict[str, Run] = {}
        for fields in variants(self.problem, self.chip):
            kernel = self.compiled(fields)
            schedule = kernel.kernels[0].schedule
            run = self.runner(kernel.load(0))
            if not self.right(run).right:
                raise SystemExit(f"{self.problem.name}: wrong with {fields}")
            found[f"{min(schedule.l2_keep_a, schedule.l2_keep_b)} of 32{'' if fields else ', as chosen'}"] = run
        return found

    def after(self, first: Run, run: Run) -> Run:
        def both() -> None:
            first()
            run()

        return both

    def states(self, runs: list[Run]) -> dict[str, list[float]]:
        found = {"flushed": self.times(runs, self.flush), "rewritten": self.times(runs, self.rewrite)}
        for name, first in (("cold", self.overwrite), ("chain", self.copy)):
            alone, *both = self.times([first, *(self.after(first, run) for run in runs)])
            found[name] = [each - alone for each in both]
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="no product begins later")
    parser.add_argument("--only", default="", help="products with this in their names, or of this group")
    options = parser.parse_args()
    start = time.perf_counter()
    os.environ.setdefault("MLIR_GEMM_CACHE", tempfile.mkdtemp(prefix="mlir-gemm-kept-"))
    import torch

    from mlir_gemm.bench.preparing import Work, prepare
    from mlir_gemm.bench.problems import Problem
    from mlir_gemm.runtime.own_chip import default_chip

    chip = default_chip()
    works = [
        Work(problem, chip, ",".join(f"{name}={parts}" for name, parts in (fields or {}).items()), tuned="off")
        for problem in (Problem(*row) for row in ROWS if is_asked(row, options.only))
        for fields in variants(problem, chip)
    ]
    prepare(works, max(2, (os.cpu_count() or 4) - 2), lambda done, count: None)
    print(f"{time.perf_counter() - start:.0f} s, {len(works)} compiled", flush=True)
    with options.output.open("w") as file:
        for row in ROWS:
            if time.perf_counter() - start > options.seconds:
                break
            if not is_asked(row, options.only):
                continue
            bench = Kept(row, torch, chip)
            runs = bench.runs()
            states = bench.states(list(runs.values()))
            for place, kept in enumerate(runs):
                us = {name: round(times[place], 2) for name, times in states.items()}
                print(f"{bench.problem.name:24} {kept:22} {us}", flush=True)
                line = {"name": bench.problem.name, "kept": kept, "us": us, "device": torch.cuda.get_device_name()}
                file.write(json.dumps(line) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
