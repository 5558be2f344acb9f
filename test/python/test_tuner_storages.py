"""Storages of studies that are full, torn, gone or of another version: nothing is lost, and the error says what is."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest
import sqlalchemy
from command_line import no_cache_on_disk, run_main
from optuna.storages import RDBStorage
from test_tuner import SMALL_PROBLEM, Table, search, space

from mlir_gemm.tile_model.chips import target
from mlir_gemm.tools import tune_command
from mlir_gemm.tuner import compiling, databases, products
from mlir_gemm.tuner import journal as journals
from mlir_gemm.tuner.databases import PATIENCE, open_database, shown_storage
from mlir_gemm.tuner.journal import Journal
from mlir_gemm.tuner.measuring import Outcome
from mlir_gemm.tuner.space import explore
from mlir_gemm.tuner.storages import StorageError, open_storage
from mlir_gemm.tuner.study import Budget, Search


def of_database(path: Path, table: Table | None = None) -> Search:
    return Search(space(), table or Table(space()), f"sqlite:///{path}", "study", sampler="model")


def test_a_line_that_was_not_written_whole_loses_nothing_else(tmp_path: Path):
    search(tmp_path, Table(space()), "model").run(Budget(trials=4))
    journal = tmp_path / "study.journal"
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole.splitlines()[-1][:40])
    again = Table(space())
    assert search(tmp_path, again, "model").run(Budget(trials=6)).tried == 6
    assert again.tried == [4, 5] and journal.read_bytes().startswith(whole)


def test_a_worker_that_is_killed_at_any_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Killed(BaseException):
        pass

    over, append = explore(SMALL_PROBLEM, target("sm_80"), most=3), Journal.append_logs
    for last in range(1, 27):
        left = iter(range(last))

        def until(self: Journal, logs: list[dict[str, Any]], left: Any = left) -> None:
            if next(left, None) is None:
                raise Killed
            append(self, logs)

        monkeypatch.setattr(Journal, "append_logs", until)
        folder = tmp_path / str(last)
        with contextlib.suppress(Killed):
            search(folder, over=over, sampler="exhaustive").run(Budget())
        monkeypatch.undo()
        ended = search(folder, over=over, sampler="exhaustive").run(Budget())
        assert (ended.tried, ended.why) == (3, "all 3 schedules were tried"), last
    assert next(left, None) is not None  # the last one came to the end


def test_what_a_full_disk_leaves_of_a_line_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    journal = Journal(str(tmp_path / "study.journal"))
    journal.append_logs([{"op_code": 0, "study_name": "one"}])
    before = (tmp_path / "study.journal").read_bytes()

    def full(file: int) -> None:
        os.ftruncate(file, len(before) + 9)  # so much found room
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        journal.append_logs([{"op_code": 0, "study_name": "another"}])
    assert (tmp_path / "study.journal").read_bytes() == before


@pytest.mark.parametrize("late", [False, True])
def test_a_worker_that_waits_long_for_the_lock_says_so(
    tmp_path: Path, late: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """A killed worker has left its lock, which goes away while another one waits."""
    monkeypatch.setattr(journals, "PATIENCE", 0.01 if late else 600)
    journal, lock = Journal(str(tmp_path / "study.journal")), tmp_path / "study.journal.lock"
    lock.touch()
    away = threading.Timer(0.5, lock.unlink)
    away.start()
    journal.append_logs([{"op_code": 0, "study_name": "one"}])
    away.join()
    assert not lock.exists() and (tmp_path / "study.journal").read_text().count("\n") == 1
    said = f"note: waiting for '{lock}': another worker writes to the study, or was killed while it did; a lock that"
    assert capsys.readouterr().err.startswith(said) if late else not capsys.readouterr().err


def test_a_folder_that_goes_away_is_said_and_the_best_so_far_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """The folder is removed while a line is written, when the lock is held."""
    folder, left = tmp_path / "studies", iter(range(40))

    def gone(_: int) -> None:
        if next(left, None) is None and folder.exists():
            shutil.rmtree(folder)

    monkeypatch.setattr(os, "fsync", gone)
    status, _, err = run_main(
        capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", "--trials", "30", "--most", "30", "--storage",
        folder / "study.journal",
    )  # fmt: skip
    assert status == 1 and "FileNotFoundError: [Errno 2] No such file or directory: '" in err
    assert "study.journal'; what was told to it before stays" in err
    assert re.search(r"note: the best so far, [\d.]+ us: --schedule block=", err)


def test_a_password_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert shown_storage("postgresql://me:secret@there/studies") == "postgresql://me:***@there/studies"
    assert shown_storage(f"{tmp_path}/a:b@c") == f"{tmp_path}/a:b@c" and shown_storage("://") == "://"
    given = ("tune", "--mnk", "64,64,64", "--trials", "2", "--storage", "mysql+nowhere://me:secret@there/studies")
    status, out, err = run_main(capsys, *given)
    assert status == 1 and "secret" not in out + err and "the storage 'mysql+nowhere://me:***@there/studies'" in err


@pytest.mark.parametrize(
    "error",
    [sqlalchemy.exc.OperationalError("", None, Exception("table studies already exists")),
     sqlalchemy.exc.IntegrityError("", None, Exception("UNIQUE constraint failed: alembic_version.version_num")),
     sqlalchemy.exc.ProgrammingError("", None, Exception('relation "studies" already exists'))],
)  # fmt: skip
def test_tables_that_another_worker_makes_are_taken(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    left = iter([error, error])

    def made(*given: Any, **more: Any) -> RDBStorage:
        for each in left:
            raise each
        return RDBStorage(*given, **more)

    monkeypatch.setattr(databases, "RDBStorage", made)
    monkeypatch.setattr(databases, "PAUSE", 0)
    assert of_database(tmp_path / "study.db").run(Budget(trials=1)).tried == 1
    monkeypatch.setattr(databases, "RDBStorage", lambda *_, **__: (_ for _ in ()).throw(error))
    with pytest.raises(StorageError, match=r"already exists|UNIQUE"):
        of_database(tmp_path / "study.db")


@pytest.mark.parametrize(("url", "package"), [("redis://there:6379", "redis"), ("grpc://there:13000", "grpc")])
def test_other_storages_of_optuna_say_what_they_need(url: str, package: str):
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(StorageError, match=f"needs a package that is not installed: .*{package}"):
        open_storage(url)


def test_a_driver_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(StorageError, match=r"needs a package that is not installed: .*psycopg"):
        open_storage("postgresql://me@there/studies")


@pytest.mark.parametrize("text", ['{"format": 1, "entries": []}', '{\n "format": 1\n}', '{"op_code": 0'])
def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path: Path, text: str):
    (tmp_path / "study.journal").write_text(text)
    with pytest.raises(StorageError, match="cannot be used"):
        search(tmp_path)
    assert (tmp_path / "study.journal").read_text() == text


def test_a_database_that_goes_away_is_an_error(tmp_path: Path):
    path = tmp_path / "study.db"

    class Going(Table):
        def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
            if len(self.tried) == 2:
                with sqlite3.connect(path) as database:
                    database.execute("DROP TABLE trials")
            return super().measure(schedule, best, best_value)

    with pytest.raises(StorageError, match="what was told to it before stays"):
        of_database(path, Going(space())).run(Budget(trials=9))


def test_a_database_that_cannot_be_written_loses_nothing(tmp_path: Path):
    """`max_page_count` stands in for a full disk: SQLite says the same."""
    path = tmp_path / "study.db"
    of_database(path).run(Budget(trials=3))
    over = of_database(path, Table(space()))
    engine = over._study._storage._backend.engine
    from sqlalchemy import event

    def small(connection: sqlite3.Connection, *_: object) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(engine, "checkout", small)
    with pytest.raises(StorageError, match="full"):
        over.run(Budget(trials=60))
    event.remove(engine, "checkout", small)
    engine.dispose()
    again = Table(space())
    assert of_database(path, again).run(Budget(trials=9)).tried >= 9
    assert not {0, 1, 2} & set(again.tried)


def test_a_database_of_another_version_is_an_error_and_stays(tmp_path: Path):
    path = tmp_path / "study.db"
    of_database(path).run(Budget(trials=2))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE version_info SET schema_version = 999")
        database.execute("UPDATE alembic_version SET version_num = 'v9.9.9'")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="cannot be used: RuntimeError"):
        of_database(path)
    assert path.read_bytes() == before


def test_a_locked_database_is_waited_for(tmp_path: Path):
    """A worker holds the right to write for longer than a search takes; the other waits, and loses nothing."""
    path = tmp_path / "study.db"
    own = of_database(path)
    engine = own._study._storage._backend.engine
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 1000 * PATIENCE
    other = sqlite3.connect(path, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(0.5, other.rollback)
    release.start()
    assert own.run(Budget(trials=2)).tried == 2
    release.join()
    other.close()


@pytest.mark.parametrize(
    ("storage", "said"),
    [
        ("{}/none/study.db", "unable to open database file"),
        ("postgres://nowhere/studies", "cannot be used: "),
        ("/dev/full", "it is no journal of Optuna's"),
        ("", "Permission denied"),
    ],
)
def test_a_storage_that_cannot_be_used_is_refused_before_all_else(
    storage: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def no(*_: object, **__: object) -> NoReturn:
        raise AssertionError("schedules were looked for")

    def denied(*_: object, **__: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(products, "products_of", no)
    monkeypatch.setattr(compiling.Compilers, "__init__", no)
    monkeypatch.setattr(tune_command, "default_chip", no)
    if not storage:
        monkeypatch.setattr(tune_command, "_studies", lambda: tmp_path / "studies")
        monkeypatch.setattr(Path, "mkdir", denied)
    url = storage.format(f"sqlite:///{tmp_path}")
    given = ("--storage", url) if url else ()
    status, out, err = run_main(capsys, "tune", "--mnk", "64,64,64", "--trials", "2", *given)
    assert status == 1 and out == "" and "Traceback" not in err
    assert "the storage '" in err and said in err


def test_the_command_says_which_storage(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(
        capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", "--trials", "2", "--most", "4", "--storage",
        f"sqlite:///{tmp_path}/none/study.db",
    )  # fmt: skip
    assert status == 1 and "Traceback" not in err and f"the storage 'sqlite:///{tmp_path}/none/study.db'" in err


def test_a_worker_has_the_right_to_write_before_it_reads(tmp_path: Path):
    """Else two could read that a trial waits, and both take it."""
    path = tmp_path / "study.db"
    storage = open_database(f"sqlite:///{path}")
    engine: Any = getattr(storage, "_backend", storage).engine
    other = sqlite3.connect(path, timeout=0)
    with engine.begin(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.close()
