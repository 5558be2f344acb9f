"""The files of the cache: where they lie, how they are written and read, and that they stay below a limit.

An entry is a JSON file, named by its key. Data that several entries may share, such as weights, lies beside them in a
file of its own, named by its SHA-256. Every file is written in one step, so that a reader sees all of it or none,
whoever else writes it too. A file that is read counts as used; when there is too much, those that were used longest ago
go. Whatever is missing or damaged counts as absent, and what cannot be written is not kept: neither is an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlir_gemm.errors import InputError

VARIABLE, LIMIT_VARIABLE = "MLIR_GEMM_CACHE", "MLIR_GEMM_CACHE_LIMIT"
DEFAULT_LIMIT = 2 << 30
"""Bytes. A kernel takes about 30 KB, so that weights decide how much of them there is."""
_KEPT = 0.9
"""The part of the limit that stays when there is too much, so that not every new entry has to make room again."""
_UNFINISHED_SECONDS = 3600
"""Age from which a temporary file is one that a process left behind when it was killed."""
_ENTRY, _DATA, _TEMPORARY = r"[0-9a-f]{40}\.json", r"[0-9a-f]{64}\.bin", r"\.[0-9a-f]{40,64}-\d+-\d+\.tmp"
_OURS = re.compile(f"{_ENTRY}|{_DATA}|{_TEMPORARY}")
"""Names of the files that are the cache's: in a folder that holds others too, those are not touched."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(?:i?B)?|B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def cache_directory() -> Path | None:
    """Where entries lie on disk: what the variable says, else the platform's folder for caches; None when the disk is
    turned off or there is no home."""
    setting = os.environ.get(VARIABLE, "").strip()
    if setting.lower() == "off":
        return None
    if setting:
        try:
            return Path(setting).expanduser()
        except RuntimeError:  # no home directory
            return None
    platformdirs: Any = importlib.import_module("platformdirs")  # late: not every caller of this module asks
    folder = Path(platformdirs.user_cache_dir("mlir-gemm", appauthor=False))
    return folder if folder.is_absolute() else None  # `~` stays where there is no home


def limit() -> int:
    """The most bytes that the cache may take on disk. Raises InputError for a variable that is not a size."""
    setting = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not setting:
        return DEFAULT_LIMIT
    size = _SIZE.fullmatch(setting)
    if size is None:
        raise InputError(f"{LIMIT_VARIABLE}={setting}: expected a size such as 500M or 2G, or 0 to keep nothing")
    return int(float(size[1]) * _UNITS[(size[2] or "").upper()])


def read(name: str) -> bytes | None:
    """The contents of a file of the cache, which counts as used from now on; None if it cannot be read."""
    directory = cache_directory()
    if directory is None:
        return None
    path = directory / name
    try:
        content = path.read_bytes()
    except (OSError, MemoryError):
        return None
    _use(path)
    return content


def read_data(digest: str, size: int) -> bytes | None:
    """Data by its SHA-256. A file that holds other data is removed, so that it will be written again."""
    content = read(f"{digest}.bin")
    if content is None or (len(content) == size and sha256(content) == digest):
        return content
    directory = cache_directory()
    if directory is not None:
        with contextlib.suppress(OSError):
            (directory / f"{digest}.bin").unlink()
    return None


def write(files: dict[str, bytes]) -> None:
    """Writes files in their order, as far as that is possible. Data that is there already is only used; and where all
    of them together are more than the limit, none is written."""
    directory, most = cache_directory(), limit()
    if directory is None or sum(map(len, files.values())) > most:
        return
    with contextlib.suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        written = 0
        for name, content in files.items():
            path = directory / name
            if name.endswith(".bin") and _has_size(path, len(content)):
                _use(path)
            else:
                _write(path, content)
                written += len(content)
        left = _left.get((directory, most), 0) - written
        _left[directory, most] = left if left > 0 else (most - make_room(directory, most)) // 2


_left: dict[tuple[Path, int], int] = {}
"""By folder and limit, the bytes that this process writes before it looks through the folder again: half of those that
were free when it last did, as other processes write too. Looking at 5,000 files takes 30 ms."""


def make_room(directory: Path, most: int) -> int:
    """Removes what was used longest ago where the files take more than `most` bytes, and what killed processes left.
    Returns the bytes that the others take."""
    found = sorted(_files(directory), key=lambda file: file.used)
    abandoned = [file for file in found if file.unfinished and time.time() - file.used > _UNFINISHED_SECONDS]
    total = sum(file.size for file in found)
    enough = _KEPT * most if total > most else total
    for file in [*abandoned, *(file for file in found if not file.unfinished)]:
        if total <= enough and not file.unfinished:
            break
        with contextlib.suppress(OSError):
            file.path.unlink()
            total -= file.size
    return total


@dataclass(frozen=True)
class Contents:
    """What lies in the cache on disk."""

    entries: int
    """Compiled kernels and programs."""
    data: int
    """Files of data that entries share."""
    bytes: int
    oldest: float | None
    """When the file was last used that has not been for longest, in seconds since the epoch; None for no files."""


def contents() -> Contents:
    """What there is on disk."""
    directory = cache_directory()
    found = [] if directory is None else list(_files(directory))
    return Contents(
        sum(file.path.suffix == ".json" for file in found),
        sum(file.path.suffix == ".bin" for file in found),
        sum(file.size for file in found),
        min((file.used for file in found), default=None),
    )


def clear() -> tuple[int, int]:
    """Removes all files of the cache; how many, and their bytes. Raises OSError for the first that cannot be."""
    directory = cache_directory()
    files = size = 0
    for file in [] if directory is None else list(_files(directory)):
        with contextlib.suppress(FileNotFoundError):  # somebody else was quicker
            file.path.unlink()
            files, size = files + 1, size + file.size
    return files, size


def sha256(content: bytes) -> str:
    """The name of data."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class _File:
    path: Path
    size: int
    used: float

    @property
    def unfinished(self) -> bool:
        return self.path.suffix == ".tmp"


def _files(directory: Path) -> Iterator[_File]:
    """The cache's files in a folder."""
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        for each in found:
            with contextlib.suppress(OSError):  # gone meanwhile
                if _OURS.fullmatch(each.name) and each.is_file(follow_symlinks=False):
                    status = each.stat(follow_symlinks=False)
                    yield _File(Path(each.path), status.st_size, status.st_mtime)


def _use(path: Path) -> None:
    with contextlib.suppress(OSError):  # it may be another user's
        os.utime(path)


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.stem}-{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
