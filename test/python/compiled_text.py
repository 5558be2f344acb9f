"""A product as text, and what the command line makes of it and of its like, right or wrong."""

from __future__ import annotations

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
