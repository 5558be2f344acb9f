"""Only the rows that are read of a norm or softmax are computed, with lengths known or not."""

from __future__ import annotations

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module


def _norm(batch: str, length: str) -> str:
    """`rms_norm(x)[:, -1] @ w` of sizes that are numbers or `?`."""
    rows, last = f"{batch}x{length}", f"{batch}x64"
    sizes = [name for name, size in (("%b", batch), ("%t", length)) if size == "?"]
    at = "%last" if length == "?" else str(int(length) - 1)
    count = "%b" if batch == "?" else batch
    asked = f"""  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %b = tensor.dim %x, %0 : tensor<{rows}x64xf16>
  %t = tensor.dim %x, %1 : tensor<{rows}x64xf16>
  %last = arith.subi %t, %1 : index
"""
    asked = asked if sizes else ""
    return f"""
#e = affine_map<(b, t, c) -> (b, t, c)>
#r = affine_map<(b, t, c) -> (b, t)>
func.func @main(%x: tensor<{rows}x64xf16>, %w: tensor<64x32xf16>) -> tensor<{batch}x32xf16> {{
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
{asked}  %e = tensor.empty({", ".join(sizes)}) : tensor<{rows}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %s = linalg.generic {{indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x : tensor<{rows}x64xf16>) outs(%f : tensor<{rows}xf32>) {{
  ^bb0(%v: f16, %o: f32):
    %a = arith.extf %v : f16 to f32
    %q = arith.mulf %a, %a : f32
    %p = arith.addf %o, %q : f32
    linalg.yield %p : f32
  }} -> tensor<{rows}xf32>
  %ne = tensor.empty({", ".join(sizes)}) : tensor<{rows}x64xf16>
  %n = linalg.generic {{indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x, %s : tensor<{rows}x64xf16>, tensor<{rows}xf32>) outs(%ne : tensor<{rows}x64xf16>) {{
  ^bb0(%v: f16, %u: f32, %o: f16):
    %c = arith.constant 0.015625 : f32
    %a = arith.extf %v : f16 to f32
    %m = arith.mulf %u, %c : f32
    %q = math.rsqrt %m : f32
    %p = arith.mulf %a, %q : f32
    %h = arith.truncf %p : f32 to f16
    linalg.yield %h : f16
  }} -> tensor<{rows}x64xf16>
  %l = tensor.extract_slice %n[0, {at}, 0] [{count}, 1, 64] [1, 1, 1] : tensor<{rows}x64xf16> to tensor<{last}xf16>
  %pe = tensor.empty({"%b" if batch == "?" else ""}) : tensor<{batch}x32xf16>
  %pf = linalg.fill ins(%none : f16) outs(%pe : tensor<{batch}x32xf16>) -> tensor<{batch}x32xf16>
  %r = linalg.matmul ins(%l, %w : tensor<{last}xf16>, tensor<64x32xf16>)
      outs(%pf : tensor<{batch}x32xf16>) -> tensor<{batch}x32xf16>
  return %r : tensor<{batch}x32xf16>
}}"""


SOFTMAX = """
func.func @main(%x: tensor<3x7x40xf32>) -> tensor<3x40xf32> {
  %e = tensor.empty() : tensor<3x7x40xf32>
  %y = linalg.softmax dimension(2) ins(%x : tensor<3x7x40xf32>) outs(%e : tensor<3x7x40xf32>) -> tensor<3x7x40xf32>
  %l = tensor.extract_slice %y[0, 5, 0] [3, 1, 40] [1, 1, 1] : tensor<3x7x40xf32> to tensor<3x40xf32>
  return %l : tensor<3x40xf32>
}"""


@pytest.mark.parametrize(("batch", "length"), [("4", "9"), ("4", "?"), ("?", "?")])
def test_the_last_rows_of_a_norm(batch: str, length: str) -> None:
    rng = np.random.default_rng(0)
    kernel = mlir_gemm.compile(_norm(batch, length), device="simulator")
    w = rng.standard_normal((64, 32)).astype(np.float16)
    for sizes in [(4, 9)] if length != "?" else [(4, 1), (4, 13)] if batch != "?" else [(1, 5), (3, 2)]:
        x = rng.standard_normal((*sizes, 64)).astype(np.float16)
        wide = x[:, -1].astype(np.float64)
        wanted = wide / np.sqrt((wide**2).mean(-1, keepdims=True)) @ w.astype(np.float64)
        assert np.abs(np.asarray(kernel(x, w)).astype(np.float64) - wanted).max() < 0.05


def test_no_other_row_is_computed() -> None:
    for text, rows in ((_norm("4", "9"), "4 rows of 64 f16"), (SOFTMAX, "3 rows of 40 f32")):
        assert str(compile_module(text).kernels[0].row_problem) == rows


def test_a_row_of_a_softmax() -> None:
    x = np.random.default_rng(1).standard_normal((3, 7, 40)).astype(np.float32)
    power = np.exp(x[:, 5].astype(np.float64))
    found = np.asarray(mlir_gemm.compile(SOFTMAX, device="simulator")(x))
    assert np.abs(found - power / power.sum(-1, keepdims=True)).max() < 1e-6
