"""Which variant of a kernel runs for which sizes, where sizes are known at run time only.

A variant is compiled for typical values of the unknown sizes, its hints, and runs for all others too. What suits given
sizes is a question for the model: of the variants whose hints are around them, the one that it predicts to be fastest.
Hints that lead to the same schedules are one variant.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.select import by_time, estimate, is_less, select

HINTS = (16, 128, 512, 2048, 8192)
"""Typical values of an unknown size: from one to the next, a schedule loses little of its speed."""
DEFAULT_HINT = 512
"""What is assumed of an unknown size of which nothing is said."""
MOST_SYMBOLS = 3
"""Unknown sizes of which both neighbouring hints are considered: every one more doubles the work."""
WORTH = 0.95
"""A variant other than the usual one is taken when its predicted time is below this part of the usual one's."""
_FACTORS = (3, 5, 7, 11, 13, 17, 19, 23)
"""Primes, one for each unknown size, that tell the sizes apart in how a product changes."""
_FIELDS = ("m", "n", "k", "batch")

Sizes = Mapping[str, int]
"""Values of unknown sizes by their symbols."""


@dataclass(frozen=True)
class Product:
    """A matrix product whose sizes depend on unknown ones: each is a number times powers of them."""

    problem: Problem
    """With all unknown sizes at some values."""
    sizes: tuple[tuple[str, int], ...]
    """These values."""
    powers: tuple[tuple[int, ...], ...]
    """For m, n, k and batch the exponent of each unknown size."""

    def at(self, sizes: Sizes) -> Problem:
        """The product for other values, of which 0 counts as 1."""
        changed: dict[str, Any] = {}
        for field, powers in zip(_FIELDS, self.powers, strict=True):
            extent: int = getattr(self.problem, field)
            for (name, known), power in zip(self.sizes, powers, strict=True):
                extent = extent * max(1, sizes[name]) ** power // known**power
            changed[field] = max(1, extent)
        return dataclasses.replace(self.problem, **changed)


def changed(sizes: Sizes) -> dict[str, int]:
    """Other sizes, at which a product shows how it depends on each."""
    return {name: size * factor for (name, size), factor in zip(sizes.items(), _FACTORS, strict=False)}


def product_of(problem: Problem, sizes: Sizes, other: Problem) -> Product | None:
    """The product that is `problem` at `sizes`, and `other` where they are `changed`; None where its sizes are no
    powers of the unknown ones."""
    if len(sizes) > len(_FACTORS):
        return None
    powers: list[tuple[int, ...]] = []
    for field in _FIELDS:
        ratio, rest = divmod(getattr(other, field), getattr(problem, field))
        if rest:
            return None
        own: list[int] = []
        for factor in _FACTORS[: len(sizes)]:
            own.append(0)
            while ratio % factor == 0:
                ratio //= factor
                own[-1] += 1
        if ratio != 1:
            return None
        powers.append(tuple(own))
    return Product(problem, tuple(sizes.items()), tuple(powers))


def neighbours(value: int) -> tuple[int, ...]:
    """The hints around a size: the next below and above, or the one that it is or that is nearest."""
    below = [hint for hint in HINTS if hint <= value][-1:]
    above = [hint for hint in HINTS if hint >= value][:1]
    return tuple(dict.fromkeys(below + above))


def nearest(value: int) -> int:
    """The hint nearest to a size, by their ratio."""
    size = max(1, value)
    return min(HINTS, key=lambda hint: max(hint / size, size / hint))


class Chooser:
    """Chooses hints for the sizes of a call. `pinned` are the schedule's fields that the user fixed.

    The products must be as they are with the alignment that the variants assume.
    """

    def __init__(self, products: Sequence[Product], target: Target, pinned: Mapping[str, Any]) -> None:
        self._products = products
        self._target = target
        self._pinned = pinned
        self._schedules: dict[tuple[int, ...], tuple[Schedule, ...]] = {}

    def choose(self, sizes: Sizes) -> dict[str, int]:
        """The hints of the variant that is predicted to be fastest for `sizes`, or the usual ones if these are about as
        good; the nearest where the model has no answer. The smallest hints stand for all that give the same
        schedules."""
        near = {name: nearest(size) for name, size in sizes.items()}
        usual = dict.fromkeys(sizes, DEFAULT_HINT)
        if not self._products:
            return usual
        if len(sizes) > MOST_SYMBOLS:
            return near
        try:
            around = itertools.product(*(neighbours(size) for size in sizes.values()))
            best = by_time(around, lambda hints: self._seconds(hints, sizes), key=lambda hints: hints)[0]
            if not is_less(self._seconds(best, sizes), WORTH * self.seconds(usual, sizes)):
                return usual
            return self._standing_for(dict(zip(sizes, best, strict=True)))
        except Error:  # no legal schedule for one of the hints: its compilation says so, if it comes to that
            return near

    def seconds(self, hints: Sizes, sizes: Sizes) -> float:
        """Predicted time of all products at `sizes` by the schedules for `hints`."""
        return self._seconds(tuple(hints[name] for name in sizes), sizes)

    def _seconds(self, hints: tuple[int, ...], sizes: Sizes) -> float:
        schedules = self._schedules_for(dict(zip(sizes, hints, strict=True)))
        return sum(
            estimate(product.at(sizes), schedule, self._target).total
            for product, schedule in zip(self._products, schedules, strict=True)
        )

    def _schedules_for(self, hints: Sizes) -> tuple[Schedule, ...]:
        key = tuple(hints.values())
        if key not in self._schedules:
            self._schedules[key] = tuple(
                select(product.at(hints), self._target, self._pinned).schedule for product in self._products
            )
        return self._schedules[key]

    def _standing_for(self, hints: dict[str, int]) -> dict[str, int]:
        wanted = self._schedules_for(hints)
        for name in hints:
            smaller = [hint for hint in HINTS if hint < hints[name]]
            while smaller and self._schedules_for({**hints, name: smaller[-1]}) == wanted:
                hints = {**hints, name: smaller.pop()}
        return hints


def typical(size: int) -> int:
    """The hint for rows that is nearest to a size: `DEFAULT_HINT` times, or by, a power of four."""
    hint = DEFAULT_HINT
    while size >= 2 * hint:
        hint *= 4
    while hint > 2 and 2 * size < hint:
        hint //= 4
    return hint
