"""Spaces of tiles: how many tiles of a result are computed, and in which rectangle their numbers lie.

A raster walks a rectangle. A triangle of tiles (row r has r + 1 of them) is folded into one: its longest row and its
shortest fill a row of the rectangle, the second longest and the second shortest the next, and so on. So every raster
walks a triangle as it walks a rectangle, groups of neighbouring rows share what they read, and no number is left over.

With clusters, what is folded is a triangle of squares of tiles, each of whole clusters (`square_of`). Of a square on
the diagonal some tiles lie on its other side: their blocks copy for their neighbours, and store nothing.
"""

from __future__ import annotations

from math import lcm
from typing import Any

ALL, TRIANGLE, LOWER, UPPER, K_RANGE = "all", "triangle", "lower", "upper", "k_range"
"""All tiles of the result; those on and below its diagonal, each for its mirror too; those on and below it, or on and
above it, where the others are constant; all, but of each only the steps of k in which a triangular operand is not
zero."""
SPACES = (ALL, TRIANGLE, LOWER, UPPER, K_RANGE)
HALVES = (TRIANGLE, LOWER, UPPER)
"""Those of half the tiles, which are folded."""


def square_of(cluster_m: int, cluster_n: int) -> int:
    """Tiles along a side of the smallest square of whole clusters."""
    return lcm(cluster_m, cluster_n)


def folded(rows: int) -> tuple[int, int]:
    """Rows and columns of the rectangle that a triangle of so many rows is folded into: `rows (rows + 1) / 2` tiles."""
    return (rows + 1) // 2, rows + 1 - rows % 2


def unfolded(row: Any, column: Any, rows: Any, of: Any) -> tuple[Any, Any]:
    """The row and the column in a triangle of `rows` rows of what lies at a row and a column of the rectangle. `of`
    does the arithmetic: `less`, `add`, `sub` and `select`, on numbers or on values in the IR, and `is_even` where
    `rows` is such a value too."""
    known = isinstance(rows, int)
    long = of.sub(rows - 1 if known else of.sub(rows, 1), row)
    count = of.add(long, 1)
    below = of.less(column, count)
    less = of.sub(row, 1)
    short = (row if rows % 2 == 0 else less) if known else of.select(of.is_even(rows), row, less)
    return of.select(below, long, short), of.select(below, column, of.sub(column, count))
