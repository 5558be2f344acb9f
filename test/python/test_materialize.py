"""Operands that are computed once, in front of the product: what the model says, and what comes out."""

from __future__ import annotations

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.materialize import materialized

SOURCE = """
func.func @f(%x: tensor<{m}x{k}xf16>, %w: tensor<{n}x{k}xi8>, %s: tensor<{n}xf16>) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{n}x{k}xf16>
  %h = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%w, %s : tensor<{n}x{k}xi8>, tensor<{n}xf16>) outs(%e : tensor<{n}x{k}xf16>) {{
    ^bb0(%a: i8, %b: f16, %o: f16):
      %f = arith.sitofp %a : i8 to f16
      %g = arith.mulf %f, %b : f16
      linalg.yield %g : f16
  }} -> tensor<{n}x{k}xf16>
  %o = tensor.empty() : tensor<{m}x{n}xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p = linalg.matmul
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (j, l)>, affine_map<(i, j, l) -> (i, j)>]
    ins(%x, %h : tensor<{m}x{k}xf16>, tensor<{n}x{k}xf16>) outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %p : tensor<{m}x{n}xf32>
}}
"""
WEIGHTS = Problem(2048, 4096, 4096, b_order="nk", b_memory="i8", reads_c=False)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_a_kernel_in_front_gives_the_same_numbers(chip: str) -> None:
    m, n, k = 100, 200, 1000
    kernel = mlir_gemm.compile(SOURCE.format(m=m, n=n, k=k), chip=chip, device="simulator")
    assert [each.kind for each in kernel.kernels] == ["elementwise", "product"]
    product = kernel.kernels[1].problem
    scaled = Problem(m, n, k, b_order="nk", b_memory="i8", reads_c=False, epilogue_ops=1)  # move-row-factors
    assert product == materialized(scaled, "b")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((m, k), np.float32).astype(np.float16)
    w = rng.integers(-99, 99, (n, k)).astype(np.int8)
    s = (2.0 ** rng.integers(-6, 0, n)).astype(np.float16)
    want = x.astype(np.float64) @ (w * s.astype(np.float64)[:, None]).T
    got = np.asarray(kernel(x, w, s))
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max()


def test_what_the_model_says_of_it() -> None:
    made = decide(WEIGHTS, target("sm_90a"))
    assert next(iter(made.rewrites)) == "materialize" and made.choice.schedule.mma == "wgmma"
    lines = made.rewrites["materialize"].why()
    assert lines[0].startswith("computed  B (from i8) once, by a kernel of its own, which takes another ")
    assert "materialize" not in decide(Problem(64, 64, 256, b_order="nk", b_memory="i8"), target("sm_90a")).rewrites
    open_size = Problem(2048, 4096, 4096, b_order="nk", b_memory="i8", dynamic="m")
    assert "materialize" not in decide(open_size, target("sm_90a")).rewrites


def test_a_schedule_for_a_prologue_keeps_it() -> None:
    made = decide(WEIGHTS, target("sm_90a"), {"mainloop": "mixed_input"})
    assert not made.rewrites and made.choice.schedule.mainloop == "mixed_input"
