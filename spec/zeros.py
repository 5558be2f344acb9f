"""Where an operand of a product is zero, or where a result is masked, by the positions of its elements: as text on a
kernel's function (`tile.zeros`, `tile.masked`), and what that says of a tile.

Conditions are joined by `, `; an element is zero, or masked, where any of them holds:

| text | where |
|---|---|
| `k>m`, `k>m+3`, `k<m-2` | after, or before, the diagonal, or one beside it; two of these leave a band |
| `k/64!=m/32` | outside the blocks of 32 rows and 64 columns along the diagonal |
| `k/64 not in m/32: 5 2` | outside a list of blocks: for each 32 rows a number, with bit j for columns from 64 j on |

`k` and `m` are positions in A, `k` and `n` in B, `n` and `m` in the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

AFTER, BEFORE, APART, UNLISTED = ">", "<", "!=", "not in"
JOINED = ", "
SYMMETRIC_MATRIX = "symmetric"
"""What else may be promised of a matrix."""
_TEXT = re.compile(
    r"(?P<along>[kn])(?:(?P<sign>[<>])(?P<across>[mn])(?P<offset>[+-]\d+)?"
    r"|/(?P<wide>\d+)(?P<kind>!=| not in )(?P<over>[mn])/(?P<high>\d+)(?:: (?P<list>[0-9a-f]+(?: [0-9a-f]+)*))?)"
)
Span = tuple[int, int]
"""A first position and the one after the last."""


@dataclass(frozen=True)
class Condition:
    """One condition on a position `along` and one `across`, such as k and m."""

    along: str
    kind: str
    """AFTER, BEFORE, APART or UNLISTED."""
    across: str
    offset: int = 0
    """Of AFTER and BEFORE: which diagonal it is."""
    wide: int = 1
    """Of the others: positions along a block has ..."""
    high: int = 1
    """... and positions across."""
    listed: tuple[int, ...] = ()
    """Of UNLISTED: which blocks there are, for each row of blocks."""

    def __str__(self) -> str:
        if self.kind in (AFTER, BEFORE):
            return f"{self.along}{self.kind}{self.across}{f'{self.offset:+d}' if self.offset else ''}"
        kind = self.kind if self.kind == APART else f" {self.kind} "
        listed = f": {' '.join(f'{each:x}' for each in self.listed)}" if self.kind == UNLISTED else ""
        return f"{self.along}/{self.wide}{kind}{self.across}/{self.high}{listed}"

    def other(self, across: str) -> Condition:
        """The same across another position."""
        return Condition(self.along, self.kind, across, self.offset, self.wide, self.high, self.listed)

    def turned(self) -> Condition:
        """The same of the transposed matrix, whose positions along are those across; their names stay in place."""
        along, across = self.along, self.across
        if self.kind in (AFTER, BEFORE):
            return Condition(along, BEFORE if self.kind == AFTER else AFTER, across, -self.offset)
        columns = max((each.bit_length() for each in self.listed), default=0)
        bits = (tuple(sum(1 << row for row, each in enumerate(self.listed) if each >> column & 1)
                      for column in range(columns)))  # fmt: skip
        return Condition(along, self.kind, across, 0, self.high, self.wide, bits)

    def span(self, rows: Span) -> Span | None:
        """Positions along which some of the positions across `rows` may hold anything; None where that is no range, or
        without an end: a first one that may be negative, and one after the last."""
        first, end = rows
        if self.kind == AFTER:
            return -(1 << 62), end + self.offset
        if self.kind == BEFORE:
            return first + self.offset, 1 << 62
        if self.kind == APART:
            return first // self.high * self.wide, ((end - 1) // self.high + 1) * self.wide
        return None

    def holds_everywhere(self, rows: Span, columns: Span) -> bool:
        """Whether it holds for each position across `rows` and along `columns`."""
        span = self.span(rows)
        if span is not None:
            return columns[1] <= span[0] or columns[0] >= span[1]
        bits = 0
        for row in self.listed[rows[0] // self.high : (rows[1] - 1) // self.high + 1]:
            bits |= row
        first, end = columns[0] // self.wide, (columns[1] - 1) // self.wide + 1
        return bits >> first & ((1 << (end - first)) - 1) == 0


@lru_cache(maxsize=64)
def parse(text: str) -> tuple[Condition, ...]:
    """The conditions of a text. Raises ValueError where it is not one."""
    return tuple(map(_condition, text.split(JOINED))) if text else ()


def _condition(text: str) -> Condition:
    found = _TEXT.fullmatch(text)
    across = found and (found["across"] or found["over"])
    if found is None or across == found["along"]:
        raise ValueError(text)
    if found["sign"]:
        return Condition(found["along"], found["sign"], found["across"], int(found["offset"] or 0))
    kind, wide, high = found["kind"].strip(), int(found["wide"]), int(found["high"])
    if (kind == UNLISTED) != bool(found["list"]) or min(wide, high) < 1:
        raise ValueError(text)
    listed = tuple(int(each, 16) for each in (found["list"] or "").split())
    return Condition(found["along"], kind, found["over"], 0, wide, high, listed)


def text_of(conditions: Iterable[Condition]) -> str:
    """The text of some conditions."""
    return JOINED.join(map(str, conditions))


def shown_zeros(text: str) -> str:
    """The text for people: of a list of blocks only how many there are."""
    return JOINED.join(
        f"all but {sum(row.bit_count() for row in each.listed)} blocks of {each.high}x{each.wide}"
        if each.kind == UNLISTED else str(each) for each in parse(text)
    )  # fmt: skip


def swapped_zeros(text: str) -> str:
    """Where operands are zero once A and B have changed places."""
    return text_of(each.other({"m": "n", "n": "m"}[each.across]) for each in parse(text))


def swapped_mask(text: str) -> str:
    """Where a result is masked once it is transposed."""
    return text_of(each.turned() for each in parse(text))


def growing(text: str) -> frozenset[str]:
    """The sides, `m` or `n`, whose later tiles have more steps of k than the ones before."""
    conditions = parse(text)
    grows = all(each.kind == AFTER for each in conditions)
    return frozenset(each.across for each in conditions if grows)


def steps_of(zeros: str, mask: str, rows: Span, columns: Span, depth: int, steps: int) -> Sequence[int]:
    """The steps of k, of `depth` positions each, that a tile of the result walks: those in which neither operand is all
    zero. A tile that is masked as a whole walks one, and so does one without any."""
    places = {"m": rows, "n": columns}
    first, last = 0, steps
    for condition in parse(zeros):
        span = condition.span(places[condition.across])
        if span is not None:
            first, last = max(first, span[0] // depth), min(last, -(-span[1] // depth))
    first = min(max(first, 0), steps - 1)
    last = max(last, first + 1)
    if any(each.holds_everywhere(rows, columns) for each in parse(mask)):
        last = first + 1
    lists = [each for each in parse(zeros) if each.kind == UNLISTED]
    found = [
        step for step in range(first, last)
        if not any(each.holds_everywhere(places[each.across], (step * depth, (step + 1) * depth)) for each in lists)
    ] if lists else range(first, last)  # fmt: skip
    return found or [first]
