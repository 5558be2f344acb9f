"""`mlir-gemm run --counters`, with a program that stands in for Nsight Compute."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import json
import lzma
import os
import sys
from pathlib import Path

import pytest
from command_line import no_cache_on_disk, run_main, small
from test_cli_run import FakeGpu, right

import mlir_gemm
from mlir_gemm.errors import Error
from mlir_gemm.tools import run_command, run_counters

RESULTS = Path(__file__).resolve().parents[2] / "bench/results"
STAND_IN = """#!{python}
import json, pathlib, sys
given = sys.argv[1:]
value = lambda option: given[given.index(option) + 1]
pathlib.Path({asked!r}).write_text(json.dumps(given))
log = pathlib.Path(value("--log-file"))
behaviour = {behaviour!r}
if behaviour == "forbidden":
    log.write_text("==PROF== Connected to process 7 (/usr/bin/python3)\\n==ERROR== ERR_NVGPUCTRPERM - The user does "
        "not have permission to access NVIDIA GPU Performance Counters on the target device 0. For instructions on "
        "enabling permissions and to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM\\n")
    sys.exit(1)
if behaviour == "silent":
    sys.exit(9)
metrics = value("--metrics").split(",")
fixed = ["ID", "Process ID", "Kernel Name", "Block Size"]
row = lambda *cells: ",".join(f'"{{cell}}"' for cell in cells)
name = value("--kernel-name").split("(")[1].rstrip(")$")
lines = ["==PROF== Connected to process 7", row(*fixed, *metrics), row("", "", "", "", *["unit"] * len(metrics))]
lines.append(row(0, 7, name, "(128, 1, 1)", *["n/a" if "tensor" in m else "1,234.5" for m in metrics]))
log.write_text("\\n".join(lines))
"""


@pytest.fixture
def tiny(small: Path, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.mlir"
    path.write_text(small.read_text().replace("256", "64"))
    return path


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str = "") -> Path:
    """Puts the stand-in on the PATH; where it writes what it was asked."""
    asked, program = folder / "asked.json", folder / "ncu"
    program.write_text(STAND_IN.format(python=sys.executable, asked=str(asked), behaviour=behaviour))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return asked


def on_gpu(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the GPU too."""
    fake = FakeGpu(mlir_gemm.compile(path), right)
    monkeypatch.setattr(run_command.device, "load", lambda *_: fake)
    monkeypatch.setattr(run_command, "why_no_gpu", lambda: "")
    monkeypatch.setattr(run_command, "_median_seconds", lambda *_: 1e-3)


def test_what_the_gpu_counts(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    asked = stand_in(tmp_path, monkeypatch)
    on_gpu(tiny, monkeypatch)
    status, out, err = run_main(capsys, "run", tiny, "--counters", "--seed", "3")
    assert status == 0, out + err
    rows = " ".join(out.split())
    assert "occupancy, %: 1,234.5" in rows and "tensor pipe" not in rows, "n/a is left out"
    assert rows.count("cycles an instruction") == run_counters.SHOWN_STALLS
    assert "blocks, scaled to all" in rows and "passes over shared memory: " in rows
    given = json.loads(asked.read_text())
    assert given[given.index("--launch-count") + 1] == "1"
    assert given[given.index("run") + 2 :] == ["--seed=3", "--device=gpu"]
    assert given[given.index("--metrics") + 1].count("smsp__average_warps_issue_stalled_") == len(run_counters.STALLS)


def test_as_json(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    stand_in(tmp_path, monkeypatch)
    on_gpu(tiny, monkeypatch)
    status, out, err = run_main(capsys, "run", tiny, "--counters", "--json")
    assert status == 0, err
    (run,) = json.loads(out)["runs"]
    assert run["gpu_counters"][0]["L2 hit rate, %"] == 1234.5 and "stall: wait" in run["gpu_counters"][0]
    assert run["simulator_counters"]["bank conflicts"] == 0


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("none", "Nsight Compute (ncu) is not on the PATH"),
        ("forbidden", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("silent", "ncu counted nothing (exit status 9): it says no more"),
    ],
)
def test_where_it_cannot_count_it_says_why(
    behaviour: str,
    said: str,
    tiny: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    on_gpu(tiny, monkeypatch)
    if behaviour == "none":
        monkeypatch.setattr(run_counters.shutil, "which", lambda *_, **__: None)
    else:
        stand_in(tmp_path, monkeypatch, behaviour)
    status, out, err = run_main(capsys, "run", tiny, "--counters")
    assert status == 0, "the run itself is right: " + err
    assert "counters: none of the GPU: " in out and said in out and "instructions of the IR" in out


def test_what_nsight_compute_writes_is_read():
    """The text of version 2025.3 on an H100, with all that its raw page has: 15 passes, ranges of each metric, and the
    attributes of the device. The kernel has 16,777,216 tensor instructions by its size."""
    saved = json.loads(lzma.decompress((RESULTS / "2026-11-28-h100-counters.json.xz").read_bytes()))
    ((name, figures),) = run_counters.parsed(saved["raw"][0])
    assert name == "product_kernel" and figures == saved["rows"][0]["ncu"]
    assert figures["tensor instructions"] == 2048 * 2048 * 8192 // (16 * 8 * 16)
    stalls = {each for each in figures if each.startswith("stall: ")}
    assert len(stalls) == len(run_counters.STALLS) and figures.keys() - stalls == run_counters.METRICS.keys()


def test_on_the_simulator(tiny: Path, capsys: pytest.CaptureFixture[str]):
    status, out, _ = run_main(capsys, "run", tiny, "--counters", "--device", "simulator")
    assert (
        status == 0 and "none of a GPU: the simulator ran it" in out and "tensor operations: " in " ".join(out.split())
    )


def test_where_nvidia_puts_it_the_newest_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for version in ("2024.3.2", "2025.1.0", "2025.1.10"):
        folder = tmp_path / "nsight-compute" / version
        folder.mkdir(parents=True)
        stand_in(folder, monkeypatch)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr(run_counters, "INSTALLED", (f"{tmp_path}/nsight-compute/*",))
    assert run_counters.found_program() == str(tmp_path / "nsight-compute/2025.1.10/ncu")


def test_a_program_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "ncu"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(run_counters, "LIMIT", 0.2)
    with pytest.raises(Error, match=r"ncu did not end within 0\.2 s"):
        run_counters.profiled([], "", ["kernel"])
