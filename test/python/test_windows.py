"""Convolutions, channels last: read by windows where the image lies, with nothing copied, and right at every stage."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from convolutions import Convolution, random_convolution, random_groups

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
ERRORS = {"f16": 2.0**-11, "bf16": 2.0**-8}
SAME = Convolution(2, (6, 7), 64, 40, padding=(1, 1))
STEPS = Convolution(3, (9, 8), 64, 24, (3, 2), (2, 3), (2, 1), (2, 1), "nhwc_hwcf", "bf16")
TORCH = Convolution(2, (5, 6), 128, 32, (2, 3), (1, 2), (1, 2), (0, 2), "transposed")
STEM = Convolution(2, (10, 12), 3, 8, (7, 7), (2, 2), padding=(3, 3))
PATCHES = Convolution(2, (16, 32), 3, 8, (8, 8), (8, 8))
GROUPS = Convolution(2, (7, 6), 32, 32, padding=(1, 1), form="transposed", groups=4)
DEPTHWISE = Convolution(2, (9, 8), 16, 16, stride=(2, 1), padding=(1, 1), form="nhwc_hwcf", groups=16)
RANDOM_GROUPS = [random_groups(random.Random(seed), 3) for seed in range(6)]
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


@pytest.mark.parametrize(
    ("case", "kernels"),
    [(STEM, 2), (PATCHES, 1), (GROUPS, 1), (DEPTHWISE, 1), *((case, 0) for case in RANDOM_GROUPS)],
)
def test_few_channels_and_groups(case: Convolution, kernels: int):
    compiled = compile_module(case.text(), chip="sm_90a")
    assert not kernels or len(compiled.launch.steps) == kernels
    arrays = arrays_of(case)
    report = simulate_launch(compiled.ir("lower"), compiled.launch, arrays)
    assert not report.findings
    check(case, arrays)


@pytest.mark.parametrize(
    ("case", "chip", "schedule", "mode"),
    [
        (SAME, "sm_90a", {"mma": "wgmma"}, "im2col"),
        (TORCH, "sm_90a", {"mma": "wgmma", "block": (64, 32, 128)}, "im2col"),
        (SAME, "sm_80", {"mma": "mma_sync"}, "cp.async"),
        (STEPS, "sm_80", {"mainloop": "register_prefetch"}, "ld.global"),
        *((case, "sm_90a", {}, "") for case in (STEM, PATCHES, GROUPS, *RANDOM)),
    ],
)
def test_open_images(case: Convolution, chip: str, schedule: dict[str, Any], mode: str):
    """One kernel reads any number of images in place."""
    compiled = compile_module(case.open_text(), chip=chip, schedule=schedule)
    assert mode in compiled.ptx
    assert "tile.windows" in compiled.ir("import")
    for images in (1, case.n + 3):
        given = replace(case, n=images)
        arrays = arrays_of(given)
        assert not simulate_launch(compiled.ir("lower"), compiled.launch, arrays).findings
        check(given, arrays)


@pytest.mark.parametrize("case", [DEPTHWISE, replace(DEPTHWISE, form="transposed", stride=(1, 1))])
def test_open_depthwise(case: Convolution):
    """Where nothing shares a window, each element of the result adds up its own, of any number of images."""
    compiled = compile_module(case.open_text(), chip="sm_90a")
    assert len(compiled.launch.steps) == 1 or case.form == "transposed"
    for images in (1, 3):
        given = replace(case, n=images)
        arrays = arrays_of(given)
        assert not simulate_launch(compiled.ir("lower"), compiled.launch, arrays).findings
        check(given, arrays)


def test_depthwise_reads_vectors():
    """Neighbouring channels of the image and of the weights are one load."""
    compiled = compile_module(DEPTHWISE.text(), chip="sm_90a")
    assert compiled.ptx.count("ld.global.v4") == 18
