"""42 kernels of rows under compute-sanitizer, all of a tool in one process, which loads neither MLIR nor PyTorch.

    python test/gpu/check_sanitised_rows.py [--tools memcheck,racecheck,initcheck,synccheck] [-o RESULTS.json]
    python test/gpu/check_sanitised_rows.py --compile-only         # no GPU: compiles all of them
    python test/gpu/check_sanitised_rows.py --simulate             # no GPU: runs them in the simulator, with all checks

Every form of a kernel of rows is there: a row for a thread, a part of a warp, several warps; rows in registers, in
shared memory, read again, as one line, from aligned addresses on; clusters of 2, 4 and 8; several rows of a cluster;
rows that blocks of the whole grid share; columns; long rows in parts; several results. Kernels are compiled by a pool
of processes first, into a cache that the processes under compute-sanitizer read. Results are NaN before, and are
compared with float64. Each kernel is named after its case, so that what a tool finds says where.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from row_cases import chosen, odd_softmax, quantised, reduced, residual_norm, several_dims, softmax_of_planes
from row_kernels import Case, fields, measured, pinned

import mlir_gemm

CHIP = "sm_90a"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FAILED = 9
"""Exit status of a process in which compute-sanitizer found something."""
RACE = re.compile(r"(\w+): Race reported between (\w+) access at (\w+)\+(0x[0-9a-f]+)(.*?)(?:^=+ *$|\Z)", re.S | re.M)
OTHER_ACCESS = re.compile(r"and (\w+) access at \w+\+(0x[0-9a-f]+).*?\[(\d+) hazards\]")
Make = Callable[[], Case]


def _fixed(kind: str, m: int, n: int, element: str, *given: Any) -> Make:
    return lambda: pinned(measured(kind, m, n, element), fields(*given))


def _free(kind: str, m: int, n: int, element: str) -> Make:
    return lambda: measured(kind, m, n, element)


CASES: dict[str, Make] = {
    "a thread a row": _free("row_sum", 700, 5, "f32"),
    "a part of a warp": _free("softmax", 40, 20, "f16"),
    "several warps": _free("softmax", 5, 4096, "f16"),
    "odd rows": _free("softmax", 6, 1999, "f16"),
    "odd rows of bf16": _free("layer_norm", 6, 2335, "bf16"),
    "odd rows of f32": _free("log_softmax", 5, 1001, "f32"),
    "rows as one line": _fixed("softmax", 37, 71, "f16", 128, 16, 1, "8, 80", "flat = 1024 : i64"),
    "rows as one line, two each": _fixed("layer_norm", 37, 73, "f16", 128, 16, 1, "16, 80", "flat = 2048 : i64"),
    "norm of few": _free("rms_norm", 3, 604, "f32"),
    "weights ahead": _fixed("layer_norm", 5, 1024, "f16", 128, 64, 8, "2, 1024", "prefetch = true"),
    "from aligned addresses on": _fixed("softmax", 3, 3001, "f16", 512, 512, 8, "1, 4096", "shift = 8 : i64"),
    "... in shared memory": _fixed("softmax", 3, 9001, "f16", 128, 128, 8, "1, 1024", "shift = 8 : i64, staged = true"),
    "... with weights": _fixed("layer_norm", 3, 9001, "f16", 128, 128, 8, "1, 1024", "shift = 8 : i64, staged = true"),
    "... of a cluster": _fixed(
        "softmax",
        3,
        9001,
        "f16",
        128,
        128,
        8,
        "1, 1024",
        "shift = 8 : i64, staged = true, unroll = 2 : i64, cluster = 4 : i64",
    ),
    "... of a cluster, read again": _fixed(
        "rms_norm", 3, 9001, "bf16", 64, 64, 8, "1, 512", "shift = 8 : i64, unroll = 2 : i64, cluster = 2 : i64"
    ),
    "in shared memory": _fixed("softmax", 3, 8192, "f32", 128, 128, 4, "1, 512", "staged = true"),
    "... four tiles at a time": _fixed(
        "rms_norm", 3, 8192, "f32", 128, 128, 4, "1, 512", "staged = true, unroll = 4 : i64"
    ),
    "read again": _fixed("softmax", 3, 5000, "f32", 128, 128, 4, "1, 512"),
    "... two tiles at a time": _fixed("layer_norm", 3, 5000, "f32", 128, 128, 4, "1, 512", "unroll = 2 : i64"),
    "a cluster of 2": _fixed("softmax", 5, 1000, "f32", 64, 64, 4, "1, 512", "cluster = 2 : i64"),
    "a cluster of 4": _fixed("layer_norm", 5, 2000, "f32", 64, 64, 4, "1, 512", "cluster = 4 : i64"),
    "a cluster of 8": _fixed("log_softmax", 5, 4000, "f32", 64, 64, 4, "1, 512", "cluster = 8 : i64"),
    "a cluster, two rows": _fixed("rms_norm", 5, 2000, "f32", 64, 64, 4, "2, 512", "cluster = 4 : i64"),
    "a cluster's shared memory": _fixed(
        "softmax", 3, 4096, "f32", 64, 64, 4, "1, 256", "cluster = 2 : i64, staged = true"
    ),
    "a cluster reads again": _fixed("softmax", 2, 9000, "f32", 64, 64, 4, "1, 256", "cluster = 2 : i64"),
    "blocks of the grid": _fixed(
        "softmax",
        2,
        20_001,
        "f32",
        128,
        128,
        1,
        "1, 128",
        "staged = true, grid = 9 : i64, front = 4 : i64, unroll = 3 : i64",
    ),
    "blocks of the grid, in turns": _fixed(
        "layer_norm",
        5,
        18_003,
        "f16",
        128,
        128,
        8,
        "1, 1024",
        "shift = 8 : i64, staged = true, grid = 5 : i64, groups = 2 : i64, min_blocks = 2 : i64",
    ),
    "few rows": _free("softmax", 2, 17275, "f32"),
    "one row of a cluster": _free("layer_norm", 1, 17236, "bf16"),
    "long rows in parts": _free("row_sum", 2, 300_000, "f32"),
    "a softmax in parts": _free("softmax", 1, 600_000, "f32"),
    "columns": _free("column_sum", 3000, 17, "f32"),
    "short columns": _free("column_sum", 4, 5000, "f32"),
    "greatest of a row": lambda: reduced("arith.maximumf", 8, 3001, "f32"),
    "products of strided rows": lambda: reduced("arith.mulf", 7, 100, "f32", "strided"),
    "sums of bytes": lambda: reduced("arith.addi", 30, 65, "i8"),
    "several dimensions": lambda: several_dims("bp"),
    "planes": softmax_of_planes,
    "quantised by rows": lambda: quantised(5, 260),
    "residual and norm": lambda: residual_norm(6, 520),
    "odd values": lambda: odd_softmax(6, 333),
    "argmax": lambda: chosen(9, 700, "f32", False),
}


def case_of(name: str) -> Case:
    """A case, whose function is named after it."""
    case = CASES[name]()
    function = f"rows_{list(CASES).index(name):02}_{re.sub(r'[^a-z0-9]+', '_', name).strip('_')}"
    return replace(case, text=case.text.replace("@rows(", f"@{function}("))


def name_of(entry: str) -> str:
    """The name of the case that a kernel is of, by its entry; the entry itself if it is of none."""
    found = re.match(r"rows_(\d\d)_", entry)
    return list(CASES)[int(found[1])] if found else entry


def races(said: str) -> list[dict[str, Any]]:
    """What racecheck reports: for each pair of accesses the case, the severity, what they are and where in the machine
    code, and how many bytes of all blocks they touch."""
    found = list[dict[str, Any]]()
    for severity, one, entry, at, more in RACE.findall(said):
        for other, there, hazards in OTHER_ACCESS.findall(more):
            accesses = [f"{one} +{at}", f"{other} +{there}"]
            found.append(
                {"kernel": name_of(entry), "severity": severity, "accesses": accesses, "hazards": int(hazards)}
            )
    return found


def compile_one(work: tuple[str, bool]) -> str:
    """Compiles a kernel into the cache, and has the driver compile it; what went wrong."""
    name, load = work
    try:
        kernel = mlir_gemm.compile(case_of(name).text, chip=CHIP, device="gpu")
        if load:
            kernel.load(0)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"[:300]
    return ""


def simulate_one(name: str) -> str:
    """Runs a kernel in the simulator; what it found, or what is wrong."""
    from row_kernels import run

    case = case_of(name)
    try:
        arrays, report = run(case)
        case.check(arrays)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"[:300]
    return "; ".join(map(str, report.findings))


def run_all() -> int:
    """Runs all kernels on the GPU, from the cache."""
    wrong = 0
    for name in CASES:
        case = case_of(name)
        arrays = case.fresh()
        try:
            mlir_gemm.compile(case.text, chip=CHIP, device="gpu")(*arrays)
            case.check(arrays)
        except Exception as problem:
            wrong += 1
            print(f"WRONG {name}: {type(problem).__name__}: {problem}"[:300], flush=True)
    print(f"{len(CASES) - wrong} of {len(CASES)} right", flush=True)
    return 3 if wrong else 0


def sanitise(tool: str, program: str, seconds: float) -> dict[str, Any]:
    """All kernels under one tool."""
    command = [program, "--tool", tool, "--error-exitcode", str(FAILED), "--print-limit", "20"]
    command += [sys.executable, __file__, "--run"]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        status, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        status, said = -1, f"no end within {seconds:.0f} s: {late.stdout or ''}"
    return {"tool": tool, "seconds": round(time.monotonic() - start, 1), **outcome(status, said)}


def outcome(status: int, said: str) -> dict[str, Any]:
    """What a tool's exit status and text come to."""
    found = re.search(r"(?:ERROR|RACECHECK) SUMMARY: .*", said)
    right = re.search(r"\d+ of \d+ right", said)
    clean = status == 0 and found is not None and re.search(r" 0 (errors|hazards)", found.group()) is not None
    return {
        "clean": clean, "status": status,
        "summary": found.group() if found else "", "right": right.group() if right else "",
        "kernels": sorted({name_of(entry) for entry in re.findall(r"\brows_\d\d_\w+", said)}), "races": races(said),
        "said": "" if clean else said[-4000:],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=",".join(TOOLS), help="of compute-sanitizer")
    parser.add_argument("--sanitizer", default=shutil.which("compute-sanitizer") or "compute-sanitizer", metavar="PATH")
    parser.add_argument("--seconds", type=float, default=150.0, help="end a tool after these")
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--run", action="store_true", help="run the kernels, without compute-sanitizer")
    parser.add_argument("-o", type=Path, default=None)
    options = parser.parse_args()
    os.environ.setdefault("MLIR_GEMM_CACHE", tempfile.mkdtemp())
    if options.run:
        return run_all()
    start = time.monotonic()
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        if options.simulate:
            reasons = list(pool.map(simulate_one, CASES))
        else:
            reasons = list(pool.map(compile_one, [(name, not options.compile_only) for name in CASES]))
    bad = {name: reason for name, reason in zip(CASES, reasons, strict=True) if reason}
    did = "simulated" if options.simulate else "compiled"
    print(f"{len(CASES) - len(bad)} of {len(CASES)} kernels {did} in {time.monotonic() - start:.0f} s", flush=True)
    for name, reason in bad.items():
        print(f"  {name}: {reason}")
    if options.compile_only or options.simulate or bad:
        return 3 if bad else 0
    entries: list[dict[str, Any]] = []
    for tool in options.tools.split(","):
        entries.append(sanitise(tool, options.sanitizer, options.seconds))
        print({key: value for key, value in entries[-1].items() if key != "said"}, flush=True)
        print(entries[-1]["said"], flush=True)
        if options.o is not None:
            options.o.write_text(json.dumps({"command": sys.argv, "kernels": len(CASES), "tools": entries}))
    return 0 if all(each["clean"] for each in entries) else 3


if __name__ == "__main__":
    sys.exit(main())
