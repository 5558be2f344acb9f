"""The command line on programs of several kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_program import PROGRAM, entries

from mlir_gemm.tools.main import main


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def test_compile_reports_each_kernel(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = file.with_suffix(".json")
    status = main(["compile", str(file), "--report", "--launch-info", str(info), "--print-after", "tile"])
    err = capsys.readouterr().err
    assert status == 0, err
    assert err.count("// ----- after tile -----") == 1 and "module @main_2" in err
    assert "the relu is read twice" in err
    assert err.count("registers: ") == 3 and err.count("schedule: ") == 3
    assert "main_0_kernel -> main_1_kernel -> main_1_kernel -> main_2_kernel" in err
    launch = json.loads(info.read_text())
    assert list(launch) == ["arguments", "steps", "buffers", "constants", "workspace_bytes"]
    assert sorted(entries(file.with_suffix(".ptx").read_text())) == sorted({s["entry"] for s in launch["steps"]})


TURNED = """func.func @f(%a: tensor<8x16xf16>, %b: tensor<16x8xf16>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x8xf16>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = linalg.transpose ins(%p : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %s = linalg.add ins(%p, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
"""
"""A product and its transpose, added up: other elements of the product are in other blocks."""


def test_a_report_names_the_file_where_a_product_stands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Why a kernel of its own was not fused with a product, also where the module was saved and taken up again."""
    file.write_text(TURNED)
    saved = file.with_suffix(".select.mlir")
    for arguments in ([str(file), "--emit", "select", "--chip", "sm_80"], [str(saved), "-o", str(file) + ".ptx"]):
        assert main(["compile", *arguments, "--report"]) == 0
        assert f"it cannot be fused with the product at {file}:4:8: " in capsys.readouterr().err


def test_explain_takes_each_product(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(file), "--chip", "sm_80"]) == 0
    out = capsys.readouterr().out
    assert [f"kernel main_{number}\n" in out for number in range(3)] == [True] * 3
    assert "64x64x32" in out


def test_run_on_the_simulator(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["run", str(file), "--device", "simulator"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    assert "error result0:" in out and "no findings" in out and "kernel:" in out
    assert main(["run", str(file), "--device", "simulator", "--blocks", "0"]) == 1
    assert "blocks can be chosen of one product only" in capsys.readouterr().err
