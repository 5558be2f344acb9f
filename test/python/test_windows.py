"""Convolutions, channels last: read by windows where the image lies, with nothing copied, and right at every stage."""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from convolutions import Convolution, random_convolution

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
ERRORS = {"f16": 2.0**-11, "bf16": 2.0**-8}
SAME = Convolution(2, (6, 7), 64, 40, padding=(1, 1))
STEPS = Convolution(3, (9, 8), 64, 24, (3, 2), (2, 3), (2, 1), (2, 1), "nhwc_hwcf", "bf16")
TORCH = Convolution(2, (5, 6), 128, 32, (2, 3), (1, 2), (1, 2), (0, 2), "transposed")
RANDOM = [random_convolution(random.Random(seed), 4) for seed in range(3)]


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")


def arrays_of(case: Convolution) -> list[Any]:
    """Small whole numbers, so that sums are exact, and a result that was never written."""
    random_ = np.random.default_rng(0)
    image, weights = (random_.integers(-2, 3, shape).astype(TYPES[case.dtype]) for shape in case.shapes[:2])
    return [image, weights, np.full(case.shapes[2], np.nan, TYPES[case.dtype])]


def check(case: Convolution, arrays: list[Any]) -> None:
    wanted = case.expected(*arrays[:2])
    assert np.all(np.abs(arrays[2].astype(np.float64) - wanted) <= ERRORS[case.dtype] * np.maximum(1, np.abs(wanted)))


@pytest.mark.parametrize(
    ("case", "chip", "schedule", "mode"),
    [
        (SAME, "sm_90a", {"mma": "wgmma"}, "im2col"),
        (STEPS, "sm_90a", {"mma": "wgmma", "block": (64, 32, 64)}, "im2col"),
        (TORCH, "sm_90a", {"mma": "wgmma", "block": (64, 32, 128)}, "im2col"),
        (SAME, "sm_80", {"mma": "mma_sync"}, "cp.async"),
        (STEPS, "sm_80", {"mainloop": "register_prefetch"}, "ld.global"),
        *((case, "sm_80", {}, "") for case in RANDOM),
    ],
)
def test_kernel(case: Convolution, chip: str, schedule: dict[str, Any], mode: str):
    compiled = compile_module(case.text(), chip=chip, schedule=schedule)
    assert mode in compiled.ptx
    arrays = arrays_of(case)
    report = simulate_launch(compiled.ir("lower"), compiled.launch, arrays)
    assert not report.findings
    check(case, arrays)
    assert not compiled.launch.buffers or case.n * case.places[0] * case.places[1] == 1
