"""Numbers of f64 as sums of two, 106 bits together: what a formula needs where a rounding would be magnified.

The building blocks are exact: Knuth's sum of two numbers, and a product whose error a fused multiply-add gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.functions.number import Number, fma


@dataclass(frozen=True)
class Pair:
    """high + low, of which low is at most half a unit in the last place of high. Either may be a Python number."""

    high: Any
    low: Any


def exact_sum(a: Any, b: Any) -> Pair:
    """a + b without loss."""
    total = a + b
    other = total - a
    return Pair(total, (a - (total - other)) + (b - other))


def quick_sum(a: Any, b: Any) -> Pair:
    """The same for |a| >= |b|, or a = 0."""
    total = a + b
    return Pair(total, b - (total - a))


def exact_product(a: Number, b: Any) -> Pair:
    """a b without loss, where neither overflows nor is denormal."""
    product = a * b
    return Pair(product, fma(a, b, -product))


def added(a: Pair, b: Pair) -> Pair:
    """a + b."""
    total = exact_sum(a.high, b.high)
    return quick_sum(total.high, total.low + (a.low + b.low))


def multiplied(a: Pair, b: Pair) -> Pair:
    """a b. The numbers of `a` are Numbers."""
    product = exact_product(a.high, b.high)
    return quick_sum(product.high, fma(a.high, b.low, fma(a.low, b.high, product.low)))


def divided(a: Pair, b: Pair) -> Number:
    """a / b, rounded to one number, within 0.51 of a unit in the last place."""
    quotient = a.high / b.high
    rest = fma(-quotient, b.high, a.high) + (a.low - quotient * b.low)
    return quotient + rest / b.high
