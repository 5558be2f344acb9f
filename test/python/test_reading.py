"""The reading form: short, complete, traceable line by line, and not to be parsed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlir_gemm.dialect.reading import MARK, lines, reading
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "examples/matmul_256.mlir").read_text()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The IR after each stage, on a chip whose kernels have most of the dialect's operations."""
    done = compile_module(SOURCE, chip="sm_90a", keep=("all",))
    return {stage: done.ir(stage) for stage in STAGES if stage != "ptx"}


def test_short_forms(texts: dict[str, str]) -> None:
    tensors, roles = reading(texts["tensorize"]), reading(texts["describe"])
    assert re.search(r"tile\.copy %A\[%\d+, %\d+\] -> %alloc_?\d* : \d+x\d+xf16 \{in_bounds\}", tensors)
    assert re.search(r"%\d+ = tile\.mma %alloc_?\d*\[mk\], %alloc_?\d*\[kn\], %\d+ : \d+x\d+xf32\n", tensors)
    assert re.search(r"\} *\n", tensors) and "  // k\n" in tensors
    assert "tile.warp_specialize {" in roles and "\n      }, {\n" in roles
    assert re.search(r"tile\.producer_acquire %\S+\[%\S+\], phase %\S+ \{bytes = \d+\}", roles)


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "ptx"])
def test_says_all_and_repeats_nothing(texts: dict[str, str], stage: str) -> None:
    text = reading(texts[stage])
    assert text.startswith(MARK)
    assert "operandSegmentSizes" not in text and '"tile.' not in text and "affine.apply" not in text
    for operation in set(re.findall(r'"(tile\.\w+)"\(', texts[stage])):
        assert len(re.findall(rf"\b{re.escape(operation)}\b", text)) >= texts[stage].count(f'"{operation}"(')
    assert len(text) < len(texts[stage]) + len(MARK) + 2


def test_regions_end_without_types() -> None:
    closing = "  }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1>} : (vector<4x8xf32>) -> vector<4x1xf32>"
    assert lines(['  %3 = "tile.reduce"(%2) ({', closing]) == ["  %3 = tile.reduce %2 {", "  }) {dim = 1}"]


def test_affine_expressions_of_symbols() -> None:
    maps = ["#map = affine_map<()[s0] -> (s0 - 1)>", "#map1 = affine_map<(d0)[s0] -> (d0 * 2 + s0)>"]
    applied = ["  %1 = affine.apply #map()[%0]", "  %2 = affine.apply #map1(%1)[%0]"]
    assert lines([*maps, *applied]) == [None, None, "  %1 = %0 - 1", "  %2 = %1 * 2 + %0"]


def test_each_line_stands_for_one(texts: dict[str, str]) -> None:
    printed = texts["lower"].splitlines()
    assert len(lines(printed)) == len(printed)


def test_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: dict[str, str]) -> None:
    path = tmp_path / "short.mlir"
    path.write_text(reading(texts["accumulate"]))
    assert main(["compile", str(path)]) == 1
    assert "this is the reading form" in capsys.readouterr().err


def test_on_request_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    path.write_text(SOURCE)
    arguments = ["compile", str(path), "--emit", "tensorize", "-o", str(out), "--print-after", "tensorize"]
    assert main([*arguments, "--reading"]) == 0
    assert MARK in capsys.readouterr().err and '"tile.mma"(' in out.read_text()
    assert main(arguments) == 0
    assert MARK not in capsys.readouterr().err
    assert main(["compile", str(path), "--reading"]) == 2
