"""Inputs at fault: exit status 1, a message with the place, what is wrong and what would be right; no file left."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlir_gemm.tools.main import main

Compile = Callable[..., tuple[int, str]]


def product(
    a: str = "64x64xf16", b: str = "64x64xf16", c: str = "64x64xf32", *, before: str = "", after: str = ""
) -> str:
    """A module with one product on memrefs."""
    return f"""{before}
func.func @matmul(%A: memref<{a}>, %B: memref<{b}>, %C: memref<{c}>) {{
  linalg.matmul ins(%A, %B : memref<{a}>, memref<{b}>) outs(%C : memref<{c}>)
  {after}
  return
}}
"""


GOOD = product()
BIG = product("1024x1024xf16", "1024x1024xf16", "1024x1024xf32")

DECLARATION = "func.func private @g()"
SECOND = "linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)"
TRANSPOSED = """
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c]
    ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}
"""

BAD_MODULES = {
    "empty": ("", None, "no function"),
    "blank": ("\n\n  \n", None, "no function"),
    "only a comment": ("// nothing\n", None, "no function"),
    "prose": ("hello, world\n", (1, 1), ""),
    "cut short": (GOOD[: len(GOOD) // 2], (3, None), ""),
    "100,000 nested parentheses": ("(" * 100_000, (1, None), ""),
    "100,000 nested regions": ("module {" * 100_000, None, ""),
    "a NUL byte": ("func.func @f() {\0 return }", (1, None), ""),
    "unknown dialect": ("module { foo.bar }", (1, None), ""),
    "a value used with another type": (GOOD.replace("outs(%C : memref<64", "outs(%C : memref<32"), (3, None), ""),
    "sizes that do not fit": (product(b="32x64xf16"), (3, None), ""),
    "nothing computed": ("func.func @f() {\n  return\n}\n", (1, None), "computes nothing"),
    "only a declaration": ("func.func private @f(memref<64x64xf16>)", None, "no function with a body"),
    "two functions": (GOOD + GOOD.replace("@matmul", "@other"), None, "more than one function"),
    "complex numbers": (product(*["64x64xcomplex<f32>"] * 3), (2, 1), "element type complex<f32>; expected one of f16"),
    "dynamic sizes": (product("?x64xf16", "64x64xf16", "?x64xf32"), (2, 1), "sizes must be static"),
    "dynamic strides": (product("64x64xf16, strided<[?, 1]>"), (2, 1), "dynamic strides or offset"),
    "in shared memory": (product("64x64xf16, 3"), None, "memory space"),
    "another operation": (product(after="func.call @g() : () -> ()", before=DECLARATION), (4, 3), "func.call"),
}

GOOD_MODULES = {
    "two products": product(after=SECOND),
    "f64": product("64x64xf64", "64x64xf64", "64x64xf64"),
    "bf16": product("64x64xbf16", "64x64xbf16"),
    "integers": product("64x64xi8", "64x64xi8", "64x64xi32"),
    "mixed": product(b="64x64xf32"),
    "a size of zero": product("0x64xf16", "64x64xf16", "0x64xf32"),
    "strided": product("64x64xf16, strided<[128, 1]>"),
    "transposed": TRANSPOSED,
}
"""Unusual, but nothing is wrong with them."""

BAD_SCHEDULES = {
    "no such field": ("blok=128x128x64", "did you mean 'block'?"),
    "no value": ("block", "no value"),
    "not a tile": ("block=128x128", "MxNxK"),
    "not a number": ("stages=two", "an integer"),
    "not a choice": ("copy=magic", "plain, prefetch"),
    "twice": ("stages=1,stages=2", "twice"),
    "warp larger than block": ("block=64x64x32,warp=128x32x16", "warp"),
    "no multiple of the instruction": ("block=72x72x24,warp=36x36x24", ""),
    "more threads than a block has": ("block=512x512x32,warp=32x32x16", "1024"),
    "more shared memory than a block has": ("block=256x256x256,warp=64x64x16,stages=2", "shared memory"),
}

BAD_CHIPS = {"sm_60": "sm_60", "sm_999": "sm_999", "gfx90a": "gfx90a", " ": "' '", "sm_80; rm": "sm_80; rm"}


@pytest.fixture
def compile_(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Compile:
    """Compiles text to out.ptx, which holds something already; returns the status and what stderr shows.

    Whatever goes wrong: nothing on stdout, no traceback, and the directory as it was.
    """

    def compile_(text: str | bytes, *arguments: str) -> tuple[int, str]:
        source, output = tmp_path / "in.mlir", tmp_path / "out.ptx"
        source.write_bytes(text.encode() if isinstance(text, str) else text)
        output.write_text("as it was")
        status = main(["compile", str(source), "-o", str(output), *arguments])
        out, err = capfd.readouterr()
        assert out == ""
        assert "Traceback" not in err
        assert "internal error" not in err
        if status:
            assert "error: " in err
            assert output.read_text() == "as it was"
            assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mlir", "out.ptx"]
        return status, err.replace(str(source), "in.mlir")

    return compile_


def test_the_good_one_compiles(compile_: Compile, tmp_path: Path):
    assert compile_(GOOD) == (0, "")
    assert ".entry" in (tmp_path / "out.ptx").read_text()


@pytest.mark.parametrize("name", BAD_MODULES)
def test_module(name: str, compile_: Compile):
    text, place, message = BAD_MODULES[name]
    status, err = compile_(text)
    assert status == 1
    assert message in err
    found = re.match(r"in\.mlir:(\d+):(\d+): error: \S", err)
    assert found, err[:500]
    if place:
        line, column = place
        assert int(found[1]) == line
        assert column in (None, int(found[2]))


@pytest.mark.parametrize("name", GOOD_MODULES)
def test_unusual_module(name: str, compile_: Compile):
    assert compile_(GOOD_MODULES[name]) == (0, "")


def test_bytes_that_are_no_text(compile_: Compile):
    status, err = compile_(b"func.func @f() {\n  \xff\xfe\n}")
    assert status == 1
    assert err.startswith("in.mlir:2:3: error: byte 0xff is not UTF-8; expected MLIR in its text form")
    assert compile_(bytes(range(256)) * 100)[0] == 1


@pytest.mark.parametrize("name", BAD_SCHEDULES)
def test_schedule(name: str, compile_: Compile):
    schedule, message = BAD_SCHEDULES[name]
    status, err = compile_(BIG, "--schedule", schedule)
    assert status == 1
    assert message in err


def test_schedule_in_the_module_is_checked_in_place(compile_: Compile):
    pinned = GOOD.replace(") {", ") attributes {tile.schedule = {blok = [64, 64, 32]}} {", 1)
    status, err = compile_(pinned)
    assert status == 1
    assert re.match(r"in\.mlir:\d+:\d+: error: ", err)


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
        (["no-such-pass"], "no-such-pass"),
        (["cse{"], ""),
        (["canonicalize{no-such-option=1}"], "no-such-option"),
        (["check-input{depth=3}"], "depth"),
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
