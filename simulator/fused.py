"""A fused multiply-add of f64, rounded once, in NumPy, which has none."""

from __future__ import annotations

from typing import Any

import numpy as np

_WHERE: Any = np.where
_SPLITTER = 134217729.0
"""2^27 + 1: times it a number of 53 bits falls into two of 26."""


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a b + c of f64 arrays or numbers, within a rounding and 2^-50 of another one (Dekker's exact product, Knuth's
    exact sum). Where splitting a factor overflows, above 2^996, the product is rounded too."""
    with np.errstate(all="ignore"):
        product = a * b
        (a1, a2), (b1, b2) = _halves(a), _halves(b)
        low = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)
        total = product + c
        back = total - product
        exact = total + (((product - (total - back)) + (c - back)) + low)
        return _WHERE(np.isfinite(exact), exact, total)


def _halves(x: Any) -> tuple[Any, Any]:
    big = x * _SPLITTER
    high = big - (big - x)
    return high, x - high
