"""Emulated precision on the GPU: how exact, and how fast beside cuBLAS.

    python test/gpu/check_emulation.py [-o RESULTS.json] [--only f32,f64]

f32 by three tf32 and by three and six bf16, of normal and of positive numbers, 256 rows compared with float64; f64 by
8-bit integers, 8 rows compared with long double, and whole numbers, which are to be exact.
Times are medians, in turns with `torch.mm` in the same process. Exit status 1 where a result is off by more than
docs/precision.md says.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import mlir_gemm

F32 = ((8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (6000, 5000, 3000), (5000, 3000, 7000))
F64 = (
    (333, 777, 1111),
    (1000, 1000, 999),
    (4096, 4096, 4096),
    (6144, 6144, 6144),
    (8192, 8192, 8192),
    (4000, 3000, 9001),
)
PRECISIONS = {"3xtf32": 1e-6, "6xbf16": 1e-6, "3xbf16": 1e-5}
"""Each with the relative error that is allowed."""
MOST_F64 = 4e-15


def source(m: int, n: int, k: int, element: str) -> str:
    """A product as written by hand."""
    a, b, d = (f"tensor<{rows}x{columns}x{element}>" for rows, columns in ((m, k), (k, n), (m, n)))
    return f"""
func.func @main(%a: {a}, %b: {b}) -> {d} {{
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : {d}
  %f = linalg.fill ins(%zero : {element}) outs(%e : {d}) -> {d}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%f : {d}) -> {d}
  return %r : {d}
}}"""


def medians(calls: list[Callable[[], Any]], rounds: int = 7) -> list[float]:
    """Milliseconds of each call, in turns."""
    taken: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for call, found in zip(calls, taken, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            found.append(start.elapsed_time(end))
    return [statistics.median(found) for found in taken]


def off(got: Any, wanted: Any) -> float:
    """The relative error in the Frobenius norm."""
    return float(np.linalg.norm((got - wanted).astype(np.float64)) / np.linalg.norm(wanted.astype(np.float64)))


def check_f32(m: int, n: int, k: int) -> list[dict[str, Any]]:
    """f32 by parts, of one size."""
    kernels = {each: mlir_gemm.compile(source(m, n, k, "f32"), schedule={"precision": each}) for each in PRECISIONS}
    rows: list[dict[str, Any]] = []
    for numbers in ("normal", "positive"):
        a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
        a, b = (a.abs(), b.abs()) if numbers == "positive" else (a, b)
        wanted = (a[:256].double() @ b.double()).cpu().numpy()
        calls = {
            "torch": lambda a=a, b=b: torch.mm(a, b),
            **{p: lambda f=f, a=a, b=b: f(a, b) for p, f in kernels.items()},
        }
        times = medians(list(calls.values()))
        for (name, call), taken in zip(calls.items(), times, strict=True):
            error = off(call()[:256].double().cpu().numpy(), wanted)
            right = error <= PRECISIONS.get(name, 1.0)
            rows.append({"m": m, "n": n, "k": k, "element": "f32", "numbers": numbers, "by": name, "ms": taken,
                         "times": times[0] / taken, "error": error, "right": right})  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def check_f64(m: int, n: int, k: int) -> list[dict[str, Any]]:
    """f64 by remainders, of one size."""
    a, b = (torch.randn(*shape, device="cuda", dtype=torch.float64) for shape in ((m, k), (k, n)))
    kernel = mlir_gemm.compile(source(m, n, k, "f64"), schedule={"precision": "ozaki"})
    wanted = a[:8].cpu().numpy().astype(np.longdouble) @ b[:, :64].cpu().numpy().astype(np.longdouble)
    calls = {"torch": lambda: torch.mm(a, b), "ozaki": lambda: kernel(a, b)}
    times = medians(list(calls.values()))
    rows: list[dict[str, Any]] = []
    for (name, call), taken in zip(calls.items(), times, strict=True):
        error = off(call()[:8, :64].cpu().numpy(), wanted)
        rows.append({"m": m, "n": n, "k": k, "element": "f64", "by": name, "ms": taken, "times": times[0] / taken,
                     "error": error, "right": error <= MOST_F64})  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def check_whole(size: int = 512) -> list[dict[str, Any]]:
    """Whole numbers, whose sums f64 holds."""
    a, b = (torch.randint(-(1 << 20), 1 << 20, (size, size), device="cuda") for _ in range(2))
    got = mlir_gemm.compile(source(size, size, size, "f64"), schedule={"precision": "ozaki"})(a.double(), b.double())
    right = bool((got.cpu().long() == a.cpu() @ b.cpu()).all())
    print(f"whole numbers of {size}: {'exact' if right else 'WRONG'}", flush=True)
    return [{"whole": size, "right": right}]


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--only", default="f32,f64")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    rows: list[dict[str, Any]] = []
    if "f64" in options.only:
        rows += check_whole() + [row for size in F64 for row in check_f64(*size)]
    if "f32" in options.only:
        rows += [row for size in F32 for row in check_f32(*size)]
    if options.output:
        data = {"command": " ".join(sys.argv), "device": torch.cuda.get_device_name(), "rows": rows}
        options.output.write_text(json.dumps(data, indent=1))
    return int(not all(row["right"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
