"""`mlir-gemm tune`: what it finds, keeps and refuses. Times are the model's."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import no_cache_on_disk, run_main, small

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem as Case
from mlir_gemm.errors import Error
from mlir_gemm.tile_model import tuned
from mlir_gemm.tools import tune_plots
from mlir_gemm.tuner.measuring import Outcome, Predicted
from mlir_gemm.tuner.products import products_of


def test_products_of_a_module(small: Path):
    (product,) = products_of(small.read_text(), str(small), "sm_80", most=5)
    assert product.space.problem.m == 256 and len(product.space.trials) == 5


TWO = """
func.func @two(%A: memref<96x64xf16>, %B: memref<64x128xf16>, %E: memref<128x72xf16>, %C: memref<96x128xf16>,
               %D: memref<96x72xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%C : memref<96x128xf16>)
  linalg.matmul ins(%A, %B : memref<96x64xf16>, memref<64x128xf16>) outs(%C : memref<96x128xf16>)
  linalg.fill ins(%zero : f16) outs(%D : memref<96x72xf16>)
  linalg.matmul ins(%C, %E : memref<96x128xf16>, memref<128x72xf16>) outs(%D : memref<96x72xf16>)
  return
}
"""


def test_each_product_of_a_program_is_tuned_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    source, file = tmp_path / "two.mlir", tmp_path / "found.json"
    source.write_text(TWO)
    status, out, err = run_main(
        capsys, "tune", source, "--chip", "sm_80", "--trials", "4", "--most", "20", "--database", file, "--json",
        "--sampler", "random",
    )  # fmt: skip
    assert status == 0, err
    first, second = json.loads(out)
    assert first["problem"] != second["problem"] and first["storage"] != second["storage"]
    entries = tuned.read(str(file))
    assert len(entries) == 2
    status, _, err = run_main(
        capsys, "compile", source, "--chip", "sm_80", "--tuned", file, "--report", "-o", tmp_path / "out.ptx"
    )
    assert status == 0 and err.count("tuned for A100") == 2
    assert all(entry["schedule"] in err for entry in entries)


def test_products_that_are_one_kernel_are_tuned_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What is found is taken, and takes the kernels not apart."""
    source, file = Path(__file__).parent.parent / "modules" / "swiglu.mlir", tmp_path / "found.json"
    status, out, err = run_main(
        capsys, "tune", source, "--chip", "h100", "--trials", "6", "--most", "40", "--database", file, "--json",
        "--sampler", "random",
    )  # fmt: skip
    assert status == 0, err
    both, down = json.loads(out)
    assert both["problem"].endswith("B of 2 matrices)") and "B of" not in down["problem"]
    status, _, err = run_main(
        capsys, "compile", source, "--chip", "h100", "--tuned", file, "--report", "-o", tmp_path / "out.ptx"
    )
    assert status == 0 and err.count("tuned for H100") == 2
    assert both["schedule"] in err and down["schedule"] in err


