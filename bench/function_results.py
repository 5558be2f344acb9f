"""What was measured of functions, as data, and its file: JSON, also packed (`.json.xz`)."""

from __future__ import annotations

import dataclasses
import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mlir_gemm.bench.timing import Spread
from mlir_gemm.errors import Error

FORMAT = "mlir-gemm bench of functions 1"
REGIMES = ("cold", "sustained")
OURS, EAGER, COMPILE, COPY = "ours", "eager", "compile", "copy"
OTHERS = (EAGER, COMPILE)
WORSE = 1.1
"""Times the error of eager PyTorch that ours may have."""


@dataclass(frozen=True)
class Entry:
    """One function with everyone who took part."""

    group: str
    name: str
    bytes: int
    kernels: int
    errors: dict[str, float]
    """Relative to float64, by Frobenius norm, of the result that has the largest."""
    right: bool
    cold: dict[str, Spread]
    sustained: dict[str, Spread]
    absent: list[str]
    """Who did not take part, and why."""
    draws: int = 1
    """How many inputs the errors are of."""

    def seconds(self, name: str, regime: str) -> float | None:
        """The median of a contender; None where it did not take part."""
        spreads = self.cold if regime == "cold" else self.sustained
        return spreads[name].median if name in spreads else None

    def ratio(self, regime: str, others: Sequence[str] = OTHERS) -> float | None:
        """How many times as fast as the fastest of others ours is."""
        theirs = min(filter(None, (self.seconds(name, regime) for name in others)), default=None)
        own = self.seconds(OURS, regime)
        return theirs / own if theirs and own else None


@dataclass(frozen=True)
class Results:
    """A whole run."""

    machine: dict[str, Any]
    date: str
    command: str
    settings: dict[str, Any]
    entries: list[Entry]
    refused: list[tuple[str, str, str]]
    """Group, name and reason of what ours did not compile, or could not be measured."""

    def text(self) -> str:
        """As JSON, one function a line."""
        head: dict[str, Any] = {"format": FORMAT, "date": self.date, "command": self.command}
        head |= {"machine": self.machine, "settings": self.settings}
        lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        rows: dict[str, list[Any]] = {
            "entries": [dataclasses.asdict(entry) for entry in self.entries],
            "refused": [list(each) for each in self.refused],
        }
        for name, several in rows.items():
            inner = ",\n".join(f"  {json.dumps(row)}" for row in several)
            lines.append(f' "{name}": [\n{inner}\n ]' if several else f' "{name}": []')
        return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: str) -> Results | None:
    """What `Results.text` wrote, also as `results` of a file that says more of the run; None where a file holds
    something else. Raises Error."""
    try:
        data = Path(path).read_bytes()
        found = json.loads(lzma.decompress(data) if path.endswith(".xz") else data)
        whole = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        inner: Any = whole.get("results")
        whole = cast("dict[str, Any]", inner) if isinstance(inner, dict) else whole
        return _parse(whole) if whole.get("format") == FORMAT else None
    except OSError as problem:
        raise Error(f"cannot read '{path}': {problem.strerror or problem}") from None
    except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as problem:
        reason = f"{type(problem).__name__}: {problem}"
        raise Error(f"'{path}' does not hold results of mlir-gemm bench ({reason})") from None


def _parse(whole: dict[str, Any]) -> Results:
    entries: list[Entry] = []
    for each in whole["entries"]:
        spreads = {regime: {name: Spread(**spread) for name, spread in each[regime].items()} for regime in REGIMES}
        entries.append(Entry(**(each | spreads)))
    refused = [(str(group), str(name), str(reason)) for group, name, reason in whole["refused"]]
    return Results(dict(whole["machine"]), str(whole["date"]), str(whole["command"]), dict(whole["settings"]), entries,
                   refused)  # fmt: skip
