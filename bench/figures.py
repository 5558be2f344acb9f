"""What was measured, as data, and its file: JSON, also packed (`.json.xz`)."""

from __future__ import annotations

import dataclasses
import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mlir_gemm.bench.contenders import LT_BEST, LT_FIRST, OURS, PRODUCT
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.timing import Spread
from mlir_gemm.errors import Error

FORMAT = "mlir-gemm bench 1"
REGIMES = ("cold", "sustained")
LIBRARY = ("torch", LT_FIRST)
"""The vendor's library as it is used: the faster of these is what ours is compared with."""


@dataclass(frozen=True)
class Figures:
    """One contender on one problem."""

    cold: Spread
    sustained: Spread | None
    burst: int
    """Runs of a burst."""
    host_seconds: float
    """What a launch costs the host."""
    error: float | None
    largest_error: float | None
    right: bool | None
    """None where the result was not checked."""
    note: str = ""
    schedule: str = ""
    kernels: int = 0

    def seconds(self, regime: str) -> float | None:
        """The median in a regime; None where it was not measured."""
        spread = self.cold if regime == "cold" else self.sustained
        return None if spread is None else spread.median


@dataclass(frozen=True)
class Entry:
    """One problem with everyone who took part."""

    problem: Problem
    figures: dict[str, Figures]
    absent: list[str] = field(default_factory=lambda: list[str]())
    """Who did not take part, and why."""
    state: dict[str, Any] | None = None
    """Clock, power and temperature during the sustained runs."""

    def seconds(self, name: str, regime: str) -> float | None:
        """The median of a contender; None where it did not take part."""
        return self.figures[name].seconds(regime) if name in self.figures else None

    def library_seconds(self, regime: str) -> float | None:
        """The vendor's library: the faster of PyTorch and of cuBLASLt's first choice."""
        return min(filter(None, (self.seconds(name, regime) for name in LIBRARY)), default=None)

    def ratio(self, regime: str, other: str = "", ours: str = OURS) -> float | None:
        """How many times as fast as another ours is; without a name, as the vendor's library."""
        theirs = self.seconds(other, regime) if other else self.library_seconds(regime)
        own = self.seconds(ours, regime)
        return theirs / own if theirs and own else None

    def rate(self, name: str, regime: str) -> float | None:
        """FLOP/s of the product."""
        seconds = self.seconds(name, regime)
        return self.problem.flops / seconds if seconds else None

    @property
    def schedules(self) -> list[str]:
        """Names of ours, one for each schedule."""
        return [name for name in self.figures if name == OURS or name.startswith(f"{OURS}_")]

    @property
    def wrong(self) -> list[str]:
        """Names of ours that gave wrong results."""
        return [name for name in self.schedules if self.figures[name].right is False]


@dataclass(frozen=True)
class Results:
    """A whole run."""

    machine: dict[str, Any]
    date: str
    command: str
    settings: dict[str, Any]
    entries: list[Entry]
    refused: list[tuple[Problem, str, str]]
    """Problem, schedule given, and reason."""

    def text(self) -> str:
        """As JSON, one problem a line."""
        head = {"format": FORMAT, "date": self.date, "command": self.command}
        head |= {"machine": self.machine, "settings": self.settings}
        lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        rows = {
            "entries": [json.dumps(dataclasses.asdict(entry)) for entry in self.entries],
            "refused": [
                json.dumps({"problem": dataclasses.asdict(problem), "schedule": schedule, "reason": reason})
                for problem, schedule, reason in self.refused
            ],
        }
        for name, several in rows.items():
            inner = ",\n".join(f"  {row}" for row in several)
            lines.append(f' "{name}": [\n{inner}\n ]' if several else f' "{name}": []')
        return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: str) -> Results:
    """What `Results.text` wrote. Raises Error."""
    try:
        data = Path(path).read_bytes()
        return _parse(json.loads(lzma.decompress(data) if path.endswith(".xz") else data))
    except OSError as problem:
        raise Error(f"cannot read '{path}': {problem.strerror or problem}") from None
    except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as problem:
        reason = f"{type(problem).__name__}: {problem}"
        raise Error(f"'{path}' does not hold results of mlir-gemm bench ({reason})") from None


def _parse(data: Any) -> Results:
    whole = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if whole.get("format") != FORMAT:
        raise ValueError(f"its format is not '{FORMAT}'")
    return Results(
        machine=dict(whole["machine"]),
        date=str(whole["date"]),
        command=str(whole["command"]),
        settings=dict(whole["settings"]),
        entries=[_entry(each) for each in whole["entries"]],
        refused=[(Problem(**each["problem"]), each["schedule"], each["reason"]) for each in whole["refused"]],
    )


def _entry(data: dict[str, Any]) -> Entry:
    figures = {name: _figures(each) for name, each in data["figures"].items()}
    return Entry(Problem(**data["problem"]), figures, list(data["absent"]), data["state"])


def _figures(data: dict[str, Any]) -> Figures:
    sustained = data["sustained"]
    spreads: dict[str, Any] = {"cold": Spread(**data["cold"]), "sustained": sustained and Spread(**sustained)}
    return Figures(**(data | spreads))


def merge(several: Sequence[Results]) -> Results:
    """One report of several runs on machines of one kind: of a problem that was measured twice the later figures."""
    first = several[0]
    devices = {str(each.machine.get("device")) for each in several}
    if len(devices) > 1:
        raise Error(f"results from different devices make no report together: {', '.join(sorted(devices))}")
    entries = {entry.problem: entry for each in several for entry in each.entries}
    refused = {(problem, schedule): reason for each in several for problem, schedule, reason in each.refused}
    return dataclasses.replace(
        first,
        command=" ; ".join(each.command for each in several),
        entries=list(entries.values()),
        refused=[(*key, reason) for key, reason in refused.items() if key[0] not in entries],
    )


CONTENDERS = (OURS, "torch", LT_FIRST, LT_BEST, "compile", "triton", PRODUCT)
"""In the order of the tables' columns."""
