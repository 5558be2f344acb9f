"""Two branches of two kernels each, in the order of the source and in that of `order-launches`, on the GPU of this
machine.

    python test/gpu/check_launch_order.py [-o RESULTS.json]

A branch is a softmax along rows of f16 and the sums of its columns; the source has both softmaxes first. Results are
compared with float64, and those of the two orders with each other; memory that results and buffers will lie in is
filled with NaN before. Times are of launches back to back, in turn, the median of five rounds. Exit status 1 where one
is wrong.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import torch

os.environ["MLIR_GEMM_CACHE"] = "off"  # the same source is compiled in two ways

import mlir_gemm
from mlir_gemm.pipeline import driver
from mlir_gemm.runtime import cache

sys.path.insert(0, str(Path(__file__).parent))

from launch_times import microseconds, printed, writing

SIZES = ((512, 4096), (2560, 4096), (3072, 4096), (3584, 4096))
"""Rows and columns: the first stay in L2 in either order, and are not put into another one."""
LAUNCHES = 40
TOLERANCE = 2e-3
"""Relative error of sums of a softmax that was rounded to f16."""
SUM = """
  {to} = linalg.generic {{indexing_maps = [#t, #c], iterator_types = ["parallel", "reduction"]}}
      ins({of} : tensor<{n}x{m}xf16>) outs(%f : tensor<{m}xf32>) {{
  ^bb0(%s: f16, %o: f32):
    %w = arith.extf %s : f16 to f32
    %q = arith.addf %w, %o : f32
    linalg.yield %q : f32
  }} -> tensor<{m}xf32>"""


def source(n: int, m: int) -> str:
    """Softmaxes of two matrices, then the sums of the columns of each."""
    x, softmax = f"tensor<{n}x{m}xf16>", "linalg.softmax dimension(1)"
    return f"""
#t = affine_map<(i, j) -> (j, i)>
#c = affine_map<(i, j) -> (i)>
func.func @f(%x: {x}, %y: {x}) -> (tensor<{m}xf32>, tensor<{m}xf32>) {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {x}
  %a = {softmax} ins(%x : {x}) outs(%e : {x}) -> {x}
  %b = {softmax} ins(%y : {x}) outs(%e : {x}) -> {x}
  %v = tensor.empty() : tensor<{m}xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<{m}xf32>) -> tensor<{m}xf32>
{SUM.format(to="%p", of="%a", n=n, m=m)}
{SUM.format(to="%r", of="%b", n=n, m=m)}
  return %p, %r : tensor<{m}xf32>, tensor<{m}xf32>
}}
"""


def as_written(text: str) -> Any:
    """The kernel with its launches in the order of the source."""
    select = driver.select_passes
    try:
        driver.select_passes = lambda *given, **more: [
            each for each in select(*given, **more) if each.name != "order-launches"
        ]
        return mlir_gemm.compile(text, device="gpu")
    finally:
        driver.select_passes = select
        cache.forget()  # the same source is compiled as it is


def checked(n: int, m: int) -> dict[str, Any]:
    """Runs one size in both orders; what it found."""
    text = source(n, m)
    kernels = [as_written(text), mlir_gemm.compile(text, device="gpu")]
    x, y = (torch.randn(n, m, dtype=torch.float16, device="cuda") for _ in range(2))
    poisoned = [torch.full_like(x, float("nan")) for _ in range(4)]
    del poisoned
    found = [kernel(x, y) for kernel in kernels]
    wanted = [each.double().softmax(-1).sum(0) for each in (x, y)]
    error = max(float((a.double() - b).norm() / b.norm()) for a, b in zip(found[1], wanted, strict=True))
    same = all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    calls = [lambda kernel=kernel: kernel(x, y) for kernel in kernels]
    written, ordered = microseconds(calls, torch, LAUNCHES, writing(torch))
    steps = [[step.entry for step in kernel.launch.steps] for kernel in kernels]
    return {"rows": n, "columns": m, "right": error <= TOLERANCE and same, "error": error, "same_bits": same,
            "us_as_written": written, "us_ordered": ordered, "ratio": ordered / written, "steps": steps,
            "workspace": [kernel.launch.workspace_bytes for kernel in kernels]}  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(printed(__doc__, (checked(n, m) for n, m in SIZES), torch))
