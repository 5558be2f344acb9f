"""Schedules that were found by measuring: the file that holds them, and what `compile` and `explain` do with it."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest
from command_line import no_cache_on_disk, run_main, small

import mlir_gemm
from mlir_gemm.errors import Error, InputError
from mlir_gemm.runtime import tuned_files
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model import tuned
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.tuned import Database, Entry

PROBLEM = Problem(256, 256, 256, reads_c=False)
SCHEDULE = "block=64x64x32,stages=4"


def entry(schedule: str = SCHEDULE, **changes: object) -> Entry:
    fields: dict[str, object] = {
        "problem": PROBLEM, "chip": "sm_80", "gpu": "A100 80GB", "schedule": schedule, "seconds": 5e-6,
        "model_seconds": 6e-6,
    }  # fmt: skip
    return Entry(**{**fields, **changes})  # pyright: ignore[reportArgumentType]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / "tuned.json")
    tuned.add(path, [entry(gpu=target("sm_80").name)])
    return path


def source(small: Path) -> Problem:
    problem = mlir_gemm.compile(str(small), chip="sm_80", tuned="off").problem
    assert problem is not None
    return problem


@pytest.fixture
def known(file: str, small: Path) -> str:
    """A file with a schedule for the small example."""
    tuned.add(file, [entry(problem=source(small), gpu=target("sm_80").name)])
    return file


def test_what_is_written_is_found(tmp_path: Path):
    path = str(tmp_path / "new" / "tuned.json")
    tuned.add(path, [entry(), entry(gpu="other", schedule="stages=3")])
    assert tuned.find(path, PROBLEM, "sm_80", "A100 80GB") == entry()
    tuned.add(path, [entry(schedule="stages=2")])
    found = tuned.find(path, PROBLEM, "sm_80", "A100 80GB")
    assert found is not None and found.schedule == "stages=2"
    assert len(tuned.read(path)) == 2


@pytest.mark.parametrize(
    "other", [{"gpu": "A100 40GB"}, {"chip": "sm_86"}, {"problem": Problem(256, 256, 264, reads_c=False)}]
)
def test_only_exactly_this_problem_and_gpu(file: str, other: dict[str, object]):
    wanted = entry(**{"gpu": target("sm_80").name, **other})
    assert tuned.find(file, wanted.problem, wanted.chip, wanted.gpu) is None


def test_entries_of_other_versions_are_not_used_and_stay(tmp_path: Path):
    path = str(tmp_path / "tuned.json")
    later = entry(version="99.0").to_json() | {"problem": {"m": 256, "sparsity": "2:4"}, "more": 1}
    Path(path).write_text(json.dumps({"format": 1, "entries": [later]}))
    assert tuned.find(path, PROBLEM, "sm_80", "A100 80GB") is None
    tuned.add(path, [entry()])
    assert later in tuned.read(path) and len(tuned.read(path)) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "entries": [3]}', "\x80"])
def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path, text: str, small: Path):
    path = tmp_path / "tuned.json"
    path.write_text(text)
    with pytest.raises(InputError, match="no file of tuned schedules, or a damaged one"):
        tuned.add(str(path), [entry()])
    with pytest.raises(InputError, match="--tuned off"):
        mlir_gemm.compile(str(small), chip="sm_80", tuned=str(path))
    assert path.read_text() == text
    assert [each.name for each in tmp_path.glob("*.tmp")] == []


def test_a_device_is_no_file():
    """Reading `/dev/zero` or `/dev/full` would never end."""
    with pytest.raises(InputError, match="'/dev/zero' is a device"):
        tuned.read("/dev/zero")


def test_a_later_format_is_an_error_and_stays(tmp_path: Path):
    path = tmp_path / "tuned.json"
    path.write_text('{"format": 2, "entries": []}')
    with pytest.raises(InputError, match="in format 2; this mlir-gemm"):
        tuned.add(str(path), [entry()])
    assert path.read_text() == '{"format": 2, "entries": []}'


def test_a_damaged_entry_is_an_error(file: str, known: str, small: Path):
    data = json.loads(Path(file).read_text())
    for each in data["entries"]:
        each["schedule"] = "stages=many"
    Path(file).write_text(json.dumps(data))
    with pytest.raises(InputError, match="is damaged"):
        mlir_gemm.compile(str(small), chip="sm_80", tuned=file)


def test_a_full_disk_leaves_the_file_as_it_was(file: str, monkeypatch: pytest.MonkeyPatch):
    before = Path(file).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Error, match="No space left on device; it is as it was"):
        tuned.add(file, [entry(schedule="stages=2")])
    assert Path(file).read_bytes() == before
    assert list(Path(file).parent.glob(".*.tmp")) == []


def _add(work: tuple[str, int]) -> None:
    path, number = work
    for more in range(5):
        tuned.add(path, [entry(gpu=f"gpu {number} {more}")])


def test_several_write_at_once(tmp_path: Path):
    path = str(tmp_path / "tuned.json")
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(_add, [(path, number) for number in range(3)])
    assert len(tuned.read(path)) == 15


def test_compile_uses_it_and_says_so(known: str, small: Path, capsys: pytest.CaptureFixture[str]):
    kernel = mlir_gemm.compile(str(small), chip="sm_80", tuned=known)
    assert kernel.schedule is not None
    assert (kernel.schedule.block, kernel.schedule.stages) == ((64, 64, 32), 4)
    assert "tuned for" in kernel.kernels[0].note
    status, _, err = run_main(capsys, "compile", small, "--chip", "sm_80", "--tuned", known, "--report")
    assert status == 0
    assert "note:" in err and "tuned for" in err and "the model's choice 6.00 us" in err


def test_by_the_environment_and_turned_off(known: str, small: Path, monkeypatch: pytest.MonkeyPatch):
    without = mlir_gemm.compile(str(small), chip="sm_80").ptx
    monkeypatch.setenv("MLIR_GEMM_TUNED", known)
    assert mlir_gemm.compile(str(small), chip="sm_80").ptx != without
    assert mlir_gemm.compile(str(small), chip="sm_80", tuned="off").ptx == without
    monkeypatch.setenv("MLIR_GEMM_TUNED", "off")
    assert mlir_gemm.compile(str(small), chip="sm_80").ptx == without


@pytest.mark.parametrize("fixed", ["stages=3", "batch_invariant=on"])
def test_not_where_something_is_fixed(known: str, small: Path, fixed: str):
    with_file = mlir_gemm.compile(str(small), chip="sm_80", schedule=fixed, tuned=known)
    assert with_file.ptx == mlir_gemm.compile(str(small), chip="sm_80", schedule=fixed, tuned="off").ptx


def test_the_cache_knows_what_the_file_holds(known: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", str(tmp_path / "cache"))
    problem = source(small)
    first = mlir_gemm.compile(str(small), chip="sm_80", tuned=known).schedule
    changed = entry(problem=problem, gpu=target("sm_80").name, schedule="block=128x64x32,stages=3")
    tuned.add(known, [changed])
    second = mlir_gemm.compile(str(small), chip="sm_80", tuned=known).schedule
    assert first is not None and second is not None
    assert (first.stages, second.stages) == (4, 3)


def test_a_schedule_that_is_illegal_by_now_is_an_error(known: str, small: Path):
    tuned.add(known, [entry(problem=source(small), gpu=target("sm_80").name, schedule="stages=8,block=256x256x64")])
    with pytest.raises(Error, match="no legal schedule"):
        mlir_gemm.compile(str(small), chip="sm_80", tuned=known)


def test_explain_says_so(known: str, small: Path, capsys: pytest.CaptureFixture[str]):
    for what in ([small], ["--mnk", "256,256,256"]):
        status, out, _ = run_main(capsys, "explain", *what, "--chip", "sm_80", "--tuned", known)
        assert status == 0
        assert out.startswith("tuned for A100") and "--tuned off asks the model" in out
        _, out, _ = run_main(capsys, "explain", *what, "--chip", "sm_80", "--tuned", known, "--json")
        assert "tuned for A100" in json.loads(out)[0]["tuned"]
        _, out, _ = run_main(capsys, "explain", *what, "--chip", "sm_80", "--tuned", "off")
        assert "tuned for" not in out


def test_a_file_that_is_not_there(small: Path, capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "compile", small, "--tuned", "nowhere.json")
    assert status == 1
    assert "there is no file of tuned schedules 'nowhere.json'; mlir-gemm tune writes one" in err


def test_the_gpu_of_this_machine_counts_where_it_is_of_the_chip():
    here = Database("tuned.json", "sm_90a", "NVIDIA H100 NVL")
    assert here.gpu_of(target("sm_90a")) == here.gpu_of(target("sm_90")) == "NVIDIA H100 NVL"
    assert here.gpu_of(target("h100nvl")) == here.gpu_of(target("sm_90a:sms=100")) == "NVIDIA H100 NVL"
    assert here.gpu_of(target("sm_80")) == target("sm_80").name
    assert Database("tuned.json").gpu_of(target("sm_90a")) == "H200"


def test_no_default_file_means_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MLIR_GEMM_TUNED", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert tuned_files.default_path() == tmp_path / "mlir-gemm" / "tuned.json"
    assert tuned_files.database() is None
