"""Whether a combination of numbers, or of several at once, gives the same in any order, by evaluating it.

`f(left, right)` combines two tuples of arrays. It is evaluated on what a reduction can meet: elements, some thousand
drawn ones and special ones, and what `f` makes of them. Integers must be equal. Floating-point numbers, which are
evaluated without rounding in float64, must be equal up to a billionth of the greatest number on the way: what differs
then is rounding, as in sums. Where finite numbers lead to an infinity or NaN on the way (a quotient by zero), nothing
is asked, as where a sum overflows. What is NaN or infinite where an operand has NaN must be so in any order; where
nothing rounds, NaN, infinities and all else must be equal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect.body_numbers import Array

Tuple = list[Array]
Evaluated = tuple[Tuple, Array]
"""What is combined, and the greatest number on the way."""
Function = Callable[[Sequence[Any], Sequence[Any]], Evaluated]
COUNT = 600
"""Elements that are drawn."""
TOLERANCE, SINGULAR, MOST_NEUTRAL = 1e-9, 0.5, 300
"""The part of the greatest number by which results may differ, the part of the draws that may be singular, and neutral
tuples that are tried."""


@dataclass(frozen=True)
class Type:
    """Of a number that is combined."""

    bits: int
    is_float: bool


@dataclass(frozen=True)
class Neutral:
    """What a combination leaves as it is, and where that holds."""

    numbers: tuple[Any, ...]
    is_whole: bool
    """Whether every element stays as it is, not only what is combined of two or more: the start is combined last then
    even if it is neutral."""
    any_start: bool
    """Whether a reduction may start from any numbers."""
    is_general: bool = False
    """Whether any numbers may be combined, not only those that the body computes from its inputs."""


def draw(type_: Type, rng: Any, special: Sequence[Any], count: int = COUNT) -> Array:
    """Numbers of a type: small ones that are often equal, drawn ones of all magnitudes, and special ones."""
    sort = rng.integers(0, 4, count)
    if type_.is_float:
        few = rng.choice([-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0], count)
        wide = rng.standard_normal(count) * 10.0 ** rng.integers(-2, 5, count)
        odd = rng.choice(np.array([1.0, *special, *(-each for each in special)], float), count)
        odd = odd * rng.choice([1.0, 1.0, 0.5, 1.25], count)
        return np.select([sort == 0, sort == 1, sort == 2], [few, wide, odd], rng.standard_normal(count))
    if type_.bits == 1:
        return rng.integers(0, 2, count).astype(bool)
    low, high = -(1 << type_.bits - 1), (1 << type_.bits - 1) - 1
    own = [each for each in special if isinstance(each, int) and low <= each <= high]
    edges = np.array([low, low + 1, high, high - 1, -1, 0, 1, *own], np.int64)
    near = np.clip(rng.choice(edges, count), low + 2, high - 2) + rng.integers(-2, 3, count)
    return np.select([sort == 0, sort == 1, sort == 2], [rng.integers(-4, 5, count), rng.choice(edges, count), near],
                     rng.integers(low, high, count, endpoint=True))  # fmt: skip


def _joined(parts: Sequence[Tuple]) -> Tuple:
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


class OrderTests:
    """Tests of a function on tuples of these types. `elements` draws what is combined, by a random generator;
    `special` are numbers that the body compares with, for each type of number; `rounds` says whether it rounds."""

    def __init__(self, function: Function, types: Sequence[Type], elements: Callable[[Any], Tuple],
                 special: Sequence[Any], *, rounds: bool) -> None:  # fmt: skip
        self.function, self.types, self.special, self.rounds = function, types, special, rounds
        rng = np.random.default_rng(20261128)
        drawn = [elements(rng) for _ in range(9)]
        pairs = [self._plain(one, other) for one, other in zip(drawn[:4], drawn[4:8], strict=True)]
        more = self._plain(pairs[0], pairs[1])
        pool = drawn[0], drawn[6], pairs[1], more, drawn[7], pairs[2], drawn[8]
        self.sides = [_joined([pool[(place + turn) % len(pool)] for place in range(len(pool))]) for turn in (0, 1, 3)]
        """Three operands, each of elements and of what is combined of two and of four."""
        self.combined = [_joined([pairs[0], pairs[1], more]), _joined([pairs[2], pairs[3]])]
        self.anything = [draw(type_, rng, special, len(self.sides[0][0])) for type_ in types]

    def _plain(self, left: Sequence[Any], right: Sequence[Any]) -> Tuple:
        found, _ = self.function(left, right)
        return [np.broadcast_to(each, (COUNT,)) for each in found]

    def neutral(self) -> Neutral | str:
        """What is neutral, where the function gives the same in any order; else why it does not."""
        a, b, c = self.sides
        if not self._same(self._of(a, b), self._of(b, a)):
            return "operands that are exchanged give another result"
        if not self._same(self._of(a, b, c), self._of_last(a, b, c)):
            return "elements that meet in another order give another result"
        if not self._odd_are_same():
            return "with NaN, or infinities, another order gives another result"
        return next(filter(None, map(self._neutral, self._candidates())), "no number is known that is neutral to it")

    def _candidates(self) -> list[tuple[Any, ...]]:
        """Tuples that may be neutral, those of one number first."""
        choices: list[list[Any]] = []
        for type_ in self.types:
            if type_.is_float:
                choices.append([0.0, 1.0, -np.inf, np.inf])
            elif type_.bits == 1:
                choices.append([False, True])
            else:
                choices.append([0, 1, -1, -(1 << type_.bits - 1), (1 << type_.bits - 1) - 1])
        choices = [[*each, *(n for n in self.special if isinstance(n, float) is type_.is_float and n not in each)]
                   if type_.bits > 1 else each for each, type_ in zip(choices, self.types, strict=True)]  # fmt: skip
        return list(itertools.islice(itertools.product(*choices), MOST_NEUTRAL))

    def _neutral(self, numbers: tuple[Any, ...]) -> Neutral | None:
        def everywhere(like: Tuple) -> Tuple:
            return [np.full(len(like[0]), number) for number in numbers]

        a, b, _ = self.sides
        e, few = everywhere(a), [np.full(1, number) for number in numbers]
        both, _ = self.function(few, few)
        if not all(np.array_equal(one, other) for one, other in zip(both, few, strict=True)):
            return None
        is_whole = self._leaves(e, a) and all(
            self._equal(self._of(e, each)[0], each) and self._equal(self._of(each, e)[0], each) for each in self._odd(a)
        )
        if not is_whole and not all(self._leaves(everywhere(each), each) for each in self.combined):
            return None
        if not is_whole and not all(self._joins(e, each, b) for each in (a, *self._odd(a))):
            return None
        return Neutral(numbers, is_whole, self._continues(self.anything, a, b, e)) if self._continues(e, a, b, e) \
            else None  # fmt: skip

    def _leaves(self, e: Tuple, a: Tuple) -> bool:
        known: Evaluated = a, np.zeros(())
        return self._same(self._of(e, a), known, e) and self._same(self._of(a, e), known, e)

    def _joins(self, e: Tuple, a: Tuple, b: Tuple) -> bool:
        """Whether elements that were combined with what is neutral give what they give."""
        known, before, between = self._of(a, b), self._of(e, a, b), self._of(a, e, b)
        if all(np.all(np.isfinite(each)) for each in a):
            return self._same(before, known, e) and self._same(between, known, e)
        return self._equal(before[0], known[0]) and self._equal(between[0], known[0])

    def _continues(self, start: Tuple, a: Tuple, b: Tuple, e: Tuple) -> bool:
        """Whether what starts from something is that combined with all elements, and with what is neutral."""
        alone = self._of(start, a)
        return all(
            self._same(one, other, [*start, *e])
            for one, other in ((self._of(start, a, b), self._of_last(start, a, b)),
                               (self._of_last(start, e, a), alone), (self._of_last(start, a, e), alone))
        )  # fmt: skip

    def _of(self, *operands: Tuple) -> Evaluated:
        """Operands combined from the first on."""
        found, greatest = self.function(operands[0], operands[1])
        for each in operands[2:]:
            found, more = self.function(found, each)
            greatest = np.maximum(greatest, more)
        return found, greatest

    def _of_last(self, first: Tuple, second: Tuple, third: Tuple) -> Evaluated:
        """The first operand combined with what the others are."""
        inner, greatest = self.function(second, third)
        found, more = self.function(first, inner)
        return found, np.maximum(greatest, more)

    def _same(self, one: Evaluated, other: Evaluated, e: Sequence[Any] = ()) -> bool:
        """Whether results are the same; where something neutral among the operands, `e`, is infinite, everywhere."""
        infinite = not all(np.all(np.isfinite(each)) for each in e)
        scale = np.maximum(one[1], other[1])
        regular = np.isfinite(scale) | infinite
        if regular.mean() < 1 - SINGULAR:
            return False
        for type_, left, right in zip(self.types, one[0], other[0], strict=True):
            same = np.equal(left, right)
            if type_.is_float and self.rounds:
                with np.errstate(all="ignore"):
                    room = np.maximum(np.maximum(np.abs(left), np.abs(right)), 1) if infinite else scale
                    same = same | (np.abs(left - right) <= TOLERANCE * room) | ~regular
            if not np.all(same):
                return False
        return True

    def _odd(self, operand: Tuple) -> list[Tuple]:
        """An operand with NaN, and with infinities where nothing rounds, in each place."""
        numbers = [np.nan] if self.rounds else [np.nan, np.inf, -np.inf]
        places = [place for place, type_ in enumerate(self.types) if type_.is_float]
        return [[np.full_like(each, number) if own == place else each for own, each in enumerate(operand)]
                for place in places for number in numbers]  # fmt: skip

    def _odd_are_same(self) -> bool:
        a, b, c = self.sides
        operands = [*((each, b, c) for each in self._odd(a)),
                    *((one, other, c) for one in self._odd(a) for other in self._odd(b))]  # fmt: skip
        for one, two, three in operands:
            orders = [self._of(*each)[0] for each in itertools.permutations((one, two, three))]
            orders.append(self._of_last(one, two, three)[0])
            if not all(self._equal(each, orders[0]) for each in orders):
                return False
        return True

    def _equal(self, one: Tuple, other: Tuple) -> bool:
        """Whether results are equal where nothing rounds, or else NaN or infinite in the same places."""
        pairs = [(a, b) for a, b, type_ in zip(one, other, self.types, strict=True) if type_.is_float]
        if self.rounds:
            return all(np.array_equal(np.isfinite(a), np.isfinite(b)) for a, b in pairs)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)
