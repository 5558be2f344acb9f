"""The greatest of rows of 16 bits, found before they are extended: the same bits as of f32, with NaN and infinities."""

from __future__ import annotations

import numpy as np
import pytest
from row_cases import reduced
from row_kernels import Case, compiled, fields, measured, pinned, run

from mlir_gemm.pipeline.driver import compile_module

MORE = "shift = 8 : i64, unroll = 3 : i64"


def with_odd_values(case: Case) -> Case:
    """A case whose rows have a NaN, infinities, or nothing but them."""
    given = case.arrays[0]
    given[0, 5], given[1, 700], given[2, :], given[3, -1] = np.nan, np.inf, -np.inf, -np.inf
    return case


@pytest.mark.parametrize("combiner", ["arith.maximumf", "arith.minimumf"])
@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("more", ["", ", cluster = 2 : i64"])
def test_greatest_and_least(combiner: str, element: str, more: str) -> None:
    case = with_odd_values(reduced(combiner, 5, 1301, element))
    kernel = compiled(pinned(case, fields(32, 32, 8, "1, 256", MORE + more)))
    assert f"vector<8x{element}>" in "".join(line for line in kernel.ir("lower").split("\n") if combiner in line)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    numpy = {"arith.maximumf": np.max, "arith.minimumf": np.min}[combiner]
    with np.errstate(all="ignore"):
        assert np.array_equal(arrays[-1], numpy(case.arrays[0].astype(np.float32), axis=1), equal_nan=True)


@pytest.mark.parametrize("kind", ["softmax", "log_softmax"])
def test_softmax(kind: str) -> None:
    case = pinned(measured(kind, 3, 1301, "bf16"), fields(32, 32, 8, "1, 256", MORE + ", staged = true"))
    arrays, report = run(case, compiled(case))
    assert not report.findings, report.findings[0]
    case.check(arrays)


def test_chips_without_the_instruction_compare_in_f32() -> None:
    case = pinned(measured("softmax", 3, 1301, "f16"), fields(32, 32, 8, "1, 256", MORE))
    assert "max.NaN.f16" not in (compile_module(case.text, chip="sm_75").ptx or "")
