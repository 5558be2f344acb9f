"""What the table beside the thesis and RISE in docs/algebra.md says to type does what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mlir_gemm.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "algebra.md").read_text().partition("## Beside the thesis and RISE")[2]
ROWS = [line.split(" | ") for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith("| theirs")]
FIELDS = [found for row in ROWS for found in re.findall(r"`(?:--schedule )?(\w+=[\w,x]+)`", row[1])]
SCHEDULES = sorted({each for each in FIELDS if each.split("=")[0] not in ("precision", "algebra")})
COMMANDS = sorted({found for row in ROWS for found in re.findall(r"`mlir-gemm ([^`]*IN\.mlir[^`]*)`", row[1])})
CHIPS = {"mma=wgmma": "sm_90a", "mainloop=tma": "sm_90a", "mma=wmma": "sm_70", "stream_k=1": "sm_90a",
         "layout=swizzle128": "sm_90a"}  # fmt: skip


def _source(path: Path, size: int = 1536) -> Path:
    """A product of squares that starts from zero."""
    a, d = f"tensor<{size}x{size}xf16>", f"tensor<{size}x{size}xf32>"
    path.write_text(f"""func.func @f(%A: {a}, %B: {a}) -> {d} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {d}
  %C = linalg.fill ins(%zero : f32) outs(%e : {d}) -> {d}
  %D = linalg.matmul ins(%A, %B : {a}, {a}) outs(%C : {d}) -> {d}
  return %D : {d}
}}
""")
    return path


def test_every_row_has_an_input_and_an_outcome() -> None:
    assert len(ROWS) > 35 and len(SCHEDULES) > 9 and len(COMMANDS) > 3
    assert [row for row in ROWS if len(row) != 3 or row[1].strip(" -") == "" or row[2].strip(" -|") == ""] == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(schedule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chip = CHIPS.get(schedule, "sm_80")
    status = main(["explain", str(_source(tmp_path / "in.mlir")), "--chip", chip, "--schedule", schedule])
    captured = capsys.readouterr()
    assert status == 0, captured.err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = shlex.split(command.replace("IN.mlir", str(_source(tmp_path / "in.mlir", 256))))
    chip = [] if "--chip" in arguments else ["--chip", "sm_80"]
    status = main([*arguments, *chip])
    captured = capfd.readouterr()
    assert status == 0, captured.err[-2000:]
