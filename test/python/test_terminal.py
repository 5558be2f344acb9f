"""What a terminal gets beside what a pipe gets."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from command_line import run_main

from mlir_gemm.tools.terminal import coloured, say, sum_up

TEXT = """problem:  64x64x64
error D:  2.0e-01 (at most 5e-04)  WRONG
checks:   no findings"""
MESSAGE = "in.mlir:1:2: error: what\n  note: how"
MODULE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.negf ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_terminal_gets_colours_around_the_same_words() -> None:
    text = coloured(TEXT, Terminal())
    assert "\033[1;31mWRONG\033[0m" in text
    assert "\033[32mno findings\033[0m" in text
    assert "\033[2mproblem:\033[0m  64x64x64" in text
    message = coloured(MESSAGE, Terminal())
    assert "in.mlir:1:2: \033[1;31merror:\033[0m what" in message
    assert "\033[36m  note:\033[0m how" in message


@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_colours_are_left_out_where_they_are_not_wanted(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, {"NO_COLOR": "1", "TERM": "dumb"}[variable])
    assert coloured(TEXT, Terminal()) == TEXT
    assert coloured(TEXT, io.StringIO()) == TEXT


def test_only_a_terminal_gets_the_summary() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        say("what is told", stream)
        sum_up("right: yes", stream)
    assert terminal.getvalue() == "what is told\n\033[32mright: yes\033[0m\n"
    assert pipe.getvalue() == "what is told\n"


def test_a_pipe_gets_neither(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(MODULE)
    status, out, _ = run_main(capsys, "run", source, "--device", "simulator")
    assert status == 0
    assert "\033" not in out
    assert "right:" not in out
