"""The body of a reduction, cut into what is combined and how it is combined.

A body computes `f(outputs, values)`: as many values as outputs, of the same types, each computed from inputs alone. It
can often be cut in several ways, as `max(|output|, |input|)` can.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.on_vectors import build_on, one_type

if TYPE_CHECKING:
    from mlir_gemm.dialect.order_tests import Neutral


@dataclass(frozen=True)
class Body:
    """What a reduction's body does with several of its outputs, or one, together."""

    outputs: tuple[int, ...]
    """The numbers of the outputs."""
    values: tuple[Any, ...]
    """What each is combined with, computed in the body from inputs alone."""
    arguments: tuple[Any, ...]
    """The body's arguments that hold what the outputs have so far."""
    operations: tuple[Any, ...]
    """The operations that combine them, in the order of the body."""
    yielded: tuple[Any, ...]
    """What they combine to."""
    neutral: Neutral | None = None
    """What evaluation found."""

    @property
    def neutrals(self) -> tuple[Any, ...]:
        """The attributes of what changes nothing."""
        numbers = self.neutral.numbers if self.neutral else ()
        return tuple(constants.number(value.type, each) for value, each in zip(self.values, numbers, strict=True))

    @property
    def is_whole(self) -> bool:
        """Whether an element that is combined with what is neutral stays as it is."""
        return self.neutral is not None and self.neutral.is_whole

    @property
    def any_start(self) -> bool:
        """Whether a reduction may start from any numbers, not only from what is neutral."""
        return self.neutral is not None and self.neutral.any_start

    def join(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """The combination of two sides, a number or vector for each output, at the insertion point."""
        known: dict[Any, Any] = dict(zip([*self.arguments, *self.values], [*left, *right], strict=True))
        for each in self.operations:
            outside = (value for value in each.operands if value not in known and is_constant(value))
            known.update((value, value.owner.attributes["value"]) for value in outside)
            build_on(each, known)
        return [known[value] for value in self.yielded]


def is_constant(value: Any) -> bool:
    """Whether an arith.constant makes a value."""
    return getattr(value.owner, "name", "") == "arith.constant"


def _outputs(generic: Generic) -> list[Any]:
    return list(generic.body.arguments)[len(generic.inputs) :]


def _needed(inner: list[Any], wanted: Sequence[Any]) -> set[Any]:
    """All values that some are computed from, with them."""
    found = set(wanted)
    for op in reversed(inner):
        if found & set(op.results):
            found.update(op.operands)
    return found


def together(generic: Generic, inner: list[Any], number: int) -> tuple[int, ...]:
    """The numbers of the outputs that depend on each other, with that of one of them."""
    outputs = _outputs(generic)
    needs = [{n for n, output in enumerate(outputs) if output in _needed(inner, [value])} | {own}
             for own, value in enumerate(generic.yielded)]  # fmt: skip
    found = {number}
    while grown := {n for each in needs if each & found for n in each} - found:
        found |= grown
    return tuple(sorted(found))


def cuts_of(generic: Generic, inner: list[Any], outputs: tuple[int, ...]) -> Iterator[Body]:
    """Ways to see what is done with outputs as a function of them and of as many values, the nearest first."""
    arguments = [_outputs(generic)[number] for number in outputs]
    yielded = [generic.yielded[number] for number in outputs]
    needed = _needed(inner, yielded)
    after = set(arguments)  # what depends on outputs
    given = set(generic.body.arguments) - after  # what depends on inputs
    order = {value: place for place, value in enumerate(generic.body.arguments)}
    for op in inner:
        order.update((result, len(order) + place) for place, result in enumerate(op.results))
        if after & set(op.operands):
            after.update(op.results)
        elif given & set(op.operands) or op.name == "linalg.index":
            given.update(op.results)
    used = {value for op in inner if set(op.results) & after & needed for value in op.operands}
    values = (used | set(yielded)) & given
    for _ in range(len(inner) + 1):
        if len(values) == len(outputs):
            steps = tuple(_steps(inner, yielded, values))
            for each in itertools.permutations(sorted(values, key=lambda value: order[value])):
                types = [one.type for one in each]
                if types == [argument.type for argument in arguments] and len(set(types[one_type(types) :])) < 2:
                    yield Body(outputs, each, tuple(arguments), steps, tuple(yielded))
        made = [value for value in values if getattr(value.owner, "name", "linalg.index") != "linalg.index"]
        if not made:
            return
        last = max(made, key=lambda value: order[value])
        values = (values - {last}) | (set(last.owner.operation.operands) & given)


def _steps(inner: list[Any], yielded: Sequence[Any], values: set[Any]) -> list[Any]:
    """The operations that compute what is yielded from values and outputs."""
    wanted, found = set(yielded) - values, list[Any]()
    for op in reversed(inner):
        if wanted & set(op.results):
            found.insert(0, op)
            wanted.update(set(op.operands) - values)
    return found
