"""Bytecode compiles like the text that it stands for, and no damage to it ends the process."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from compiled_text import GOOD

import mlir_gemm
from mlir_gemm.dialect import parse_guard
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module, text_of
from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.tools.main import main

ROOT = Path(__file__).parent.parent.parent
MLP = ROOT / "examples" / "torch_mlp.mlir"
DAMAGED = 60


def bytecode_of(text: str) -> bytes:
    written = io.BytesIO()
    parse_module(text, "-", new_context()).operation.write_bytecode(written)
    return written.getvalue()


def test_it_is_read_as_what_it_was_written_from():
    text = MLP.read_text()
    expected = str(parse_module(text, "-", new_context()))
    assert text_of(bytecode_of(text), "-") == expected
    assert str(parse_module(bytecode_of(text), "-", new_context())) == expected


def test_the_command_line_compiles_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "in.mlirbc").write_bytes(bytecode_of(GOOD))
    assert main(["compile", str(tmp_path / "in.mlirbc"), "--chip", "sm_80"]) == 0
    assert (tmp_path / "in.ptx").read_text() == compile_module(text_of(bytecode_of(GOOD), "-"), chip="sm_80").ptx
    assert main(["opt", str(tmp_path / "in.mlirbc")]) == 0
    assert capfd.readouterr().out == str(parse_module(GOOD, "-", new_context()))


def test_python_compiles_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    (tmp_path / "in.mlir").write_bytes(bytecode_of(GOOD))
    from_file = mlir_gemm.compile(tmp_path / "in.mlir", chip="sm_80")
    assert mlir_gemm.compile(bytecode_of(GOOD), chip="sm_80").ptx == from_file.ptx
    assert ".entry matmul_kernel" in from_file.ptx


def test_damage_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    whole = bytecode_of(GOOD)
    for data, reason in [
        (whole[:4], "this is not valid MLIR bytecode"),
        (whole[: len(whole) // 2], "this is not valid MLIR bytecode"),
        (whole.replace(b"matmul", b"matmul\0" * 9), "this is not valid MLIR bytecode"),
        (whole[:4] + b"\xff" * 4096, "this is not valid MLIR bytecode"),
    ]:
        (tmp_path / "in.mlirbc").write_bytes(data)
        assert main(["compile", str(tmp_path / "in.mlirbc")]) == 1
        assert capfd.readouterr().err.startswith(f"{tmp_path}/in.mlirbc:1:1: error: {reason}")
    with pytest.raises(InputError, match="not MLIR bytecode"):
        text_of(b"module {}", "-")


def test_no_damage_ends_the_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parse_guard, "SECONDS", 1.0)  # some of it is read without end
    rng, whole, refused = random.Random(0), bytecode_of(MLP.read_text()), 0
    for _ in range(DAMAGED):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            parse_module(bytes(data), "-", new_context())
        except Error:
            refused += 1
    assert refused > DAMAGED // 2
