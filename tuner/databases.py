"""Databases that hold studies, by Optuna's URLs."""

from __future__ import annotations

from typing import Any

import optuna
from optuna.storages import RDBStorage
from sqlalchemy import Connection, event, make_url
from sqlalchemy.exc import ArgumentError

SQLITE = "sqlite"
PATIENCE = 60
"""Seconds for which a worker waits until another one, or a slow disk, has written to a file of SQLite; its own default
is 5, after which it says that the database is locked."""


def shown_storage(storage: str) -> str:
    """A path or URL for people and logs: without the password that a URL may have."""
    try:
        return make_url(storage).render_as_string(hide_password=True) if "://" in storage else storage
    except ArgumentError:
        return storage


def open_database(url: str) -> optuna.storages.BaseStorage:
    """The storage of a URL. Those of SQLite, of which one worker writes at a time, wait for it: each transaction asks
    for the right to write as it begins, before it reads. Python's sqlite3 would ask for it at the first change only, so
    that two workers could read that a trial waits, and both take it. Raises what the database does."""
    if not url.startswith(SQLITE):
        return optuna.storages.get_storage(url)
    storage = RDBStorage(url, engine_kwargs={"connect_args": {"timeout": PATIENCE}})
    event.listen(storage.engine, "connect", _begins_nothing)
    event.listen(storage.engine, "begin", _begin)
    storage.engine.dispose()  # connections that were made before are made again
    return optuna.storages.get_storage(storage)


def _begins_nothing(connection: Any, _record: Any) -> None:
    """sqlite3 begins no transactions by itself then."""
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
