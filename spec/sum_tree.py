"""The order in which many partial sums are added up: a tree of fixed shape, one kernel for each level.

Each level but the last adds up groups of `fan` neighbours; what fills no whole group is left for the last level, which
adds up the groups of the level before it, then what the levels have left, the first level's first. The shape depends on
the number of sums alone, so that a result has the same bits in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

MOST = 32
"""Sums that one thread adds up, about. Its loads are all in flight at a time."""


IN_ORDER = 16
"""Sums that one thread adds up one after another; of more it adds up pairs of neighbours until so many are left."""


@dataclass(frozen=True)
class Level:
    """A level before the last: `groups` sums of `fan` neighbours each, and `left` more that it does not touch."""

    groups: int
    fan: int
    left: int


def levels(count: int, most: int = MOST) -> tuple[Level, ...]:
    """The levels before the last for this many sums; none where one level can add them all up.

    All levels have about the same fan; within a quarter of that, the one with the smallest remainder."""
    found: list[Level] = []
    remaining = 1
    while most**remaining < count:
        remaining += 1
    for further in range(remaining, 1, -1):
        even = ceil(count ** (1 / further))
        fans = range(max(2, even * 3 // 4), min(most, even * 5 // 4) + 1)
        fan = min(fans, key=lambda fan: (count % fan, abs(fan - even)))
        found.append(Level(count // fan, fan, count % fan))
        count //= fan
    return tuple(found)


def last_width(count: int, most: int = MOST) -> int:
    """How many sums the last level adds up."""
    found = levels(count, most)
    return (found[-1].groups if found else count) + sum(level.left for level in found)
