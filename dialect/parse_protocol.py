"""What this process and the one that reads modules first (`parse_server`) say to each other."""

from __future__ import annotations

import socket
import struct

REQUEST = struct.Struct("<cdQ")
"""What is asked, the seconds of the processor that it may take, and how many bytes follow."""
ANSWER = struct.Struct("<cQ")
"""What became of it, and how many bytes follow."""

BYTECODE_MAGIC = b"ML\xefR"
"""How bytecode starts."""

READ_TEXT, READ_BYTECODE, RUN_PIPELINE, TRANSLATE = b"t", b"b", b"p", b"i"
"""Requests: read this text; read this bytecode and give its text; run a pipeline over a module on it, where the first
line names the pipeline and the rest is the text; make LLVM IR of this text."""

READY, READ, REFUSED, DIED, LATE = b"s", b"r", b"e", b"d", b"l"
"""Answers: started; read (with the text of bytecode); MLIR refused it (with message, place and notes, in JSON); reading
it ended the process (with how: a signal's number, or one of the next two, and from the next line on what it wrote on
stderr); it took longer than allowed."""
NO_MEMORY, ENDED = 0, -1
"""Reading it took more memory than allowed; it called exit."""


def receive(connection: socket.socket, size: int) -> bytes:
    """Exactly this many bytes. Raises EOFError when the other side has gone."""
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        count = connection.recv_into(view[got:])
        if not count:
            raise EOFError
        got += count
    return bytes(data)
