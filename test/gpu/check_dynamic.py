"""Sizes known at run time only, on a real GPU: `python test/gpu/check_dynamic.py`. Exit status 1 if anything is wrong.

Calls kernels with PyTorch tensors of many sizes, zero among them, against products in float64, and prints what a call
costs the host beside one with sizes from the source and `torch.mm`, and what new sizes cost. Needs a GPU and PyTorch.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

import mlir_gemm

TOLERANCE = 2e-3
MATMUL = """\
func.func @main(%a: tensor<MxKxf16>, %b: tensor<KxNxf16>) -> tensor<MxNxf32> {
DIMS  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty(SIZES) : tensor<MxNxf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<MxNxf32>) -> tensor<MxNxf32>
  %2 = linalg.matmul ins(%a, %b : tensor<MxKxf16>, tensor<KxNxf16>) outs(%1 : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %2 : tensor<MxNxf32>
}
"""
DIMS = {
    "%m": "  %c0 = arith.constant 0 : index\n  %m = tensor.dim %a, %c0 : tensor<MxKxf16>\n",
    "%n": "  %c1 = arith.constant 1 : index\n  %n = tensor.dim %b, %c1 : tensor<KxNxf16>\n",
}
TWO = """\
func.func @main(%a: tensor<?x512xf16>, %b: tensor<512x256xf16>, %c: tensor<256x128xf16>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %start = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x512xf16>
  %0 = tensor.empty(%m) : tensor<?x256xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<?x256xf16>) -> tensor<?x256xf16>
  %2 = linalg.matmul ins(%a, %b : tensor<?x512xf16>, tensor<512x256xf16>)
                     outs(%1 : tensor<?x256xf16>) -> tensor<?x256xf16>
  %3 = tensor.empty(%m) : tensor<?x128xf32>
  %4 = linalg.fill ins(%start : f32) outs(%3 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %5 = linalg.matmul ins(%2, %c : tensor<?x256xf16>, tensor<256x128xf16>)
                     outs(%4 : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %5 : tensor<?x128xf32>
}
"""


def matmul(m: str, n: str, k: str) -> str:
    """A product with these sizes, `?` for those known at run time only."""
    values = [value for value, size in (("%m", m), ("%n", n)) if size == "?"]
    text = MATMUL.replace("SIZES", ", ".join(values)).replace("DIMS", "".join(DIMS[value] for value in values))
    return text.replace("MxK", f"{m}x{k}").replace("KxN", f"{k}x{n}").replace("MxN", f"{m}x{n}")


def tensor(*shape: int) -> Any:
    return torch.randn(shape, device="cuda", dtype=torch.float32).mul_(0.5).half()


def error(got: Any, *given: Any) -> float:
    wanted = given[0].double()
    for each in given[1:]:
        wanted = wanted @ each.double()
    if got.shape != wanted.shape:
        return float("inf")
    size = float(wanted.norm())
    difference = float((got.double() - wanted).norm())
    return difference / size if size else difference


def check(name: str, kernel: Any, cases: list[tuple[Any, ...]]) -> bool:
    worst, wrong = 0.0, list[Any]()
    for given in cases:
        for _ in range(2):  # the long way, then the short one
            found = error(kernel(*given), *given)
            worst = max(worst, found)
            if not found <= TOLERANCE:
                wrong.append([tuple(each.shape) for each in given])
    print(f"{name}: {len(cases)} sizes, largest error {worst:.1e}, wrong {wrong[:4]}, variants {list(kernel.variants)}")
    return not wrong


def microseconds(call: Callable[[], Any]) -> float:
    """What a call costs the host."""
    times: list[float] = []
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(50):
            call()
        times.append((time.perf_counter() - start) / 50)
    return 1e6 * statistics.median(times)


def main() -> int:
    torch.manual_seed(0)
    right = True
    every = mlir_gemm.compile(matmul("?", "?", "?"))
    some = (0, 1, 7, 16, 64, 129, 1000)
    right &= check("m, n, k", every, [(tensor(m, k), tensor(k, n)) for m, n, k in itertools.product(some, some, some)])
    rows = mlir_gemm.compile(matmul("?", "1024", "512"))
    weight = tensor(512, 1024)
    right &= check("m", rows, [(tensor(m, 512), weight) for m in (*range(70), 100, 128, 500, 2048, 5000, 20000)])
    two = mlir_gemm.compile(TWO)
    b, c = tensor(512, 256), tensor(256, 128)
    right &= check("two products", two, [(tensor(m, 512), b, c) for m in (0, 1, 5, 16, 100, 1000, 3000)])

    x = tensor(64, 512)
    fixed = mlir_gemm.compile(matmul("64", "1024", "512"))
    fixed(x, weight)
    figures = [microseconds(lambda kernel=kernel: kernel(x, weight)) for kernel in (fixed, rows, torch.mm)]
    print(
        "a call costs the host {:.2f} us with fixed sizes, {:.2f} with sizes of the call, torch.mm {:.2f}".format(
            *figures
        )
    )
    fresh = [tensor(m, 512) for m in range(300, 400)]
    start = time.perf_counter()
    for each in fresh:
        rows(each, weight)
    print(f"a call with new sizes costs the host {1e6 * (time.perf_counter() - start) / len(fresh):.0f} us")
    for m in (16, 128, 512, 2048, 8192):
        x = tensor(m, 512)
        for name, call in (("ours", rows), ("torch.mm", torch.mm)):
            seconds = _seconds(lambda call=call, x=x: call(x, weight))
            print(f"  {m}x1024x512 {name}: {1e6 * seconds:.1f} us")
    print("all right" if right else "WRONG")
    return 0 if right else 1


def _seconds(call: Callable[[], Any]) -> float:
    """Seconds of a call on the GPU, of many in a row."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    call()
    events[0].record()
    for _ in range(200):
        call()
    events[1].record()
    torch.cuda.synchronize()
    return events[0].elapsed_time(events[1]) / 200e3


if __name__ == "__main__":
    sys.exit(main())
