"""A process reads each module before this one does, so that no input ends this one.

MLIR's parsers of text and of bytecode trust their input more than they should: a malformed attribute, a verifier that
did not expect it, or too deep a recursion ends the process, and its CUDA context and its owner's work go with it. Rules
on text refuse what is known (`parse`), but not what nobody has found yet, and say nothing of bytecode. So what is not
known to be good is read in a helper process first (`parse_server`). If reading it there ends a process, takes too long
or too much memory, or fails, that is an InputError here. Otherwise this process reads it too, in the same way.

Text that does not parse is read only there: where MLIR's parser gives up halfway it may write to memory that it has
freed (Operation::dropAllReferences under Block::~Block, where a block is defined twice), and what this process does
next, or much later, is what crashes.

Text is known to be good when it was read before, or when the compiler wrote it itself.

The helper is started once, at the first module. Where this process is still small and has one thread of Python, and
CUDA is not initialised, it is forked: 2 ms, with bindings loaded and context made. Otherwise Python is started anew,
0.2 s, mostly for loading the bindings, while this process does other things:

- fork gives the child one thread; what others held locked stays locked in it;
- it shares all memory until one side writes to it, which would hold on to gigabytes of tensors for as long as the
  helper lives, and copies of pages that the GPU reads or writes have been a source of wrong data in older kernels;
- CUDA does not work in a forked child. The helper makes no calls, but should not hold the driver's memory.

So the helper is started before CUDA is initialised, where it is the compiler that does so. It ends when the connection
closes, however this process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
import warnings
from typing import Any

from mlir_gemm.dialect.parse_protocol import ANSWER, READ, READ_BYTECODE, READY, REQUEST, receive
from mlir_gemm.errors import Error

SECONDS, SECONDS_A_MEGABYTE = 5.0, 2.0
"""How long reading may take, of the processor: test modules take milliseconds, 31 MB of weights 0.4 s."""
_SMALL = 1 << 30
"""Bytes of memory in use up to which a process is forked."""
_START_SECONDS = {"fork": 10.0, "spawn": 60.0}
"""How long the helper may take until it is ready. A forked one that inherited a lock is never ready."""
_SPAWNED = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from mlir_gemm.dialect.parse_server import run_spawned; run_spawned(3)"
)
_BINDINGS = "mlir_gemm.dialect.bindings"


def allowed_seconds(size: int) -> float:
    """How long reading this many bytes may take."""
    return SECONDS + SECONDS_A_MEGABYTE * size / 1e6


class ParseGuard:
    """The helper process of this one, started when it is needed. Safe to use from several threads; they take turns."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.close)

    def _forget(self) -> None:
        """The state at first, and in a forked child, whose parent goes on using the helper."""
        connection: socket.socket | None = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._process = 0
        self._how = ""
        self._ready = False

    def before_cuda(self) -> None:
        """Starts the helper if modules are going to be read, because this process cannot be forked later."""
        self._start_if(_BINDINGS in sys.modules)

    def before_bindings(self) -> None:
        """Starts the helper if it has to load bindings of its own, so that both processes do so at the same time."""
        self._start_if(_BINDINGS not in sys.modules and not _is_quiet())

    def _start_if(self, worthwhile: bool) -> None:
        with self._lock:
            if worthwhile and self._connection is None and sys.platform == "linux":
                with contextlib.suppress(OSError):  # told when it is needed
                    self._start("", None)

    def ask(
        self, kind: bytes, payload: bytes, context: Any = None, seconds: float | None = None
    ) -> tuple[bytes, bytes]:
        """What became of it (see `parse_server`), with what was said about it. `context` is one that knows the dialect,
        for a helper that is yet to be forked. Raises Error where no helper can be started."""
        if seconds is None:
            seconds = allowed_seconds(len(payload))
        if sys.platform != "linux":
            if kind == READ_BYTECODE:
                raise Error("bytecode is read on Linux only, in a process of its own; give MLIR text")
            return READ, b""  # nothing guards this process
        with self._lock:
            problem = ""
            for how in ("", "spawn", "fork"):
                try:
                    if self._connection is None:
                        self._start(how, context)
                    return self._exchange(kind, payload, seconds)
                except (OSError, EOFError) as error:
                    problem = str(error) or "it ended"
                    self._end()
                except BaseException:  # half a message may be in flight
                    self._end()
                    raise
            raise Error(f"the process that reads modules ahead of the compiler cannot be started: {problem}")

    def _exchange(self, kind: bytes, payload: bytes, seconds: float) -> tuple[bytes, bytes]:
        connection = self._connection
        assert connection is not None
        if not self._ready:
            connection.settimeout(_START_SECONDS[self._how])
            status, _ = ANSWER.unpack(receive(connection, ANSWER.size))
            self._ready = status == READY
        connection.settimeout(
            20 * seconds + 10
        )  # the helper keeps to half of it; this is for a helper that hangs itself
        connection.sendall(REQUEST.pack(kind, seconds, len(payload)))
        connection.sendall(payload)
        status, size = ANSWER.unpack(receive(connection, ANSWER.size))
        return status, receive(connection, size)

    def _start(self, how: str, context: Any) -> None:
        how = how or ("fork" if _BINDINGS in sys.modules and _is_quiet() else "spawn")
        ours, theirs = socket.socketpair()
        try:
            self._process = _fork(ours, theirs, context) if how == "fork" else _spawn(theirs)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._connection, self._how, self._ready = ours, how, False

    def close(self) -> None:
        """Ends the helper, and waits until it is gone. It is started again when it is needed."""
        if self._lock.acquire(timeout=1.0):  # a thread may be waiting for the helper while the process ends
            try:
                self._end(patience=1.0)
            finally:
                self._lock.release()

    def _end(self, patience: float = 0.0) -> None:
        connection, process = self._connection, self._process
        self._connection, self._process = None, 0
        if connection is None:
            return
        connection.close()
        try:
            deadline = time.monotonic() + patience
            while not os.waitpid(process, os.WNOHANG)[0]:
                if time.monotonic() >= deadline:
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
                    return
                time.sleep(0.001)
        except (ChildProcessError, ProcessLookupError):  # this process waits for its children elsewhere
            return


def _is_quiet() -> bool:
    """Whether this process may be forked, and the child used for more than starting a program."""
    if sys.platform != "linux":
        return False
    if threading.active_count() > 1 or threading.current_thread() is not threading.main_thread():
        return False
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resident <= _SMALL and not any(_leads_to_gpu(name) for name in os.listdir("/proc/self/fd"))


def _leads_to_gpu(descriptor: str) -> bool:
    """Whether an open file is the NVIDIA driver's, which is open from cuInit on."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith(("/dev/nvidia", "/dev/dxg"))
    except OSError:  # the one that listed them is closed already
        return False


def _fork(ours: socket.socket, theirs: socket.socket, context: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of threads: those of OpenBLAS, which end before a fork
        process = os.fork()
    if not process:
        from mlir_gemm.dialect import parse_server  # late: it needs what only POSIX has

        ours.close()
        parse_server.run_forked(theirs, context)
    return process


def _spawn(theirs: socket.socket) -> int:
    if not sys.executable:
        raise OSError("this Python does not know its own program (sys.executable is empty)")
    paths = json.dumps([str(path) for path in sys.path])
    streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", _SPAWNED, paths],
        os.environ,
        file_actions=[*streams, (os.POSIX_SPAWN_DUP2, theirs.fileno(), 3)],
    )


GUARD = ParseGuard()
"""The one of this process."""
