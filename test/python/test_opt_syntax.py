"""`mlir-gemm opt` in the words of mlir-opt, and what passes leave as files and as differences."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from mlir_gemm.dialect.parse_protocol import BYTECODE_MAGIC
from mlir_gemm.tools.main import main
from mlir_gemm.tools.opt_syntax import pipeline_passes
from mlir_gemm.usage import UsageError

TEXT = """func.func @f(%x: memref<8xf32>) {
  %a = arith.constant 1.0 : f32
  %b = arith.constant 1.0 : f32
  %i = arith.constant 0 : index
  %s = arith.addf %a, %b : f32
  memref.store %s, %x[%i] : memref<8xf32>
  return
}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("arguments", [
    ["in.mlir", "cse"],
    ["in.mlir", "--cse"],
    ["--cse", "in.mlir"],
    ["cse", "in.mlir"],
    ["in.mlir", "--pass-pipeline=builtin.module(cse)"],
    ["--pass-pipeline", "builtin.module(func.func(cse),multi-buffer{stages=2})", "in.mlir"],
    ["--multi-buffer=stages=2", "in.mlir", "--cse", "-o", "-"],
])  # fmt: skip
def test_passes_as_options(file: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", *arguments]) == 0
    assert capsys.readouterr().out.count("arith.constant 1.0") == 1


@pytest.mark.parametrize("arguments", [["--cse"], ["cse"], ["-", "cse"]])
def test_without_an_input_stdin_is_read(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["opt", *arguments]) == 0
    assert capsys.readouterr().out.count("arith.constant 1.0") == 1


@pytest.mark.parametrize(("arguments", "status", "said"), [
    (["in.mlir", "--nonsense"], 1, "'nonsense' is neither a pass of ours nor one that MLIR knows"),
    (["nofile.mlir", "cse"], 1, "cannot read 'nofile.mlir'"),
    (["in.mlir", "--pass-pipeline=builtin.module(cse"], 2, "--pass-pipeline: ')' is missing"),
    (["in.mlir", "--multi-buffer=stages=0"], 1, "stages must be from 1"),
    (["in.mlir", "--print-passes-to", "in.mlir"], 1, "cannot write to 'in.mlir'"),
])  # fmt: skip
def test_what_is_wrong_is_said(
    file: Path, arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["opt", *arguments]) == status
    assert said in capsys.readouterr().err


def test_pipelines() -> None:
    assert pipeline_passes("builtin.module(a{x=1,2 y=3}, func.func(b,c) ,d)") == ["a{x=1,2 y=3}", "func.func(b,c)", "d"]
    assert pipeline_passes("builtin.module()") == [] and pipeline_passes("a,b") == ["a", "b"]
    with pytest.raises(UsageError, match="closes nothing"):
        pipeline_passes("a)b")


def test_forms_of_what_is_printed(file: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["opt", "in.mlir", "--mlir-print-op-generic"]) == 0
    assert b'"arith.addf"(' in capfdbinary.readouterr().out
    assert main(["opt", "in.mlir", "--emit-bytecode"]) == 0
    assert capfdbinary.readouterr().out.startswith(BYTECODE_MAGIC)
    long = "func.func @f() { %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32> return }"
    file.write_text(long)
    assert main(["opt", "in.mlir", "--mlir-elide-elementsattrs-if-larger=2"]) == 0
    assert b"dense_resource<__elided__>" in capfdbinary.readouterr().out
    file.write_text('func.func @f() { "foo.bar"() : () -> () return }')
    assert main(["opt", "in.mlir"]) == 1
    assert main(["opt", "in.mlir", "--allow-unregistered-dialect"]) == 0
    assert b'"foo.bar"()' in capfdbinary.readouterr().out


def test_ir_after_all_passes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "in.mlir", "cse", "canonicalize", "--mlir-print-ir-after-all"]) == 0
    said = capsys.readouterr().err
    assert said.count("// -----// IR Dump After ") == 2 and "IR Dump After canonicalize //----- //" in said


def test_expected_errors(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "// expected-error @+1 {{'arith.addf' op requires the same type}}\n"
    wrong = 'func.func @f(%a: f32, %b: f64) {\n  %s = "arith.addf"(%a, %b) : (f32, f64) -> f32\n  return\n}\n'
    file.write_text(wrong.replace("  %s", f"  {good}  %s"))
    assert main(["opt", "in.mlir", "--verify-diagnostics"]) == 0
    file.write_text(wrong)
    assert main(["opt", "in.mlir", "--verify-diagnostics"]) == 1
    assert "in.mlir:2: error: unexpected error: " in capsys.readouterr().err
    file.write_text(f"{good}{TEXT}// -----\n{wrong}")
    assert main(["opt", "in.mlir", "--verify-diagnostics", "--split-input-file"]) == 1
    said = capsys.readouterr().err
    assert "in.mlir:1: error: expected error ''arith.addf' op requires the same type' was not produced" in said


def test_a_file_for_each_pass(file: Path) -> None:
    assert main(["opt", "in.mlir", "cse", "multi-buffer{stages=2}", "--print-passes-to", "out"]) == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["000-cse.mlir", "001-multi-buffer-stages-2.mlir"]
    assert Path("out/000-cse.mlir").read_text().count("arith.constant 1.0") == 1


def test_what_each_pass_changed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "in.mlir", "cse", "cse", "--print-changes"]) == 0
    said = capsys.readouterr().err
    assert said.count("// ----- cse") == 1 and "-    %cst_0 = arith.constant" in said
    assert main(["opt", "in.mlir", "cse", "canonicalize", "cse", "--changes-of", "cse"]) == 0
    said = capsys.readouterr().err
    assert said.count("// ----- cse") == 2 and said.count("// changed nothing\n") == 1 and "canonicalize" not in said
    assert main(["opt", "in.mlir", "cse", "--changes-of", "csee"]) == 1
    assert "'csee' is neither a pass of ours nor one that MLIR knows" in capsys.readouterr().err
    product = """func.func @f(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
      linalg.matmul ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf32>)
      return
    }"""
    file.write_text(product)
    wanted = ["--emit", "tile", "--print-changes", "--print-passes-to", "out", "-o", "tile.mlir", "--reading"]
    assert main(["compile", "in.mlir", "--chip", "sm_80", *wanted]) == 0
    said = capsys.readouterr().err
    assert "// ----- tile: tile-loops{block=" in said
    assert "{  // point" in said and "tile.loop" not in said
    assert any("-tile-tile-loops-block-" in path.name for path in Path("out").iterdir())
