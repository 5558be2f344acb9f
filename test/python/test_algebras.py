"""Products by other algebras than plus and times of numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from random_algebras import Case, drawn

import mlir_gemm

CASES = [*drawn(21, 24), Case("min_plus", "f16", "f32", 40, 24, 300), Case("min_plus_i", "i8", "i32", 33, 17, 20)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_is_right_on_the_simulator(case: Case) -> None:
    kernel = mlir_gemm.compile(case.module(), chip="sm_90a", device="simulator")
    inputs = case.inputs(case.k)
    np.testing.assert_array_equal(kernel(*inputs), case.reference(*inputs))
