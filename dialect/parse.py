"""From text to a module: a context with the tile dialect, and parsing that refuses what would crash MLIR's parser."""

from __future__ import annotations

import re
import threading
from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.errors import InputError, Location

COMPILER = threading.RLock()
"""Held by whoever works on modules: registering the dialect's classes changes state that all contexts share."""

DEEPEST = 200
"""Levels of brackets that are read. MLIR's parser is recursive and takes the process down near 10,000."""

_BRACKETS = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|->|>=|(?P<open>[(\[{<])|(?P<close>[)\]}>])')


_RANK_0 = re.compile(r"\bpermutation\s*=\s*(?:\[\s*\]|array<\s*i64\s*>)")
"""A linalg.transpose without dimensions: its verifier in MLIR takes the process down."""


def new_context() -> Any:
    """A context that knows the tile dialect."""
    context = ir.Context()
    context.enable_multithreading(False)  # modules are small: a thread pool costs more than it saves
    tile.register(context)
    return context


def parse_module(text: str, filename: str, context: Any) -> Any:
    """MLIR text as a verified module in `context`; hold on to it: what is in it dies with it.

    Raises InputError with the place of what is wrong.
    """
    if "\0" in text:
        # MLIR's parser would take it for the end of the file and ignore the rest.
        raise InputError(
            "byte 0x00 is no text; expected MLIR in its text form", _place(filename, text, text.index("\0"))
        )
    _check_nesting(filename, text)
    empty = _RANK_0.search(text)
    if empty is not None:
        raise InputError("a transpose of no dimensions; leave it out", _place(filename, text, empty.start()))
    try:
        with context:
            return ir.Module.parse(text)
    except ir.MLIRError as error:
        refused = from_mlir(error, "this is not a valid MLIR module")
        refused.location = refused.location or _mention(filename, text, refused.message)
        raise refused from None


def _check_nesting(filename: str, text: str) -> None:
    depth = 0
    for bracket in _BRACKETS.finditer(text) if sum(map(text.count, "([{<")) > DEEPEST else ():
        depth += bracket["open"] is not None
        depth -= bracket["close"] is not None
        if depth > DEEPEST:
            where = _place(filename, text, bracket.start())
            raise InputError(f"brackets are nested more than {DEEPEST} levels deep", where)


def _mention(filename: str, text: str, message: str) -> Location | None:
    """Where the type that a message quotes is first written. MLIR has no place for what it builds itself while parsing,
    such as the body of a linalg.matmul on elements that it does not know."""
    quoted = re.search(r"got '([^']+)'", message)
    found = re.search(rf"(?<![a-wyz]){re.escape(quoted[1])}(?!\w)", text) if quoted else None
    return _place(filename, text, found.start()) if found else None


def _place(filename: str, text: str, position: int) -> Location:
    before = text[:position]
    return Location(filename, before.count("\n") + 1, position - before.rfind("\n"))
