"""`--debug-info line`: PTX and cubin name the lines of the user's module, and the code is the same."""

from __future__ import annotations

import json
import re
import types
from pathlib import Path
from typing import Any

import assembled
import numpy as np
import pytest

import mlir_gemm
import mlir_gemm.tracing.einsum
from mlir_gemm.bench.preparing import Work, compile_one
from mlir_gemm.pipeline.debug_info import cleaned, lines_of, without_lines
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime.line_info import VARIABLE, object_code
from mlir_gemm.tools.main import main

ROOT = Path(__file__).resolve().parents[2]


def instructions(ptx: str) -> list[str]:
    """What is executed or declared: no comments, blank lines and directives about lines, and no names of kernels."""
    lines = [line for line in without_lines(ptx).splitlines() if line.strip() and not line.lstrip().startswith("//")]
    entries = re.findall(r"\.entry (\w+)\(", ptx)
    return [re.sub(rf"\b({'|'.join(entries)})(?=\b|_param_\d)", "ENTRY", line) for line in lines]


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", ["examples/matmul_256.mlir", "test/modules/attention_softmax.mlir"])
def test_code_is_the_same(name: str, chip: str) -> None:
    source = (ROOT / name).read_text()
    plain = compile_module(source, filename=name, chip=chip).ptx or ""
    lined = compile_module(source, filename=name, chip=chip, lines=True).ptx or ""
    assert "\t.loc\t" not in plain and "\t.loc\t" in lined
    assert instructions(lined) == instructions(plain)
    assert f'"{ROOT / name}"' in lined or f'"{Path(name).resolve()}"' in lined
    known = {int(line) for line in re.findall(r"\t\.loc\t\d+ (\d+)", lined)} - {0}
    assert known and max(known) <= len(source.splitlines())


def test_lines_of_a_program_are_those_of_its_products() -> None:
    source = (ROOT / "test/modules/two_products.mlir").read_text()
    products = {number for number, line in enumerate(source.splitlines(), 1) if "linalg.matmul" in line}
    lined = compile_module(source, filename="two.mlir", chip="sm_80", lines=True).ptx or ""
    text, lines = lines_of(lined)
    multiplying = {number for line, number in zip(text, lines, strict=True) if re.search(r"\b(mma|fma)\.", line)}
    assert len(products) == 2 and multiplying == products


def test_cubin_has_lines_and_the_same_machine_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, plain, lined = ROOT / "examples/matmul_256.mlir", tmp_path / "plain.cubin", tmp_path / "lined.cubin"
    arguments = ["compile", str(source), "--chip", "sm_90a", "--emit", "cubin", "-o"]
    assert main([*arguments, str(plain)]) == 0
    assert main([*arguments, str(lined), "--debug-info", "line"]) == 0
    assert b".debug_line" in lined.read_bytes() and b"matmul_256.mlir" in lined.read_bytes()
    assert b".debug_line" not in plain.read_bytes()
    ptx = compile_module(source.read_text(), chip="sm_90a", lines=True, filename=str(source)).ptx or ""
    bare = compile_module(source.read_text(), chip="sm_90a").ptx or ""
    found = assembled.instructions(ptx, "sm_90a")
    assert len(found) > 100 and found == assembled.instructions(bare, "sm_90a")


def test_names_say_what_is_computed(tmp_path: Path) -> None:
    ptx, info = tmp_path / "k.ptx", tmp_path / "k.json"
    path = str(ROOT / "test/modules/attention_softmax.mlir")
    assert main(["compile", path, "--chip", "sm_80", "--debug-info", "line", "-o", str(ptx),
                 "--launch-info", str(info)]) == 0  # fmt: skip
    entries = [step["entry"] for step in json.loads(info.read_text())["steps"]]
    assert sorted(entries) == sorted(re.findall(r"\.entry (\w+)\(", ptx.read_text()))
    assert any(re.fullmatch(r"main_\d_matmul_6x9x11x16_f32", entry) for entry in entries), entries
    assert any(re.fullmatch(r"main_\d_rows_54x11_f32", entry) for entry in entries), entries


