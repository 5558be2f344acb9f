"""What a field of the schedule is: its name, what it means, and the values that it may have.

Fields that every kernel has stand with the schedule; all others stand with the parts that they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

MANY = 2**31


@dataclass(frozen=True)
class Field:
    """A field of the schedule."""

    name: str
    help: str
    """What it means, in a sentence or two."""
    least: int = 0
    """Least value of a number."""
    most: int = MANY
    """Most value of a number."""
    unit: str = ""
    """What a number counts, in the plural."""
    values: tuple[Any, ...] = ()
    """All values that it may have, where these are few."""
    default: Any = None
    """Its value where nobody sets it, of a field of a part from outside. A field of this package has its default in
    `Schedule`."""

    def expected(self, value: Any) -> str:
        """What a value should have been; empty where it is right."""
        if self.values:
            shown = f"one of {', '.join(str(each) for each in self.values if each != '')} {self.unit}".rstrip()
            return "" if value in self.values else shown
        if type(value) is not int or self.least <= value <= self.most:
            return ""
        to = f" to {self.most}" if self.most < MANY else ""
        return f"{'' if to else 'at least '}{self.least}{to} {self.unit}".rstrip()


def named(fields: Iterable[Field]) -> tuple[str, ...]:
    """The names of some fields."""
    return tuple(field.name for field in fields)
