"""Commands at fault: schedules, chips, passes, and files that cannot be read or written; status 1, no file left."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from compiled_text import GOOD, Compile, compile_, product

from mlir_gemm.tools.main import main

BIG = product("1024x1024xf16", "1024x1024xf16", "1024x1024xf32")

BAD_SCHEDULES = {
    "no such field": ("blok=128x128x64", "did you mean 'block'?"),
    "no value": ("block", "no value"),
    "not a tile": ("block=128x128", "MxNxK"),
    "not a number": ("stages=two", "an integer"),
    "not a choice": ("mainloop=magic", "cp_async, direct, mixed_input"),
    "twice": ("stages=1,stages=2", "twice"),
    "warp larger than block": ("block=64x64x32,warp=128x32x16", "warp"),
    "no multiple of the instruction": ("block=72x72x24,warp=36x36x24", ""),
    "more threads than a block has": ("block=512x512x32,warp=32x32x16", "1024"),
    "more shared memory than a block has": ("block=256x256x256,warp=64x64x16,stages=2", "shared memory"),
}

BAD_CHIPS = {"sm_60": "sm_60", "sm_999": "sm_999", "gfx906": "gfx906", " ": "' '", "sm_80; rm": "sm_80; rm"}


@pytest.mark.parametrize("name", BAD_SCHEDULES)
def test_schedule(name: str, compile_: Compile):
    schedule, message = BAD_SCHEDULES[name]
    status, err = compile_(BIG, "--schedule", schedule)
    assert status == 1
    assert message in err


@pytest.mark.parametrize("chip", BAD_CHIPS)
def test_chip(chip: str, compile_: Compile):
    status, err = compile_(GOOD, f"--chip={chip}")
    assert status == 1
    assert BAD_CHIPS[chip] in err
    assert "sm_80" in err


@pytest.mark.parametrize("command", ["compile", "run", "opt", "explain"])
@pytest.mark.parametrize(("path", "reason"), [("missing.mlir", "No such file"), (".", "directory"), ("", "")])
def test_input_that_cannot_be_read(
    command: str,
    path: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert main([command, path]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"error: cannot read '{path}'")
    assert reason in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("folder", "directory"),
        ("missing/out.ptx", "No such file"),
        ("in.mlir/out.ptx", "Not a directory"),
        ("/proc/out.ptx", ""),
        ("x" * 300, "too long"),
    ],
)
def test_output_that_cannot_be_written(
    output: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(GOOD)
    Path("folder").mkdir()
    for arguments in (["-o", output], ["-o", "good.ptx", "--launch-info", output]):
        assert main(["compile", "in.mlir", *arguments]) == 1
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith(f"error: cannot write '{output}'")
        assert reason in err
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "in.mlir"]


def test_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    """/dev/full refuses every write; a file on a full disk is the same but for the temporary name."""
    (tmp_path / "in.mlir").write_text(GOOD)
    output = tmp_path / "out.ptx"
    output.write_text("as it was")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mlir_gemm.tools.files.os.replace", full)
    assert main(["compile", str(tmp_path / "in.mlir"), "-o", str(output)]) == 1
    assert "No space left" in capfd.readouterr().err
    assert output.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mlir", "out.ptx"]
    if Path("/dev/full").exists():
        assert main(["compile", str(tmp_path / "in.mlir"), "-o", "/dev/full"]) == 1
        assert "No space left" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        (["no-such-pass"], "error: 'no-such-pass' is neither a pass of ours nor one that MLIR knows\n"),
        (["tile-loop"], "did you mean 'tile-loops'?\n"),
        (["cse{"], "error: MLIR does not take the pass 'cse{': missing closing '}' while processing pass options\n"),
        (["canonicalize{no-such-option=1}"], "no-such-option"),
        (["check-module{depth=3}"], "depth"),
        (["builtin.module(cse"], ""),
    ],
)
def test_pass_that_cannot_be_run(passes: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "in.mlir").write_text(GOOD)
    assert main(["opt", str(tmp_path / "in.mlir"), *passes]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "error: " in err
    assert message in err
    assert "Traceback" not in err and "internal error" not in err


def test_a_process_of_its_own_ends_cleanly(tmp_path: Path):
    """What happens in-process above, once through a real process: a chip that would make LLVM abort, and bad text."""
    (tmp_path / "bad.mlir").write_text("(" * 100_000)
    (tmp_path / "good.mlir").write_text(GOOD)
    for arguments in (["bad.mlir"], ["good.mlir", "--chip", "sm_60"]):
        command = [sys.executable, "-m", "mlir_gemm.tools.main", "compile", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert "error: " in done.stderr
        assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.mlir", "good.mlir"]
