"""The command line called in this process, on a copy of a small example."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlir_gemm.tools.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = EXAMPLES / "matmul_256.mlir"


@pytest.fixture(autouse=True)
def no_cache_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A copy of a small product, in a directory that may be written."""
    copy = tmp_path / "small.mlir"
    copy.write_text(SMALL.read_text())
    return copy


def run_main(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err
