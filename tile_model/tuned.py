"""Schedules that were found by measuring (`mlir-gemm tune`), in a file: by problem, chip, GPU and version.

The file is JSON: a format number and a list of entries. An entry counts for the version of mlir-gemm that found it
alone, since another one generates other code; those of other versions stay in the file. Writing takes a lock, reads
what is there, and replaces the file in one step.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import json
import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mlir_gemm.errors import Error, InputError
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.version import __version__

FORMAT = 1
_GO_ON = "name another file by --tuned (in Python tuned=...), or leave it alone with --tuned off"
_DEFAULTS = {each.name: each.default for each in dataclasses.fields(Problem)}


@dataclass(frozen=True)
class Entry:
    """One schedule that was found."""

    problem: Problem
    """The product as the module has it, before any rewrite."""
    chip: str
    gpu: str
    """What the driver calls it, such as `NVIDIA H200`; the product of the chip's row where times were predicted."""
    schedule: str
    """All fields, as text."""
    seconds: float
    """Of one run; of another objective its value."""
    model_seconds: float
    """The same of what the model chooses by itself; 0 where that failed."""
    objective: str = "time"
    measured: bool = True
    """Whether it was measured; otherwise predicted."""
    version: str = __version__
    date: str = ""

    def __str__(self) -> str:
        how = "measured" if self.measured else "predicted"
        figures = f"{how}, {shown_value(self.objective, self.seconds)} a run"
        model = shown_value(self.objective, self.model_seconds) if self.model_seconds else "failed"
        figures += f", the model's choice {model}"
        return f"tuned for {self.gpu} ({figures})"

    def to_json(self) -> dict[str, Any]:
        """As plain data; of the problem, what differs from the defaults."""
        problem = {name: value for name, value in vars(self.problem).items() if value != _DEFAULTS[name]}
        return {**vars(self), "problem": problem}

    @property
    def key(self) -> str:
        return key_of(self.to_json())


def shown_value(objective: str, value: float) -> str:
    """The value of an objective for people: seconds, joules, or their geometric mean."""
    if objective in ("time", "cold"):
        return shown_time(value)
    return f"{1e3 * value:.4g} {'mJ' if objective == 'energy' else 'sqrt(ms mJ)'}"


def key_of(entry: dict[str, Any]) -> str:
    """What an entry is for: its problem, chip, GPU and version."""
    written: dict[str, Any] = entry.get("problem") or {}
    problem = {name: value for name, value in written.items() if value != _DEFAULTS.get(name)}
    return json.dumps([problem, *(entry.get(name) for name in ("chip", "gpu", "version"))], sort_keys=True)


@dataclass(frozen=True)
class Database:
    """A file of schedules, and the GPU of this machine."""

    path: str
    chip: str = ""
    """The compute capability of this machine's GPU, by LLVM's name; empty where there is none."""
    gpu: str = ""
    """Its name."""

    def gpu_of(self, target: Target) -> str:
        """The GPU that is compiled for: that of this machine where it is this chip's, else the product of its row."""
        return self.gpu if self.chip and self.chip.rstrip("af") == target.arch.rstrip("af") else target.name

    def find(self, problem: Problem, target: Target) -> Entry | None:
        """The schedule for exactly this problem, chip, GPU and version. Raises InputError as `read` does."""
        return find(self.path, problem, target.chip, self.gpu_of(target))

    def digest(self) -> list[str]:
        """What tells databases with different answers apart."""
        return [hashlib.sha256(_content(self.path)).hexdigest(), self.chip, self.gpu]


def find(path: str, problem: Problem, chip: str, gpu: str) -> Entry | None:
    """The schedule for exactly this problem, chip and GPU of this version, if the file has one. Raises InputError."""
    wanted = Entry(problem, chip, gpu, "", 0.0, 0.0).key
    found = _by_key(path, hashlib.sha256(_content(path)).hexdigest()).get(wanted)
    if found is None:
        return None
    try:
        return _entry(found)
    except (TypeError, KeyError, ValueError, Error) as error:
        raise InputError(f"an entry of '{path}' for {problem} is damaged: {error}; {_GO_ON}") from None


@functools.lru_cache(maxsize=8)
def _by_key(path: str, _: str) -> dict[str, dict[str, Any]]:
    return {key_of(entry): entry for entry in read(path)}


def _entry(data: dict[str, Any]) -> Entry:
    Schedule.parse(data["schedule"])
    fields: dict[str, Any] = {**data, "problem": Problem(**data["problem"])}
    return Entry(**fields)


def read(path: str) -> list[dict[str, Any]]:
    """The entries of a file, of all versions, as data. Raises InputError for what is no such file, or of a later
    format."""
    content = _content(path)
    try:
        data: Any = json.loads(content)
        form: Any = data["format"]
        entries: list[Any] = data["entries"]
        right = isinstance(form, int) and isinstance(data["entries"], list)
    except (ValueError, KeyError, TypeError, RecursionError):
        right, form, entries = False, 0, []
    if right and form != FORMAT:
        raise InputError(
            f"'{path}' holds tuned schedules in format {form}; this mlir-gemm ({__version__}) reads format {FORMAT}: "
            f"{_GO_ON}"
        )
    if not right or not all(isinstance(each, dict) and "schedule" in each for each in entries):
        raise InputError(f"'{path}' is no file of tuned schedules, or a damaged one; {_GO_ON}")
    return cast("list[dict[str, Any]]", entries)


def _content(path: str) -> bytes:
    if Path(path).is_char_device():  # /dev/full, of which reading never ends
        raise InputError(f"'{path}' is a device, no file of tuned schedules; {_GO_ON}")
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise InputError(f"cannot read the tuned schedules '{path}': {problem.strerror}; {_GO_ON}") from None


def add(path: str, entries: Sequence[Entry]) -> None:
    """Writes entries into a file, in place of those for the same problem, chip, GPU and version; all others stay.
    Raises InputError for a file that cannot be read, and Error for one that cannot be written, which stays as it was.
    """
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _locked(place.with_name(f".{place.name}.lock")):
            known = {key_of(each): each for each in read(path)} if place.exists() else {}
            known |= {each.key: each.to_json() for each in entries}
            lines = ",\n".join(json.dumps(each, sort_keys=True) for each in known.values())
            _replace(place, f'{{"format": {FORMAT}, "entries": [\n{lines}\n]}}\n')
    except OSError as problem:
        raise Error(f"cannot write the tuned schedules '{path}': {problem.strerror}; it is as it was") from None


def _replace(place: Path, text: str) -> None:
    beside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        with beside.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Nobody else writes meanwhile."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
