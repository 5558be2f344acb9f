"""Poolings read their windows in place: right for every window, stride, dilation, padding and layout."""

from __future__ import annotations

import numpy as np
import pytest
from poolings import Pooling, random_pooling

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch


@pytest.mark.parametrize("case", [random_pooling(seed) for seed in range(8)], ids=str)
def test_pooling(case: Pooling, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    compiled = compile_module(case.text(), chip="sm_90a")
    assert len(compiled.launch.steps) == 1
    image = np.random.default_rng(0).integers(-9, 10, [case.n, *case.ordered(*case.size, case.c)]).astype(np.float32)
    out = np.full([case.n, *case.ordered(*case.places, case.c)], np.nan, np.float32)
    assert not simulate_launch(compiled.ir("lower"), compiled.launch, [image, out]).findings
    assert np.array_equal(out.astype(np.float64), case.expected(image))
