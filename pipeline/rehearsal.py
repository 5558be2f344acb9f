"""For a module from outside, MLIR's and LLVM's steps are tried in the helper process first.

Passes of MLIR crash on some modules that verify, and LLVM ends the process where it has no instruction for what it is
given ("Cannot select"). The compiler's own passes leave nothing of the kind; text by hand, and text that was saved and
then edited, may.
"""

from __future__ import annotations

import re
from typing import Any

from mlir_gemm.dialect.parse import how_it_ends
from mlir_gemm.dialect.parse_guard import GUARD
from mlir_gemm.dialect.parse_protocol import DIED, LATE, RUN_PIPELINE, TRANSLATE
from mlir_gemm.errors import PassError

SECONDS = 60.0
"""How long a pipeline may take, of the processor: the longest of the tests' take some seconds, in LLVM."""
_FATAL = re.compile(r"^(?:LLVM ERROR|fatal error|(?:loc\(.*\): )?error): (.*)", re.MULTILINE)
_FUNCTION = re.compile(r"^In function: (\S+)", re.MULTILINE)
_NODE = re.compile(r"\b0x[0-9a-f]+: |\bt\d+: ")
"""How LLVM numbers what it prints, otherwise each time."""


def rehearse(module: Any, pipeline: str, what: str) -> None:
    """Raises PassError where a pipeline ends the process that runs it on this module."""
    end = fatal_end(str(module), pipeline)
    if end:
        raise PassError(f"{what} {end}")


def fatal_end(text: str, pipeline: str) -> str:
    """How a pipeline ends the process that runs it on a module, in words; empty where it does not. What else it says,
    it says again where it runs."""
    return _rehearsed(RUN_PIPELINE, f"{pipeline}\n{text}".encode())


def rehearse_translation(module: Any) -> None:
    """Raises PassError where making LLVM IR of a module ends the process, as it does wherever MLIR has no translation:
    it then prints a module that is not there."""
    end = _rehearsed(TRANSLATE, str(module).encode())
    if end:
        raise PassError(f"making LLVM IR {end}")


_REMEMBERED = 1 << 12
_survived: dict[bytes, None] = {}
"""Digests of the requests that the helper process survived last. A saved text that is taken up again and again, as
tests and editors do, meets the same ones."""


def _rehearsed(kind: bytes, payload: bytes) -> str:
    """How the helper process ended over a request, in words; empty where it did not, now or before."""
    import hashlib  # late: most processes rehearse nothing

    digest = hashlib.sha256(kind + payload).digest()
    if digest in _survived:
        return ""
    end = _end(*GUARD.ask(kind, payload, seconds=SECONDS))
    if not end:
        if len(_survived) >= _REMEMBERED:
            del _survived[next(iter(_survived))]
        _survived[digest] = None
    return end


def _end(fate: bytes, said: bytes) -> str:
    """How the helper process ended, in words; empty where it did not."""
    if fate == LATE:
        return f"takes more than {SECONDS:.0f} s"
    return f"{how_it_ends(said)}{_why(said)}" if fate == DIED else ""


def _why(said: bytes) -> str:
    """What LLVM wrote before it gave up."""
    text = said.partition(b"\n")[2].decode(errors="replace")
    fatal, function = _FATAL.search(text), _FUNCTION.search(text)
    if fatal is None:
        return ""
    where = f", in '{function[1]}'" if function else ""
    return f": {_NODE.sub('', fatal[1])}{where}"
