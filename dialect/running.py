"""The running form of a maximum and of a sum of exponentials after it: both in one pass over a row.

`m = max x` and `s = sum exp(x - m)` are carried together: where the maximum grows from `m` to `n`, the sum so far is
multiplied by `exp(m - n)`. Of two parts the one with the smaller maximum is scaled by `e = exp(-|m - n|)`, which is
never more than 1. An element `x` is the part `(x, 1)`, and `(-inf, 0)` changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir

LEAST = -1e4
"""What exponents are not below: exp is 0 there in f32 and f64. It stands for infinity less infinity too, which is no
number: of two parts with nothing but -inf both sums are kept as they are."""
GREATER = 2
"""The predicate `ogt` of arith.cmpf."""


@dataclass(frozen=True)
class Running:
    """What a reduction's body does with two of its outputs: a maximum, and a sum that is scaled when that grows."""

    outputs: tuple[int, int]
    """The numbers of the outputs that hold the maximum and the sum."""
    values: tuple[Any, Any]
    """The maximum and the sum of what is added, computed in the body from inputs alone."""

    @property
    def neutrals(self) -> tuple[Any, ...]:
        """The attributes of what changes nothing."""
        type_ = self.values[0].type
        return ir.FloatAttr.get(type_, -math.inf), ir.FloatAttr.get(type_, 0.0)

    def join(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """The maximum and the sum of two sides, numbers or vectors, at the insertion point."""
        return joined(left, right)

    def join_all(self, before: Sequence[Any], parts: Sequence[Sequence[Any]]) -> list[Any]:
        """What a pass has and several elements, which are scaled to the greatest of all, at the insertion point: an
        exponential for each element, and one for the sum so far."""
        arith = dialect("arith")
        greatest, sum_ = before
        for value, _ in parts:
            greatest = arith.MaximumFOp(value, greatest).result
        added = [arith.MulFOp(weight, _scale(value, greatest)).result for value, weight in parts]
        while len(added) > 1:
            pairs = [arith.AddFOp(*added[n : n + 2]).result for n in range(0, len(added) - 1, 2)]
            added = [*pairs, *added[2 * len(pairs) :]]
        scaled = arith.MulFOp(sum_, _scale(before[0], greatest)).result
        return [greatest, arith.AddFOp(scaled, added[0]).result]


def _scale(value: Any, greatest: Any) -> Any:
    """exp(value - greatest), of numbers that are not greater."""
    difference = dialect("arith").SubFOp(value, greatest).result
    bounded = dialect("arith").MaxNumFOp(difference, _constant(value.type, LEAST)).result
    return dialect("math").ExpOp(bounded).result


def joined(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
    """The maximum and the sum of two sides, at the insertion point."""
    arith, functions = dialect("arith"), dialect("math")
    (most, sum_), (value, weight) = left, right
    greatest = arith.MaximumFOp(value, most).result
    distance = functions.AbsFOp(arith.SubFOp(value, most).result).result
    exponent = arith.MaxNumFOp(arith.NegFOp(distance).result, _constant(most.type, LEAST)).result
    factor = functions.ExpOp(exponent).result
    grown = arith.AddFOp(arith.MulFOp(sum_, factor).result, weight).result
    added = arith.AddFOp(sum_, arith.MulFOp(weight, factor).result).result
    greater = arith.CmpFOp(arith.CmpFPredicate.OGT, value, most).result
    return [greatest, arith.SelectOp(greater, grown, added).result]


def running_of(outputs: Sequence[Any], yielded: Sequence[Any], number: int, other: int) -> Running | None:
    """What a body does with the outputs of two numbers, if that is the running form. `outputs` are the body's arguments
    of all outputs."""
    most, sum_ = outputs[number], outputs[other]
    greatest = _made(yielded[number], "arith.maximumf")
    chosen = _made(yielded[other], "arith.select")
    if len(outputs) != 2 or greatest is None or chosen is None or most not in list(greatest.operands):
        return None
    value = next((each for each in greatest.operands if each != most), None)
    test, grown, added = (_made(each, name) for each, name in
                          zip(chosen.operands, ("arith.cmpf", "arith.addf", "arith.addf"), strict=True))  # fmt: skip
    if value is None or test is None or grown is None or added is None:
        return None
    if list(test.operands) != [value, most] or ir.IntegerAttr(test.attributes["predicate"]).value != GREATER:
        return None
    scaled = _made(grown.operands[0], "arith.mulf")
    if scaled is None or scaled.operands[0] != sum_ or added.operands[0] != sum_:
        return None
    weight, factor = grown.operands[1], scaled.operands[1]
    if not _is_factor(factor, value, most) or not _is_scaled(added.operands[1], weight, factor):
        return None
    return Running((number, other), (value, weight))


def _is_factor(value: Any, one: Any, most: Any) -> bool:
    """exp(max(-|one - most|, LEAST))."""
    exponent = _made(value, "math.exp")
    bound = exponent and _made(exponent.operands[0], "arith.maxnumf")
    negative = bound and _made(bound.operands[0], "arith.negf")
    distance = negative and _made(negative.operands[0], "math.absf")
    difference = distance and _made(distance.operands[0], "arith.subf")
    if not bound or not difference or list(difference.operands) != [one, most]:
        return False
    return _number(bound.operands[1]) == LEAST


def _is_scaled(value: Any, weight: Any, factor: Any) -> bool:
    """weight * factor, of which nothing is left but the factor where the weight is 1."""
    product = _made(value, "arith.mulf")
    if product is None:
        return value == factor and _number(weight) == 1
    return list(product.operands) == [weight, factor]


def _made(value: Any, name: str) -> Any:
    """The operation of a name that makes a value, or None."""
    owner = getattr(value.owner, "operation", None)
    return owner if owner is not None and owner.name == name else None


def _number(value: Any) -> float | None:
    made = _made(value, "arith.constant")
    return None if made is None else float(ir.FloatAttr(made.attributes["value"]).value)


def _constant(type_: Any, number: float) -> Any:
    """A number of a type, everywhere in a vector."""
    if isinstance(type_, ir.VectorType):
        return constants.splat(type_, ir.FloatAttr.get(type_.element_type, number))
    return dialect("arith").ConstantOp(type_, number).result
