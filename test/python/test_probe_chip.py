"""The probe of a chip (bench/probe_chip.py) without a GPU: that its kernels compile, and the row that it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mlir_gemm
from mlir_gemm.bench import chip_figures, probe_chip
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.tile_model.chips import CHIPS

FIGURES: dict[str, Any] = {
    "device": {
        "name": "H300", "sms": 140, "l2_bytes": 64 << 20, "smem_block": 232448, "smem_sm": 233472,
        "smem_reserved": 1024, "threads_sm": 2048, "blocks_sm": 32,
    },
    "load": {"4096": {"sm_mhz": [1600, 1755, 1980]}},
    "tensor": {"mma_sync": {"flops_clock_sm": 2600.4}},
    "l2": {"bytes_s": 11.26e12},
    "dram": {"copy_bytes_s": 4.31e12},
}  # fmt: skip


def test_the_row_of_a_chip():
    assert chip_figures.limits(FIGURES) == "_LIMITS = _Limits(227, 228, 1, 2048, 32)"
    row = chip_figures.row(FIGURES, "sm_90a")
    assert row.strip().startswith('_chip("sm_90a", "H300", _LIMITS, sms=140, clock=1.75, tensor=2600, l2=(64, 11.3)')
    assert "dram=4.3" in row and "not measured" not in row


def test_what_was_not_measured_is_said():
    row = chip_figures.row({**FIGURES, "dram": "failed: out of memory"}, "sm_90a")
    assert row.endswith("# not measured: dram") and "dram=4.3" in row
    assert "tensor=?" in chip_figures.row({}, "sm_999")


def test_the_table_has_what_the_probe_measured_on_the_h200():
    """All but the clock, the rate of mma.sync and that of L2, which are those that the fits go with."""
    kept = Path(__file__).parents[2] / "bench" / "results" / "2026-11-21-h200-chip.json"
    figures = json.loads(kept.read_text())
    h200 = CHIPS["sm_90a"]
    assert f"sms={h200.sms}, " in chip_figures.row(figures, "sm_90a")
    assert f"l2=({h200.l2_bytes / 2**20:.0f}, " in chip_figures.row(figures, "sm_90a")
    assert f"dram={h200.dram_bytes_s / 1e12:.1f}, " in chip_figures.row(figures, "sm_90a")
    assert chip_figures.limits(figures) == "_LIMITS = _Limits(227, 228, 1, 2048, 32)"
    sizes = h200.smem_block, h200.smem_sm, h200.smem_reserved, h200.threads_sm, h200.blocks_sm
    assert sizes == (227 << 10, 228 << 10, 1 << 10, 2048, 32)


@pytest.mark.parametrize("size", sorted(probe_chip.CLUSTERS))
def test_the_kernel_in_clusters_fills_an_sm(size: int):
    schedule = probe_chip.cluster_schedule(probe_chip.CLUSTERS[size])
    problem = Problem("x", 1024, 1024, 4096, "f16", "f16", "NT")
    step = mlir_gemm.compile(module(problem), chip="sm_90a", schedule=schedule).launch.steps[0]
    assert step.cluster[0] * step.cluster[1] * step.cluster[2] == size
    assert step.shared_bytes > CHIPS["sm_90a"].smem_sm // 2


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_its_kernels_compile(chip: str, capsys: pytest.CaptureFixture[str]):
    assert probe_chip.main(["--compile-only", "--chip", chip]) == 0
    assert f"kernels compiled for {chip}" in capsys.readouterr().out


def test_one_that_fails_does_not_end_the_others():
    class Prober:
        def device(self) -> dict[str, Any]:
            return {"sms": 1}

        def dram(self) -> dict[str, Any]:
            raise RuntimeError("out of memory")

    found = probe_chip.probe(Prober(), 0, ["device", "dram"])  # pyright: ignore[reportArgumentType]
    assert found == {"device": {"sms": 1}, "dram": "failed: RuntimeError: out of memory"}


def test_without_a_gpu(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    from mlir_gemm.errors import DeviceError

    def absent(_: int) -> None:
        raise DeviceError("no NVIDIA driver was found")

    monkeypatch.setattr("mlir_gemm.runtime.device.open_gpu", absent)
    assert probe_chip.main([]) == 1
    assert "no NVIDIA driver was found" in capsys.readouterr().err
