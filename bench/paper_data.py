"""The tables of the works that the project grew out of, as data: `papers/*.toml`, each figure with its place."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error

PAPERS = ("khandelwal", "faingnaert", "hofstra", "rise", "lift", "published")
"""The works, and figures that others have published of GPUs that the works do not have."""
UNITS = {
    "TFLOP/s": "more is faster",
    "times": "as fast as the first row",
    "of cuBLAS": "1 is as fast as cuBLAS",
    "of CUTLASS": "1 is as fast as CUTLASS",
    "place": "1 is the fastest; the text has the order only",
    "programs": "how many",
}
"""What a table's figures are."""
COUNTS = ("legal schedules", "proposed schedules")
"""What of ours is counted beside a row, where no speed is."""


@dataclass(frozen=True)
class Row:
    """One row of a table, or one kernel of a figure."""

    name: str
    value: float | None = None
    """The text's figure, in the table's unit; None where it has none."""
    schedule: str | None = None
    """The fields of ours that stands beside it; empty for the model's choice, None where there is none."""
    layout: str = ""
    """How A and B lie, where that is not as in the table's problem."""
    library: bool = False
    """Whether the vendor's library stands beside it."""
    count: str = ""
    """What of ours is counted beside it: one of COUNTS."""
    absent: str = ""
    """Why nothing of ours stands beside it."""
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the text's profiler counted."""
    elsewhere: float | None = None
    """TFLOP/s of ours that another script than the benchmark measured; the table's note says which, and on what."""


@dataclass(frozen=True)
class Table:
    """A table, or what the text says of a figure."""

    name: str
    where: str
    """Section, table or figure, and page."""
    unit: str
    row: tuple[Row, ...]
    chip: str = ""
    """The GPU that it was measured on, as the model names it; empty where there is nothing to predict."""
    problem: Problem | None = None
    """The product; None where there is nothing to run."""
    components: int = 0
    """Of the elements of A, B and the result, which the problem's sizes count; 0 for plain numbers. The benchmark does
    not run such a product."""
    note: str = ""
    """What agrees, what does not, and why."""

    def problem_of(self, row: Row) -> Problem | None:
        """The product of a row; None where there is nothing to run."""
        return replace(self.problem, layout=row.layout) if self.problem and row.layout else self.problem

    @property
    def counted(self) -> bool:
        """Whether ours is a count, rather than a speed."""
        return any(row.count for row in self.row)


@dataclass(frozen=True)
class Paper:
    """One work."""

    key: str
    author: str
    title: str
    kind: str
    year: int
    about: str
    table: tuple[Table, ...]


def paper(key: str) -> Paper:
    """A work by its name, one of PAPERS. Raises Error for another, or if its file is not well formed."""
    if key not in PAPERS:
        raise Error(f"'{key}' is not one of the works that there are tables of: expected all, {', '.join(PAPERS)}")
    return _read(key)


@functools.cache
def _read(key: str) -> Paper:
    path = Path(__file__).parent / "papers" / f"{key}.toml"
    try:
        data = tomllib.loads(path.read_text())
        tables = tuple(_table(each) for each in data.pop("table"))
        return Paper(key, table=tables, **{**data, "about": data["about"].strip()})
    except (OSError, KeyError, TypeError, ValueError) as problem:
        raise Error(f"'{path}' does not hold the tables of a work: {problem}") from None


def _table(data: dict[str, Any]) -> Table:
    given = dict(data)
    rows = tuple(_row(each) for each in given.pop("row"))
    problem = given.pop("problem", None)
    found = Table(row=rows, problem=problem and Problem(**{"group": "paper", "layout": "NN"} | problem), **given)
    if found.unit not in UNITS:
        raise ValueError(f"{found.name}: the unit '{found.unit}'")
    if not all(text.strip() for text in (found.name, found.where)):
        raise ValueError("a table without a name or a place")
    if found.problem is None and any(row.schedule is not None or row.library for row in rows):
        raise ValueError(f"{found.name}: something to run, and no problem")
    return replace(found, note=found.note.strip())


def _row(data: dict[str, Any]) -> Row:
    row = Row(**data)
    ours = (row.schedule is not None, row.library, bool(row.count), bool(row.absent))
    if sum(ours) != 1 or (row.count and row.count not in COUNTS):
        raise ValueError(f"row '{row.name}': expected one of schedule, library, count (of {COUNTS}) and absent")
    if row.value is None and not row.counters:
        raise ValueError(f"row '{row.name}' has no figure")
    return row