def test_every_way_to_compile_takes_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    source = ROOT / "examples/matmul_256.mlir"

    def compiled(**options: Any) -> mlir_gemm.Kernel:
        return mlir_gemm.compile(source, chip="sm_80", device="simulator", **options)

    lined = compiled(debug_info="line")
    assert f'"{source}"' in lined.ptx and lined.launch.steps[0].entry == "matmul_matmul_256x256x256_f16"
    assert "\t.loc\t" not in compiled().ptx  # not the one of the cache that has lines
    asked: list[Any] = []
    monkeypatch.setattr("mlir_gemm.tools.run_command.compile", lambda *_, **options: asked.append(options) or lined)
    assert main(["run", str(source), "--chip", "sm_80", "--debug-info", "line", "--blocks", "0"]) == 0
    assert asked[0]["debug_info"] == "line"
    monkeypatch.setattr(mlir_gemm, "compile", lambda *_, **options: asked.append(options))
    assert compile_one(Work(source.read_text(), "sm_80", "", load=False, debug_info="line")) == ""
    assert asked[1]["debug_info"] == "line"
    monkeypatch.undo()
    monkeypatch.setenv(VARIABLE, "line")
    assert compiled().ptx == lined.ptx and "\t.loc\t" not in compiled(debug_info="none").ptx
    monkeypatch.setenv(VARIABLE, "lines")
    with pytest.raises(mlir_gemm.InputError, match="MLIR_GEMM_DEBUG_INFO='lines': expected 'none' or 'line'"):
        compiled()
    assert main(["compile", str(source), "--chip", "sm_80", "-o", "-"]) == 1
    assert "MLIR_GEMM_DEBUG_INFO='lines'" in capsys.readouterr().err


def test_what_is_loaded_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    core = types.SimpleNamespace(
        ObjectCode=types.SimpleNamespace(from_cubin=lambda code: code, from_ptx=lambda code: code)
    )
    source = ROOT / "examples/matmul_256.mlir"
    plain, lined = (mlir_gemm.compile(source, chip="sm_80", device="simulator", debug_info=kind).ptx
                    for kind in ("none", "line"))  # fmt: skip
    assert object_code(core, plain, lambda: "sm_90a") == plain.encode()
    assert b".debug_line" in object_code(core, lined, lambda: "sm_90a")  # the GPU's chip, not the one of the PTX
    monkeypatch.setattr("mlir_gemm.pipeline.assembler._programs", list)
    assert object_code(core, lined, lambda: "sm_90a") == lined.encode()


def test_einsum_names_the_lines_of_its_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "line")
    made: list[str] = []
    compile_ = mlir_gemm.tracing.einsum.compile
    monkeypatch.setattr(
        "mlir_gemm.tracing.einsum.compile", lambda *options: made.append((kernel := compile_(*options)).ptx) or kernel
    )
    ones = np.ones((16, 16), np.float32)
    epilogue = lambda x: x * 2 + 1  # noqa: E731
    result = mlir_gemm.einsum("ik,kj->ij", ones, ones, epilogue=epilogue, chip="sm_80", device="simulator")
    assert (result == 33).all()
    number = re.findall(rf'\t\.file\t(\d+) "{re.escape(__file__)}"', made[0])[0]
    assert f"\t.loc\t{number} {epilogue.__code__.co_firstlineno} " in made[0]


def test_lines_inside_inline_assembly_go() -> None:
    asm = "\t.loc\t1 5 0\n\t// begin inline asm\n\t{\n\t.loc\t1 7 0\n\tbra X;\n\t}\n\t// end inline asm\n\t.loc\t1 6 0"
    assert re.findall(r"\.loc\t1 (\d)", cleaned(asm)) == ["5", "6"]
