"""A process that has the compiler loaded and forks for each command of the lit tests.

Two thirds of the lit suite's time went into loading Python modules, in 1,200 processes. `lit.cfg.py` starts this server
and puts `fork_client.py` in the place of `mlir-gemm` and FileCheck. A client hands over its arguments, folder,
environment and standard files, and ends as the child does that ran the command: by the same exit status or signal.
A client that goes takes its child with it. The server ends when its stdin closes, that is with lit.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import marshal
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import struct
import sys
from typing import Any

SIZE, STATUS = struct.Struct("<I"), struct.Struct("<i")
TAKEN = b"t"
"""What a client is told before its command runs: until then it may run it by itself."""
MAINS = {"mlir_gemm.tools.main": "mlir_gemm.tools.main", "filecheck": "filecheck.main"}
"""Where the `main` of each module is that a client may run with `python -m`."""
COMPILER = ("spec", "parts", "dialect", "lowering", "passes", "tile_model", "pipeline")
"""The packages that are loaded whole; of the tools, the commands that the tests use."""
DIALECTS = (
    "affine", "arith", "builtin", "func", "gpu", "llvm", "math", "memref", "nvgpu", "nvvm", "scf", "tensor", "tosa",
    "vector",
)  # fmt: skip


def load() -> None:
    """Loads what commands need, and makes no context: each child makes its own, as a new process does."""
    for package in COMPILER:
        top = importlib.import_module(f"mlir_gemm.{package}")
        for module in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            importlib.import_module(module.name)
    for name in ("opt_command", "compile_command"):
        importlib.import_module(f"mlir_gemm.tools.{name}")
    from mlir_gemm.dialect.bindings import dialect

    for name in DIALECTS:
        dialect(name)
    for main in MAINS.values():
        importlib.import_module(main)


def open_streams() -> None:
    """Python's files on descriptors 0, 1 and 2, which tell at the start whether they are a pipe."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        old = getattr(sys, name)
        lines = 1 if name == "stderr" or os.isatty(number) else -1
        new = open(number, mode, lines, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def run(module: str, arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Runs a module's `main` as `python -m` does and returns the exit status of the process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    loaded = importlib.import_module(MAINS[module])
    sys.path[0] = folder
    sys.argv = [str(loaded.__file__), *arguments]
    try:
        status = loaded.main()
    except SystemExit as end:
        status = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return 120  # as Python says it
    return (status or 0) & 0xFF


class Server:
    """Children at work, each by the connection of its client and by the descriptor that tells of its end."""

    def __init__(self, listening: socket.socket) -> None:
        self.listening = listening
        self.selector = selectors.DefaultSelector()
        self.selector.register(listening, selectors.EVENT_READ, (self.accept, ()))
        self.selector.register(0, selectors.EVENT_READ, (self.end, ()))

    def serve(self) -> None:
        while True:
            for key, _ in self.selector.select():
                if key.fd in self.selector.get_map():  # else the one before it in this list has ended it too
                    call, arguments = key.data
                    call(*arguments)

    def accept(self) -> None:
        connection, _ = self.listening.accept()
        try:
            data, files, _, _ = socket.recv_fds(connection, SIZE.size, 3)
            request = marshal.loads(connection.recv(SIZE.unpack(data)[0], socket.MSG_WAITALL))
            connection.sendall(TAKEN)
        except (OSError, EOFError, ValueError, struct.error):  # a client that was ended on its way
            connection.close()
            return
        child = os.fork()
        if not child:
            self.become(files, request)
        for file in files:
            os.close(file)
        handle = os.pidfd_open(child)
        self.selector.register(handle, selectors.EVENT_READ, (self.finish, (connection, handle, child)))
        self.selector.register(connection, selectors.EVENT_READ, (os.kill, (child, signal.SIGKILL)))

    def become(self, files: list[int], request: Any) -> None:
        """In the child: lets go of what is the server's, runs the command, ends."""
        status = 70
        try:
            for key in list(self.selector.get_map().values()):
                if key.fd:
                    os.close(key.fd)
            self.selector.close()
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            open_streams()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            status = run(*request)
        finally:
            os._exit(status)

    def finish(self, connection: socket.socket, handle: int, child: int) -> None:
        _, status = os.waitpid(child, 0)
        self.selector.unregister(handle)
        self.selector.unregister(connection)
        os.close(handle)
        with contextlib.suppress(OSError):  # the client may have gone
            connection.sendall(STATUS.pack(os.waitstatus_to_exitcode(status)))
        connection.close()

    def end(self) -> None:
        for key in list(self.selector.get_map().values()):
            call, arguments = key.data
            if call is os.kill:
                call(*arguments)
        shutil.rmtree(os.path.dirname(self.listening.getsockname()), ignore_errors=True)
        os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; lit decides
    listening = socket.socket(fileno=int(sys.argv[1]))
    listening.set_inheritable(False)
    load()
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page that it marks
    Server(listening).serve()
