"""`mlir_gemm.einsum` and `matmul`: functions of single elements traced into regions, on the simulator."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.tracing.contraction import Contraction, Operand

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(8)
A, B = (RNG.integers(-3, 4, shape).astype(np.float16) for shape in ((20, 33), (33, 24)))
WIDE = A.astype(np.float64) @ B.astype(np.float64)
BIAS = RNG.integers(-3, 4, 24).astype(np.float32)
WEIGHTS = RNG.integers(-5, 6, (24, 33)).astype(np.int8)
SQUARE = WEIGHTS.astype(int) @ WEIGHTS.T.astype(int)


def einsum(*given: Any, **options: Any) -> Any:
    return mlir_gemm.einsum(*given, device="simulator", chip="sm_80", **options)


def causal(m: Any, n: Any) -> Any:
    return n <= m


CASES: dict[str, tuple[Any, Any]] = {
    "a bias and a maximum": (
        lambda: einsum("mk,kn->mn", A, B, epilogue=lambda d, bias: np.maximum(d + bias, 0), bias=("n", BIAS)),
        np.maximum(WIDE + BIAS, 0),
    ),
    "shortest paths": (
        lambda: einsum("ik,kj->ij", A.astype(np.float32), B.astype(np.float32), plus=np.minimum, times=np.add),
        (A.astype(np.float32)[:, :, None] + B.astype(np.float32)[None]).min(1),
    ),
    "a mask": (
        lambda: einsum("mk,nk->mn", A, A, mask=causal, fill=-100, out="f32"),
        np.where(np.arange(20)[None] <= np.arange(20)[:, None], A.astype(float) @ A.T.astype(float), -100),
    ),
    "weights with scales": (
        lambda: einsum("mk,nk->mn", A, WEIGHTS, prologue=(None, lambda w, s: w * s), s=("n", BIAS.astype(np.float16)),
                       out="f32"),
        A.astype(float) @ (WEIGHTS * BIAS[:, None].astype(float)).T,
    ),
    "distances": (
        lambda: einsum("mk,kn->mn", A, B, times=lambda a, b: abs(a - b), out=np.float32),
        np.abs(A.astype(float)[:, :, None] - B.astype(float)[None]).sum(1),
    ),
    "a start": (
        lambda: einsum("mk,kn->nm", A, B, init=np.ones((24, 20), np.float32), out="f32"), WIDE.T + 1,
    ),
    "a sum along rows": (lambda: einsum("mk->m", A, out="f32"), A.astype(float).sum(1)),
    "batches, one operand transposed": (
        lambda: mlir_gemm.matmul(np.stack([A, A + 1]), B.T.copy().T, device="simulator", chip="sm_80"),
        np.stack([A, A + 1]).astype(float) @ B.astype(float),
    ),
    "no arrow": (lambda: einsum("mk,kn", A, B), WIDE),
    "whole numbers": (
        lambda: einsum("mk,nk->mn", WEIGHTS, WEIGHTS, epilogue=lambda d, m: np.where(d % 2 == 0, d // 2, -d) + m),
        np.where(SQUARE % 2 == 0, SQUARE // 2, -SQUARE) + np.arange(24)[:, None],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_is_what_numpy_gives(name: str) -> None:
    run, wanted = CASES[name]
    found = run()
    np.testing.assert_array_equal(np.asarray(found, np.float64), wanted)


@pytest.mark.parametrize("element", ["float16", "float64", "int8", "complex64"])
def test_each_element_once(element: str) -> None:
    """`ij->ji` and the like add nothing up: the elements, in another order, in their own type."""
    a = np.arange(105).reshape(5, 7, 3).astype(element)
    for equation in ("ijk->kij", "ijk->jki"):
        got = mlir_gemm.einsum(equation, a, device="simulator")
        assert got.dtype == a.dtype
        assert np.array_equal(got, np.einsum(equation, a))
    if element == "float16":
        twice = mlir_gemm.einsum("ijk->kij", a, epilogue=lambda d: 2 * d + 1, device="simulator")
        assert np.array_equal(twice, np.einsum("ijk->kij", 2 * a + 1))


def test_types_of_results() -> None:
    def result(element: str, **more: Any) -> str:
        operands = (Operand("A", "mk", (4, 8), element), Operand("B", "kn", (8, 4), element))
        found = re.search(r"-> tensor<4x4x(\w+)> \{", Contraction(operands, "mn", **more).module())
        assert found
        return found[1]

    assert [result(each) for each in ("f16", "bf16", "f32", "f64", "i8", "i64")] == [
        "f16", "bf16", "f32", "f64", "i32", "i64",
    ]  # fmt: skip
    assert result("i8", epilogue=lambda d: d / 2) == "f32"
    assert result("f16", out="f32") == "f32"
    assert result("f32", epilogue=lambda d: (d > 0).astype("i8")) == "i8"


def test_errors_name_the_line_of_the_function() -> None:
    cases: list[tuple[Any, str]] = [
        (lambda d: d if d > 0 else 0, "use numpy.where"),
        (lambda d: math.exp(d), "numpy's do"),
        (lambda d: np.sort(d), "numpy.sort of an element is not known"),
        (lambda d: d & 1, "bits of f32"),
        (lambda d: [d, d][d], "this element has no value yet"),
    ]
    for function, message in cases:
        with pytest.raises(mlir_gemm.InputError, match=re.escape(message)) as found:
            einsum("mk,kn->mn", A, B, epilogue=function)
        assert found.value.location is not None
        assert found.value.location.file == __file__
        assert found.value.location.line == function.__code__.co_firstlineno


@pytest.mark.parametrize(
    ("equation", "options", "message"),
    [
        ("mk,nk->mn", {}, "'k' has size 33, and 24 in B"),
        ("mk,kn->mz", {}, "'z' in the result 'mz'"),
        ("mm,kn->mn", {}, "expected each letter once; a diagonal is no contraction"),
        ("mkz,kn->mn", {}, "A has 2 dimensions and the indices 'mkz'"),
        ("m1,kn->mn", {}, "'1' is not a letter"),
        ("mk,kn,n->mn", {}, "contract more two at a time"),
        ("mk,kn->mn", {"epilogue": lambda d, what: d + what}, "epilogue has an argument 'what', which is no index"),
        ("mk,kn->mn", {"epilogue": lambda d, k: d + k}, "no index or array here; expected m, n"),
        ("mk,kn->mn", {"mask": lambda m: m + 1}, "mask gives i64; expected a truth value"),
        ("mk,kn->mn", {"plus": lambda c, t: c * 2 + t}, "what the sum starts from"),
        ("mk,kn->mn", {"epilogue": lambda d: d > 0}, "say in which type: x.astype('i8')"),
        ("mk,kn->mn", {"out": "i8"}, "round it in the epilogue: x.astype('i8')"),
        ("mk,kn->mn", {"out": "f99"}, "'f99' is not an element type"),
        ("mk,kn->mn", {"bias": BIAS}, 'expected ("indices", array), or an option of einsum'),
        ("mk,kn->mn", {"epilogue": lambda d: "x"}, "epilogue gives a str; expected an element"),
        ("mk,kn->mn", {"times": lambda a: a}, "times takes 1 arguments; expected 2 elements first"),
    ],
)
def test_refusals(equation: str, options: dict[str, Any], message: str) -> None:
    arrays = (A, B, B[0]) if equation.count(",") == 2 else (A, B)
    with pytest.raises(mlir_gemm.InputError, match=re.escape(message)):
        einsum(equation, *arrays, **options)


def test_the_same_function_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from mlir_gemm.tracing import einsum as home

    made: list[str] = []
    real = home.compile
    monkeypatch.setattr(home, "_CALLS", {})
    monkeypatch.setattr(home, "compile", lambda *given: made.append(given[0]) or real(*given))
    for factor in (2.0, 2.0, 3.0):
        found = einsum("mk,kn->mn", A, B, epilogue=lambda d, f=factor: d * f, out="f32") if factor > 9 else einsum(
            "mk,kn->mn", A, B, epilogue=scaled_by(factor), out="f32"
        )  # fmt: skip
        np.testing.assert_array_equal(found, WIDE * factor)
    assert len(made) == 2


def scaled_by(factor: float) -> Any:
    return lambda d: d * factor


def test_the_example_of_shortest_paths() -> None:
    spec = importlib.util.spec_from_file_location("shortest_paths", ROOT / "examples" / "shortest_paths.py")
    assert spec and spec.loader
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    distances = np.where(RNG.random((20, 20)) < 0.15, RNG.integers(1, 20, (20, 20)), np.inf).astype(np.float32)
    wanted = distances.copy()
    np.fill_diagonal(wanted, 0)
    for k in range(20):  # Floyd and Warshall
        wanted = np.minimum(wanted, wanted[:, k : k + 1] + wanted[k : k + 1])
    np.testing.assert_array_equal(example.shortest_paths(distances, device="simulator"), wanted)
