"""Shorter formulas where everything computed from a result is rounded to 16 bits.

erf(x) + 1 and exp(x) + 1 do not need a small relative error near zero once 1 is added: every result is within 2^-22 of
the larger term, so that rounding to f16 or bf16 gives the nearest number except for results that lie almost exactly
between two. GELU, which multiplies the first by x/2, needs no sign, and its polynomial is fitted to what the rounding
leaves: 10 instructions for f16 and 9 for bf16, where the functions written out take 27. What is divided by exp(x) + 1,
as SiLU, takes a reciprocal: 5 instructions, without the slow path of an exact division.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isclose, sqrt
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.functions.approximations import LOG2_E, polynomial
from mlir_gemm.dialect.functions.number import Number, absolute, divided_fast, exp2_fast, fma, select
from mlir_gemm.dialect.walk import users

ERFC = (-4.535432162811048e-05, 4.454723675735295e-04, -1.4893276384100318e-03, -7.748143398202956e-04,
        2.8253840282559395e-02, -1.4848168194293976e-01, -9.184163808822632e-01, -1.6279085874557495)  # fmt: skip
"""log2(erfc(x)) / x for 0 <= x <= 4, fitted so that erfc has the least absolute error: 2^-25.9."""
GELU_ERFC = {
    "f16": (3.3114779984989457e-05, -7.5698776455301296e-04, 7.9839346858231805e-03, -5.3148639067916795e-02,
            -4.5905969462098492e-01, -1.1510931044426385),
    "bf16": (-3.0843598270597646e-04, 5.7235245679895673e-03, -4.7973947708609640e-02, -4.6423466069389374e-01,
             -1.1494176109294811),
}  # fmt: skip
"""log2(erfc(x / sqrt(2))) / x for x >= 0, by the type to which GELU is rounded: fitted by linear programming so that
the largest error of GELU, at x and -x, is least in units in the last place (0.008 of f16, 0.027 of bf16). The second
takes 2^-26 x as no error, as f32 itself loses as much of 1 - 1."""
GELU_END = {"f16": 6.0, "bf16": 100.0}
"""x beyond which -GELU(-x) is taken as it is here: less than half of the least number, and zero."""
_ARITHMETIC = (
    "arith.mulf", "arith.addf", "arith.subf", "arith.divf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
    "arith.minnumf", "arith.select",
)  # fmt: skip


def erf_plus_one(x: Number) -> Number:
    """erf(x) + 1 of f32, within 2.4e-7: erfc(|x|), or two less that. Beyond 4 the polynomial falls further, to minus
    infinity, so that nothing is left."""
    size = absolute(x)
    rest = exp2_fast(size * polynomial(size, ERFC))
    return select(x < 0.0, rest, 2.0 - rest)


def exp_for_rounding(x: Number) -> Number:
    """exp of f32 for results that are rounded to 16 bits, in two operations: the argument is rounded, so that the
    relative error is up to |x| 2^-24 beside that of ex2.approx, 2^-17 at most. What is below 2^-126 is zero."""
    return exp2_fast(x * LOG2_E[0])


def exp_plus_one(x: Number) -> Number:
    """exp(x) + 1 of f32, within a relative error of 2^-22 + |x| 2^-24 (5e-6 at most, where exp overflows)."""
    return exp2_fast(x * LOG2_E[0]) + 1.0


def over_exp_plus_one(x: Number, numerator: Any) -> Number:
    """numerator / (exp(x) + 1) of f32, within a relative error of 2^-21 + |x| 2^-24; 0 where exp(x) is above 2^126."""
    return divided_fast(Number(numerator), exp_plus_one(x))


def gelu(x: Number, rounded_to: str) -> Number:
    """x/2 (erf(x / sqrt(2)) + 1) of f32: max(x, 0) - |x| erfc(|x| / sqrt(2)) / 2. The half is in the exponent."""
    arith = dialect("arith")
    size = Number(arith.MinNumFOp(absolute(x).value, x.like(GELU_END[rounded_to]).value).result)
    half_rest = exp2_fast(fma(size, polynomial(size, GELU_ERFC[rounded_to]), -1.0))
    positive = Number(arith.MaximumFOp(x.value, x.like(0.0).value).result)  # a NaN stays one
    return fma(-size, half_rest, positive)


@dataclass(frozen=True)
class Shorter:
    """A shorter formula for the result of some operations."""

    formula: Callable[[Number], Number]
    argument: Any
    replaced: tuple[Any, ...]
    """The operations whose work it does, the last one first; that one's result is what it gives."""

    def build(self, location: Any) -> None:
        """Puts the formula in the operations' place."""
        with ir.InsertionPoint(self.replaced[0]), location:
            result = self.formula(Number(self.argument))
        self.replaced[0].results[0].replace_all_uses_with(result.value)
        for op in self.replaced:
            op.erase()


