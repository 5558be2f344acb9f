"""Element types, constants, and what arith and math operations compute on NumPy arrays, with their real rounding.

Indices and integers are Python integers, or arrays of 64 bits; floating-point values are NumPy's of the same width, so
that every operation rounds to its type.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.tile_program import Function, Maker

DTYPES: dict[str, Any] = {
    "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "index": np.dtype(np.int64),
}  # fmt: skip
"""NumPy's type for each element type that can be simulated above `lower`."""
_WORD = 1 << 64
_WHERE: Any = np.where
_PYTHON: Any = operator  # its functions take arrays, too, which its types do not say


def dtype_of(type_: Any, operation: Any = None) -> Any:
    """NumPy's type for an element type, or for that of a shaped type. Raises SimulationError."""
    name = str(getattr(type_, "element_type", type_))
    if name not in DTYPES:
        where = location_of(operation) if operation is not None else None
        raise SimulationError(f"the simulator has no element type {name} (it has {', '.join(DTYPES)})", where)
    return DTYPES[name]


def constant(operation: Any) -> Any:
    """The value of an arith.constant: a Python integer, a NumPy scalar, or an array."""
    value = operation.operation.attributes["value"]
    type_ = operation.operation.results[0].type
    dtype = dtype_of(type_, operation)
    if isinstance(value, ir.DenseElementsAttr):
        shape = list(ir.ShapedType(type_).shape)
        if value.is_splat:
            return np.full(shape, value.get_splat_value().value, dtype)
        return np.array(list(value), dtype).reshape(shape)
    return dtype.type(value.value) if dtype.kind == "f" else int(value.value)


def _always(function: Function) -> Maker:
    return lambda _: function


def _cast(operation: Any) -> Function:
    dtype = dtype_of(operation.operation.results[0].type, operation)

    def converted(value: Any) -> Any:
        return np.asarray(value).astype(dtype)[()]

    return converted


def _integer_cast(_: Any) -> Function:
    def same(value: Any) -> Any:
        return value

    return same


def _is_int(*values: Any) -> bool:
    return all(type(value) is int for value in values)


def _quotient(left: Any, right: Any) -> Any:
    """Division rounded towards zero."""
    if _is_int(left, right):
        return left // right if (left < 0) == (right < 0) else -(-left // right)
    return (left - np.fmod(left, right)) // right


def _remainder(left: Any, right: Any) -> Any:
    return left - right * _quotient(left, right)


def _ceil_quotient(left: Any, right: Any) -> Any:
    return -(-left // right)


def _unsigned(function: Function) -> Function:
    """`function` on integers read as unsigned words; index arithmetic here is never negative, so that is rare."""

    def on_words(left: Any, right: Any) -> Any:
        if _is_int(left, right):
            return function(left % _WORD, right % _WORD)
        return function(left, right)

    return on_words


def _smaller(left: Any, right: Any) -> Any:
    return min(left, right) if _is_int(left, right) else np.minimum(left, right)


def _larger(left: Any, right: Any) -> Any:
    return max(left, right) if _is_int(left, right) else np.maximum(left, right)


def _select(condition: Any, yes: Any, no: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return _WHERE(condition, yes, no)
    return yes if condition else no


def _fma(left: Any, right: Any, addend: Any) -> Any:
    """Rounded once: the product of two f32 is exact in f64 (the sum is rounded there too, far below f32's last bit)."""
    exact = np.asarray(left, np.float64) * right + addend
    return exact.astype(np.asarray(addend).dtype)[()]


_ORDERS: list[Any] = [_PYTHON.eq, _PYTHON.ne, *(2 * [_PYTHON.lt, _PYTHON.le, _PYTHON.gt, _PYTHON.ge])]
"""arith.cmpi's predicates by number: eq, ne, then slt, sle, sgt, sge, and the same unsigned."""
_FLOAT_ORDERS: list[Any] = [np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal]
"""arith.cmpf's predicates 1 to 6: oeq, ogt, oge, olt, ole, one; 8 to 13 are the same, or unordered."""
_ORDERED, _UNORDERED, _ALWAYS = 7, 14, 15


def _compare_integers(operation: Any) -> Function:
    number = ir.IntegerAttr(operation.operation.attributes["predicate"]).value
    compare = _ORDERS[number]
    return _unsigned(compare) if number > 5 else compare


def _compare_floats(operation: Any) -> Function:
    number = ir.IntegerAttr(operation.operation.attributes["predicate"]).value

    def compare(left: Any, right: Any) -> Any:
        unordered = np.isnan(left) | np.isnan(right)
        if number in (0, _ALWAYS):
            return np.full(unordered.shape, number == _ALWAYS)[()]
        if number in (_ORDERED, _UNORDERED):
            return unordered if number == _UNORDERED else ~unordered
        holds = _FLOAT_ORDERS[(number - 1) % _ORDERED](left, right)
        return holds | unordered if number > _ORDERED else holds & ~unordered

    return compare


def _rsqrt(value: Any) -> Any:
    return (1 / np.sqrt(np.asarray(value, np.float64))).astype(np.asarray(value).dtype)[()]


FUNCTIONS: dict[str, Maker] = {
    "arith.addf": _always(np.add), "arith.subf": _always(np.subtract), "arith.mulf": _always(np.multiply),
    "arith.divf": _always(np.divide), "arith.negf": _always(np.negative), "arith.remf": _always(np.fmod),
    "arith.maximumf": _always(np.maximum), "arith.maxnumf": _always(np.fmax),
    "arith.minimumf": _always(np.minimum), "arith.minnumf": _always(np.fmin),
    "arith.extf": _cast, "arith.truncf": _cast, "arith.sitofp": _cast, "arith.uitofp": _cast,
    "arith.fptosi": _cast, "arith.cmpf": _compare_floats, "arith.cmpi": _compare_integers,
    "arith.select": _always(_select),
    "arith.addi": _always(_PYTHON.add), "arith.subi": _always(_PYTHON.sub), "arith.muli": _always(_PYTHON.mul),
    "arith.divui": _always(_unsigned(_PYTHON.floordiv)), "arith.remui": _always(_unsigned(_PYTHON.mod)),
    "arith.divsi": _always(_quotient), "arith.remsi": _always(_remainder),
    "arith.floordivsi": _always(_PYTHON.floordiv), "arith.ceildivsi": _always(_ceil_quotient),
    "arith.ceildivui": _always(_unsigned(_ceil_quotient)),
    "arith.minui": _always(_unsigned(_smaller)), "arith.maxui": _always(_unsigned(_larger)),
    "arith.minsi": _always(_smaller), "arith.maxsi": _always(_larger),
    "arith.andi": _always(_PYTHON.and_), "arith.ori": _always(_PYTHON.or_), "arith.xori": _always(_PYTHON.xor),
    "arith.shli": _always(_PYTHON.lshift), "arith.shrui": _always(_unsigned(_PYTHON.rshift)),
    "arith.shrsi": _always(_PYTHON.rshift),
    "arith.index_cast": _integer_cast, "arith.index_castui": _integer_cast, "arith.extsi": _integer_cast,
    "math.absf": _always(np.abs), "math.exp": _always(np.exp), "math.exp2": _always(np.exp2),
    "math.log": _always(np.log), "math.log2": _always(np.log2), "math.sqrt": _always(np.sqrt),
    "math.rsqrt": _always(_rsqrt), "math.tanh": _always(np.tanh), "math.sin": _always(np.sin),
    "math.cos": _always(np.cos), "math.floor": _always(np.floor), "math.ceil": _always(np.ceil),
    "math.powf": _always(np.power), "math.fma": _always(_fma),
}  # fmt: skip
