"""Functions to which 1 is added, and whose results are rounded to 16 bits, take shorter formulas: the results are the
nearest numbers, but for a few that lie between two, and for what f32 loses too."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlir_gemm

COUNT = 8192
GELU = """
    %root = arith.constant 0.70710678118654752 : f32
    %half = arith.constant 0.5 : f32
    %a = arith.mulf %v, %root : f32
    %b = math.erf %a : f32
    %c = arith.addf %b, %one : f32
    %d = arith.mulf %v, %half : f32
    %y = arith.mulf %d, %c : f32"""
SILU = """
    %a = arith.negf %v : f32
    %b = math.exp %a : f32
    %c = arith.addf %one, %b : f32
    %y = arith.divf %v, %c : f32"""


def gelu(x: Any) -> Any:
    return 0.5 * x * np.array([math.erfc(-each / math.sqrt(2)) for each in x.tolist()])


def silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def compiled(body: str, result: str) -> Any:
    narrow = f"%r = arith.truncf %y : f32 to {result}" if result != "f32" else ""
    return mlir_gemm.compile(
        f"""
func.func @f(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}x{result}> {{
  %e = tensor.empty() : tensor<{COUNT}x{result}>
  %z = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}}
      ins(%x : tensor<{COUNT}xf32>) outs(%e : tensor<{COUNT}x{result}>) {{
  ^bb0(%v: f32, %o: {result}):
    %one = arith.constant 1.0 : f32{body}
    {narrow}
    linalg.yield {"%r" if narrow else "%y"} : {result}
  }} -> tensor<{COUNT}x{result}>
  return %z : tensor<{COUNT}x{result}>
}}""",
        device="simulator",
    )


BODIES = pytest.mark.parametrize(("body", "exact"), [(GELU, gelu), (SILU, silu)], ids=["gelu", "silu"])


@BODIES
def test_results_in_f16_are_nearest_but_for_ties(body: str, exact: Callable[[Any], Any]):
    x = np.concatenate([np.linspace(-12, 12, COUNT - 6), [0.0, -0.0, 1e-30, -1e-30, 60000.0, -60000.0]])
    x = x.astype(np.float32)
    got = compiled(body, "f16")(x).astype(np.float64)
    with np.errstate(over="ignore"):
        want = exact(x.astype(np.float64))
    unit = np.spacing(np.maximum(np.abs(want), 6e-5).astype(np.float16)).astype(np.float64)
    # f32 itself leaves as much of the difference of nearly 1 and 1.
    cancelled = 0.5 * np.abs(x) * 2.0**-24
    assert np.all(np.abs(got - want) < 0.52 * unit + cancelled)
    assert np.mean(got != want.astype(np.float16)) < 0.03


@BODIES
def test_results_in_bf16_are_within_three_hundredths_of_the_nearest(body: str, exact: Callable[[Any], Any]):
    x = np.concatenate([np.linspace(-12, 12, COUNT - 4), [0.0, -0.0, 60000.0, -60000.0]]).astype(np.float32)
    got = compiled(body, "bf16")(x).astype(np.float64)
    with np.errstate(over="ignore"):
        want = exact(x.astype(np.float64))
    unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(want), 2.0**-126))) - 7)
    cancelled = 0.5 * np.abs(x) * 2.0**-24
    assert np.all(np.abs(got - want) < 0.53 * unit + cancelled)


def test_a_quotient_by_one_more_than_exp_has_no_division():
    lines = re.sub(r'tile.reference = "[^"]*"', "", compiled(SILU, "f16").ir("lower"))
    assert lines.count("arith.divf") == lines.count("fastmath<afn>") // 2 > 0


@pytest.mark.parametrize("body", [GELU, SILU], ids=["gelu", "silu"])
def test_results_in_f32_keep_the_longer_formula(body: str):
    lines = {result: compiled(body, result).ir("lower").count("math.fma") for result in ("f16", "f32")}
    assert lines["f16"] < lines["f32"]


def test_a_gelu_of_f16_is_rounded_once():
    """As torch-mlir writes it, every step in f16."""
    kernel = mlir_gemm.compile(
        f"""
func.func @f(%x: tensor<{COUNT}xf16>) -> tensor<{COUNT}xf16> {{
  %one = arith.constant 1.0 : f16
  %two = arith.constant 2.0 : f16
  %half = arith.constant 0.5 : f16
  %e = tensor.empty() : tensor<{COUNT}xf16>
  %z = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}}
      ins(%x : tensor<{COUNT}xf16>) outs(%e : tensor<{COUNT}xf16>) {{
  ^bb0(%v: f16, %o: f16):
    %r = math.sqrt %two : f16
    %a = arith.divf %v, %r : f16
    %b = math.erf %a : f16
    %c = arith.addf %b, %one : f16
    %d = arith.mulf %c, %half : f16
    %y = arith.mulf %v, %d : f16
    linalg.yield %y : f16
  }} -> tensor<{COUNT}xf16>
  return %z : tensor<{COUNT}xf16>
}}""",
        device="simulator",
    )
    assert not re.search("math.erf|divf", kernel.ir("lower").split("gpu.module")[1])
    x = np.linspace(-6, 6, COUNT).astype(np.float16)
    got, want = kernel(x).astype(np.float64), gelu(x.astype(np.float64))
    unit = np.spacing(np.maximum(np.abs(want), 6e-5).astype(np.float16)).astype(np.float64)
    assert np.all(np.abs(got - want) < 0.52 * unit + 0.5 * np.abs(x) * 2.0**-24)


def test_nan_and_infinity_go_through():
    x = np.zeros(COUNT, np.float32)
    x[:3] = np.nan, np.inf, -np.inf
    for body in (GELU, SILU):
        with np.errstate(all="ignore"):
            got = compiled(body, "f16")(x)
        assert np.isnan(got[0])
        assert got[1] == np.inf
