"""The command line on modules with sizes that are known at run time only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlir_gemm.tools.main import main

MODULES = Path(__file__).parent.parent / "modules"
DYNAMIC, STATIC = str(MODULES / "dynamic_batch.mlir"), str(MODULES / "linear_f16.mlir")
TWO = """
func.func @main(%a: tensor<?x32xf16>, %b: tensor<32x24xf16>, %c: tensor<24x16xf16>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %start = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x32xf16>
  %0 = tensor.empty(%m) : tensor<?x24xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<?x24xf16>) -> tensor<?x24xf16>
  %2 = linalg.matmul ins(%a, %b : tensor<?x32xf16>, tensor<32x24xf16>) outs(%1 : tensor<?x24xf16>) -> tensor<?x24xf16>
  %3 = tensor.empty(%m) : tensor<?x16xf32>
  %4 = linalg.fill ins(%start : f32) outs(%3 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %5 = linalg.matmul ins(%2, %c : tensor<?x24xf16>, tensor<24x16xf16>) outs(%4 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %5 : tensor<?x16xf32>
}
"""


@pytest.fixture
def two(tmp_path: Path) -> str:
    path = tmp_path / "two.mlir"
    path.write_text(TWO)
    return str(path)


def test_runs_with_the_sizes_given(two: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", two, "--device", "simulator", "--sizes", "s0=37", "--sizes", "s0=0"]) == 0
    out = capsys.readouterr().out
    assert out.index("s0=37") < out.index("s0=0")
    assert "problem:        37x24x32" in out and "a: 37x32xf16" in out and "result0: 0x16xf32" in out
    assert out.count("no findings") == 2


def test_runs_with_several_sizes_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", DYNAMIC, "--device", "simulator", "--seed", "3"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("sizes:")]
    assert len(set(lines)) == 3


def test_every_stage_runs(two: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", two, "--device", "simulator", "--bisect", "--sizes", "s0=21"]) == 0
    assert "every stage computes the right numbers" in capsys.readouterr().out


def test_a_saved_program_of_flattened_views_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its kernel sees [s0, s1, 24] as [s0*s1, 24], in the reference too."""
    saved = str(tmp_path / "saved.mlir")
    assert main(["compile", str(MODULES / "front/open_linear_both.mlir"), "--emit", "import", "-o", saved]) == 0
    assert main(["run", saved, "--device", "simulator", "--sizes", "s0=3,s1=4", "--sizes", "s0=0,s1=4"]) == 0
    assert capsys.readouterr().out.count("no findings") == 2


def test_launch_information_has_expressions(tmp_path: Path, two: str) -> None:
    out, info = str(tmp_path / "out.ptx"), tmp_path / "info.json"
    assert main(["compile", two, "-o", out, "--launch-info", str(info), "--sizes", "s0=16", "--chip", "sm_90"]) == 0
    launch = json.loads(info.read_text())
    assert [argument["shape"][0] for argument in launch["arguments"]] == ["s0", 32, 24, "s0"]
    assert launch["buffers"] == [{"offset": None, "bytes": ["mul", "s0", 48]}]
    assert all("s0" in json.dumps(step["grid"]) and "s0" in step["parameters"] for step in launch["steps"])


def test_the_report_shows_expressions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", DYNAMIC, "-o", str(tmp_path / "out.ptx"), "--report", "--chip", "sm_90"]) == 0
    err = capsys.readouterr().err
    assert "grid [ceildiv(s0, " in err and "arg0: s0x24xf16 (in)" in err


def test_explain_takes_typical_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", DYNAMIC, "--sizes", "s0=4000", "--chip", "sm_90"]) == 0
    assert "4000x40x24" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["run", DYNAMIC, "--sizes", "s1=3"], "--sizes s1=3: the sizes of this module that are known at run time: s0"),
        (["run", STATIC, "--sizes", "s0=3"], "the sizes of this module that are known at run time: none"),
        (["run", DYNAMIC, "--sizes", "s0"], "'s0' is not a list of sizes, as in s0=37,s1=64"),
        (["run", DYNAMIC, "--sizes", "s0=1,s0=2"], "'s0=1,s0=2' gives s0 twice"),
        (["compile", DYNAMIC, "-o", "-", "--sizes", "q=3"], "--sizes q: the sizes of this module"),
        (["compile", DYNAMIC, "-o", "-", "--divisors", "q=8"], "--divisors q: the sizes of this module"),
        (["explain", "--mnk", "8,8,8", "--sizes", "s0=3"], "--sizes goes with an INPUT; --mnk gives all sizes"),
    ],
)
def test_sizes_that_make_no_sense_are_wrong_usage(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--device", "simulator"] if line[0] == "run" else []
    assert main([*line, *where]) == 2
    assert message in capsys.readouterr().err
