"""Databases that hold studies, by Optuna's URLs."""

from __future__ import annotations

import time
import warnings
from typing import Any

import optuna
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalRedisBackend
from sqlalchemy import Connection, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

GRPC, GRPC_PORT = "grpc", 13000
"""Of Optuna's proxy, which passes what many workers tell on to one database; its own port."""
REDIS = ("redis", "rediss")
SQLITE = "sqlite"
TRIES, PAUSE = 20, 0.25
"""How often, and after how many seconds, tables are looked for that another worker is making."""
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
    """The storage of a URL: a database, `redis://`, or `grpc://HOST:PORT` of Optuna's proxy. Those of SQLite, of which
    one worker writes at a time, wait for it: each transaction asks for the right to write as it begins, before it
    reads. Python's sqlite3 would ask for it at the first change only, so that two workers could read that a trial
    waits, and both take it. Raises what the database does."""
    kind = url.partition("://")[0]
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)  # of gRPC and Redis
    if kind == GRPC:
        from optuna.storages import GrpcStorageProxy  # late: Optuna has it from 4.2 on

        place = make_url(url)
        return GrpcStorageProxy(host=place.host or "localhost", port=place.port or GRPC_PORT)
    if kind in REDIS:
        return JournalStorage(JournalRedisBackend(url))
    if not url.startswith(SQLITE):
        return optuna.storages.get_storage(_with_tables(url))
    storage = _with_tables(url, connect_args={"timeout": PATIENCE})
    event.listen(storage.engine, "connect", _begins_nothing)
    event.listen(storage.engine, "begin", _begin)
    storage.engine.dispose()  # connections that were made before are made again
    return optuna.storages.get_storage(storage)


def _with_tables(url: str, **engine: Any) -> RDBStorage:
    """Of two workers that begin at once both make the tables of an empty database. Whoever comes second is told that
    they are there, and looks again."""
    for left in reversed(range(TRIES)):
        try:
            return RDBStorage(url, engine_kwargs=engine)
        except DBAPIError as error:
            if not left or not (isinstance(error, IntegrityError) or "already exists" in str(error)):
                raise
            time.sleep(PAUSE)
    raise AssertionError


def _begins_nothing(connection: Any, _record: Any) -> None:
    """sqlite3 begins no transactions by itself then."""
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
