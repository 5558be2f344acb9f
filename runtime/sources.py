"""What a caller of `compile` gives as a source, as text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

from mlir_gemm.dialect.parse_guard import GUARD
from mlir_gemm.dialect.parse_protocol import BYTECODE_MAGIC
from mlir_gemm.errors import InputError


def read_source(source: Any) -> tuple[str, str]:
    """The module's text, and the file it came from (`-` for none)."""
    if isinstance(source, str):
        if _is_path(source):
            return _read_file(source)
        if any(mark in source for mark in ("\n", "{", "module", "func")):
            return _without_mark(source), "-"
        shown = source if len(source) <= 80 else f"{source[:77]}..."
        raise InputError(f"'{shown}' is neither a file nor MLIR text")
    if isinstance(source, bytes):
        if source.startswith(BYTECODE_MAGIC):
            return _text_of(source, "-"), "-"
        raise InputError("these bytes are not MLIR bytecode; give text as str")
    if isinstance(source, os.PathLike):
        return _read_file(os.fspath(cast("os.PathLike[str]", source)))
    operation = getattr(source, "operation", None)
    if operation is not None:
        return operation.get_asm(enable_debug_info=True), "-"
    raise InputError(f"cannot compile a {type(source).__name__}; expected a path, MLIR text or a module")


def _is_path(text: str) -> bool:
    if "\n" in text:
        return False
    if text.endswith(".mlir"):
        return True
    try:
        return os.path.exists(text)
    except ValueError:  # a zero byte
        return False


def _read_file(path: str | bytes) -> tuple[str, str]:
    shown = os.fsdecode(path)
    try:
        content = Path(shown).read_bytes()
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise InputError(f"cannot read '{shown}': {reason}") from None
    if content.startswith(BYTECODE_MAGIC):
        return _text_of(content, shown), shown
    try:
        text = content.decode()
    except UnicodeDecodeError as problem:
        raise InputError(f"'{shown}' is not MLIR text: it is not UTF-8 at byte {problem.start}") from None
    if "\0" in text:
        raise InputError(f"'{shown}' is not MLIR text: it holds a zero byte at {text.index(chr(0))}")
    return _without_mark(text), shown


def _without_mark(text: str) -> str:
    """Without the byte order mark that some editors write before a text."""
    return text.removeprefix("\ufeff")


def _text_of(bytecode: bytes, filename: str) -> str:
    GUARD.before_bindings()
    from mlir_gemm.dialect.parse import text_of  # late: it imports the MLIR bindings

    return text_of(bytecode, filename)
