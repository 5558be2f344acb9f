"""Complex numbers: products and what is around them, beside NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mlir_gemm

RNG = np.random.default_rng(5)
MAPS = {"mk": "(m, k)", "km": "(k, m)", "kn": "(k, n)", "nk": "(n, k)", "mn": "(m, n)", "nm": "(n, m)"}
PRODUCT = """
#a = affine_map<(m, n, k) -> {a_map}>
#b = affine_map<(m, n, k) -> {b_map}>
#d = affine_map<(m, n, k) -> {d_map}>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @f(%A: tensor<{a}xcomplex<{t}>>, %B: tensor<{b}xcomplex<{t}>>, %v: tensor<{last}xcomplex<{t}>>)
    -> tensor<{d}xcomplex<{t}>> {{
  %zero = complex.constant [0.0 : {t}, {start} : {t}] : complex<{t}>
  %e = tensor.empty() : tensor<{d}xcomplex<{t}>>
  %f = linalg.fill ins(%zero : complex<{t}>) outs(%e : tensor<{d}xcomplex<{t}>>) -> tensor<{d}xcomplex<{t}>>
  %p = linalg.generic {{indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %B : tensor<{a}xcomplex<{t}>>, tensor<{b}xcomplex<{t}>>) outs(%f : tensor<{d}xcomplex<{t}>>) {{
    ^bb0(%x: complex<{t}>, %y: complex<{t}>, %c: complex<{t}>):
      {conj}
      %m = complex.mul %left, %right : complex<{t}>
      %s = complex.add %c, %m : complex<{t}>
      linalg.yield %s : complex<{t}>
  }} -> tensor<{d}xcomplex<{t}>>
  %r = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %v : tensor<{d}xcomplex<{t}>>, tensor<{last}xcomplex<{t}>>) outs(%e : tensor<{d}xcomplex<{t}>>) {{
    ^bb0(%x: complex<{t}>, %y: complex<{t}>, %o: complex<{t}>):
      %s = complex.{last_op} %x, %y : complex<{t}>
      linalg.yield %s : complex<{t}>
  }} -> tensor<{d}xcomplex<{t}>>
  return %r : tensor<{d}xcomplex<{t}>>
}}
"""
SIZES = {"m": 33, "n": 20, "k": 17}


def source(a: str, b: str, d: str = "mn", conj: str = "", t: str = "f32", start: str = "0.0", op: str = "add") -> str:
    """A product of complex matrices in some orders, with a row after it."""

    def shape(axes: str) -> str:
        return "x".join(str(SIZES[axis]) for axis in axes)

    lines = [f"%{name} = complex.conj %{value} : complex<{t}>" for name, value in (("left", "x"), ("right", "y"))
             if value in conj]  # fmt: skip
    text = PRODUCT.format(
        a_map=MAPS[a], b_map=MAPS[b], d_map=MAPS[d], a=shape(a), b=shape(b), d=shape(d), last=shape(d[1]), t=t,
        conj="\n      ".join(lines), start=start, last_op=op,
    )  # fmt: skip
    for name, value in (("left", "x"), ("right", "y")):
        if value not in conj:
            text = text.replace(f"%{name}", f"%{value}")
    return text


def numbers(axes: str, dtype: Any = np.complex64) -> Any:
    """Complex numbers with small whole parts."""
    parts = RNG.integers(-4, 5, (2, *(SIZES[axis] for axis in axes)))
    return (parts[0] + 1j * parts[1]).astype(dtype)


@pytest.mark.parametrize(
    ("a", "b", "d", "conj", "t", "start", "op"),
    [
        ("mk", "kn", "mn", "", "f32", "0.0", "add"),
        ("mk", "nk", "mn", "y", "f32", "0.0", "mul"),
        ("km", "kn", "mn", "x", "f32", "2.0", "sub"),
        ("km", "nk", "nm", "", "f32", "0.0", "add"),
        ("mk", "kn", "nm", "xy", "f64", "0.0", "add"),
    ],
)
def test_is_what_numpy_gives(a: str, b: str, d: str, conj: str, t: str, start: str, op: str) -> None:
    dtype = np.complex64 if t == "f32" else np.complex128
    kernel = mlir_gemm.compile(source(a, b, d, conj, t, start, op), chip="sm_80", device="simulator")
    x, y, v = (numbers(axes, dtype) for axes in (a, b, d[1]))
    left, right = (x if a == "mk" else x.T), (y if b == "kn" else y.T)
    product = (left.conj() if "x" in conj else left) @ (right.conj() if "y" in conj else right) + 1j * float(start)
    product = product if d == "mn" else product.T
    wanted = {"add": product + v, "sub": product - v, "mul": product * v}[op]
    found = kernel(x, y, v)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, wanted)


def test_parts_are_taken_and_given_too() -> None:
    kernel = mlir_gemm.compile(source("mk", "kn"), chip="sm_80", device="simulator")
    given = [numbers(axes) for axes in ("mk", "kn", "n")]
    parts = [np.stack([each.real, each.imag], -1) for each in given]
    found = kernel(*parts)
    assert found.shape == (33, 20, 2)
    np.testing.assert_array_equal(found[..., 0] + 1j * found[..., 1], kernel(*given))


def test_a_product_is_one_real_product() -> None:
    kernel = mlir_gemm.compile(source("mk", "kn").replace("f32", "f16"), chip="sm_90a", device="simulator")
    problems = [each.problem for each in kernel.kernels if each.problem is not None]
    assert [(p.m, p.n, p.k, p.a, p.acc, p.b_order) for p in problems] == [(33, 40, 34, "f16", "f32", "kn")]


def test_einsum_takes_complex_arrays() -> None:
    a, b = numbers("mk"), numbers("kn")
    found = mlir_gemm.einsum("mk,kn->mn", a, b, device="simulator", chip="sm_80")
    np.testing.assert_array_equal(found, a @ b)
    found = mlir_gemm.einsum(
        "mk,nk->mn", a, b.T, prologue=(None, np.conj), epilogue=lambda d, bias: (d + 1j * bias) * 2,
        bias=("n", np.arange(20, dtype=np.float32)), device="simulator", chip="sm_80",
    )  # fmt: skip
    np.testing.assert_array_equal(found, (a @ b.conj() + 1j * np.arange(20)) * 2)
    found = mlir_gemm.einsum("mk,kn->mn", a, b, epilogue=lambda d: d.real - d.imag, device="simulator", chip="sm_80")
    np.testing.assert_array_equal(found, (a @ b).real - (a @ b).imag)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("complex.sub %x, %y", "complex.pow %x, %y", "'complex.pow' on complex numbers; expected add, sub, mul"),
        ("%s = complex.add %c, %m", "%s = complex.mul %c, %m", "a reduction of complex numbers that is no sum"),
    ],
)
def test_refusals(old: str, new: str, message: str) -> None:
    text = source("mk", "kn", op="sub")
    assert old in text
    with pytest.raises(mlir_gemm.InputError, match=re.escape(message)) as found:
        mlir_gemm.compile(text.replace(old, new), chip="sm_80", device="simulator")
    assert found.value.location is not None
