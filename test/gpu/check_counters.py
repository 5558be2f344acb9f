"""What Nsight Compute counts of the works' kernels on the GPU of this machine, beside what the simulator counts of them
and what the works' profilers counted.

    python test/gpu/check_counters.py [--side 2048] [--only khandelwal,hofstra] [--without-ncu] [-o RESULTS.json]

The kernels are those rows of `bench/papers/*.toml` that have counters; their products are of `--side` rows and columns
and as deep as theirs, so that what is counted for each element of the result is the same. A line for each counter that
both have says how many times the simulator's figure Nsight Compute's is. `--without-ncu` has the simulator's alone.

Where Nsight Compute is, its version, and the text that it wrote for the first kernel are in the results. Exit status 1
where it is not there or may not count.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.paper_data import PAPERS, Row, Table, paper
from mlir_gemm.bench.paper_model import counted
from mlir_gemm.errors import Error
from mlir_gemm.runtime.kernel import compile
from mlir_gemm.tools import run_counters

ALIKE = {
    "bank conflicts": "bank conflicts",
    "passes over shared memory": "shared memory, passes",
    "registers a thread": "registers a thread, ptxas",
    "tensor instructions": "products of fragments",
}
"""Counters of Nsight Compute, and the names of ours."""


def rows(works: list[str], side: int) -> list[tuple[Table, Row]]:
    """Rows with counters, whose products have `side` rows and columns."""
    found: list[tuple[Table, Row]] = []
    for table in (table for key in works for table in paper(key).table if table.problem is not None):
        problem = dataclasses.replace(table.problem, m=side, n=side)
        smaller = dataclasses.replace(table, problem=problem, chip="h100")
        found += [(smaller, row) for row in table.row if row.counters and row.schedule is not None]
    return found


def measured(table: Table, row: Row, kept: list[str]) -> dict[str, float]:
    """What Nsight Compute counts of a row's kernel; the first text that it wrote is kept."""
    source = module(table.problem) if table.problem else ""
    kernel = compile(source, chip="h100", schedule=row.schedule, tuned="off")
    parsed = run_counters.parsed

    def listening(text: str) -> Any:
        if not kept:
            kept.append(text)
        return parsed(text)

    run_counters.parsed = listening
    try:
        options = ["--device=gpu", "--chip=h100", f"--schedule={row.schedule}", "--tuned=off"]
        return run_counters.profiled(options, source, [step.entry for step in kernel.launch.steps])[0][1]
    finally:
        run_counters.parsed = parsed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=2048)
    parser.add_argument("--only", default=",".join(PAPERS))
    parser.add_argument("--without-ncu", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {"command": " ".join(sys.argv), "rows": []}
    kept: list[str] = []
    status = 0
    if not options.without_ncu:
        try:
            program = run_counters.found_program()
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
            found |= {"program": program, "version": version}
            print(program, version, sep="\n", flush=True)
        except Error as error:
            print(error.message, flush=True)
            return 1
    for table, row in rows(options.only.split(","), options.side):
        entry: dict[str, Any] = {"table": table.name, "row": row.name, "text": dict(row.counters)}
        entry["simulator"] = dict(counted(table, row))
        if not options.without_ncu:
            try:
                entry["ncu"] = measured(table, row, kept)
            except Error as error:
                entry["failed"], status = error.message, 1
        found["rows"].append(entry)
        print(json.dumps(entry), flush=True)
        for theirs, ours in ALIKE.items():
            counts = entry.get("ncu", {}).get(theirs), entry["simulator"].get(ours)
            if None not in counts:
                print(f"  {theirs}: counted {counts[0]:,.10g}, simulated {counts[1]:,.10g}", flush=True)
        if options.output:
            options.output.write_text(json.dumps(found | {"raw": kept[:1]}, indent=0))
    return status


if __name__ == "__main__":
    sys.exit(main())
