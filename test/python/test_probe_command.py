"""`mlir-gemm probe` without a GPU: what it keeps, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run_main

from mlir_gemm.bench import probe_chip
from mlir_gemm.runtime import own_chip

FIGURES: dict[str, Any] = {
    "chip": "sm_90a",
    "device": {"name": "NVIDIA H100 PCIe", "sms": 114, "l2_bytes": 50 << 20},
    "load": {"4096": {"sm_mhz": [900, 1080, 1100]}},
    "dram": {"copy_bytes_s": 1.8e12},
    "latencies": {"l1_s": 1.8e-8, "dram_s": 4.5e-7},
    "rates": {"mma_sync": {"tf32": {"flops_clock_sm": 1160.4}}},
}
CHIP = "sm_90a:h100pcie,sms=114,clock=1.36,l2=50,dram=1.813"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(probe_chip, "measured", lambda chip, seconds, only: FIGURES)
    path = tmp_path / "data" / "chips.json"
    monkeypatch.setenv(own_chip.VARIABLE, str(path))
    return path


def test_what_was_measured_is_kept_beside_what_was_there(table: Path, capsys: pytest.CaptureFixture[str]):
    table.parent.mkdir()
    table.write_text(json.dumps({"format": own_chip.FORMAT, "gpus": {"NVIDIA L4": {"chip": "sm_89:l4"}}}))
    status, out, err = run_main(capsys, "probe")
    assert (status, err) == (0, "")
    assert "114 (so far" in out and CHIP in out and str(table) in out
    assert "tf32 1160 FLOP a clock and SM" in out and "l1 18, dram 450 ns" in out
    assert own_chip.measured() == {"NVIDIA L4": "sm_89:l4", "NVIDIA H100 PCIe": CHIP}
    assert json.loads(table.read_text())["gpus"]["NVIDIA H100 PCIe"]["figures"] == FIGURES


def test_as_json_and_into_a_file(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    other = tmp_path / "other.json"
    status, out, _ = run_main(capsys, "probe", "--json", "-o", other)
    assert status == 0
    assert (json.loads(out)["chip"], json.loads(out)["table"]) == (CHIP, str(other))
    assert other.is_file() and not table.exists()


@pytest.mark.parametrize("content", ["", "[1]", '{"format": 2, "gpus": {}}', '{"format": 1, "gpus": []}'])
def test_a_file_that_is_something_else_is_left_alone(table: Path, content: str, capsys: pytest.CaptureFixture[str]):
    table.parent.mkdir()
    table.write_text(content)
    status, _, err = run_main(capsys, "probe")
    assert status == 1 and err.startswith(f"error: '{table}' is no table of chips that this version reads")
    assert table.read_text() == content


def test_without_a_place_to_keep_it(table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv(own_chip.VARIABLE, "off")
    status, _, err = run_main(capsys, "probe")
    assert status == 1 and "say where with -o" in err
    folder = table.parent / "chips.json" / "x"
    table.parent.mkdir()
    table.write_text("")
    status, _, err = run_main(capsys, "probe", "-o", folder)
    assert status == 1 and err.startswith("error: cannot read")
