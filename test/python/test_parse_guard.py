"""Modules are read in a helper process first: what ends MLIR's parser, or never ends, is refused; nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from compiled_text import GOOD

from mlir_gemm.dialect import parse, parse_guard
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.parse_guard import GUARD, ParseGuard
from mlir_gemm.dialect.parse_protocol import DIED, LATE, READ, READ_TEXT, REFUSED
from mlir_gemm.errors import InputError

TRANSPOSE = """func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {{
  %t = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<3x2xf32>) permutation = {}
  return %t : tensor<3x2xf32>
}}
"""
BROADCAST = """func.func @f(%a: tensor<3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {{
  %t = linalg.broadcast ins(%a : tensor<3xf32>) outs(%b : tensor<2x3xf32>) dimensions = {}
  return %t : tensor<2x3xf32>
}}
"""
POINT = """func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %t = linalg.transpose ins(%a : tensor<f32>) outs(%b : tensor<f32>) permutation = []
  return %t : tensor<f32>
}
"""
TWICE = """func.func @f(%a: memref<4xf16>) {
  cf.br ^end
^end:
  return
^end:
  return
}
"""
DEEP = "#m = affine_map<(d0) -> (" + "-" * 100_000 + "d0)>\n" + GOOD
LAUGHS = (
    "#a0 = [0, 0]\n"
    + "".join(f"#a{number + 1} = [#a{number}, #a{number}]\n" for number in range(40))
    + GOOD.replace(") {", ") attributes {llvm.x = #a40} {", 1)
)
HELD = """
import os, sys
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.parse_guard import GUARD
parse_module("module {}", "-", new_context())
print(GUARD._process, flush=True)
"""


@pytest.fixture(params=["fork", "spawn"])
def guard(request: pytest.FixtureRequest) -> Generator[ParseGuard]:
    """A helper of the test's own, started in either way."""
    made = ParseGuard()
    made._start(request.param, None)
    yield made
    made.close()