def shorter_form(operation: Any) -> Shorter | None:
    """The shorter formula for a math.erf or math.exp of f32 to which 1 is added, once, where everything that is made of
    the sum is rounded; None where there is none."""
    op = operation.operation
    formula = {"math.erf": erf_plus_one, "math.exp": exp_plus_one}.get(op.name)
    if formula is None or str(Number(op.results[0]).element) != "f32":
        return None
    addition = _only_user(op.results[0], "arith.addf")
    if addition is None or 1.0 not in map(_constant, addition.operands):
        return None
    rounded = rounded_to(addition.results[0])
    if rounded is None:
        return None
    short = _gelu(op, addition, rounded) if op.name == "math.erf" else _quotient(op, addition)
    return short or Shorter(formula, op.operands[0], (addition,))


def rounded_to(value: Any, depth: int = 16) -> str | None:
    """The type, `f16` or `bf16`, to which all is rounded that is computed of a value: `f16` where it is both, None
    where something is not rounded."""
    found = set[str | None]()
    for user in users(value):
        if user.name == "arith.truncf":
            found.add(str(Number(user.results[0]).element))
        else:
            found.add(rounded_to(user.results[0], depth - 1) if user.name in _ARITHMETIC and depth else None)
    return next((type_ for type_ in ("f16", "bf16") if type_ in found), None) if found <= {"f16", "bf16"} else None


def _quotient(exp: Any, addition: Any) -> Shorter | None:
    """The same where something is divided by the sum, as in the logistic function and SiLU."""
    quotient = _only_user(addition.results[0], "arith.divf")
    if quotient is None or quotient.operands[0] == addition.results[0]:
        return None
    formula = partial(over_exp_plus_one, numerator=quotient.operands[0])
    return Shorter(formula, exp.operands[0], (quotient, addition))


def _gelu(erf: Any, addition: Any, rounded: str) -> Shorter | None:
    """The same where the sum is multiplied by half of what erf takes, over the root of two."""
    product = _only_user(addition.results[0], "arith.mulf")
    scaled = _scaled(erf.operands[0])
    if product is None or scaled is None or not isclose(scaled[1], sqrt(0.5), rel_tol=1e-6):
        return None
    other = _other(product, addition.results[0])
    if _constant(other) == 0.5:  # the sum is halved first
        whole = _only_user(product.results[0], "arith.mulf")
        if whole is None or _other(whole, product.results[0]) != scaled[0]:
            return None
        return Shorter(partial(gelu, rounded_to=rounded), scaled[0], (whole, product, addition))
    if other is None or _scaled(other) != (scaled[0], 0.5):
        return None
    return Shorter(partial(gelu, rounded_to=rounded), scaled[0], (product, addition))


def _other(operation: Any, value: Any) -> Any:
    """The operand beside a value; None where both are that."""
    return next((each for each in operation.operands if each != value), None)


def _scaled(value: Any) -> tuple[Any, float] | None:
    """A value as another one times a constant."""
    owner = value.owner
    if getattr(owner, "name", "") not in ("arith.mulf", "arith.divf"):
        return None
    left, right = owner.operation.operands
    if owner.name == "arith.divf":
        divisor = _constant(right)
        return (left, 1 / divisor) if divisor else None
    for number, other in ((_constant(left), right), (_constant(right), left)):
        if number is not None:
            return other, number
    return None


def _only_user(value: Any, name: str) -> Any | None:
    using = users(value)
    return using[0] if len(using) == 1 and using[0].name == name else None


def _constant(value: Any) -> float | None:
    """The number that a constant is, or the root of one, in each element if it is a vector; else None."""
    owner: Any = getattr(value, "owner", None)
    if getattr(owner, "name", "") in ("vector.broadcast", "vector.splat"):
        return _constant(owner.operands[0])
    if getattr(owner, "name", "") == "math.sqrt":
        square = _constant(owner.operands[0])
        return None if square is None or square < 0 else sqrt(square)
    if getattr(owner, "name", "") != "arith.constant":
        return None
    attribute: Any = constants.splat_of(value) if isinstance(value.type, ir.VectorType) else owner.attributes["value"]
    return float(attribute.value) if isinstance(attribute, ir.FloatAttr) else None
