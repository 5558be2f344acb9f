"""The command line: what each command prints and writes, and its exit statuses.

`run` has test_cli_run.py; wrong inputs have test_bad_modules.py and test_bad_commands.py.
"""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import SMALL, no_cache_on_disk, run_main, small

import mlir_gemm
from mlir_gemm.errors import DeviceError, InputError, Location
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tools.main import COMMANDS, main


def test_compile_writes_beside_its_input_and_says_so(small: Path, capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, "compile", small)
    assert (status, out, err) == (0, "", f"wrote {small.with_suffix('.ptx')}\n")
    assert ".target sm_" in small.with_suffix(".ptx").read_text()
    assert sorted(path.name for path in small.parent.iterdir()) == ["small.mlir", "small.ptx"]


@pytest.mark.parametrize(
    ("emit", "extension", "content"),
    [("llvm", ".ll", "define "), ("select", ".select.mlir", "tile.schedule"), ("lower", ".lower.mlir", "gpu.func")],
)
def test_emit(emit: str, extension: str, content: str, small: Path, capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "compile", small, "--emit", emit)
    assert (status, err) == (0, f"wrote {small.with_suffix(extension)}\n")
    assert content in small.with_suffix(extension).read_text()


def test_emit_cubin_writes_an_elf_file(small: Path, capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "compile", small, "--emit", "cubin")
    assert status == 0, err
    assert small.with_suffix(".cubin").read_bytes()[:4] == b"\x7fELF"


def test_stdin_to_stdout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.read_bytes())))
    status, out, err = run_main(capsys, "compile", "-", "--chip", "sm_80")
    assert (status, err) == (0, "")
    assert ".target sm_80" in out


def test_a_saved_stage_compiles_to_the_same_ptx(small: Path, capsys: pytest.CaptureFixture[str]):
    _, direct, _ = run_main(capsys, "compile", small, "-o", "-", "--chip", "sm_80")
    assert main(["compile", str(small), "--emit", "accumulate", "--chip", "sm_80"]) == 0
    capsys.readouterr()
    status, resumed, _ = run_main(
        capsys, "compile", small.with_suffix(".accumulate.mlir"), "-o", "-", "--chip", "sm_80"
    )
    assert (status, resumed) == (0, direct)
    saved = small.with_suffix(".accumulate.mlir")
    status, _, err = run_main(capsys, "compile", saved, "-o", os.devnull, "--print-after", "all")
    assert status == 0
    assert "after accumulate" not in err
    assert "after pipeline" in err
    for arguments in (["--chip", "sm_90"], ["--emit", "tile"], ["--print-after", "tile"], ["--schedule", "stages=1"]):
        status, out, err = run_main(capsys, "compile", saved, *arguments)
        assert (status, out) == (1, "")
        assert "error: " in err


def test_schedule_reaches_the_kernel(small: Path, capsys: pytest.CaptureFixture[str]):
    schedule = "block=64x64x32,warp=32x32x16"
    status, out, err = run_main(capsys, "compile", small, "-o", "-", "--schedule", schedule, "--report")
    assert status == 0
    assert "block=64x64x32" in err
    assert "grid 16x1x1, block 128x1x1" in err
    assert ".entry" in out


def test_print_after(small: Path, capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "compile", small, "-o", os.devnull, "--print-after", "tile")
    assert status == 0
    assert err.count("// ----- after ") == 1
    assert "affine.for" in err
    status, _, err = run_main(capsys, "compile", small, "-o", os.devnull, "--print-after", "all")
    assert status == 0
    assert "// ----- after import -----" in err
    assert "// ----- after nvvm -----" in err
    assert os.path.exists(os.devnull) and not os.path.isfile(os.devnull)


def test_report_names_what_was_decided_and_what_it_costs(small: Path, capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "compile", small, "-o", os.devnull, "--report", "--chip", "sm_80")
    assert status == 0
    for name in ("problem:", "chip:", "schedule:", "launch:", "registers:", "static shared:", "ptx:", "time in all:"):
        assert name in err
    assert "256x256x256 f16,f16->f32" in err


