"""Runs products one operand of which is computed on its way to shared memory on the GPU of this machine: by
`mixed_input`, by `register_prefetch` and as the model chooses, next to PyTorch, and compares them with float64.

    python test/gpu/check_mixed_input.py [-o RESULTS.json]

The operand is i8 weights, [n, k], multiplied as f16. Data are random, results get memory that held NaN. Exit status 1
where one is wrong. Times are of launches back to back, in turn, the median of five rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

SIZES = (
    (16, 4096, 4096), (64, 4096, 11008), (128, 4096, 4096), (256, 11008, 4096), (512, 4096, 4096), (700, 3000, 1504),
    (1024, 1024, 1024), (2048, 4096, 4096), (4096, 4096, 4096), (333, 555, 777),
)  # fmt: skip
NOBODYS = 14
"""Further sizes, drawn at random: log-uniform up to 5000, k and n mostly multiples of 8."""
LOOPS = ("", "mainloop=register_prefetch", "mainloop=mixed_input")
LIMIT = 1e-3
"""Largest error, of the largest number of the result, for results in f16."""
ROUNDS, LAUNCHES = 5, 40

SOURCE = """
func.func @f(%x: tensor<{m}x{k}xf16>, %w: tensor<{n}x{k}xi8>) -> tensor<{m}x{n}xf16> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{n}x{k}xf16>
  %half = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%w : tensor<{n}x{k}xi8>) outs(%e : tensor<{n}x{k}xf16>) {{
    ^bb0(%a: i8, %o: f16):
      %f = arith.sitofp %a : i8 to f16
      linalg.yield %f : f16
  }} -> tensor<{n}x{k}xf16>
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %sum = linalg.matmul
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (j, l)>, affine_map<(i, j, l) -> (i, j)>]
    ins(%x, %half : tensor<{m}x{k}xf16>, tensor<{n}x{k}xf16>) outs(%init : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %out = tensor.empty() : tensor<{m}x{n}xf16>
  %result = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%sum : tensor<{m}x{n}xf32>) outs(%out : tensor<{m}x{n}xf16>) {{
    ^bb0(%s: f32, %y: f16):
      %t = arith.truncf %s : f32 to f16
      linalg.yield %t : f16
  }} -> tensor<{m}x{n}xf16>
  return %result : tensor<{m}x{n}xf16>
}}
"""


def source(m: int, n: int, k: int) -> str:
    """The module of a product."""
    return SOURCE.format(m=m, n=n, k=k)


def compile_one(work: tuple[str, str]) -> str:
    """Compiles into the cache; what is wrong, if something is."""
    import mlir_gemm

    try:
        mlir_gemm.compile(work[0], chip="sm_90a", schedule=work[1] or None)
    except mlir_gemm.Error as error:
        return str(error)
    return ""


def microseconds(calls: list[Callable[[], object]], torch: Any) -> list[float]:
    """The time of each call, launches back to back, in turn."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, times in zip(calls, found, strict=True):
            for _ in range(5):
                call()
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for _ in range(LAUNCHES):
                call()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) / LAUNCHES * 1e3)
    return [median(times) for times in found]


def measured(m: int, n: int, k: int, torch: Any) -> list[dict[str, Any]]:
    """One product by all loops and by PyTorch."""
    import mlir_gemm

    x = torch.randn(m, k, device="cuda").half() / 64
    w = torch.randint(-127, 128, (n, k), device="cuda", dtype=torch.int8)
    want = x.double() @ w.double().T
    rows: list[dict[str, Any]] = []
    calls: list[Callable[[], object]] = [lambda: x @ w.half().T]
    for loop in LOOPS:
        kernel = mlir_gemm.compile(source(m, n, k), schedule=loop or None)
        poison = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
        del poison  # its memory is what the result gets
        out = kernel(x, w)
        error = ((out.double() - want).abs().max() / want.abs().max()).item()
        chosen = kernel.schedule.mainloop if len(kernel.kernels) == 1 else f"{len(kernel.kernels)} kernels"
        rows.append({
            "m": m, "n": n, "k": k, "fields": loop,
            "mainloop": chosen, "schedule": str(kernel.schedule) if len(kernel.kernels) == 1 else "", "error": error,
        })  # fmt: skip
        calls.append(lambda kernel=kernel: kernel(x, w))
    theirs, *ours = microseconds(calls, torch)
    for row, time in zip(rows, ours, strict=True):
        row |= {"us": time, "torch_us": theirs}
    return rows


def sizes() -> list[tuple[int, int, int]]:
    """The sizes that are run."""
    drawn, found = random.Random(3), list(SIZES)
    for number in range(NOBODYS):
        m, n, k = (int(math.exp(drawn.uniform(math.log(least), math.log(5000)))) for least in (1, 64, 64))
        unit = 8 if number % 4 else 1
        found.append((m, -(-n // unit) * unit, -(-k // unit) * unit))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", type=Path)
    results: Path | None = parser.parse_args().o
    work = [(source(*size), loop) for size in sizes() for loop in LOOPS]
    with ProcessPoolExecutor(16) as pool:
        refused = [text for text in pool.map(compile_one, work) if text and "no legal" not in text]
    print(*refused, sep="\n")
    import torch

    torch.manual_seed(0)
    rows: list[dict[str, Any]] = []
    for size in sizes():
        rows += measured(*size, torch)
        for row in rows[-len(LOOPS) :]:
            print(
                f"{row['m']}x{row['n']}x{row['k']} {row['fields'] or 'chosen'} ({row['mainloop']}): "
                f"error {row['error']:.1e}, {row['us']:.1f} us, PyTorch {row['torch_us']:.1f}"
            )
    if results is not None:
        results.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return 1 if refused or any(not row["error"] < LIMIT for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
