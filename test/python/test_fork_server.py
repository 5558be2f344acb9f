"""What lit runs through `test/fork_server.py` ends as a process of its own does."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="lit uses the server on Linux only")

FOLDER = Path(__file__).resolve().parents[1]
EMPTY = "module {\n}\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The socket of a server that has loaded everything."""
    place = str(tmp_path_factory.mktemp("server") / "socket")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        listening.set_inheritable(True)
        command = [sys.executable, str(FOLDER / "fork_server.py"), str(listening.fileno())]
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, close_fds=False, env=dict(os.environ)
        )
    yield place
    server.communicate()
    assert server.returncode == 0
    assert not os.path.exists(place)


def client(address: str, *arguments: str, module: str = "mlir_gemm.tools.main") -> list[str]:
    return [sys.executable, "-I", "-S", str(FOLDER / "fork_client.py"), address, module, *arguments]


def answer(command: list[str], given: str = "", **options: object) -> tuple[int, str, str]:
    done = subprocess.run(command, input=given, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    return done.returncode, done.stdout, done.stderr


def test_files_folder_and_statuses_are_the_clients(address: str, tmp_path: Path):
    assert answer(client(address, "opt", "-", "cse"), EMPTY) == (0, EMPTY, "")
    (tmp_path / "here.mlir").write_text("module {")
    status, out, err = answer(client(address, "opt", "here.mlir"), cwd=tmp_path)
    assert (status, out) == (1, "") and err.startswith("here.mlir:1:")
    status, out, err = answer(client(address, "nothing"))
    assert (status, out) == (2, "") and "there is no command 'nothing'" in err
    lines = [answer(client(address, "--help"), env={**os.environ, "COLUMNS": n})[1].count("\n") for n in ("50", "200")]
    assert lines[0] > lines[1]
    check = tmp_path / "check"
    check.write_text("// CHECK: module {\n")
    assert answer(client(address, str(check), module="filecheck"), EMPTY)[0] == 0
    assert answer(client(address, str(check), module="filecheck"), "nothing")[0] == 1


def test_who_ends_the_client_ends_the_command(address: str):
    reading, writing = os.pipe()
    waiting = subprocess.Popen(client(address, "opt", "-"), stdin=reading, stdout=subprocess.PIPE)
    os.close(reading)
    os.write(writing, b"module")
    waiting.kill()
    waiting.wait()
    poll = select.poll()
    poll.register(writing, 0)
    assert poll.poll(60_000) == [(writing, select.POLLERR)], "the command still holds its stdin"
    os.close(writing)
    assert waiting.communicate()[0] == b""


def test_without_a_server_the_command_runs_by_itself(tmp_path: Path):
    assert (
        answer(client(str(tmp_path / "none"), "--version"))[:2]
        == answer([sys.executable, "-m", "mlir_gemm.tools.main", "--version"])[:2]
    )
