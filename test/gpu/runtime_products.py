"""What the checks of the runtime multiply: a product in place, one with a result, and a program of two kernels, with
operands whose results are exact."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import mlir_gemm

SIZE = 256
IN_PLACE = """\
func.func @matmul(%A: memref<256x256xf16>, %B: memref<256x256xf16>, %C: memref<256x256xf32>) {
  linalg.matmul ins(%A, %B : memref<256x256xf16>, memref<256x256xf16>) outs(%C : memref<256x256xf32>)
  return
}
"""
RETURNING = """\
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>)
                     outs(%start : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
"""
_KERNEL = """
  module @main_{number} attributes {{tile.stage = "import"}} {{
    func.func @main_{number}(%a: memref<256x256xf16> {{tile.role = "in"}}, %b: memref<256x256xf16> {{tile.role = "in"}},
                      %d: memref<256x256x{out}> {{tile.role = "out"}}) {{
      %zero = arith.constant 0.0 : f32
      %acc = memref.alloc() : memref<256x256xf32>
      linalg.fill ins(%zero : f32) outs(%acc : memref<256x256xf32>)
      linalg.matmul ins(%a, %b : memref<256x256xf16>, memref<256x256xf16>) outs(%acc : memref<256x256xf32>)
      linalg.generic {{
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}}
          ins(%acc : memref<256x256xf32>) outs(%d : memref<256x256x{out}>) {{
      ^bb0(%in: f32, %old: {out}):
        %0 = {result}
        linalg.yield %0 : {out}
      }}
      return
    }}
  }}
"""
PROGRAM = (
    """\
module attributes {tile.stage = "import"} {
  memref.global "private" constant @weights : memref<256x256xf16> = dense<0.5>
  func.func @main(%x: memref<256x256xf16> {tile.role = "in"}, %w: memref<256x256xf16> {tile.role = "in"},
                  %r: memref<256x256xf32> {tile.role = "result"}) {
    %t = memref.alloc() : memref<256x256xf16>
    %c = memref.get_global @weights : memref<256x256xf16>
    %0 = memref.extract_aligned_pointer_as_index %x : memref<256x256xf16> -> index
    %1 = memref.extract_aligned_pointer_as_index %w : memref<256x256xf16> -> index
    %2 = memref.extract_aligned_pointer_as_index %t : memref<256x256xf16> -> index
    %3 = memref.extract_aligned_pointer_as_index %c : memref<256x256xf16> -> index
    %4 = memref.extract_aligned_pointer_as_index %r : memref<256x256xf32> -> index
    "tile.run"(%0, %1, %2) {kernel = "main_0"} : (index, index, index) -> ()
    "tile.run"(%2, %3, %4) {kernel = "main_1"} : (index, index, index) -> ()
    return
  }
"""
    + _KERNEL.format(number=0, out="f16", result="arith.truncf %in : f32 to f16")
    + _KERNEL.format(number=1, out="f32", result="arith.addf %in, %in : f32")
    + "}\n"
)
"""(x w) times a constant matrix, twice: two kernels, an intermediate buffer and a constant."""
DELAY_CYCLES = 20_000_000
"""About 10 ms: long enough that a launch on the wrong stream reads what is not there yet."""


class MissingLibraryError(Exception):
    """A library is not installed."""


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingLibraryError(f"{name} is not installed") from None


def operands() -> tuple[Any, Any, Any]:
    """Small whole numbers, so that every sum is exact in f32 and results compare equal."""
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (SIZE, SIZE)).astype(np.float16) for _ in "ab")
    return a, b, random.integers(-4, 5, (SIZE, SIZE)).astype(np.float32)


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float32) @ b.astype(np.float32)


def equal(given: Any, expected: Any, what: str) -> None:
    wrong = int((np.asarray(given) != expected).sum())
    if wrong:
        raise AssertionError(f"{what}: {wrong} of {expected.size} elements are wrong")


def in_place() -> mlir_gemm.Kernel:
    return mlir_gemm.compile(IN_PLACE)


def returning() -> mlir_gemm.Kernel:
    return mlir_gemm.compile(RETURNING)


def program_result(a: Any, b: Any) -> Any:
    return 2 * (product(a, b).astype(np.float16).astype(np.float32) @ np.full((SIZE, SIZE), 0.5, np.float32))


def small_operands(seed: int = 0) -> tuple[Any, Any]:
    """So small that the sums of the first product are exact in f16, and those of the second in f32."""
    random = np.random.default_rng(seed)
    return random.integers(-2, 3, (SIZE, SIZE)).astype(np.float16), random.integers(-2, 3, (SIZE, SIZE)).astype(
        np.float16
    )


def in_four_threads(work: Callable[[int], None]) -> None:
    """Calls `work` with 0 to 3, each in a thread of its own, at the same time. Fails with what any of them raised."""
    failures: list[str] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except Exception as problem:
            failures.append(str(problem))

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
