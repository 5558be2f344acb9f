"""Compares kernels of rows with float64 and with PyTorch, by error and by time, on the GPU of this machine.

    python check_rows.py [--only TEXT] [--random N] [--seed N] [--compile] [--seconds N] [--jobs N] [-o RESULTS.json]

Softmax, log-softmax, layer and RMS norm, sums of rows and of columns, at listed sizes and at random ones (rows and
columns log-uniform). Results are poisoned first. Times, everyone in turn: cold, with the L2 cache overwritten before
each run, and sustained, back to back; beside eager PyTorch, torch.compile (`--compile`) and a copy of as many bytes.
Kernels are compiled by a pool of processes into a cache in a temporary folder. Ends with 1 where a result is wrong: an
error of more than 1.1 times that of eager PyTorch, or elements that nobody wrote.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from mlir_gemm.bench.row_modules import KINDS, module
from mlir_gemm.bench.timing import Timer

WORSE, ROUNDING, ROUNDINGS = 1.1, 2.0**-24, 4
"""Times the error of eager PyTorch that ours may have. Of few results both are chance: what some roundings of f32 give
is allowed, of each result, or where that is a sum of each number that is added."""
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
Case = tuple[str, int, int, str]


def listed() -> list[Case]:
    """The sizes of softmax and norms that were measured from outside, and sums."""
    sizes = ((2048, 4096), (16384, 4096), (4096, 1024), (65536, 1024), (64, 8192), (256, 50257))
    found: list[Case] = [(kind, *size, "f16") for kind in ("softmax", "layer_norm", "rms_norm") for size in sizes]
    found += [("log_softmax", 256, 50257, "f16"), ("log_softmax", 4096, 128256, "bf16"), ("softmax", 8, 1000000, "f32")]
    for kind in ("row_sum", "column_sum"):
        found += [
            (kind, m, n, "f16") for m, n in ((4096, 4096), (65536, 1024), (256, 50257), (1000000, 64), (4, 1000000))
        ]
    return found


def drawn(count: int, seed: int) -> list[Case]:
    """Random cases: rows and columns log-uniform, of at most 2^27 elements."""
    generator = random.Random(seed)
    found: list[Case] = []
    while len(found) < count:
        m, n = (round(math.exp(generator.uniform(0, math.log(limit)))) for limit in (200_000, 200_000))
        if 4096 <= m * n <= 1 << 27:
            kind = generator.choice(sorted(KINDS))
            found.append((kind, m, n, generator.choice(sorted(DTYPES))))
    return found


def compile_one(work: tuple[Case, str]) -> str:
    """Compiles into the cache; what is wrong, if something is."""
    (kind, m, n, element), chip = work
    import mlir_gemm

    try:
        mlir_gemm.compile(module(kind, m, n, element), chip=chip)
    except mlir_gemm.Error as error:
        return str(error)
    return ""


def error_of(result: Any, exact: Any, torch: Any) -> float:
    """The relative error by Frobenius norm; infinite for what is not a number."""
    value = float((result.double() - exact).norm() / exact.norm().clamp_min(1e-300))
    return value if math.isfinite(value) else math.inf


def measure(case: Case, chip: str, timer: Timer, compiled: bool, torch: Any) -> dict[str, Any]:
    """One case."""
    import mlir_gemm

    kind, m, n, element = case
    row = KINDS[kind]
    generator = torch.Generator("cuda").manual_seed(m + n)
    dtype = getattr(torch, DTYPES[element])
    a = torch.randn((m, n), generator=generator, device="cuda", dtype=torch.float32).to(dtype)
    vectors = [torch.randn(n, generator=generator, device="cuda").to(dtype) for _ in range(row.operands)]
    kernel = mlir_gemm.compile(module(kind, m, n, element), chip=chip)
    out = torch.full({"mn": (m, n), "m": (m,), "n": (n,)}[row.result], float("nan"), device="cuda",
                     dtype=dtype if row.result == "mn" else torch.float32)  # fmt: skip
    kernel(a, *vectors, out)
    step = max(1, (1 << 25) // n) if row.result == "mn" else m
    errors, theirs = [0.0, 0.0], row.torch(torch, a, vectors)
    total = 0.0
    for first in range(0, m, step):
        part = slice(first, first + step)
        wide = a[part] if row.result == "mn" else a
        exact = row.torch(torch, wide.double(), [v.double() for v in vectors])
        if row.result != "mn":
            exact = wide.double().sum(-1 if row.result == "m" else 0)
        own = [x[part] if row.result == "mn" else x for x in (out, theirs)]
        total += float(exact.norm()) ** 2
        errors = [e + float((x.double() - exact).norm()) ** 2 for e, x in zip(errors, own, strict=True)]
        del exact
        if row.result != "mn":
            break
    scale = math.sqrt(total) or 1.0
    noise = ROUNDING * (2 if row.result == "mn" else ROUNDINGS * float(a.double().norm()) / scale)
    ours, eager = (math.sqrt(e) / scale if math.isfinite(e) else math.inf for e in errors)
    runs = {"ours": lambda: kernel(a, *vectors, out), "eager": lambda: row.torch(torch, a, vectors)}
    if compiled:
        torch._dynamo.reset()
        function = torch.compile(lambda x, v: row.torch(torch, x, v))
        function(a, vectors)
        runs["compile"] = lambda: function(a, vectors)
    bytes_ = a.nbytes + sum(v.nbytes for v in vectors) + out.nbytes
    copied = torch.empty(max(bytes_ // 2, 1), dtype=torch.int8, device="cuda")
    target = torch.empty_like(copied)
    runs["copy"] = lambda: target.copy_(copied)
    host = timer.host(list(runs.values()))
    cold = timer.cold(list(runs.values()), host)
    warm, _ = timer.sustained(list(runs.values()), [each.median for each in cold], host, lambda: None)
    return {
        "kind": kind, "m": m, "n": n, "element": element, "error": ours, "eager error": eager, "bytes": bytes_,
        "right": ours <= max(WORSE * eager, noise),
        "cold us": {name: each.median * 1e6 for name, each in zip(runs, cold, strict=True)},
        "us": {name: each.median * 1e6 for name, each in zip(runs, warm, strict=True)},
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--only", default="", help="cases with this in their name")
    add("--random", type=int, default=0, help="random cases in place of the list")
    add("--seed", type=int, default=0)
    add("--compile", action="store_true", help="measure torch.compile, too")
    add("--seconds", type=float, default=0.0, help="begin no further case after so long")
    add("--jobs", type=int, default=os.cpu_count() or 4)
    add("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    chip = "sm_{}{}a".format(*torch.cuda.get_device_capability())
    cases = drawn(options.random, options.seed) if options.random else listed()
    cases = [case for case in cases if options.only in " ".join(map(str, case))]
    start = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        refused = list(pool.map(compile_one, [(case, chip) for case in cases]))
    print(f"{len(cases)} compiled in {time.monotonic() - start:.0f} s, {sum(map(bool, refused))} refused", flush=True)
    timer = Timer(torch, rounds=8, bursts=4, burst_seconds=0.008)
    rows: list[dict[str, Any]] = []
    for case, reason in zip(cases, refused, strict=True):
        name = f"{case[0]} {case[1]}x{case[2]} {case[3]}"
        if reason:
            print(f"{name}: {reason}")
            continue
        if options.seconds and time.monotonic() - start > options.seconds:
            print("out of time")
            break
        rows.append(measure(case, chip, timer, options.compile, torch))
        _say(name, rows[-1])
    if options.output:
        smi = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(smi, capture_output=True, text=True, check=False).stdout.split("\n")[0]
        found = {"device": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__,
                 "date": time.strftime("%Y-%m-%d"), "command": sys.argv, "rows": rows}  # fmt: skip
        options.output.write_text(json.dumps(found, indent=0))
    return int(any(refused) or not all(row["right"] for row in rows))


def _say(name: str, row: dict[str, Any]) -> None:
    best = {key: min(v for who, v in row[key].items() if who in ("eager", "compile")) for key in ("us", "cold us")}
    us, cold = row["us"], row["cold us"]
    others = " ".join(f"{who} {us[who]:.1f}" for who in us if who != "ours")
    print(f"{name:34s} {'' if row['right'] else 'WRONG '}error {row['error']:.1e} ({row['eager error']:.1e})  "
          f"{us['ours']:8.1f} us, {others}; to the better {best['us'] / us['ours']:.2f}, "
          f"cold {best['cold us'] / cold['ours']:.2f}; of a copy {us['copy'] / us['ours']:.2f}, "
          f"cold {cold['copy'] / cold['ours']:.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
