"""The probe of a chip (bench/probe_chip.py) without a GPU: that its kernels compile, and the row that it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.bench import chip_figures, probe_chip, probe_rates
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.tile_model.chips import CHIPS, target

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
def test_its_kernels_compile(chip: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(probe_rates, "kernels", lambda _: [])  # whose schedules the model chooses
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


def test_a_chain_of_loads_is_followed():
    """Also a body of some hundred operations, each of which needs the one before."""
    numbers, steps = 96, 300
    table = np.zeros(numbers, np.int32)
    table[[0, 32, 64]] = 64, 0, 32
    kernel = mlir_gemm.compile(probe_rates.chase(numbers, steps), chip="sm_80", device="simulator")
    assert kernel(table, np.array([32], np.int32)) == [[32, 0, 64][steps % 3]]


def test_tables_are_one_chain():
    class Torch:
        """What PyTorch would do."""

        int32 = np.int32

        def randperm(self, count: int, device: str) -> Any:
            return Tensor(np.random.default_rng(count).permutation(count))

        def zeros(self, count: int, dtype: Any, device: str) -> Any:
            return np.zeros(count, dtype)

    class Tensor(np.ndarray[Any, Any]):
        def __new__(cls, values: Any) -> Any:
            return np.asarray(values).view(cls)

        def roll(self, by: int) -> Any:
            return np.roll(self, by)

        def to(self, dtype: Any) -> Any:
            return self.astype(dtype)

    table, start = probe_rates.table_of(32 * 50, Torch())
    at, seen = int(start[0]), list[int]()
    while at not in seen:
        seen.append(at)
        at = int(table[at])
    assert sorted(seen) == list(range(0, 32 * 50, 32))


@pytest.mark.parametrize(
    ("chip", "rates"),
    [
        ("sm_75", ["mma_sync f16", "mma_sync i8", "simt fma_f32", "simt fma_f64"]),
        ("sm_89", ["mma_sync f16", "mma_sync tf32", "mma_sync i8", "mma_sync f8", "simt fma_f32", "simt fma_f64"]),
    ],
)  # fmt: skip
def test_rates_are_of_what_a_chip_has(chip: str, rates: list[str]):
    found = probe_rates.rates_on(chip)
    assert [f"{each.mma} {each.name}" for each, _ in found] == rates
    assert all(f"mma={each.mma}," in schedule and "block=" in schedule for each, schedule in found)


def test_rates_become_figures_of_the_chip(monkeypatch: pytest.MonkeyPatch):
    reference = {"mma_sync": {"f16": 2300.0, "i8": 4400.0, "f64": 240.0}, "simt": {"fma_f32": 230.0}}
    monkeypatch.setattr(probe_rates, "REFERENCE", reference)
    twice = {"f16": 4600.0, "i8": 4400.0, "f64": 120.0}  # as fast in f16 again, and half as fast in f64
    found = {"mma_sync": {name: {"flops_clock_sm": rate} for name, rate in twice.items()}, "simt": {}}
    figures = {**FIGURES, "rates": found}
    chip = chip_figures.chip_of_figures(figures, "sm_90a")
    assert chip.endswith(",i8=1,f64=128")
    assert (target(chip).rates.i8, target(chip).rates.f64, target(chip).rates.tf32) == (1, 128, 0.5)
    assert chip_figures.chip_of_figures({**FIGURES, "rates": "failed"}, "sm_90a") in chip
    alike = {"mma_sync": {name: {"flops_clock_sm": 1.05 * rate} for name, rate in reference["mma_sync"].items()}}
    figures = chip_figures.chip_of_figures({**FIGURES, "rates": alike}, "sm_90a")
    assert target(figures).rates == target("sm_90a").rates


def test_without_a_gpu(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    from mlir_gemm.errors import DeviceError

    def absent(_: int) -> None:
        raise DeviceError("no NVIDIA driver was found")

    monkeypatch.setattr("mlir_gemm.runtime.device.open_gpu", absent)
    assert probe_chip.main([]) == 1
    assert "no NVIDIA driver was found" in capsys.readouterr().err
