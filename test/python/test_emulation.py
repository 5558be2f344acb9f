"""Emulated precision: f32 by parts in tf32 and bf16, f64 by remainders of 8-bit integers, beside exact products."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.expected import relative_error
from mlir_gemm.spec.emulation import EMULATIONS

RNG = np.random.default_rng(11)
MAPS = {"mk": "(b, m, k)", "km": "(b, k, m)", "kn": "(b, k, n)", "nk": "(b, n, k)", "shared": "(k, n)"}
SIZES = {"b": 2, "m": 33, "n": 20, "k": 150}
PRODUCT = """
#a = affine_map<(b, m, n, k) -> {a_map}>
#b = affine_map<(b, m, n, k) -> {b_map}>
#d = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @f(%A: tensor<{a}x{t}>, %B: tensor<{b}x{t}>, %C: tensor<{d}x{t}>) -> tensor<{d}x{t}> {{
  %p = linalg.generic {{indexing_maps = [#a, #b, #d],
                        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%A, %B : tensor<{a}x{t}>, tensor<{b}x{t}>) outs(%C : tensor<{d}x{t}>) {{
    ^bb0(%x: {t}, %y: {t}, %c: {t}):
      %m = arith.mulf %x, %y : {t}
      %s = arith.addf %c, %m : {t}
      linalg.yield %s : {t}
  }} -> tensor<{d}x{t}>
  %e = tensor.empty() : tensor<{d}x{t}>
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%p : tensor<{d}x{t}>) outs(%e : tensor<{d}x{t}>) {{
    ^bb0(%x: {t}, %y: {t}):
      %s = arith.negf %x : {t}
      linalg.yield %s : {t}
  }} -> tensor<{d}x{t}>
  return %r : tensor<{d}x{t}>
}}
"""
"""Batches of products, from a C, with an operation after them."""
BOUND = {"3xtf32": 2.0**-21, "3xbf16": 2.0**-14, "6xbf16": 2.0**-22}
"""What a product may be off by, relative to the product of magnitudes (docs/precision.md)."""
SUMS = 2.0**-22
"""The same for the sums of the tensor cores, with `promotion` or as short as these."""


def _shape(axes: str, sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(sizes[axis] for axis in ("kn" if axes == "shared" else "b" + axes))


def source(a: str, b: str, t: str, sizes: dict[str, int] = SIZES) -> str:
    """The module for operands in these orders."""
    texts = {"a": a, "b": b, "d": "mn"}
    shapes = {name: "x".join(map(str, _shape(axes, sizes))) for name, axes in texts.items()}
    return PRODUCT.format(a_map=MAPS[a], b_map=MAPS[b], t=t, **shapes)


def _multiplied(a: str, b: str, left: Any, right: Any, start: Any) -> Any:
    ends = {"mk": "bmk", "km": "bkm", "kn": "bkn", "nk": "bnk", "shared": "kn"}
    exact = np.einsum(f"{ends[a]},{ends[b]}->bmn", left.astype(np.longdouble), right.astype(np.longdouble))
    return -(start.astype(np.longdouble) + exact)


@cache
def compiled(text: str, precision: str, chip: str) -> Any:
    return mlir_gemm.compile(text, chip=chip, device="simulator", schedule={"precision": precision})


def run(text: str, precision: str, *given: Any, chip: str = "sm_90a") -> Any:
    """What a module gives on the simulator at a precision; None for what it computes exactly."""
    return compiled(text, precision, chip)(*given)


@pytest.mark.parametrize("precision", EMULATIONS)
@pytest.mark.parametrize(
    ("a", "b", "chip"), [("mk", "kn", "sm_90a"), ("km", "nk", "sm_80"), ("mk", "shared", "sm_90a")]
)
def test_f32_is_within_its_bound(precision: str, a: str, b: str, chip: str) -> None:
    left, right, start = (RNG.standard_normal(_shape(axes, SIZES)).astype(np.float32) for axes in (a, b, "mn"))
    left *= np.exp2(RNG.integers(-20, 20, left.shape)).astype(np.float32)
    got = run(source(a, b, "f32"), precision, left, right, start, chip=chip)
    bound = -_multiplied(a, b, abs(left), abs(right), abs(start)) * (BOUND[precision] + SUMS)
    assert (abs(got - _multiplied(a, b, left, right, start)) <= abs(bound)).all()


def test_no_worse_than_f32_itself() -> None:
    left, right = (RNG.standard_normal(_shape(axes, SIZES)).astype(np.float32) for axes in ("mk", "nk"))
    start = np.zeros(_shape("mn", SIZES), np.float32)
    exact = _multiplied("mk", "nk", left, right, start)
    plain = relative_error(run(source("mk", "nk", "f32"), "full", left, right, start), exact)
    for precision in ("3xtf32", "6xbf16"):
        assert relative_error(run(source("mk", "nk", "f32"), precision, left, right, start), exact) <= plain


@pytest.mark.parametrize("precision", EMULATIONS)
def test_ends_of_f32(precision: str) -> None:
    sizes = {"b": 1, "m": 8, "n": 8, "k": 8}
    largest = np.finfo(np.float32).max
    left, right = np.zeros((1, 8, 8), np.float32), np.ones((1, 8, 8), np.float32) * np.float32(1.0001)
    left[0, :, 0] = [np.inf, -np.inf, np.nan, largest / 2, -largest / 2, 1e-30, 0.0, 3.3]
    start = np.zeros((1, 8, 8), np.float32)
    got = run(source("mk", "kn", "f32", sizes), precision, left, right, start)
    with np.errstate(invalid="ignore"):
        wanted = _multiplied("mk", "kn", left, right, start).astype(np.float32)
    np.testing.assert_allclose(got, wanted, rtol=BOUND[precision])


@pytest.mark.parametrize(("a", "b"), [("mk", "kn"), ("km", "nk"), ("mk", "shared")])
def test_f64_by_remainders(a: str, b: str) -> None:
    left, right, start = (RNG.standard_normal(_shape(axes, SIZES)) for axes in (a, b, "mn"))
    got = run(source(a, b, "f64"), "ozaki", left, right, start)
    exact = _multiplied(a, b, left, right, start)
    assert relative_error(got, exact) <= 2e-15
    assert (abs(got - exact) <= SIZES["k"] * abs(left).max() * abs(right).max() * 2.0**-49).all()


def test_whole_numbers_are_exact() -> None:
    left, right, start = (RNG.integers(-(1 << 22), 1 << 22, _shape(axes, SIZES)) for axes in ("mk", "kn", "mn"))
    got = run(source("mk", "kn", "f64"), "ozaki", *(each.astype(np.float64) for each in (left, right, start)))
    assert (got == -(start + np.einsum("bmk,bkn->bmn", left, right))).all()


def test_rows_of_any_size() -> None:
    """Each row has a scale of its own; a row with an infinity or NaN is NaN, a row of zeros zero."""
    sizes = {"b": 1, "m": 8, "n": 8, "k": 40}
    scales = np.array([1e300, 1e-280, 1.0, 0.0, 1e-5, np.inf, 1.0, np.nan])
    left, right = RNG.standard_normal((1, 8, 40)), RNG.standard_normal((1, 40, 8)) * 1e-10
    with np.errstate(invalid="ignore"):
        left *= scales[None, :, None]
    got = run(source("mk", "kn", "f64", sizes), "ozaki", left, right, np.zeros((1, 8, 8)))[0]
    assert np.isnan(got[[5, 7]]).all()
    assert (got[3] == 0).all()
    kept = [0, 1, 2, 4, 6]
    exact = _multiplied("mk", "kn", left[:, kept], right, np.zeros((1, 1, 8)))[0]
    np.testing.assert_allclose((got[kept] / exact).astype(float), 1.0, rtol=1e-13)


def test_others_are_left_alone() -> None:
    """Products of other types, and longer ones than 8-bit sums may be, keep their precision."""
    plain = compile_module(source("mk", "kn", "f64"), chip="sm_90a", until="import").ir("import")
    asked = compile_module(source("mk", "kn", "f64"), chip="sm_90a", until="import", schedule={"precision": "3xtf32"})
    assert asked.ir("import").count("linalg.generic") == plain.count("linalg.generic")
    long = source("mk", "kn", "f64", {**SIZES, "k": 1 << 17})
    assert "i8" not in compile_module(long, until="import", schedule={"precision": "ozaki"}).ir("import")


def test_too_late_after_import() -> None:
    saved = compile_module(source("mk", "kn", "f32"), chip="sm_90a", until="import").ir("import")
    with pytest.raises(mlir_gemm.ScheduleError, match="divides elements into parts at stage 'import'"):
        compile_module(saved, schedule={"precision": "3xtf32"})
