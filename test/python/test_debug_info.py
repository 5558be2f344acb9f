"""`--debug-info line`: PTX and cubin name the lines of the user's module, and the code is the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import assembled
import pytest

from mlir_gemm.pipeline.debug_info import cleaned, lines_of, without_lines
from mlir_gemm.pipeline.driver import compile_module
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


def test_lines_of_a_program_are_those_of_its_products(tmp_path: Path) -> None:
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
    found = assembled.instructions(ptx, "sm_90a", tmp_path)
    assert len(found) > 100 and found == assembled.instructions(bare, "sm_90a", tmp_path)


def test_names_say_what_is_computed(tmp_path: Path) -> None:
    ptx, info = tmp_path / "k.ptx", tmp_path / "k.json"
    path = str(ROOT / "test/modules/attention_softmax.mlir")
    assert main(["compile", path, "--chip", "sm_80", "--debug-info", "line", "-o", str(ptx),
                 "--launch-info", str(info)]) == 0  # fmt: skip
    entries = [step["entry"] for step in json.loads(info.read_text())["steps"]]
    assert sorted(entries) == sorted(re.findall(r"\.entry (\w+)\(", ptx.read_text()))
    assert any(re.fullmatch(r"main_\d_matmul_6x9x11x16_f32", entry) for entry in entries), entries
    assert any(re.fullmatch(r"main_\d_rows_54x11_f32", entry) for entry in entries), entries


def test_lines_inside_inline_assembly_go() -> None:
    asm = "\t.loc\t1 5 0\n\t// begin inline asm\n\t{\n\t.loc\t1 7 0\n\tbra X;\n\t}\n\t// end inline asm\n\t.loc\t1 6 0"
    assert re.findall(r"\.loc\t1 (\d)", cleaned(asm)) == ["5", "6"]