def test_a_byte_order_mark_is_no_part_of_the_text(small: Path, capsys: pytest.CaptureFixture[str]):
    _, plain, _ = run_main(capsys, "compile", small, "-o", "-", "--emit", "tile", "--chip", "sm_80")
    small.write_bytes(b"\xef\xbb\xbf" + small.read_bytes())
    assert run_main(capsys, "compile", small, "-o", "-", "--emit", "tile", "--chip", "sm_80") == (0, plain, "")


def test_launch_info_is_json(small: Path, capsys: pytest.CaptureFixture[str]):
    info = small.with_name("launch.json")
    status, _, _ = run_main(capsys, "compile", small, "--launch-info", info)
    assert status == 0
    launch = json.loads(info.read_text())
    assert f".entry {launch['entry']}(" in small.with_suffix(".ptx").read_text()
    assert [(a["name"], a["shape"], a["dtype"], a["role"]) for a in launch["arguments"]] == [
        ("A", [256, 256], "f16", "in"),
        ("B", [256, 256], "f16", "in"),
        ("C", [256, 256], "f32", "inout"),
    ]
    assert sorted(launch["parameters"]) == [0, 1, 2]


def test_output_replaces_a_file_and_keeps_its_permissions(small: Path, capsys: pytest.CaptureFixture[str]):
    output = small.with_name("out.ptx")
    output.write_text("old")
    output.chmod(0o640)
    link = small.with_name("link.ptx")
    link.symlink_to(output)
    assert run_main(capsys, "compile", small, "-o", link)[0] == 0
    assert link.is_symlink()
    assert ".entry" in output.read_text()
    assert output.stat().st_mode & 0o777 == 0o640


def test_a_misspelt_command_is_told_what_is_near(capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "compil", "x.mlir")
    assert status == 2
    assert "there is no command 'compil'; did you mean 'compile'? (commands: compile, run, opt," in err
    assert "there is no command 'bogus' (commands: " in run_main(capsys, "bogus")[2]
    for command in COMMANDS:
        assert run_main(capsys, command, "--help")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bogus"],
        ["compile"],
        ["compile", "x.mlir", "--emit", "bogus"],
        ["compile", "x.mlir", "--print-after", "bogus"],
        ["compile", "x.mlir", "--emit", "tile", "--print-after", "lower"],
        ["compile", "x.mlir", "--emit", "tile", "--launch-info", "x.json"],
        ["compile", "x.mlir", "-o", "same", "--launch-info", "same"],
        ["compile", str(SMALL), "-o", str(SMALL)],
        ["run", "x.mlir", "--device", "tpu"],
        ["run", "x.mlir", "--seed", "-1"],
        ["run", "x.mlir", "--blocks", "1,a"],
        ["run", "x.mlir", "--blocks", "-1"],
        ["run", str(SMALL), "--device", "gpu", "--check"],
        ["run", str(SMALL), "--device", "gpu", "--bisect"],
        ["explain"],
        ["explain", "x.mlir", "--mnk", "1,2,3"],
        ["explain", "x.mlir", "--types", "f16,f16,f32"],
        ["explain", "--mnk", "1,2"],
        ["explain", "--mnk", "0,2,3"],
        ["explain", "--mnk", "256,256,256", "--types", "f16,f16"],
        ["explain", "--mnk", "256,256,256", "--types", "f16,f16,f23"],
        ["explain", "x.mlir", "--batch", "3"],
        ["explain", "x.mlir", "--orders", "km,kn"],
        ["explain", "--mnk", "256,256,256", "--batch", "0"],
        ["explain", "--mnk", "256,256,256", "--orders", "km"],
        ["explain", "--mnk", "256,256,256", "--orders", "kn,mk"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, *arguments)
    assert (status, out) == (2, "")
    assert "error: " in err
    assert "Traceback" not in err


