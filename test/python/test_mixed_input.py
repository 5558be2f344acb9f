"""The main loop `mixed_input`: one operand computed through registers, the other copied asynchronously."""

from __future__ import annotations

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import mainloops_tried, select

SOURCE = """
func.func @f(%a: memref<{m}x{k}x{a}>, %b: memref<{n}x{k}x{b}>, %c: memref<{m}x{n}xf32>) {{
  linalg.generic {{
      indexing_maps = [
        affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (j, l)>, affine_map<(i, j, l) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : memref<{m}x{k}x{a}>, memref<{n}x{k}x{b}>) outs(%c : memref<{m}x{n}xf32>) {{
    ^bb0(%x: {a}, %y: {b}, %s: f32):
      {computed}
      %p = arith.extf {l} : f16 to f32
      %q = arith.extf {r} : f16 to f32
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %s, %t : f32
      linalg.yield %u : f32
  }}
  return
}}
"""
FACTORS = {
    "b": {"a": "f16", "b": "i8", "computed": "%r = arith.sitofp %y : i8 to f16", "l": "%x", "r": "%r"},
    "a": {"a": "i8", "b": "f16", "computed": "%l = arith.sitofp %x : i8 to f16", "l": "%l", "r": "%y"},
}


def source(which: str, m: int, n: int, k: int) -> str:
    """A product one operand of which is of bytes that are multiplied as f16."""
    return SOURCE.format(m=m, n=n, k=k, **FACTORS[which])


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(
    ("which", "m", "n", "k", "stages"),
    [("b", 64, 64, 256, 4), ("b", 70, 50, 200, 3), ("b", 64, 48, 32, 2), ("a", 33, 65, 136, 2), ("a", 64, 96, 192, 6)],
)
def test_is_right_on_the_simulator(chip: str, which: str, m: int, n: int, k: int, stages: int) -> None:
    kernel = mlir_gemm.compile(
        source(which, m, n, k), chip=chip, device="simulator", schedule={"mainloop": "mixed_input", "stages": stages}
    )
    rng = np.random.default_rng(m)
    half = rng.standard_normal((m if which == "b" else n, k), np.float32).astype(np.float16)
    whole = rng.integers(-9, 9, (n if which == "b" else m, k)).astype(np.int8)
    a, b = (half, whole) if which == "b" else (whole, half)
    c = np.full((m, n), 1.0, np.float32)
    kernel(a, b, c)
    want = 1 + a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(c - want).max() < 1e-4


def test_is_compared_where_one_operand_is_computed_and_the_other_can_be_copied() -> None:
    chip, pinned = target("sm_80"), {"mma": "mma_sync"}
    weights = Problem(512, 4096, 4096, b_order="nk", b_memory="i8")
    assert mainloops_tried(weights, chip, pinned)[0] == ("mixed_input", "register_prefetch")
    assert select(weights, chip).schedule.mainloop == "mixed_input"
    narrow = Problem(512, 4096, 4095, a_vector=16, b_order="nk", b_memory="i8")
    both = Problem(512, 4096, 4096, b_order="nk", a_memory="i8", b_memory="i8")
    short = Problem(512, 4096, 128, b_order="nk", b_memory="i8")
    low = Problem(16, 4096, 4096, b_order="nk", b_memory="i8")
    for problem in (narrow, both, short, low):
        assert mainloops_tried(problem, chip, pinned)[0] == ("register_prefetch",)


def test_refuses_what_has_no_computed_operand() -> None:
    plain = source("b", 64, 64, 64).replace("%r = arith.sitofp %y : i8 to f16", "").replace("xi8", "xf16")
    plain = plain.replace("%y: i8", "%y: f16").replace("extf %r", "extf %y")
    with pytest.raises(mlir_gemm.ScheduleError, match="neither operand is computed on the way to shared memory"):
        mlir_gemm.compile(plain, chip="sm_80", device="simulator", schedule={"mainloop": "mixed_input"})
