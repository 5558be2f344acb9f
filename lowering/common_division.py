"""Division of f32 numbers by the same one, or by a constant: by its reciprocal, with a correction, in a third of the
time.

The quotient x r, with r the reciprocal of y, is off by a few units in the last place. What is left, x - q y, is
computed exactly by a fused multiply-add, and corrects it: the result is the correctly rounded one (Markstein,
"Computation of elementary functions on the IBM RISC System/6000 processor", 1990) as long as nothing overflows or
underflows. So divisors that are very large or small are scaled by a power of two, and numerators by the same one.
There is no branch: a quotient that is infinite counts as the largest number until it is corrected. Of quotients whose
numerator is below 2^-100 the last bit may differ. What is rounded to 16 bits next is not corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir

LEAST, MOST = 2.0**-100, 2.0**100
"""Divisors, by magnitude, that are not scaled."""
SCALE = 2.0**64
"""By which smaller divisors are multiplied, and larger ones divided. A numerator that overflows then has an infinite
quotient, and one that underflows a quotient of 0."""
LARGEST = (2 - 2.0**-23) * 2.0**127
"""The largest f32."""


@dataclass(frozen=True)
class Divisor:
    """Vectors of f32: divisors, and what quotients are computed from."""

    scale: Any
    """What numerators are multiplied by; None for nothing."""
    reciprocal: Any
    """Of the scaled divisors."""
    finite: Any
    """The scaled divisors, of which infinite ones are the largest number; None for powers of two, whose reciprocals are
    exact."""

    @staticmethod
    def of(divisor: Any) -> Divisor:
        """What dividing by the numbers of a vector takes, at the insertion point."""
        arith = dialect("arith")
        size = dialect("math").AbsFOp(divisor).result
        small = arith.CmpFOp(arith.CmpFPredicate.OLT, size, _all(divisor, LEAST)).result
        large = arith.CmpFOp(arith.CmpFPredicate.OGT, size, _all(divisor, MOST)).result
        down = arith.SelectOp(large, _all(divisor, 1 / SCALE), _all(divisor, 1.0)).result
        scale = arith.SelectOp(small, _all(divisor, SCALE), down).result
        scaled = arith.MulFOp(divisor, scale).result
        return Divisor(scale, arith.DivFOp(_all(divisor, 1.0), scaled).result, _bounded(scaled))

    @staticmethod
    def constant(number: float, type_: Any) -> Divisor | None:
        """Dividing the numbers of a vector by a constant; None for one that would have to be scaled."""
        if not LEAST <= abs(number) <= MOST:
            return None

        def all_(each: float) -> Any:
            return constants.splat(type_, ir.FloatAttr.get(type_.element_type, each))

        is_power = abs(math.frexp(number)[0]) == 0.5
        return Divisor(None, all_(1 / number), None if is_power else all_(number))

    def spread(self, type_: Any) -> Divisor:
        """Of vectors of one element those of that element everywhere; any others as they are."""
        return Divisor(*(_spread(each, type_) for each in (self.scale, self.reciprocal, self.finite)))

    def under(self, value: Any, rounded: bool = False) -> Any:
        """A vector of f32, divided. Results that are `rounded` to 16 bits next may be off by 2 units in the last
        place."""
        arith, multiply_add = dialect("arith"), dialect("math").FmaOp
        numerator = value if self.scale is None else arith.MulFOp(value, self.scale).result
        quotient = arith.MulFOp(numerator, self.reciprocal).result
        if rounded or self.finite is None:
            return quotient
        quotient = _bounded(quotient)
        excess = multiply_add(quotient, self.finite, arith.NegFOp(numerator).result).result
        return multiply_add(arith.NegFOp(excess).result, self.reciprocal, quotient).result


def _all(like: Any, number: float) -> Any:
    return constants.splat(like.type, ir.FloatAttr.get(like.type.element_type, number))


def _bounded(numbers: Any) -> Any:
    """Infinite numbers as the largest; of NaN some number."""
    arith = dialect("arith")
    above = arith.MaxNumFOp(numbers, _all(numbers, -LARGEST)).result
    return arith.MinNumFOp(above, _all(numbers, LARGEST)).result


def _spread(piece: Any, type_: Any) -> Any:
    if piece.type == type_:
        return piece
    vector = dialect("vector")
    return vector.BroadcastOp(type_, vector.ExtractOp(piece, [], [0]).result).result
