"""What the body of a reduction computes, on NumPy arrays of numbers: floating-point types as float64 without rounding,
integers in their own widths, sign-extended to int64, and i1 as bool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir

Array = np.ndarray[Any, Any]
_WHERE: Any = np.where  # whose types do not say that it takes numbers


class UnknownOperationError(Exception):
    """A body has an operation that is not evaluated here."""


def is_float(type_: Any) -> bool:
    """Whether an element type is one of floating-point numbers."""
    return isinstance(type_, ir.FloatType)


def width_of(type_: Any) -> int:
    """Bits of an integer type; those of an index are 64."""
    if isinstance(type_, ir.IndexType):
        return 64
    if isinstance(type_, ir.IntegerType) and type_.width <= 64:
        return type_.width
    raise UnknownOperationError


def _wrapped(values: Any, width: int) -> Array:
    """Integers brought into the range of a signed type."""
    if width == 1:
        return (np.asarray(values) & 1).astype(bool)
    up = np.int64(64 - width)
    return (np.asarray(values, np.int64) << up) >> up


def _unsigned(values: Any, width: int) -> Array:
    found = np.asarray(values).astype(np.int64).view(np.uint64)
    return found if width == 64 else found & np.uint64((1 << width) - 1)


def _reciprocal_root(value: Any) -> Any:
    return 1 / np.sqrt(value)


def _multiply_add(left: Any, right: Any, added: Any) -> Any:
    return left * right + added


_ROUNDED: Mapping[str, Any] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log, "math.log2": np.log2, "math.log1p": np.log1p,
    "math.expm1": np.expm1, "math.sqrt": np.sqrt, "math.rsqrt": _reciprocal_root, "math.tanh": np.tanh,
    "math.powf": np.power, "math.fma": _multiply_add,
}  # fmt: skip
_EXACT: Mapping[str, Any] = {
    "arith.negf": np.negative, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin, "math.absf": np.abs, "math.copysign": np.copysign, "math.floor": np.floor,
    "math.ceil": np.ceil, "arith.extf": np.asarray, "arith.truncf": np.asarray, "arith.select": np.where,
}  # fmt: skip
_INTEGERS: Mapping[str, Any] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "math.absi": np.abs,
}  # fmt: skip
_ORDERS: Sequence[Any] = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_FLOAT_ORDERS: Sequence[Any] = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)
"""By the predicates of arith.cmpf, 1 to 6 of numbers, 8 to 13 where one is NaN too."""
_CASTS = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast")


def rounds(operation: Any) -> bool:
    """Whether an operation rounds its result, so that a sum in another order is another one."""
    return operation.name in _ROUNDED


def _compared(predicate: int, left: Any, right: Any) -> Array:
    if predicate in (0, 15):
        return np.full(np.broadcast(left, right).shape, predicate == 15)
    none: Array = np.asarray(np.isnan(left) | np.isnan(right))
    if predicate in (7, 14):
        return none if predicate == 14 else ~none
    found: Array = _FLOAT_ORDERS[(predicate - 1) % 7](left, right)
    return found | none if predicate > 7 else found & ~none


def _of_integers(op: Any, values: Sequence[Any]) -> Any:
    name, type_ = op.name, op.operands[0].type
    width = width_of(type_)
    if name == "arith.cmpi":
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if predicate > 5:
            values, predicate = [_unsigned(each, width) for each in values], predicate - 4
        elif width == 1 and predicate > 1:
            raise UnknownOperationError
        return _ORDERS[predicate](*values)
    if name in ("arith.maxui", "arith.minui"):
        least, (left, right) = name == "arith.minui", values
        return _WHERE((_unsigned(left, width) < _unsigned(right, width)) == least, left, right)
    if name in _CASTS:
        made = width_of(op.results[0].type)
        value = _unsigned(values[0], width).view(np.int64) if name == "arith.extui" else values[0]
        if width == 1 and name != "arith.extui":
            value = -np.asarray(value).astype(np.int64)
        return _wrapped(value, made)
    if name not in _INTEGERS or (width == 1 and name not in ("arith.andi", "arith.ori", "arith.xori")):
        raise UnknownOperationError
    return _wrapped(_INTEGERS[name](*values), width)


def _computed(op: Any, values: Sequence[Any]) -> Any:
    if op.name in _ROUNDED or op.name in _EXACT:
        function: Callable[..., Any] = _ROUNDED.get(op.name) or _EXACT[op.name]
        return function(*values)
    if op.name == "arith.cmpf":
        return _compared(ir.IntegerAttr(op.attributes["predicate"]).value, *values)
    if op.name == "arith.uitofp":
        return _unsigned(values[0], width_of(op.operands[0].type)).astype(np.float64)
    if op.name == "arith.sitofp" and width_of(op.operands[0].type) > 1:
        return np.asarray(values[0]).astype(np.float64)
    if len(op.operands) and not is_float(op.operands[0].type):
        return _of_integers(op, values)
    raise UnknownOperationError


def number_of(value: Any) -> Any:
    """The number that an arith.constant makes; None for another value, or other constants than numbers."""
    if getattr(value.owner, "name", "") != "arith.constant":
        return None
    attribute = value.owner.attributes["value"]
    if not isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr)):
        return None
    return bool(attribute.value & 1) if str(attribute.type) == "i1" else attribute.value


def evaluate(operations: Sequence[Any], known: dict[Any, Any]) -> Array:
    """Adds what operations compute to what is known of their operands, constants aside; the greatest magnitude, for
    each place of the arrays, of the floating-point numbers among the results: inf or NaN where one is.

    Raises UnknownOperationError.
    """
    greatest = np.zeros(())
    for op in operations:
        if op.name == "arith.constant" or len(op.results) != 1:
            if number_of(op.results[0]) is None:
                raise UnknownOperationError
            continue
        values = [known[each] if each in known else number_of(each) for each in op.operands]
        if any(each is None for each in values):
            raise UnknownOperationError
        with np.errstate(all="ignore"):
            made = np.asarray(_computed(op, values))
            known[op.results[0]] = made
            if is_float(op.results[0].type):
                greatest = np.maximum(greatest, np.abs(made))
    return greatest
