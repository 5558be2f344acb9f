"""arith.remf: the remainder of a division that is truncated, exactly, by long division of the mantissas."""

from __future__ import annotations

import math

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.functions.approximations import F64, format_of, scaled
from mlir_gemm.dialect.functions.number import INFINITY, NAN, Number, absolute, select, with_sign

_ROUNDS_F32 = 8
"""32 bits each: the quotient of two f32 has up to 277 bits."""
_STEP_F64 = 11
"""How far a remainder of 53 bits can be shifted in 64. The quotient of two f64 has up to 2098 bits."""


def remainder(x: Number, y: Number) -> Number:
    """x - y n for the whole number n of the quotient, exactly, with the sign of x, as C's fmod, in f32 or f64."""
    (left, exponent), (right, least) = _mantissa(absolute(x)), _mantissa(absolute(y))
    missing = exponent - least
    missing = select(missing < 0, 0, missing)
    right = select(right.equals(0), 1, right)
    rest = left.remainder(right)
    if format_of(x) is F64:
        return _from_mantissas(x, y, _divided_in_a_loop(rest, right, missing), least)
    for _ in range(_ROUNDS_F32):
        rest, missing = _further(rest, right, missing, 32)
    return _from_mantissas(x, y, rest, least)


def _further(rest: Number, right: Number, missing: Number, most: int) -> tuple[Number, Number]:
    """A step of the division: the next bits of the quotient, at most this many, and how many are left."""
    step = select(missing < most, missing, most)
    return (rest << step).remainder(right), missing - step


def _divided_in_a_loop(rest: Number, right: Number, missing: Number) -> Number:
    arith, scf, index = dialect("arith"), dialect("scf"), ir.IndexType.get()
    most = _largest(missing) if missing.vector else missing
    rounds = (most + (_STEP_F64 - 1)).quotient(_STEP_F64)
    zero, one = (arith.ConstantOp(index, ir.IntegerAttr.get(index, number)).result for number in (0, 1))
    loop = scf.ForOp(zero, arith.IndexCastOp(index, rounds.value).result, one, [rest.value, missing.value])
    with ir.InsertionPoint(loop.body):
        now, still = (Number(argument) for argument in loop.inner_iter_args)
        scf.YieldOp([each.value for each in _further(now, right, still, _STEP_F64)])
    return Number(loop.results[0])


def _largest(x: Number) -> Number:
    """The largest element of a vector of any rank."""
    vector, shape = dialect("vector"), list(ir.VectorType(x.type).shape)
    flat = vector.ShapeCastOp(ir.VectorType.get([math.prod(shape)], x.element), x.value).result
    return Number(vector.ReductionOp(x.element, vector.CombiningKind.MAXSI, flat).result)


def _from_mantissas(x: Number, y: Number, rest: Number, least: Number) -> Number:
    """The remainder of x and y from that of their mantissas, at the exponent of y."""
    size, limit, form = absolute(x), absolute(y), format_of(x)
    scale = least - (form.bias + form.mantissa)
    scale = scale if form is F64 else scale.converted("TruncIOp", ir.IntegerType.get_signless(32))
    result = scaled(rest.converted("SIToFPOp", x.element), scale)
    result = with_sign(select(size < limit, x, result), x)
    defined = (size < INFINITY) & (limit > 0.0)  # false for NaN
    return select(defined, result, NAN)


def _mantissa(x: Number) -> tuple[Number, Number]:
    """Mantissa and biased exponent of a number that is not negative, as integers of 64 bits."""
    form = format_of(x)
    bits = x.bits() if form is F64 else x.bits().converted("ExtUIOp", ir.IntegerType.get_signless(64))
    exponent, fraction = bits >> form.mantissa, bits & ((1 << form.mantissa) - 1)
    small = exponent.equals(0)
    return select(small, fraction, fraction + (1 << form.mantissa)), select(small, 1, exponent)
