"""Modules that PyTorch exported, compiled and run in the simulator, against NumPy in float64."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_gemm

MODULES = Path(__file__).parent.parent / "modules"
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
}  # fmt: skip


def _load_cases() -> tuple[Any, ...]:
    spec = importlib.util.spec_from_file_location("modules_cases", MODULES / "cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module.CASES, module.DYNAMIC, module.BATCHES


CASES, DYNAMIC, BATCHES = _load_cases()


def inputs(case: Any) -> list[Any]:
    """Random inputs of a case; weights are scaled so that results stay near 1."""
    rng = np.random.default_rng(len(case.name))
    dtype = DTYPES[case.dtype]
    if case.dtype == "i8":
        return [rng.integers(-128, 128, shape, dtype=np.int8) for shape in case.shapes]
    scales = [1.0] + [0.3] * (len(case.shapes) - 1)
    return [
        (rng.standard_normal(shape) * scale).astype(dtype) for shape, scale in zip(case.shapes, scales, strict=True)
    ]


def error(got: Any, want: Any) -> float:
    """The relative error in the Frobenius norm; infinite where a result is no number."""
    got = np.asarray(got).astype(np.float64)
    assert got.shape == want.shape
    if not np.isfinite(got).all():
        return float("inf")
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def test_every_module_has_a_case() -> None:
    files = {path.stem for path in MODULES.glob("*.mlir")}
    assert files == {case.name for case in CASES}
    assert len(files) >= 24
    for path in MODULES.glob("*.mlir"):
        assert path.read_text().startswith(f"// {path.stem}: "), "each file says how it was made"


@pytest.mark.parametrize("name", DYNAMIC)
def test_one_kernel_runs_with_several_batch_sizes(name: str) -> None:
    (case,) = (case for case in CASES if case.name == name)
    kernel = mlir_gemm.compile(MODULES / f"{name}.mlir", device="simulator")
    for batch in BATCHES:
        first, *rest = case.shapes
        arguments = inputs(dataclasses.replace(case, shapes=((batch, *first[1:]), *rest)))
        got = kernel(*arguments)
        want = case.reference(*(array.astype(np.float64) for array in arguments))
        assert got.shape == want.shape
        assert not batch or error(got, want) <= case.tolerance


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_module(case: Any) -> None:
    arguments = inputs(case)
    before = [array.copy() for array in arguments]
    kernel = mlir_gemm.compile(MODULES / f"{case.name}.mlir", device="simulator")
    results = kernel(*arguments)
    wanted = case.reference(*(array.astype(np.float64) for array in arguments))
    if not isinstance(wanted, tuple):
        results, wanted = (results,), (wanted,)
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted, strict=True):
        found = error(got, want)
        print(f"{case.name}: {found:.2e}")
        assert found <= case.tolerance
    for array, old in zip(arguments, before, strict=True):
        assert np.array_equal(array.view(np.uint8), old.view(np.uint8)), "an input was changed"
