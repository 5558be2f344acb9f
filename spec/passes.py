"""Passes as data: a name and options. The model and the parts speak of passes so without loading any bindings;
`pipeline.registry` makes the passes themselves of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

UPSTREAM = "upstream"
"""The name under which passes of MLIR itself stand in a list; their pipeline's text is the option `pipeline`."""


@dataclass(frozen=True)
class PassSpec:
    """One pass of a list."""

    name: str
    """As on the command line: `tile-loops`."""
    options: tuple[tuple[str, Any], ...] = ()
    """Those that are set; the others have their defaults."""

    def __str__(self) -> str:
        if self.name == UPSTREAM:
            return str(dict(self.options)["pipeline"])
        options = " ".join(f"{name}={shown(value)}" for name, value in self.options)
        return f"{self.name}{{{options}}}" if options else self.name


def step(name: str, **options: Any) -> PassSpec:
    """One of our passes, with options."""
    return PassSpec(name, tuple(options.items()))


def upstream(pipeline: str) -> PassSpec:
    """Passes of MLIR itself, as the text of a pipeline over a module."""
    return PassSpec(UPSTREAM, (("pipeline", pipeline),))


def shown(value: Any) -> str:
    """The value of an option as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else str(value)


class Placed(NamedTuple):
    """Passes and where they belong."""

    stage: str
    slot: str
    passes: tuple[PassSpec, ...]


def at(stage: str, slot: str, *passes: PassSpec) -> Placed:
    """Passes at a slot of a stage."""
    return Placed(stage, slot, passes)


def in_stage(stage: str, slots: Iterable[str], placed: Iterable[Placed]) -> list[PassSpec]:
    """The passes of one stage, slot by slot. Raises KeyError for a slot that the stage does not have."""
    found: dict[str, list[PassSpec]] = {slot: [] for slot in slots}
    for each in placed:
        if each.stage == stage:
            found[each.slot].extend(each.passes)
    return [spec for slot in found.values() for spec in slot]
