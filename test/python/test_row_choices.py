"""The greatest and the least element of rows and their places, as PyTorch has them: argmax, argmin, max of a
dimension."""

from __future__ import annotations

import numpy as np
import pytest
from row_cases import chosen
from row_kernels import Case, check_stages, compiled, fields, run

from mlir_gemm.errors import PassError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.stages import STAGES

WHOLE = STAGES[: STAGES.index("lower")]


def odd(case: Case, least: bool) -> Case:
    """A case with NaN, infinities, ties, and rows of nothing but what is worst."""
    a = case.arrays[0]
    a[0, 3::7] = np.nan
    a[1, :] = np.inf if least else -np.inf
    a[2, 1::5] = -np.inf if least else np.inf
    a[3, -1] = np.nan
    a[4, :] = 0
    wide = a.astype(np.float64)
    wanted = wide.argmin(1) if least else wide.argmax(1)
    values = wide.min(1) if least else wide.max(1)
    return Case(case.text, case.arrays, [values, wanted.astype(np.float64)], case.tolerance)


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize(("m", "n", "element"), [(9, 20, "f32"), (7, 300, "f16"), (3, 3001, "f32"), (6, 40, "i32")])
def test_every_stage_gives_the_same_places(m: int, n: int, element: str, least: bool) -> None:
    case = chosen(m, n, element, least)
    kernel = compiled(case, *WHOLE, "lower")
    assert [each.kind for each in kernel.kernels] == ["rows"]
    check_stages(case, kernel, WHOLE)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("n", [24, 333, 2500, 9001])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_nan_and_ties_are_as_in_eager_pytorch(n: int, element: str, least: bool) -> None:
    """NaN is the greatest and the least, and the first of equal elements is taken."""
    case = odd(chosen(5, n, element, least), least)
    arrays, report = run(case)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize(
    "schedule",
    [
        fields(64, 64, 2, "1, 128", "cluster = 2 : i64"), fields(32, 32, 1, "1, 64"), fields(64, 8, 4, "16, 64"),
        fields(64, 32, 2, "2, 64", "staged = true"), fields(128, 16, 1, "16, 16", "transposed = true"),
    ],
)  # fmt: skip
def test_however_rows_are_divided(schedule: str) -> None:
    case = odd(chosen(5, 200, "f32", False, schedule), False)
    arrays, report = run(case)
    assert not report.findings, report.findings[0]
    case.check(arrays)


def test_columns() -> None:
    case = chosen(70, 9, "f16", False, kept="n")
    arrays, report = run(case)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("arith.select %better, %place, %q : i64", "arith.select %better, %q, %place : i64"),
        ("arith.cmpf ogt, %x, %v", "arith.cmpf oge, %x, %v"),
        ("arith.maximumf %x, %v", "arith.minimumf %x, %v"),
    ],
)
def test_what_chooses_otherwise_is_no_kernel_of_rows(before: str, after: str) -> None:
    case = chosen(6, 40, "f32", False)
    assert before in case.text
    try:
        kernel = compile_module(case.text.replace(before, after), chip="sm_90a", until="select")
    except PassError:
        return
    assert "rows" not in [each.kind for each in kernel.kernels]