def test_tune_then_compile(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    file, source = tmp_path / "found.json", tmp_path / "product.mlir"
    source.write_text(module(Case("x", 1, 5120, 13824, "f16", "f16")))
    given = ("tune", source, "--chip", "sm_90a", "--trials", "6", "--most", "40", "--database", file)
    status, out, err = run_main(capsys, *given)
    assert status == 0, err
    assert "predicted times, no measurements" in out and "times as fast" in out
    assert list((tmp_path / "mlir-gemm" / "studies").glob("*.journal"))
    found = tuned.read(str(file))[0]
    status, _, err = run_main(
        capsys, "compile", source, "--chip", "sm_90a", "--tuned", file, "--report", "-o", tmp_path / "out.ptx"
    )
    assert status == 0
    assert f"schedule:         {found['schedule']}" in err and "tuned for H200 (predicted" in err


def test_tune_by_sizes_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(
        capsys, "tune", "--mnk", "96,104,120", "--types", "bf16", "--layouts", "NT", "--epilogue", "bias_gelu",
        "--chip", "sm_80", "--trials", "4", "--most", "9", "--sampler", "tpe", "--json",
        "--storage", tmp_path / "s.journal",
    )  # fmt: skip
    assert status == 0, err
    (found,) = json.loads(out)
    assert found["tried"] == 4 and found["space"] == 9 and not found["measured"] and found["database"] == ""


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ((), 2, "name either an INPUT or --mnk"),
        (("--mnk", "64,64,64", "--sampler", "best"), 2, "--sampler best: expected one of expected, model"),
        (("--mnk", "64,64,64", "--objective", "beauty"), 2, "--objective beauty: expected one of time, cold"),
        (("--mnk", "64,64,64", "--objective", "energy", "--device", "model"), 2, "the model predicts time"),
        (("--mnk", "64,64,64", "--types", "f12"), 2, "--types f12: expected one of f16"),
        (("--mnk", "64,64,64", "--types", "tf32"), 2, "that is a schedule field"),
        (("--mnk", "64,64,64", "--types", "s8", "--epilogue", "gelu"), 2, "--epilogue gelu goes with"),
        (("--mnk", "64,64,64", "--device", "gpu"), 1, "no GPU to measure on"),
        (("no.mlir",), 1, "cannot read 'no.mlir'"),
        (("no.mlir", "--types", "f16"), 2, "--types goes with --mnk"),
    ],
)
def test_what_tune_refuses(given: tuple[str, ...], status: int, said: str, capsys: pytest.CaptureFixture[str]):
    assert (run_main(capsys, "tune", *given)[0::2][0]) == status
    _, _, err = run_main(capsys, "tune", *given)
    assert said in err and "Traceback" not in err


def test_a_database_that_cannot_be_used_is_refused_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "found.json"
    file.write_text('{"format": 9, "entries": []}')
    status, out, err = run_main(capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", "--database", file)
    assert status == 1 and out == "" and "in format 9" in err


def test_a_database_that_cannot_be_written_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("")
    status, out, err = run_main(
        capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", "--trials", "3", "--most", "9", "--database",
        tmp_path / "file" / "found.json", "--storage", tmp_path / "s.journal",
    )  # fmt: skip
    assert status == 1 and "times as fast" in out
    assert "cannot write the tuned schedules" in err and "what was found: --schedule block=" in err


def test_pictures_that_cannot_be_drawn_lose_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    given = ("tune", "--mnk", "64,64,64", "--chip", "sm_80", "--trials", "3", "--most", "9", "--storage",
             tmp_path / "s.journal", "--database", tmp_path / "found.json")  # fmt: skip
    (tmp_path / "file").write_text("")
    status, out, err = run_main(capsys, *given, "--plots", tmp_path / "file" / "plots")
    assert status == 1 and out == "" and "cannot write into" in err
    status, out, err = run_main(capsys, *given, "--plots", tmp_path / "plots", "--beside", tmp_path / "none.journal")
    assert status == 1 and out == "" and f"there is no storage '{tmp_path}/none.journal'" in err
    assert not (tmp_path / "none.journal").exists() and not (tmp_path / "s.journal").exists()

    def full(*_: object) -> str:
        raise Error("cannot write: No space left on device")

    monkeypatch.setattr(tune_plots, "write", full)
    status, out, err = run_main(capsys, *given, "--plots", tmp_path / "plots")
    assert status == 1 and "times as fast" in out and "No space left" in err
    assert len(tuned.read(str(tmp_path / "found.json"))) == 1


def test_who_ends_a_search_is_told_the_best_so_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    measure = Predicted.measure

    left = iter(range(2))

    def until(self: Predicted, schedule: str, best: str, value: float) -> Outcome:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return measure(self, schedule, best, value)

    monkeypatch.setattr(Predicted, "measure", until)
    given = ("tune", "--mnk", "64,64,64", "--chip", "sm_80", "--trials", "5", "--most", "9", "--storage",
             tmp_path / "s.journal")  # fmt: skip
    status, _, err = run_main(capsys, *given)
    assert status == 130
    assert re.search(r"interrupted; the same command goes on, the best so far, [\d.]+ us: --schedule block=", err)
    monkeypatch.undo()
    status, out, _ = run_main(capsys, *given)
    assert status == 0 and "5 schedules: 5 predicted" in out
