"""The process that reads modules before the compiler does: what ends MLIR's parser ends a child of it, no more.

It has the bindings loaded and a context made, and forks for each module, so that a module costs a fork and its parsing
rather than a start of Python, and finds the parser as it is in a new process, whatever was read before. See
`parse_guard` for how it is started and asked.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import faulthandler
import gc
import itertools
import json
import math
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any

from mlir_gemm.dialect.parse_protocol import (
    ANSWER,
    DIED,
    ENDED,
    LATE,
    NO_MEMORY,
    READ,
    READ_BYTECODE,
    READ_TEXT,
    READY,
    REFUSED,
    REQUEST,
    RUN_PIPELINE,
    TRANSLATE,
    receive,
)

MEMORY = 1 << 30, 64
"""Bytes that reading may take: so many, and so many more for each byte that is read."""
PIPELINE_MEMORY = 1 << 33
"""Bytes that a pipeline or a translation may take."""

PATIENCE = 10
"""Seconds on the clock for one of the processor, which is what is allowed: others may use it too."""

_NO_DUMPS, _PERTURB = 4, -6
"""PR_SET_DUMPABLE of <sys/prctl.h> and M_PERTURB of <malloc.h>."""


def run_forked(connection: socket.socket, context: Any) -> None:
    """Serves in a process that was just forked from one that uses the compiler. Never returns."""
    try:
        _leave_parent(connection.fileno())
        _serve(connection, context)
    finally:  # nobody is there to hear of an error: the other side sees the connection close
        os._exit(0)


def run_spawned(descriptor: int) -> None:
    """Serves in a process of its own, on the connection that it was started with. Never returns."""
    connection = socket.socket(fileno=descriptor)
    run_forked(connection, None)


def _leave_parent(connection: int) -> None:
    """Lets go of what came along from the parent: its files, which others wait to see closed, and what it does on
    signals. A crash is expected here, so none leaves a core file."""
    faulthandler.disable()
    sys.settrace(None)
    sys.setprofile(None)
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; the parent decides
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        if standard != connection:
            os.dup2(nowhere, standard)
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
        if descriptor > 2 and descriptor != connection:
            with contextlib.suppress(OSError):  # the one that listed them is closed already
                os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    ctypes.CDLL(None).prctl(_NO_DUMPS, 0, 0, 0, 0)


def _serve(connection: socket.socket, context: Any) -> None:
    from mlir_gemm.dialect.context import new_context  # late: a process that is spawned loads the bindings here

    if context is None:
        context = new_context()
    context.allow_unregistered_dialects = True  # whether they are, the process that asks says
    gc.freeze()  # a collection in a child would copy every page that it marks
    connection.sendall(ANSWER.pack(READY, 0))
    for number in itertools.count():
        if number == 1:  # only now: many processes read one module
            _read(READ_TEXT, _USUAL, context)
        try:
            kind, seconds, size = REQUEST.unpack(receive(connection, REQUEST.size))
            payload = receive(connection, size)
        except EOFError:
            return
        _in_child(connection, context, kind, seconds, payload)


_USUAL = b"""func.func @f(%a: tensor<4xf32>, %b: memref<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
"""Has the dialects loaded that most modules use: done once here rather than in every child."""


def _in_child(connection: socket.socket, context: Any, kind: bytes, seconds: float, payload: bytes) -> None:
    deadline = time.monotonic() + PATIENCE * seconds
    reading, writing = os.pipe()
    heard = os.memfd_create("stderr")
    child = os.fork()
    if not child:
        try:
            os.dup2(heard, 2)
            _limit(
                PIPELINE_MEMORY if kind in (RUN_PIPELINE, TRANSLATE) else MEMORY[0] + MEMORY[1] * len(payload), seconds
            )
            status, said = _read(kind, payload, context)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(ANSWER.pack(status, len(said)) + said)
        finally:
            os._exit(0)
    os.close(writing)
    answer = _collect(reading, connection, deadline)
    os.close(reading)
    if answer:
        connection.sendall(answer)  # before the child is gone for good, which takes as long as a short module
    else:
        os.kill(child, signal.SIGKILL)  # nothing, if it has died by itself
    _, status = os.waitpid(child, 0)
    late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
    if answer is None or late:
        connection.sendall(ANSWER.pack(LATE, 0))
    elif not answer:
        number = str(os.WTERMSIG(status) if os.WIFSIGNALED(status) else ENDED).encode()
        how = number + b"\n" + os.pread(heard, _HEARD, 0)
        connection.sendall(ANSWER.pack(DIED, len(how)) + how)
    os.close(heard)


_HEARD = 1 << 14
"""Bytes of what a child wrote on stderr that are told."""


def _limit(memory: int, seconds: float) -> None:
    """Limits a child, and makes it sensitive. It gets half the stack, so that what it just manages is safe in the
    parent. Memory that is freed, or not written yet, holds neither zeros nor what it held before, so that using it
    shows."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    _lower(resource.RLIMIT_AS, used + memory)
    _lower(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds))
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    _lower(resource.RLIMIT_STACK, stack // 2 if stack > 0 else 4 << 20)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(_PERTURB, 0xA5)


def _lower(limit: int, value: int) -> None:
    soft, hard = resource.getrlimit(limit)
    if soft == resource.RLIM_INFINITY or value < soft:
        resource.setrlimit(limit, (value, hard))


def _read(kind: bytes, payload: bytes, context: Any) -> tuple[bytes, bytes]:
    from mlir_gemm.dialect.bindings import dialect, ir, passmanager
    from mlir_gemm.dialect.locations import from_mlir

    try:
        with context:
            if kind == RUN_PIPELINE:
                pipeline, _, text = payload.decode().partition("\n")
                module = ir.Module.parse(text)
                passmanager.PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
                return READ, b""
            module = ir.Module.parse(payload if kind == READ_BYTECODE else payload.decode())
            if kind == TRANSLATE:
                dialect("llvm").translate_module_to_llvmir(module.operation)
                return READ, b""
            # Printed in any case, for what is short in memory and endless in print: attributes that repeat others.
            text = str(module)
            del module  # what it leaves in disorder shows when it is taken apart
    except MemoryError:
        return DIED, str(NO_MEMORY).encode()
    except ir.MLIRError as error:
        refused = from_mlir(error, "this is not a valid MLIR module")
        place = refused.location and dataclasses.astuple(refused.location)
        return REFUSED, json.dumps([refused.message, place, refused.notes]).encode()
    except Exception as error:
        return REFUSED, json.dumps([f"MLIR does not read this module: {error}", None, []]).encode()
    return READ, text.encode() if kind == READ_BYTECODE else b""


def _collect(pipe: int, connection: socket.socket, deadline: float) -> bytes | None:
    """What a child says: nothing if it dies first, None if it is late. Returns early when nobody waits for it."""
    said = bytearray()
    while True:
        ready, _, _ = select.select([pipe, connection], [], [], max(0.0, deadline - time.monotonic()))
        if pipe in ready:
            chunk = os.read(pipe, 1 << 20)
            if not chunk:
                return bytes(said)
            said += chunk
        elif connection in ready or not ready:
            return None
