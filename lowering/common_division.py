"""Division of many f32 numbers by the same one: by its reciprocal, with a correction, which takes a third of the time.

The quotient x r, with r the reciprocal of y, is off by a few units in the last place. What is left, x - q y, is
computed exactly by a fused multiply-add, and corrects it: the result is the correctly rounded one (Markstein,
"Computation of elementary functions on the IBM RISC System/6000 processor", 1990) as long as nothing overflows or
underflows. Divisors for which that is not certain get NaN instead of a reciprocal, and where a result is NaN an exact
division is used. Of quotients whose numerator is below 2^-100 the last bit may differ. What is rounded to 16 bits next
is not corrected.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir

LEAST, MOST = 2.0**-100, 2.0**100
"""Divisors, by magnitude, that have a reciprocal here."""


def reciprocal(divisor: Any) -> Any:
    """The reciprocals of the divisors in a vector of f32, NaN for those out of range."""
    arith, math, type_ = dialect("arith"), dialect("math"), divisor.type

    def number(value: float) -> Any:
        return constants.splat(type_, ir.FloatAttr.get(type_.element_type, value))

    size = math.AbsFOp(divisor).result
    large = arith.CmpFOp(arith.CmpFPredicate.OGE, size, number(LEAST)).result
    small = arith.CmpFOp(arith.CmpFPredicate.OLE, size, number(MOST)).result
    inverse = arith.DivFOp(number(1.0), divisor).result
    return arith.SelectOp(arith.AndIOp(large, small).result, inverse, number(float("nan"))).result


def spread(piece: Any, type_: Any) -> Any:
    """A vector of one element as one of that element everywhere; any other as it is."""
    if piece.type == type_:
        return piece
    vector = dialect("vector")
    return vector.BroadcastOp(type_, vector.ExtractOp(piece, [], [0]).result).result


def divided(value: Any, divisor: Any, inverse: Any, rounded: bool = False) -> Any:
    """A vector of f32, divided by one of divisors, of which the reciprocals are given too. Results that are `rounded`
    to 16 bits next may be off by 2 units in the last place."""
    arith, math, vector = dialect("arith"), dialect("math"), dialect("vector")
    quotient = arith.MulFOp(value, inverse).result
    if rounded:  # a reciprocal that is a NaN says that there is none; all else is right without a correction
        return _unless_nan(vector.ExtractOp(inverse, [], [0]).result, quotient, value, divisor)
    rest = math.FmaOp(arith.NegFOp(quotient).result, divisor, value).result
    result = math.FmaOp(rest, inverse, quotient).result
    numbers = [vector.ExtractOp(result, [], [place]).result for place in range(result.type.shape[0])]
    total = numbers[0]
    for each in numbers[1:]:  # NaN where one of them is
        total = arith.AddFOp(total, each).result
    return _unless_nan(total, result, value, divisor)


def _unless_nan(number: Any, result: Any, value: Any, divisor: Any) -> Any:
    """A result, or where a number is a NaN the quotient of two vectors."""
    arith, scf = dialect("arith"), dialect("scf")
    is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, number, number).result
    choice = scf.IfOp(is_nan, [result.type], has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp([arith.DivFOp(value, divisor).result])
    with ir.InsertionPoint(choice.else_block):
        scf.YieldOp([result])
    return choice.operation.results[0]
