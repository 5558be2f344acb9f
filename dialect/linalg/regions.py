"""Comparisons of positions in a body, as conditions on two loops (`spec/zeros.py`): sides of diagonals, bands, and
blocks along the diagonal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.spec.zeros import AFTER, APART, BEFORE, Condition

Place = Callable[[Any], int]
"""The loop that a value is the position along; -1 for other values."""
EXTENDING = ("arith.extsi", "arith.extui", "arith.index_cast", "arith.index_castui")
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_NOT = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_DIVISIONS = ("arith.divui", "arith.divsi", "arith.floordivsi")
_SHIFTS = ("arith.shrui", "arith.shrsi")


class _Sum(NamedTuple):
    """Positions, each times a number, and a number."""

    times: Mapping[int, int]
    number: int


def owner_of(value: Any) -> Any | None:
    """The operation that computes a value; None for an argument of a block."""
    owner: Any = value.owner
    return None if hasattr(owner, "operations") else owner.operation


def holding(value: Any, place: Place, names: Mapping[int, str], along: str, negated: bool) -> list[Condition] | None:
    """Conditions of which one holds wherever a truth value does not (`negated`), or does, as far as they can be read:
    `names` are those of two loops, `along` the one that conditions begin with. None where nothing can be."""
    op = owner_of(value)
    if op is None:
        return None
    both = "arith.andi" if negated else "arith.ori"
    if op.name == both and str(value.type) == "i1":
        # Outside of two regions is outside of either; what cannot be read of one is left out.
        sides = [holding(each, place, names, along, negated) for each in op.operands]
        found = [condition for side in sides for condition in side or []]
        return found or None
    if op.name == "arith.xori" and (truth := _number(op.operands[1])) is not None and truth & 1:
        return holding(op.operands[0], place, names, along, not negated)
    if op.name != "arith.cmpi":
        return None
    number: int = ir.IntegerAttr(op.attributes["predicate"]).value
    predicate = _PREDICATES[number]
    unsigned, relation = predicate.startswith("u"), predicate[-2:]
    relation = _NOT[relation] if negated else relation
    if relation == "ne":
        return _apart(op, place, names, along)
    if relation == "eq":
        return None
    return _beside(op, relation, unsigned, place, names, along)


def _beside(
    op: Any, relation: str, unsigned: bool, place: Place, names: Mapping[int, str], along: str
) -> list[Condition] | None:
    """Sides of diagonals, from a comparison of sums, or of the distance between positions and a number."""
    left, right = op.operands
    distance, number = owner_of(left), _number(right)
    if distance is not None and distance.name == "math.absi" and number is not None and relation in ("gt", "ge"):
        inner = _sum(distance.operands[0], place)
        far = number if relation == "gt" else number - 1
        found = [_side(inner, _Sum({}, limit), way, names, along) for limit, way in ((far, "gt"), (-far, "lt"))]
        return [each for each in found if each is not None] or None
    sums = [_sum(each, place) for each in (left, right)]
    if unsigned and any(each is None or each.number < 0 or min(each.times.values(), default=0) < 0 for each in sums):
        return None
    found = _side(sums[0], sums[1], relation, names, along)
    return None if found is None else [found]


def _side(
    left: _Sum | None, right: _Sum | None, relation: str, names: Mapping[int, str], along: str
) -> Condition | None:
    """`left relation right` as a condition `along > across + offset` or `along < across + offset`."""
    if left is None or right is None:
        return None
    times = {loop: left.times.get(loop, 0) - right.times.get(loop, 0) for loop in {*left.times, *right.times}}
    times = {loop: count for loop, count in times.items() if count}
    number = left.number - right.number
    first = next((loop for loop, name in names.items() if name == along), -1)
    (across,) = [loop for loop in names if loop != first]
    if set(times) != {first, across} or times[first] != -times[across] or abs(times[first]) != 1:
        return None
    # times[first] * (along - across) + number relation 0
    greater = relation in ("gt", "ge")
    offset = -number * times[first]
    if times[first] < 0:
        greater = not greater
    if relation in ("ge", "le"):
        offset += -1 if greater else 1
    return weakened(Condition(along, AFTER if greater else BEFORE, names[across], offset))


def weakened(condition: Condition) -> Condition:
    """The main diagonal too counts as not zero where all beside it is zero, so that triangles are one kind."""
    next_to_it = {AFTER: -1, BEFORE: 1}.get(condition.kind)
    return replace(condition, offset=0) if condition.offset and condition.offset == next_to_it else condition


def _apart(op: Any, place: Place, names: Mapping[int, str], along: str) -> list[Condition] | None:
    """Blocks along the diagonal, from quotients of positions that differ."""
    found = dict(_quotient(each, place) for each in op.operands)
    if set(found) != set(names):
        return None
    first = next(loop for loop, name in names.items() if name == along)
    (across,) = [loop for loop in names if loop != first]
    if found[first] == found[across] == 1:  # a diagonal
        return [Condition(along, AFTER, names[across]), Condition(along, BEFORE, names[across])]
    return [Condition(along, APART, names[across], 0, found[first], found[across])]


def _quotient(value: Any, place: Place) -> tuple[int, int]:
    """A loop, and what its position is divided by; -1 for other values."""
    if (loop := place(value)) >= 0:
        return loop, 1
    op = owner_of(value)
    while op is not None and op.name in EXTENDING:
        op = owner_of(op.operands[0])
    if op is None or op.name not in (*_DIVISIONS, *_SHIFTS):
        return -1, 1
    number, loop = _number(op.operands[1]), place(op.operands[0])
    if number is None or number < (op.name in _DIVISIONS):
        return -1, 1
    return loop, number if op.name in _DIVISIONS else 1 << number


def _sum(value: Any, place: Place) -> _Sum | None:
    """A value as a sum of positions; None where it is something else."""
    if (loop := place(value)) >= 0:
        return _Sum({loop: 1}, 0)
    if (number := _number(value)) is not None:
        return _Sum({}, number)
    op = owner_of(value)
    if op is None:
        return None
    if op.name in EXTENDING:
        return _sum(op.operands[0], place)
    if op.name not in ("arith.addi", "arith.subi"):
        return None
    left, right = (_sum(each, place) for each in op.operands)
    if left is None or right is None:
        return None
    sign = 1 if op.name == "arith.addi" else -1
    loops = {*left.times, *right.times}
    times = {loop: left.times.get(loop, 0) + sign * right.times.get(loop, 0) for loop in loops}
    return _Sum(times, left.number + sign * right.number)


def _number(value: Any) -> int | None:
    """The integer that a value is; None where it is not known."""
    op = owner_of(value)
    if op is None or op.name != "arith.constant" or not isinstance(op.attributes["value"], ir.IntegerAttr):
        return None
    return ir.IntegerAttr(op.attributes["value"]).value
