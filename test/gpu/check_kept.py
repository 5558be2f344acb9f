"""What marking an operand as the first to leave L2 (`l2_keep_a`, `l2_keep_b`) costs and gains, by what L2 held before.

    python check_kept.py -o RESULTS.jsonl [--seconds 60] [--only 14x3328x3456]

Products of few rows, whose weights L2 holds in part or as a whole: with as many of PARTS parts kept as the model says,
and with all, three quarters and half of them. Each in these states:

- `flushed`: back to back, after 256 MB were written once; `rewritten`: after the operands were written anew.
- `cold`: 128 MB are written before each run; `chain`: a copy of 8 MB before each, as a small kernel of others. What
  these take by themselves is subtracted.

A line for each product, number and state: microseconds of a run, the median of rounds, each in an order of its own.
"""

from __future__ import annotations

import argparse
import json
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
)
PARTS = (None, 32, 24, 16)
"""Of 32; None is what the model chooses."""
COLD_BYTES, CHAIN_BYTES = 128 << 20, 8 << 20
Run = Callable[[], object]


class Kept(Bench):
    """One product, and what may run before each of its runs."""

    def __init__(self, row: tuple[Any, ...], torch: Any) -> None:
        super().__init__(row, torch)
        self.sides = [torch.empty(CHAIN_BYTES, dtype=torch.uint8, device="cuda") for _ in range(2)]

    def overwrite(self) -> None:
        self.driver.cuMemsetD8Async(self.flushed.data_ptr(), 0, COLD_BYTES, self.at)

    def copy(self) -> None:
        one, other = (each.data_ptr() for each in self.sides)
        self.driver.cuMemcpyDtoDAsync(one, other, CHAIN_BYTES, self.at)

    def runs(self) -> dict[str, Run]:
        """What starts the product, by how much of the marked operand is kept."""
        found: dict[str, Run] = {}
        names: tuple[str, ...] = ()
        for parts in PARTS:
            kernel = self.compiled(dict.fromkeys(names, parts) if parts else None)
            schedule = kernel.kernels[0].schedule
            names = names or tuple(each for each in ("l2_keep_a", "l2_keep_b") if getattr(schedule, each) < 32)
            run = self.runner(kernel.load(0))
            if not self.right(run).right:
                raise SystemExit(f"{self.problem.name}: wrong with {parts}")
            found[f"{min(schedule.l2_keep_a, schedule.l2_keep_b)} of 32{'' if parts else ', as chosen'}"] = run
            if not names:
                break
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
    parser.add_argument("--only", default="", help="products with this in their names")
    options = parser.parse_args()
    import torch

    start = time.perf_counter()
    with options.output.open("w") as file:
        for row in ROWS:
            if time.perf_counter() - start > options.seconds:
                break
            bench = Kept(row, torch)
            if options.only not in bench.problem.name:
                continue
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
