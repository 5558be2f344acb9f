"""Reading inputs and writing outputs, so that a failure leaves neither a traceback nor half a file."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mlir_gemm.dialect.parse_protocol import BYTECODE_MAGIC
from mlir_gemm.errors import Error, InputError, Location

STDIO = "-"


def read_input(path: str) -> str:
    """The text of an MLIR file, or of stdin for `-`; bytecode as text. Raises InputError."""
    try:
        data = sys.stdin.buffer.read() if path == STDIO else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read '{path}': {_reason(error)}") from None
    if data.startswith(BYTECODE_MAGIC):
        from mlir_gemm.dialect.parse import text_of  # late: it imports the MLIR bindings

        return text_of(data, path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} is not UTF-8; expected MLIR in its text form"
        raise InputError(what, _location(path, data[: error.start])) from None
    return text.removeprefix("\ufeff")  # a byte order mark, which some editors write


def _location(path: str, before: bytes) -> Location:
    """The place in a file that follows the bytes `before`."""
    return Location(path, before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1)


def write_outputs(outputs: Mapping[str, str | bytes]) -> None:
    """Writes every output, or no file when one of them cannot be written. `-` is stdout.

    Each file goes to a temporary one in its own directory first and is then moved into place. Raises Error.
    """
    staged: dict[Path, Path] = {}
    try:
        for path, data in outputs.items():
            if path != STDIO and not _is_special(path):
                # A link is followed: the file that it points to is replaced, not the link.
                target = Path(os.path.realpath(path))
                staged[target] = _stage(path, target, _bytes(data))
        for path, data in outputs.items():
            if path == STDIO or _is_special(path):
                _write_stream(path, _bytes(data))
        for target, temporary in staged.items():
            _replace(temporary, target)
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)


def _write_stream(path: str, data: bytes) -> None:
    try:
        if path != STDIO:
            Path(path).write_bytes(data)
            return
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Error(f"cannot write '{path}': {_reason(error)}") from None


def _stage(path: str, target: Path, data: bytes) -> Path:
    """Writes `data` to a new temporary file beside `target`, with the permissions that `target` has or would get."""
    try:
        if target.is_dir():
            raise Error(f"cannot write '{path}': it is a directory; expected the name of a file")
        descriptor, name = tempfile.mkstemp(prefix=".mlir-gemm.", dir=target.parent)
    except OSError as error:
        raise Error(f"cannot write '{path}': {_reason(error)}") from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.chmod(_mode(target))
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Error(f"cannot write '{path}': {_reason(error)}") from None
        raise
    return temporary


def _replace(temporary: Path, target: Path) -> None:
    try:
        os.replace(temporary, target)
    except OSError as error:
        raise Error(f"cannot write '{target}': {_reason(error)}") from None


def _mode(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _is_special(path: str) -> bool:
    """Whether `path` is a device or a pipe, such as /dev/null: those are written to, never replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