def refusal(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_module(text, "in.mlir", new_context())
    return caught.value


@pytest.mark.parametrize("array", ["7[1, 0]", "[1, 0", "[f32, 0]", "", "{}", "[9999999999999999999999, 0]"])
@pytest.mark.parametrize("text", [TRANSPOSE, BROADCAST])
def test_a_malformed_array_is_refused_where_it_stands(text: str, array: str):
    error = refusal(text.format(array))
    assert error.location is not None
    array_starts = text.splitlines()[1].index(" = {}") + 2
    assert (error.location.line, error.location.column) >= (2, array_starts)


def test_the_place_of_a_crash_is_what_the_parser_stopped_at():
    error = refusal(TRANSPOSE.format("7[1, 0]"))
    assert "reading on from here crashes (SIGSEGV)" in error.message
    line = TRANSPOSE.splitlines()[1]
    assert str(error.location) == f"in.mlir:2:{line.index('permutation =') + len('permutation =')}"


def test_a_crash_of_the_verifier_is_told_from_one_of_the_parser(monkeypatch: pytest.MonkeyPatch):
    assert "a transpose of no dimensions" in refusal(POINT).message  # by a rule, which says what to do
    monkeypatch.setattr(parse, "_check_rules", lambda text, filename: None)
    error = refusal(POINT)
    assert "checking or printing it crashes (SIG" in error.message
    assert str(error.location) == "in.mlir:1:1"


def test_what_is_nested_without_brackets_is_refused():
    assert "reading on from here crashes" in refusal(DEEP).message


def test_what_would_never_be_printed_is_refused(guard: ParseGuard):
    assert guard.ask(READ_TEXT, LAUGHS.encode(), seconds=1.0)[0] in (LATE, DIED)
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ


def test_what_mlir_refuses_is_never_read_here(monkeypatch: pytest.MonkeyPatch):
    # Where its parser gives up halfway it writes to memory that it has freed; the process dies of that later.
    class Module:
        @staticmethod
        def parse(text: str) -> Any:
            raise AssertionError("read in this process")

    context = new_context()
    monkeypatch.setattr(parse.ir, "Module", Module)
    with pytest.raises(InputError, match="redefinition of block '\\^end'") as caught:
        parse_module(TWICE, "in.mlir", context)
    assert str(caught.value.location) == "-:5:1"


def test_a_refusal_carries_place_and_notes(guard: ParseGuard):
    text = "func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}\n"
    fate, said = guard.ask(READ_TEXT, text.encode())
    message, place, notes = json.loads(said)
    assert (fate, message, place) == (REFUSED, "redefinition of symbol named 'f'", ["-", 4, 1])
    assert notes[-1] == "-:1:1 see existing symbol definition here"


def test_text_is_read_ahead_once(monkeypatch: pytest.MonkeyPatch):
    asked: list[bytes] = []
    ask = GUARD.ask
    monkeypatch.setattr(GUARD, "ask", lambda kind, data, *more: (asked.append(data), ask(kind, data, *more))[1])
    text = f"// {time.time()}\n{GOOD}"
    for _ in range(3):
        parse_module(text, "-", new_context())
    parse_module(text + "// printed by the compiler\n", "-", new_context(), own=True)
    assert asked == [text.encode()]


def test_half_a_character_is_refused():
    error = refusal("module {}\n// \ud800")
    assert "'\\ud800' is half of a pair" in error.message
    assert str(error.location) == "in.mlir:2:4"


def test_the_helper_survives_what_it_reads(guard: ParseGuard):
    before = guard._process
    for _ in range(3):
        assert guard.ask(READ_TEXT, TRANSPOSE.format("7[1, 0]").encode()) == (DIED, b"11\n")
        assert guard.ask(READ_TEXT, GOOD.encode()) == (READ, b"")
    assert guard._process == before


def test_a_helper_that_was_killed_is_started_again(guard: ParseGuard):
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ
    before = guard._process
    os.kill(before, signal.SIGKILL)
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ
    assert guard._process != before
    with pytest.raises(ChildProcessError):  # it has been waited for
        os.waitpid(before, 0)


def test_a_helper_that_never_answers_is_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(parse_guard._START_SECONDS, "fork", 0.2)
    monkeypatch.setattr(parse_guard, "_fork", lambda *_: os.posix_spawn("/bin/sleep", ["sleep", "100"], {}))
    guard = ParseGuard()
    guard._start("fork", None)
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ
    assert guard._how == "spawn"
    guard.close()


def test_threads_take_turns(guard: ParseGuard):
    texts = [TRANSPOSE.format(array).encode() for array in ("[1, 0]", "7[1, 0]", "[1, 1]")]
    answers: list[list[bytes]] = []

    def ask() -> None:
        answers.append([guard.ask(READ_TEXT, text)[0] for text in texts])

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[READ, DIED, REFUSED]] * 6


def test_it_is_forked_only_where_nothing_else_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(parse_guard, "_SMALL", 1 << 60)  # other tests of this process may have left it large
    assert parse_guard._is_quiet()
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not parse_guard._is_quiet()
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(parse_guard, "_SMALL", 1)
    assert not parse_guard._is_quiet()
    monkeypatch.setattr(parse_guard, "_SMALL", 1 << 60)
    monkeypatch.setattr(os, "readlink", lambda path: "/dev/nvidiactl")
    assert not parse_guard._is_quiet()


def test_a_forked_process_has_a_helper_of_its_own(guard: ParseGuard):
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ
    child = os.fork()
    if not child:
        status = 1
        try:
            own = guard.ask(READ_TEXT, TRANSPOSE.format("7[1, 0]").encode())[0] == DIED
            status = 0 if own and guard._process else 2
            guard.close()
        finally:
            os._exit(status)
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_it_holds_no_files_of_this_process():
    reading, writing = os.pipe()
    guard = ParseGuard()
    guard._start("fork", None)
    assert guard.ask(READ_TEXT, GOOD.encode())[0] == READ
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)
    guard.close()


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_nothing_is_left_when_the_process_ends(end: str):
    code = HELD + ("" if end == "exit" else "os.kill(os.getpid(), 9)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    deadline = time.monotonic() + 20
    while _runs(int(done.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(process: int) -> bool:
    """Whether it has not ended; a zombie has, and waits for whoever is process 1 here."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_crash_shows_one_line(tmp_path: Path):
    (tmp_path / "in.mlir").write_text(TRANSPOSE.format("7[1, 0]"))
    command = [sys.executable, "-m", "mlir_gemm.tools.main", "compile", "in.mlir"]
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("in.mlir:2:90: error: reading on from here crashes (SIGSEGV)")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.mlir"]
