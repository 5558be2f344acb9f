"""Databases that hold studies, by Optuna's URLs."""

from __future__ import annotations

import optuna
from optuna.storages import RDBStorage

SQLITE = "sqlite"
PATIENCE = 60
"""Seconds for which a worker waits until another one, or a slow disk, has written to a file of SQLite; its own default
is 5, after which it says that the database is locked."""


def open_database(url: str) -> optuna.storages.BaseStorage:
    """The storage of a URL. Those of SQLite, of which one worker writes at a time, wait for it: they ask for the right
    to write as they begin, so that no two hold what the other needs. Raises what the database does."""
    if not url.startswith(SQLITE):
        return optuna.storages.get_storage(url)
    arguments = {"timeout": PATIENCE, "isolation_level": "IMMEDIATE"}
    return optuna.storages.get_storage(RDBStorage(url, engine_kwargs={"connect_args": arguments}))
