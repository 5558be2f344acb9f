"""Products by other algebras than plus and times of numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from random_algebras import Case, drawn

import mlir_gemm
from mlir_gemm.spec.algebra import is_neutral, padding

CASES = [*drawn(21, 24), Case("min_plus", "f16", "f32", 40, 24, 300), Case("min_plus_i", "i8", "i32", 33, 17, 20)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_is_right_on_the_simulator(case: Case) -> None:
    kernel = mlir_gemm.compile(case.module(), chip="sm_90a", device="simulator")
    inputs = case.inputs(case.k)
    np.testing.assert_array_equal(kernel(*inputs), case.reference(*inputs))


@pytest.mark.parametrize(("name", "times"), [
    ("absolute differences", lambda a, b: abs(a - b)), ("squared differences", lambda a, b: (a - b) * (a - b)),
])  # fmt: skip
@pytest.mark.parametrize("nan", [False, True])
def test_maxima_of_what_is_never_negative_are_tiled(name: str, times: Any, nan: bool) -> None:
    """Zeros beyond the end of k: no term is less than theirs."""
    random = np.random.default_rng(3)
    a, b = random.standard_normal((37, 29)).astype(np.float32), random.standard_normal((29, 40)).astype(np.float32)
    if nan:
        a[5, 7] = np.nan
    got = mlir_gemm.einsum("mk,kn->mn", a, b, plus=np.maximum, times=times, chip="sm_80", device="simulator")
    assert np.array_equal(got, times(a[:, :, None], b[None]).max(axis=1), equal_nan=True)


def test_what_terms_are_never_below() -> None:
    difference = "math.absf(arith.subf(a, b))"
    for text, pair, neutral in (
        (f"arith.maximumf(c, {difference})", (0, 0), False),
        (f"arith.minimumf(c, arith.negf({difference}))", (0, 0), False),
        ("arith.maximumf(c, arith.addf(arith.mulf(a, a), arith.mulf(b, b)))", (0, 0), False),
        ("arith.minimumf(c, arith.addf(a, b))", (0, np.inf), True),
        (f"arith.maxnumf(c, {difference})", None, False),  # a sum may be of NaN only, which it passes over
        ("arith.maximumf(c, math.exp(arith.mulf(a, b)))", None, False),
    ):
        assert padding(text, "f32", "f32", "f32") == pair
        assert is_neutral(text, "f32", "f32", "f32") == neutral


def test_no_k_at_all_leaves_the_start() -> None:
    text = """
    func.func @p(%A: tensor<8x?xf32>, %B: tensor<?x8xf32>, %C: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
          affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%A, %B : tensor<8x?xf32>, tensor<?x8xf32>) outs(%C : tensor<8x8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %x = arith.subf %a, %b : f32
        %p = math.absf %x : f32
        %s = arith.maximumf %c, %p : f32
        linalg.yield %s : f32
      } -> tensor<8x8xf32>
      return %d : tensor<8x8xf32>
    }"""
    start = np.full((8, 8), -1, np.float32)
    kernel = mlir_gemm.compile(text, chip="sm_80", device="simulator")
    assert np.array_equal(kernel(np.zeros((8, 0), np.float32), np.zeros((0, 8), np.float32), start), start)
    with pytest.raises(mlir_gemm.ScheduleError, match="nothing neutral is known"):
        mlir_gemm.compile(text, chip="sm_80", device="simulator", schedule="mainloop=register_prefetch")
