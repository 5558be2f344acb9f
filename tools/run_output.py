"""What `mlir-gemm run` tells of its runs: tables as they come, or with `--json` all of it at the end."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from mlir_gemm.tools.json_output import text_of
from mlir_gemm.tools.report import table
from mlir_gemm.tools.terminal import say, sum_up

Rows = list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Checked:
    """The error of one argument or result; for one that must not change, whether it did."""

    argument: str
    error: float
    """Relative, by the Frobenius norm; 0 where nothing was to change and nothing did."""
    limit: float
    right: bool
    kept: bool = False
    """Whether it says of a part that it was not to be written."""

    @property
    def row(self) -> tuple[str, str]:
        """The same as a row of a table."""
        if self.kept:
            return f"rest {self.argument}", "unchanged" if self.right else "CHANGED  WRONG"
        verdict = "" if self.right else "  WRONG"
        return f"error {self.argument}", f"{self.error:.2e} (at most {self.limit:.0e}){verdict}"


class RunOutput:
    """The output of `run`, in the order in which it becomes known."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.runs: list[dict[str, Any]] = []

    def begin(self, sizes: Mapping[str, int]) -> None:
        """A run starts, with values for sizes that are known at run time only."""
        if sizes and not self.as_json:
            say(("\n" if self.runs else "") + table([("sizes", shown(sizes))]))
        self.runs.append({"sizes": dict(sizes)})

    def rows(self, rows: Rows, data: Mapping[str, Any]) -> None:
        """Rows of a table, and the same as data."""
        self.runs[-1] |= data
        if rows and not self.as_json:
            say(table(rows))

    def checked(self, found: Sequence[Checked], more: Rows, data: Mapping[str, Any]) -> bool:
        """What came out; whether all of it is right."""
        fields = ("argument", "error", "limit", "right")
        errors = [{name: getattr(each, name) for name in fields} for each in found]
        self.rows([*(each.row for each in found), *more], {"errors": errors, **data})
        return all(each.right for each in found)

    def lines(self, lines: Sequence[str], data: Mapping[str, Any]) -> None:
        """Text that is not a table."""
        self.runs[-1] |= data
        for line in lines if not self.as_json else ():
            say(line)

    def end(self, *, right: bool) -> None:
        """A run is over."""
        self.runs[-1]["right"] = right

    def finish(self) -> None:
        """All runs are over: prints them as data, or a summary."""
        right = all(run["right"] for run in self.runs)
        if self.as_json:
            print(text_of(_plain({"right": right, "runs": self.runs})))
            return
        wrong = [each["argument"] for run in self.runs for each in run.get("errors", ()) if not each["right"]]
        verdict = "yes" if right else f"no: {', '.join(dict.fromkeys(wrong)) or 'see the findings'}"
        sum_up(f"right: {verdict}", sys.stdout)


def shown(sizes: Mapping[str, int]) -> str:
    """Values of sizes as text."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _plain(data: Any) -> Any:
    """Data with null for what JSON has no number for."""
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, Mapping):
        return {name: _plain(each) for name, each in cast("Mapping[str, Any]", data).items()}
    if isinstance(data, list | tuple):
        return [_plain(each) for each in cast("Sequence[Any]", data)]
    return data
