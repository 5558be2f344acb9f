"""f32 by multiply-adds and f64 by tensor cores: right, and how fast beside PyTorch; the choice and pinned schedules.

    python test/gpu/check_lanes.py [-o RESULTS.json] [--sizes 1024,2048,4096,8192] [--seconds 130] [--workers 14]

Four orders of the operands each, and one ragged size. Results of random normal numbers are compared with float64's (f64
with PyTorch's own); the result holds NaN before. All schedules of a product and PyTorch are timed in turns. Exit status
1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import mlir_gemm

LANES = (
    "",
    "layout=pad",
    "block=128x128x16,warp=32x64x8,stages=4,layout={},interleave=on,min_blocks=2",
    "block=64x128x32,warp=32x64x8,stages=3,layout={},interleave=on",
)
DOUBLES = (
    "",
    "block=128x128x16,warp=32x64x16,stages=4,interleave=on",
    "block=64x128x16,warp=32x64x16,stages=3,interleave=on",
)
MOST_ERROR = {"f32": 1e-4, "f64": 1e-12}
"""Of the largest element; k up to 8192."""


class Case(NamedTuple):
    """A product in one type and order."""

    sizes: tuple[int, int, int]
    dtype: str
    order: str
    """`n` or `t` for A and B: t is km, and nk."""

    def text(self) -> str:
        """The module."""
        m, n, k = self.sizes
        a, b = ((k, m) if self.order[0] == "t" else (m, k)), ((n, k) if self.order[1] == "t" else (k, n))
        left, right, result = (f"tensor<{x}x{y}x{self.dtype}>" for x, y in (a, b, (m, n)))
        maps = "(m, k)" if self.order[0] == "n" else "(k, m)", "(k, n)" if self.order[1] == "n" else "(n, k)"
        named = ", ".join(f"affine_map<(m, n, k) -> {each}>" for each in (*maps, "(m, n)"))
        return f"""func.func @f(%a: {left}, %b: {right}) -> {result} {{
  %z = arith.constant 0.0 : {self.dtype}
  %e = tensor.empty() : {result}
  %c = linalg.fill ins(%z : {self.dtype}) outs(%e : {result}) -> {result}
  %d = linalg.contract indexing_maps = [{named}] ins(%a, %b : {left}, {right}) outs(%c : {result}) -> {result}
  return %d : {result}
}}
"""

    def schedules(self) -> list[str]:
        """What is timed; all with the layout that the order allows."""
        if self.dtype == "f64":
            return list(DOUBLES if self.sizes[0] in (2048, 4096) else DOUBLES[:1])
        if self.sizes[0] not in (2048, 4096, 7240):
            return list(LANES[:2])
        layout = "pad" if self.order == "tn" else "mn_major"
        return list(dict.fromkeys(each.format(layout) for each in LANES))


def compiled(work: tuple[Case, str]) -> str:
    """Compiles to the cache on disk, in a process of its own; what went wrong."""
    case, schedule = work
    try:
        mlir_gemm.compile(case.text(), chip="sm_90a", schedule=schedule or None, tuned="off")
    except Exception as error:  # one that fails must not hide the others
        return f"{type(error).__name__}: {error}"
    return ""


def measure(torch: Any, case: Case, failures: dict[Any, str], rounds: int) -> list[dict[str, Any]]:
    """One product by all its schedules, beside PyTorch."""
    dtype = {"f32": torch.float32, "f64": torch.float64}[case.dtype]
    m, n, k = case.sizes
    a = torch.randn((k, m) if case.order[0] == "t" else (m, k), device="cuda", dtype=dtype)
    b = torch.randn((n, k) if case.order[1] == "t" else (k, n), device="cuda", dtype=dtype)
    left, right = a.t() if case.order[0] == "t" else a, b.t() if case.order[1] == "t" else b
    wanted = left.double() @ right.double()
    theirs = torch.empty(m, n, dtype=dtype, device="cuda")
    runs: list[tuple[str, Any, float]] = [("torch", lambda: torch.mm(left, right, out=theirs), 0.0)]
    shown: dict[str, str] = {}
    for schedule in case.schedules():
        if failures[case, schedule]:
            print(case, schedule, failures[case, schedule][:200], flush=True)
            continue
        kernel = mlir_gemm.compile(case.text(), chip="sm_90a", schedule=schedule or None, tuned="off")
        poisoned = torch.full((m, n), float("nan"), dtype=dtype, device="cuda")
        del poisoned  # the result comes to lie there
        out = kernel(a, b)
        torch.cuda.synchronize()
        error = float(torch.nan_to_num((out.double() - wanted).abs(), nan=1e30).max() / wanted.abs().max())
        shown[schedule] = str(kernel.schedule)
        runs.append((schedule, lambda kernel=kernel: kernel(a, b), error))
    times: list[list[float]] = [[] for _ in runs]
    repeats = max(2, min(50, int(6e-3 / (2 * m * n * k / 5e13))))
    for number in range(rounds):
        order = list(range(len(runs)))
        for place in order if number % 2 == 0 else order[::-1]:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            runs[place][1]()
            start.record()
            for _ in range(repeats):
                runs[place][1]()
            end.record()
            torch.cuda.synchronize()
            times[place].append(start.elapsed_time(end) / repeats)
    medians = [statistics.median(each) for each in times]
    found: list[dict[str, Any]] = []
    for (name, _, error), ms in zip(runs, medians, strict=True):
        rate = 2 * m * n * k / ms / 1e9
        found.append({"sizes": case.sizes, "dtype": case.dtype, "order": case.order, "given": name, "ms": ms,
                      "tflops": rate, "times_torch": medians[0] / ms, "error": error,
                      "schedule": shown.get(name, "")})  # fmt: skip
        print(f"{case.dtype} {case.order} {'x'.join(map(str, case.sizes)):16} {ms:8.3f} ms {rate:6.1f} TFLOP/s "
              f"{medians[0] / ms:5.2f} error {error:.1e} {name or 'chosen: ' + shown[name][:90]}",
              flush=True)  # fmt: skip
    return found


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="out")
    parser.add_argument("--sizes", default="4096,2048,1024,8192")
    parser.add_argument("--seconds", type=float, default=130)
    parser.add_argument("--workers", type=int, default=min(14, os.cpu_count() or 1))
    options = parser.parse_args()
    began = time.time()
    squares = [(int(size),) * 3 for size in options.sizes.split(",")]
    orders = ("nn", "nt", "tn", "tt")
    cases = [Case(size, dtype, order) for size in squares for dtype in ("f32", "f64") for order in orders]
    cases[8:8] = [Case((7240, 7248, 7248), "f32", "nn"), Case((2000, 2040, 2020), "f32", "nt")]
    work = [(case, schedule) for case in cases for schedule in case.schedules()]
    with ProcessPoolExecutor(options.workers) as pool:
        failures = dict(zip(work, pool.map(compiled, work), strict=True))
    print(f"{len(work)} compiled in {time.time() - began:.0f} s", flush=True)
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    records: list[dict[str, Any]] = []
    for case in cases:
        if time.time() - began > options.seconds:
            print("no time for", case, flush=True)
            continue
        records += measure(torch, case, failures, rounds=3)
        if options.out:
            data = {"command": " ".join(sys.argv), "date": time.strftime("%Y-%m-%d"),
                    "device": torch.cuda.get_device_name(), "torch": torch.__version__, "records": records}  # fmt: skip
            Path(options.out).write_text(json.dumps(data, indent=1))
    bad = [each for each in records if not each["error"] <= MOST_ERROR[each["dtype"]]]
    for each in bad:
        print("wrong:", each, flush=True)
    missing = sum(map(bool, failures.values()))
    print(f"{len(records)} timed, {len(bad)} wrong, {missing} not compiled", flush=True)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