def test_opt_runs_our_passes_and_upstream_ones(small: Path, capsys: pytest.CaptureFixture[str]):
    status, out, _ = run_main(capsys, "opt", small, "check-module", "func.func(convert-linalg-to-affine-loops)", "cse")
    assert status == 0
    assert out.count("affine.for") == 3
    status, out, _ = run_main(capsys, "opt", small)
    assert status == 0
    assert "linalg.matmul" in out


def test_opt_lists_passes_with_options(capsys: pytest.CaptureFixture[str]):
    status, out, _ = run_main(capsys, "opt", "--list")
    assert status == 0
    assert "check-module\n    " in out


def test_explain(small: Path, capsys: pytest.CaptureFixture[str]):
    status, by_sizes, _ = run_main(
        capsys, "explain", "--mnk", "4096,4096,4096", "--types", "f16,f16,f32", "--chip", "sm_90"
    )
    assert status == 0
    assert "128" in by_sizes
    status, out, _ = run_main(capsys, "explain", small)
    assert status == 0
    assert "256x256x256" in out


def test_explain_takes_types_batches_and_orders(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from mlir_gemm.tools import explain_command

    asked: list[Problem] = []
    monkeypatch.setattr(explain_command, "explain", lambda problem, *_: asked.append(problem) or "")
    sizes = ("explain", "--chip", "sm_90", "--mnk", "30,64,100")
    for more in (
        ("--types", "bf16,bf16,bf16", "--batch", "4", "--orders", "km,nk"),
        ("--types", "i8,i8,i8"),
        ("--types", "f64,f64,f64"),
        ("--types", "f8E4M3FN,f8E5M2,f16"),
    ):
        assert run_main(capsys, *sizes, *more)[0] == 0
    first, integers, doubles, eights = asked
    assert (first.a, first.acc, first.out, first.batch, first.a_order, first.b_order) == (
        "bf16", "f32", "bf16", 4, "km", "nk",
    )  # fmt: skip
    assert (first.a_vector, first.b_vector, first.out_vector) == (32, 64, 128)
    assert (integers.acc, doubles.acc, eights.acc) == ("i32", "f64", "f32")
    assert (eights.a, eights.b, eights.a_memory, eights.b_memory) == ("f16", "f16", "f8E4M3FN", "f8E5M2")


def test_info(capsys: pytest.CaptureFixture[str]):
    status, out, _ = run_main(capsys, "info")
    assert status == 0
    for name in (
        "mlir-gemm:",
        "python:",
        "bindings:",
        "mlir:",
        "numpy:",
        "cuda-bindings:",
        "cuda-core:",
        "default chip:",
        "cache:",
    ):
        assert name in out


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (InputError("wrong", Location("a.mlir", 3, 7)), 1, "a.mlir:3:7: error: wrong\n"),
        (DeviceError("no GPU"), 1, "error: no GPU\n"),
        (KeyboardInterrupt(), 130, ""),
        (ZeroDivisionError("boom"), 70, "internal error, please report: ZeroDivisionError: boom"),
    ],
)
def test_exit_statuses(
    raised: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def fail(_: object) -> int:
        raise raised

    monkeypatch.setattr("mlir_gemm.tools.info_command.run", fail)
    monkeypatch.delenv("MLIR_GEMM_DEBUG", raising=False)
    actual, _, err = run_main(capsys, "info")
    assert actual == status
    assert message in err
    assert "Traceback" not in err
    monkeypatch.setenv("MLIR_GEMM_DEBUG", "1")
    assert ("Traceback" in run_main(capsys, "info")[2]) == (status == 70)


def test_a_closed_pipe_is_no_error():
    command = (
        f"{sys.executable} -m mlir_gemm.tools.main compile {SMALL} --emit lower -o - | true; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")


def test_installed_command_runs():
    done = subprocess.run(
        [Path(sys.executable).with_name("mlir-gemm"), "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"mlir-gemm {mlir_gemm.__version__}\n")
