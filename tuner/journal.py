"""A study's journal on disk, which may end in a line that was not written whole: the disk was full, or power failed."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock


def is_journal(path: Path) -> bool:
    """Whether a file is a journal, or empty, so that one can begin there. What is no file, such as a device, of which
    reading might never end, is none. Raises OSError."""
    if not path.is_file() and not path.is_dir():  # that of a folder is told by the system
        return False
    with path.open("rb") as file:
        first = file.readline()
    try:
        return not first or (first.endswith(b"\n") and "op_code" in json.loads(first))
    except (ValueError, TypeError):
        return False


PATIENCE = 2.0
"""Seconds after which a worker says that it waits: a line is written in milliseconds."""


class Lock(JournalFileOpenLock):
    """Optuna's, which waits without a word for one that a killed worker has left, until it takes it away."""

    def acquire(self) -> bool:
        try:
            os.close(os.open(self._lock_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return True
        except FileExistsError:
            pass
        late = threading.Timer(PATIENCE, self._say)
        late.daemon = True
        late.start()
        try:
            return super().acquire()
        finally:
            late.cancel()

    def _say(self) -> None:
        print(f"note: waiting for '{self._lock_file}': another worker writes to the study, or was killed while it did; "
              f"a lock that is {self.grace_period} seconds old is taken away", file=sys.stderr, flush=True)  # fmt: skip


class Journal(JournalFileBackend):
    """Optuna's journal. Before anything is added, a last line without its end is cut off: whoever was to write it has
    been told that it failed, or has ended; with more after it nobody could read the journal any more."""

    def __init__(self, path: str) -> None:
        self._path, self._own = path, Lock(path)
        super().__init__(path, lock_obj=self._own)
        self._mend()

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._mend()
        try:
            super().append_logs(logs)
        except OSError:
            self._mend()
            raise
        except RuntimeError:  # the lock was gone when it was to be released: with the folder, or by a hand
            if Path(self._path).exists():
                raise
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._path) from None

    def _mend(self) -> None:
        if self._is_whole():
            return
        self._own.acquire()  # with the lock nobody is in the middle of a line
        try:
            if not self._is_whole():
                with open(self._path, "r+b") as file:
                    file.truncate(file.read().rfind(b"\n") + 1)
        finally:
            self._own.release()

    def _is_whole(self) -> bool:
        with open(self._path, "rb") as file:
            if not file.seek(0, os.SEEK_END):
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
