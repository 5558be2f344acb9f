"""NumPy's functions on traced elements."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from mlir_gemm.tracing.element_names import TRUTH, is_float, refuse
from mlir_gemm.tracing.scalars import FUNCTIONS, UFUNCS, Scalar, binary, cast_to, compared, unary, where

_MATH = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "cbrt": "cbrt", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "sin": "sin", "cos": "cos",
    "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven", "erf": "erf",
    "erfc": "erfc", "fabs": "absf",
}  # fmt: skip
"""Functions of one number by NumPy's name (erf and erfc are SciPy's ufuncs), and by that of the dialect math."""


def _count_bits(value: Scalar) -> Scalar:
    if is_float(value.type):
        refuse(f"bits of {value.type}; expected a whole number")
    return value.trace.emit(f"math.ctpop {value.name}", value.type, value.type)


def _truth(name: str) -> Callable[[Any, Any], Scalar]:
    def apply(left: Any, right: Any) -> Scalar:
        return getattr(operator, name)(cast_to(left, TRUTH), cast_to(right, TRUTH))

    return apply


_PYTHON: Any = operator  # its functions are the elements' own, which its types do not say


def _square(value: Any) -> Any:
    return value * value


def _reciprocal(value: Any) -> Any:
    return 1.0 / value


def _not(value: Any) -> Any:
    return ~cast_to(value, TRUTH)


def _is_nan(value: Any) -> Any:
    return compared("ne", value, value)


_larger, _smaller = binary("arith.maximumf", "arith.maxsi"), binary("arith.minimumf", "arith.minsi")


def _clip(value: Any, low: Any, high: Any) -> Any:
    return _smaller(_larger(value, low), high)


UFUNCS.update({
    **{name: partial(unary, f"math.{own}") for name, own in _MATH.items()},
    "add": _PYTHON.add, "subtract": _PYTHON.sub, "multiply": _PYTHON.mul, "divide": _PYTHON.truediv,
    "floor_divide": _PYTHON.floordiv, "remainder": _PYTHON.mod, "power": _PYTHON.pow, "negative": _PYTHON.neg,
    "positive": _PYTHON.pos, "absolute": _PYTHON.abs, "square": _square, "reciprocal": _reciprocal, "maximum": _larger,
    "minimum": _smaller, "fmax": binary("arith.maxnumf", "arith.maxsi"), "fmin": binary("arith.minnumf", "arith.minsi"),
    "arctan2": binary("math.atan2"), "copysign": binary("math.copysign"), "bitwise_and": _PYTHON.and_,
    "bitwise_or": _PYTHON.or_, "bitwise_xor": _PYTHON.xor, "invert": _PYTHON.invert, "left_shift": _PYTHON.lshift,
    "right_shift": _PYTHON.rshift, "bitwise_count": _count_bits, "logical_and": _truth("and_"),
    "logical_or": _truth("or_"), "logical_not": _not, "less": _PYTHON.lt, "less_equal": _PYTHON.le,
    "greater": _PYTHON.gt, "greater_equal": _PYTHON.ge, "equal": _PYTHON.eq, "not_equal": _PYTHON.ne, "isnan": _is_nan,
    "conjugate": Scalar.conjugate,
})  # fmt: skip
FUNCTIONS.update(where=where, clip=_clip)
