"""What commands give other programs: JSON that says what the text says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlir_gemm.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "examples" / "matmul_256.mlir")


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json", "--chip", "sm_90a"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["chip"] == "sm_90a" and "tma" in data["mainloops"] and "sm_80" in data["chips"]
    assert ["f16"] in [form["operands"] for form in data["mmas"]["wgmma"]]


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--mnk", "4096,4096,4096", "--chip", "sm_90a", "--json"]) == 0
    (data,) = json.loads(capsys.readouterr().out)
    assert data["ranking"][0] == {"schedule": data["schedule"], "seconds": data["seconds"]}
    assert data["problem"]["m"] == 4096 and sum(map(bool, data["terms"].values())) > 3
    assert main(["explain", EXAMPLE, "--chip", "sm_80", "--json"]) == 0
    (data,) = json.loads(capsys.readouterr().out)
    assert data["kind"] == "product" and "mma=mma_sync" in data["schedule"]


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out.ptx")
    assert main(["compile", EXAMPLE, "--chip", "sm_80", "--report", "--json", "-o", out]) == 0
    data = json.loads(capsys.readouterr().err)
    (kernel,) = data["kernels"]
    assert kernel["entry"] == "matmul_kernel" and kernel["problem"]["k"] == 256
    assert next(iter(data["seconds"])) == "import" and data["launch"]["entry"] == kernel["entry"]
    assert main(["compile", EXAMPLE, "--json", "-o", out]) == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "mlir-gemm" in script and "explain" in script and "schedule" in script


OPEN = """func.func @negated(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


def test_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "negated.mlir"
    source.write_text(OPEN)
    told = ["run", str(source), "--device", "simulator", "--json"]
    assert main([*told, "--sizes", "s0=4", "--sizes", "s0=9"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["right"] and [run["sizes"] for run in data["runs"]] == [{"s0": 4}, {"s0": 9}]
    run = data["runs"][1]
    assert run["checks"] == "no findings" and run["kernels"][0]["kind"] == "elementwise" and run["right"]
    assert [each["argument"] for each in run["errors"]] == ["x", "result0"]
    assert main([*told, "--bisect"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["first_wrong_stage"] is None and run["stages"][0]["stage"] == "import" and run["stages"][-1]["right"]
