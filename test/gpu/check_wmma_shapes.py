"""Runs WMMA's three shapes on the GPU of this machine, next to torch.mm, and compares them with float64.

    python test/gpu/check_wmma_shapes.py

Data are random, results start as NaN. Exit status 1 where one is wrong. The shapes 32x8x16 and 8x32x16 load fragments
that begin at 16-byte multiples, where those of 16x16x16 begin at 32 bytes; the cases without padding and without
shared memory are about that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch

import mlir_gemm

M, N, K = 2048, 1024, 512
PLAIN = f"""
func.func @f(%a: memref<{M}x{K}xf16>, %b: memref<{K}x{N}xf16>, %c: memref<{M}x{N}xf32>) {{
  FILL
  linalg.matmul ins(%a, %b : memref<{M}x{K}xf16>, memref<{K}x{N}xf16>) outs(%c : memref<{M}x{N}xf32>)
  return
}}
"""
FILL = f"""%zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<{M}x{N}xf32>)"""
RELU = f"""
func.func @f(%a: tensor<{M}x{K}xf16>, %b: tensor<{K}x{N}xf16>) -> tensor<{M}x{N}xf16> {{
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<{M}x{N}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %sum = linalg.matmul ins(%a, %b : tensor<{M}x{K}xf16>, tensor<{K}x{N}xf16>)
    outs(%init : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %out = tensor.empty() : tensor<{M}x{N}xf16>
  %result = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%sum : tensor<{M}x{N}xf32>) outs(%out : tensor<{M}x{N}xf16>) {{
    ^bb0(%x: f32, %y: f16):
      %narrow = arith.truncf %x : f32 to f16
      %relu = arith.maximumf %narrow, %none : f16
      linalg.yield %relu : f16
  }} -> tensor<{M}x{N}xf16>
  return %result : tensor<{M}x{N}xf16>
}}
"""
ADDING, RELUED = "adds to C", "relu, f16"
CASES = (
    ("block=128x128x64,warp=64x64x16,instruction=16x16x16,stages=2", ""),
    ("block=128x128x64,warp=64x64x16,instruction=32x8x16,stages=2", ""),
    ("block=128x128x64,warp=64x64x16,instruction=8x32x16,stages=2", ""),
    ("block=128x128x64,warp=64x32x16,instruction=32x8x16", ADDING),
    ("block=128x128x64,warp=32x64x16,instruction=8x32x16", RELUED),
    ("block=64x64x32,warp=32x8x16,instruction=32x8x16,pad=0", ""),
    ("block=64x64x32,warp=32x32x16,instruction=32x8x16,promote=off,mainloop=direct", ""),
    ("block=64x64x32,warp=32x32x16,instruction=8x32x16,promote=off,mainloop=direct", ""),
    ("block=64x64x32,warp=32x32x16,instruction=32x8x16,accumulate=off", ADDING),
    ("block=64x64x32,warp=8x32x16,instruction=8x32x16,stages=2,pad=16", RELUED),
)
LIMIT = {"": 1e-5, ADDING: 1e-5, RELUED: 1e-3}
"""Largest error, of the largest number of the result."""


def microseconds(call: Callable[[], object]) -> float:
    """The mean of 100 calls after 20."""
    for _ in range(20):
        call()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(100):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 10


def main() -> int:
    torch.manual_seed(0)
    wrong = 0
    for text, kind in CASES:
        a = torch.randn(M, K, device="cuda").half()
        b = torch.randn(K, N, device="cuda").half()
        want = a.double() @ b.double()
        fields = mlir_gemm.Schedule.parse(f"mma=wmma,{text}")
        if kind == RELUED:
            kernel = mlir_gemm.compile(RELU, schedule=fields)
            got, want, arguments = kernel(a, b), want.clamp(min=0), (a, b)
        else:
            kernel = mlir_gemm.compile(PLAIN.replace("FILL", "" if kind == ADDING else FILL), schedule=fields)
            got = torch.full((M, N), float("nan"), device="cuda")
            if kind == ADDING:
                got = torch.randn(M, N, device="cuda")
                want = want + got.double()
            arguments = (a, b, got)
            kernel(*arguments)
            got = got.clone()
        error = ((got.double() - want).abs().max() / want.abs().max()).item()
        right = error < LIMIT[kind]
        wrong += not right
        ours = microseconds(lambda kernel=kernel, arguments=arguments: kernel(*arguments))
        theirs = microseconds(lambda a=a, b=b: torch.mm(a, b))
        print(
            f"{text} {kind or 'f32'}: error {error:.1e} {'' if right else 'WRONG'} {ours:.1f} us, torch.mm {theirs:.1f}"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
