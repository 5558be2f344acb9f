"""Emulated precision: a type multiplied by tensor cores that have only narrower ones, where `precision` says so.

An element x of a wide type is a sum of parts in a narrower one, each the rounding of what the parts before it leave:
x = x0 + x1 + ... A product of two such sums is a sum of products of parts. Those of parts that are small together lie
below the last bits of the wide type's own rounding, and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Emulation:
    """One way to multiply a wide type by narrower parts."""

    name: str
    """The value of `precision`."""
    of: str
    """The type that is multiplied."""
    part: str
    """The type of the parts: `bf16`, or `tf32`, which is an f32 whose last 13 bits are zero."""
    terms: tuple[tuple[int, int], ...]
    """The parts of A and of B that are multiplied, the smallest products first."""
    multiplied: str
    """The `precision` with which the products of parts are multiplied."""

    @property
    def parts(self) -> int:
        """How many parts an element has."""
        return 1 + max(max(term) for term in self.terms)

    @property
    def element(self) -> str:
        """The type of the parts in memory."""
        return "f32" if self.part == "tf32" else self.part


def _up_to(order: int) -> tuple[tuple[int, int], ...]:
    """All products of parts whose places add up to `order` at most, the smallest first."""
    return tuple((place, total - place) for total in range(order, -1, -1) for place in range(total + 1))


EMULATIONS = {
    each.name: each
    for each in (
        Emulation("3xtf32", "f32", "tf32", _up_to(1), "tf32"),
        Emulation("3xbf16", "f32", "bf16", _up_to(1), "full"),
        Emulation("6xbf16", "f32", "bf16", _up_to(2), "full"),
    )
}
"""By the values of `precision`. Three tf32 products keep 22 bits of each product, three of bf16 16, six of bf16 24."""

REMAINDERS = "ozaki"
"""The value of `precision` with which f64 is multiplied by 8-bit integers (`multiply-remainders`)."""
EMULATED = (*EMULATIONS, REMAINDERS)


def multiplied_as(precision: str) -> str:
    """The precision with which the products in a kernel are multiplied, where the schedule's is an emulation."""
    return EMULATIONS[precision].multiplied if precision in EMULATIONS else precision
