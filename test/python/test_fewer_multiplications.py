"""Complex products by three real ones in place of four: when they are taken, and how exact they are."""

from __future__ import annotations

import numpy as np
import pytest
from test_composite import ON, numbers

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec import bilinear_plans as plans
from mlir_gemm.spec.bilinear import BUILT_IN
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tracing import einsum as traced
from mlir_gemm.tracing.contraction import Contraction, Operand


def test_complex_by_three_multiplications() -> None:
    rng = np.random.default_rng(14)
    a, b = (numbers(rng, letters, 2, "float32").view(np.complex64)[..., 0] for letters in ("mk", "kn"))
    found = mlir_gemm.einsum("mk,kn->mn", a, b, prologue=(np.conj, None), algorithm="fewest", **ON)
    np.testing.assert_array_equal(found, a.conj() @ b)


def test_three_multiplications_are_as_exact_as_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chosen for f64, which this chip multiplies slowly, if launches take no time, which so small a product is not
    worth; the bound of docs/precision.md, components apart."""
    monkeypatch.setattr(plans, "FURTHER", 0)
    rng = np.random.default_rng(18)
    a, b = (rng.normal(size=(56, 56)) + 1e3j * rng.normal(size=(56, 56)) for _ in range(2))
    before = set(traced._CALLS)
    found = mlir_gemm.einsum("mk,kn->mn", a, b, algorithm="fewest", chip="sm_75", device="simulator")
    (key,) = set(traced._CALLS) - before
    batches = [each.problem.batch for each in traced._CALLS[key].kernel.kernels if each.problem is not None]
    assert batches == [3]
    wide = np.clongdouble
    error = np.asarray(found, wide) - a.astype(wide) @ b.astype(wide)
    unit = 2.0**-53 * (np.abs(a) @ np.abs(b))
    assert np.all(np.abs(error.real) <= (56 + 1) * unit)
    assert np.all(np.abs(error.imag) <= (3 * 56 + 8) * unit)


@pytest.mark.parametrize(
    ("element", "size", "schedule", "algorithm", "products"),
    [
        ("f32", 4096, None, None, 3), ("f64", 4096, None, None, 3), ("f32", 4096, None, "schoolbook", 1),
        ("f32", 4096, "batch_invariant=on", None, 1), ("f32", 4096, "precision=tf32", None, 1),
        ("f16", 4096, None, None, 1), ("f32", 512, None, None, 1), ("f32", 512, None, "fewest", 1),
        ("f64", 2048, None, None, 3), ("f64", 512, None, None, 1),
    ],
)  # fmt: skip
def test_large_ones_in_full_take_three_products(
    element: str, size: int, schedule: str | None, algorithm: str | None, products: int
) -> None:
    """Where that is faster and errors grow little; the kernel's note says so."""
    sides = [
        Operand(name, letters, (size, size), f"complex<{element}>") for name, letters in (("A", "mk"), ("B", "kn"))
    ]
    asked = f'{{algorithm = "{algorithm}"}}' if algorithm else ""
    text = Contraction(tuple(sides), "mn", algebra=asked).module()
    module = compile_module(text, chip="h200", schedule=schedule and Schedule.parse(schedule), until="select")
    assert [each.problem.batch for each in module.kernels if each.problem is not None] == [products]
    assert ("relative to whole elements" in module.ir("select")) == (products == 3)


@pytest.mark.parametrize("field", ['precision = "tf32"', "batch_invariant = true"])
def test_what_the_source_itself_fixes_keeps_its_products(field: str) -> None:
    sides = [Operand(name, letters, (4096, 4096), "complex<f32>") for name, letters in (("A", "mk"), ("B", "kn"))]
    text = Contraction(tuple(sides), "mn").module()
    text = text.replace(" {\n", f" attributes {{tile.schedule = {{{field}}}}} {{\n", 1)
    module = compile_module(text, chip="h200", until="select")
    assert [each.problem.batch for each in module.kernels if each.problem is not None] == [1]


def test_growth_of_errors() -> None:
    """The bound of the three products of complex numbers is twice the constants' own; the real part's is the same."""
    steps, whole = BUILT_IN[0].steps, BUILT_IN[2].steps
    assert steps is not None
    assert whole is not None
    assert (round(steps.growth(BUILT_IN[0].table), 9), round(whole.growth(BUILT_IN[2].table), 9)) == (2, 1)
