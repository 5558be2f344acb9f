"""`mlir-gemm cache`: what the cache of compiled kernels holds on disk, and emptying it."""

from __future__ import annotations

import argparse
import datetime

from mlir_gemm.errors import Error
from mlir_gemm.runtime import cache_files
from mlir_gemm.tools.report import table

_UNITS = ("bytes", "KiB", "MiB", "GiB")


def run(arguments: argparse.Namespace) -> int:
    return _clear() if arguments.action == "clear" else _info()


def _info() -> int:
    folder, found = cache_files.cache_directory(), cache_files.contents()
    rows = [
        ("folder", str(folder or "off")),
        ("kernels", str(found.entries)),
        ("constants", str(found.data)),
        ("size", _shown(found.bytes)),
        ("limit", _shown(cache_files.limit())),
    ]
    if found.oldest is not None:
        last = datetime.datetime.fromtimestamp(found.oldest)
        rows.append(("oldest", f"last used {last:%Y-%m-%d %H:%M}"))
    print(table(rows))
    return 0


def _clear() -> int:
    folder = cache_files.cache_directory()
    try:
        files, size = cache_files.clear()
    except OSError as error:
        raise Error(f"cannot empty the cache in '{folder}': {error.strerror or error}") from None
    print(f"removed {files} files, {_shown(size)}, from {folder}" if folder else "the cache on disk is off")
    return 0


def _shown(size: int) -> str:
    """Bytes in the largest unit of which there is at least one."""
    amount, unit = float(size), 0
    while amount >= 1024 and unit + 1 < len(_UNITS):
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{size} bytes"
