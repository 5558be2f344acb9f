"""Storages of studies, by a path or by a URL of Optuna's, and their faults as errors of one kind."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage

from mlir_gemm.errors import Error
from mlir_gemm.tuner.databases import open_database, shown_storage
from mlir_gemm.tuner.journal import Journal, is_journal


class StorageError(Error):
    """The storage of a study cannot be read or written."""


def open_storage(storage: str) -> optuna.storages.BaseStorage:
    """A storage by its path (a journal) or its URL, as Optuna knows it. Raises StorageError."""
    with storage_errors(storage):
        if "://" in storage:
            return open_database(storage)
        path = Path(storage)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not is_journal(path):
            raise StorageError(
                f"the storage '{storage}' cannot be used: it is no journal of Optuna's, and stays as it is"
            )
        return JournalStorage(Journal(storage))


def known_storage(storage: str) -> optuna.storages.BaseStorage:
    """A storage to be read: a journal that is not there is not begun. Raises StorageError."""
    if "://" not in storage and not Path(storage).exists():
        raise StorageError(f"there is no storage '{storage}'")
    return open_storage(storage)


@contextlib.contextmanager
def storage_errors(storage: str) -> Generator[None]:
    """Gives every fault of a storage as a StorageError: each kind of storage has errors of its own."""
    try:
        yield
    except (Error, optuna.TrialPruned):
        raise
    except ImportError as error:
        raise StorageError(
            f"the storage '{shown_storage(storage)}' needs a package that is not installed: {error}; install it, or "
            "name another driver in the URL, as in postgresql+psycopg2://"
        ) from None
    except Exception as error:
        cause = error.__cause__ or error  # Optuna's own errors say less than those that they come from
        details: Any = getattr(cause, "details", None)  # gRPC's say it there
        text = str(details()) if callable(details) else str(cause)
        said = f"{type(cause).__name__}: {text.partition(chr(10))[0]}"
        raise StorageError(
            f"the storage '{shown_storage(storage)}' cannot be used: {said}; what was told to it before stays"
        ) from None
