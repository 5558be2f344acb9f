"""Element types, constants, and what arith and math operations compute on NumPy arrays, with their real rounding.

Single indices and integers are Python integers in the range of their type, several are arrays of it; floating-point
values are NumPy's (or `ml_dtypes`') of the same type, so that every operation rounds to its type. Under
`in_float64` all floating-point types are float64 instead: what a program computes without rounding.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.simulator.constants import dense_contents
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.fused import multiply_add
from mlir_gemm.simulator.tile_program import Function, Maker
from mlir_gemm.spec.element_types import Derived, numpy_dtype, of_modules

DTYPES: Derived[str, Any] = Derived(
    lambda rows: {"index": np.dtype(np.int64), **{row.name: numpy_dtype(row.name) for row in of_modules(rows)}}
)
"""NumPy's type for each element type that can be simulated above `lower`."""
_WHERE: Any = np.where
_PYTHON: Any = operator  # its functions take arrays, too, which its types do not say
_ROUNDED, _IN_FLOAT64, _IN_FLOAT64_ROUNDED = range(3)
_PRECISION = ContextVar("precision", default=_ROUNDED)


@contextmanager
def in_float64(rounded: bool) -> Generator[None]:
    """What is decoded meanwhile computes in float64. With `rounded`, conversions to a narrower type, and results of
    one, are rounded to that type, and kept in float64."""
    token = _PRECISION.set(_IN_FLOAT64_ROUNDED if rounded else _IN_FLOAT64)
    try:
        yield
    finally:
        _PRECISION.reset(token)


def is_float(dtype: Any) -> bool:
    """Whether a NumPy type is a floating-point type, those of `ml_dtypes` included."""
    return dtype.kind not in "iub"


def written_dtype(type_: Any, operation: Any = None) -> Any:
    """NumPy's type for an element type, or for that of a shaped type, as it is written. Raises SimulationError."""
    name = str(getattr(type_, "element_type", type_))
    if name not in DTYPES:
        where = location_of(operation) if operation is not None else None
        raise SimulationError(f"the simulator has no element type {name} (it has {', '.join(DTYPES)})", where)
    return DTYPES[name]


def dtype_of(type_: Any, operation: Any = None) -> Any:
    """NumPy's type for the values of an element type, or of a shaped type. Raises SimulationError."""
    dtype = written_dtype(type_, operation)
    return np.dtype(np.float64) if _PRECISION.get() != _ROUNDED and is_float(dtype) else dtype


def rounder(type_: Any, operation: Any = None) -> Callable[[Any], Any]:
    """A function that brings values to the type of `type_`, with the rounding that is asked for."""
    written, dtype = written_dtype(type_, operation), dtype_of(type_, operation)
    if _PRECISION.get() == _IN_FLOAT64_ROUNDED and is_float(written):
        return lambda value: np.asarray(value).astype(written).astype(dtype)
    return lambda value: np.asarray(value).astype(dtype, copy=False)


def constant(operation: Any) -> Any:
    """The value of an arith.constant: a Python integer, a NumPy scalar, or an array."""
    value = operation.operation.attributes["value"]
    type_ = operation.operation.results[0].type
    dtype = dtype_of(type_, operation)
    if isinstance(type_, ir.ShapedType):
        return dense_contents(value, written_dtype(type_), operation).astype(dtype, copy=False)
    if is_float(dtype):
        return np.asarray(value.value).astype(written_dtype(type_)).astype(dtype)[()]
    return bool(value.value) if dtype.kind == "b" else int(value.value)


def _always(function: Function) -> Maker:
    return lambda _: function


def _is_int(*values: Any) -> bool:
    return all(isinstance(value, int) for value in values)


def wrapped(number: int, dtype: Any) -> int | bool:
    """A Python integer brought into the range of a type."""
    if dtype.kind == "b":
        return bool(number & 1)
    half = 1 << (8 * dtype.itemsize - 1)
    return ((number + half) & (2 * half - 1)) - half


def _unsigned_type(dtype: Any) -> Any:
    return dtype if dtype.kind == "b" else np.dtype(f"u{dtype.itemsize}")


def _integers(function: Function, unsigned: bool = False) -> Maker:
    """The maker of a function of two integers of one type, read as unsigned where it says so."""

    def make(operation: Any) -> Function:
        dtype = dtype_of(operation.operation.results[0].type, operation)
        read_as = _unsigned_type(dtype)
        everything = (1 << 8 * dtype.itemsize) - 1

        def compute(left: Any, right: Any) -> Any:
            if _is_int(left, right):
                if unsigned:
                    left, right = left & everything, right & everything
                return wrapped(function(left, right), dtype)
            left, right = np.asarray(left, dtype), np.asarray(right, dtype)
            if unsigned:
                return function(left.view(read_as), right.view(read_as)).view(dtype)
            return function(left, right)

        return compute

    return make


def _quotient(left: Any, right: Any) -> Any:
    """Division rounded towards zero."""
    if _is_int(left, right):
        return left // right if (left < 0) == (right < 0) else -(-left // right)
    return (left - np.fmod(left, right)) // right


def _remainder(left: Any, right: Any) -> Any:
    return left - right * _quotient(left, right)


def _ceil_quotient(left: Any, right: Any) -> Any:
    return -(-left // right) if _is_int(left, right) else left // right + (left % right != 0)


def _smaller(left: Any, right: Any) -> Any:
    return min(left, right) if _is_int(left, right) else np.minimum(left, right)


def _larger(left: Any, right: Any) -> Any:
    return max(left, right) if _is_int(left, right) else np.maximum(left, right)


def _on_bits(function: Function, on_bits: Any) -> Maker:
    """As `_integers`, with a function of its own for i1, where NumPy's sum is a disjunction."""
    plain = _integers(function)

    def make(operation: Any) -> Function:
        return on_bits if str(dtype_of(operation.operation.results[0].type)) == "bool" else plain(operation)

    return make


def _select(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    rank = len(type_.shape) if isinstance(type_, ir.VectorType) else 0
    by_lane = rank > 0 and not isinstance(operation.operation.operands[0].type, ir.VectorType)

    def select(condition: Any, yes: Any, no: Any) -> Any:
        if not np.ndim(condition):
            return yes if condition else no
        if by_lane and condition.ndim == 1:
            condition = condition.reshape(-1, *[1] * rank)
        return _WHERE(condition, yes, no)

    return select


def _fma(left: Any, right: Any, addend: Any) -> Any:
    """Rounded once: the product of two f32 is exact in f64 (the sum is rounded there too, far below f32's last bit)."""
    if np.asarray(addend).dtype == np.float64:
        return multiply_add(left, right, addend)[()]
    exact = np.asarray(left, np.float64) * np.asarray(right, np.float64) + np.asarray(addend, np.float64)
    return exact.astype(np.asarray(addend).dtype)[()]


def _floats(function: Callable[..., Any]) -> Maker:
    """The maker of a function of floating-point values that is computed in f64 and rounded once."""

    def make(operation: Any) -> Function:
        dtype = dtype_of(operation.operation.results[0].type, operation)

        def compute(*values: Any) -> Any:
            return np.asarray(function(*(np.asarray(value, np.float64) for value in values))).astype(dtype)[()]

        return compute

    return make


def _cast(operation: Any) -> Function:
    """To a floating-point type, from one or from integers."""
    source, target = operation.operation.operands[0].type, operation.operation.results[0].type
    before, converted = dtype_of(source, operation), rounder(target, operation)
    read_as = _unsigned_type(before) if operation.operation.name == "arith.uitofp" else before
    negative = before.kind == "b" and operation.operation.name == "arith.sitofp"  # true is -1

    def cast(value: Any) -> Any:
        array = np.asarray(value, before).view(read_as)
        return converted(-array.astype(np.int8) if negative else array)[()]

    return cast


def _to_integer(operation: Any) -> Function:
    dtype = dtype_of(operation.operation.results[0].type, operation)
    through = np.dtype(np.uint64) if operation.operation.name == "arith.fptoui" else np.dtype(np.int64)

    def convert(value: Any) -> Any:
        whole = np.trunc(np.asarray(value, np.float64)).astype(through).astype(_unsigned_type(dtype)).view(dtype)
        return whole if whole.ndim else wrapped(int(whole), dtype)

    return convert


def _integer_cast(operation: Any) -> Function:
    before, after = (
        dtype_of(value.type, operation) for value in (operation.operation.operands[0], operation.operation.results[0])
    )
    unsigned = operation.operation.name in ("arith.extui", "arith.index_castui")
    read_as = _unsigned_type(before) if unsigned else before
    bits = (1 << (1 if before.kind == "b" else 8 * before.itemsize)) - 1

    def cast(value: Any) -> Any:
        if _is_int(value):
            number = -int(value) if before.kind == "b" and not unsigned else int(value)
            return wrapped(number & bits if unsigned else number, after)
        array = np.asarray(value, before).view(read_as)
        if before.kind == "b" and not unsigned:
            return -array.astype(after)
        return (array & 1).astype(after) if after.kind == "b" else array.astype(after)

    return cast


def _bitcast(operation: Any) -> Function:
    types = operation.operation.operands[0].type, operation.operation.results[0].type
    before, after = (written_dtype(type_, operation) for type_ in types)

    def cast(value: Any) -> Any:
        found = np.ascontiguousarray(np.asarray(value).astype(before, copy=False)).view(after)
        if np.ndim(value):
            return found.astype(dtype_of(types[1]), copy=False)
        return found.reshape(())[()] if is_float(after) else int(found.reshape(()))

    return cast


_ORDERS: list[Any] = [_PYTHON.eq, _PYTHON.ne, *(2 * [_PYTHON.lt, _PYTHON.le, _PYTHON.gt, _PYTHON.ge])]
"""arith.cmpi's predicates by number: eq, ne, then slt, sle, sgt, sge, and the same unsigned."""
_FLOAT_ORDERS: list[Any] = [np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal]
"""arith.cmpf's predicates 1 to 6: oeq, ogt, oge, olt, ole, one; 8 to 13 are the same, or unordered."""
_ORDERED, _UNORDERED, _ALWAYS = 7, 14, 15


def _compare_integers(operation: Any) -> Function:
    number = ir.IntegerAttr(operation.operation.attributes["predicate"]).value
    compare, unsigned = _ORDERS[number], number > 5
    dtype = dtype_of(operation.operation.operands[0].type, operation)
    read_as, everything = _unsigned_type(dtype), (1 << 8 * dtype.itemsize) - 1

    def holds(left: Any, right: Any) -> Any:
        if _is_int(left, right):
            return compare(left & everything, right & everything) if unsigned else compare(left, right)
        left, right = np.asarray(left, dtype), np.asarray(right, dtype)
        return compare(left.view(read_as), right.view(read_as)) if unsigned else compare(left, right)

    return holds


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


_ERF: Any = np.frompyfunc(math.erf, 1, 1)


def _erf(value: Any) -> Any:
    return np.asarray(_ERF(value), np.float64)


_ERFC: Any = np.frompyfunc(math.erfc, 1, 1)


def _erfc(value: Any) -> Any:
    return np.asarray(_ERFC(value), np.float64)


def _rsqrt(value: Any) -> Any:
    return 1 / np.sqrt(value)


def _round(value: Any) -> Any:
    """To nearest, halves away from zero."""
    return np.trunc(value + np.copysign(0.5, value))


FUNCTIONS: dict[str, Maker] = {
    "arith.addf": _always(np.add), "arith.subf": _always(np.subtract), "arith.mulf": _always(np.multiply),
    "arith.divf": _always(np.divide), "arith.negf": _always(np.negative), "arith.remf": _floats(np.fmod),
    "arith.maximumf": _always(np.maximum), "arith.maxnumf": _always(np.fmax),
    "arith.minimumf": _always(np.minimum), "arith.minnumf": _always(np.fmin),
    "arith.extf": _cast, "arith.truncf": _cast, "arith.convertf": _cast,
    "arith.sitofp": _cast, "arith.uitofp": _cast,
    "arith.fptosi": _to_integer, "arith.fptoui": _to_integer, "arith.bitcast": _bitcast, "vector.bitcast": _bitcast,
    "arith.cmpf": _compare_floats, "arith.cmpi": _compare_integers, "arith.select": _select,
    "arith.addi": _on_bits(_PYTHON.add, np.logical_xor), "arith.subi": _on_bits(_PYTHON.sub, np.logical_xor),
    "arith.muli": _on_bits(_PYTHON.mul, np.logical_and),
    "arith.divui": _integers(_PYTHON.floordiv, True), "arith.remui": _integers(_PYTHON.mod, True),
    "arith.divsi": _integers(_quotient), "arith.remsi": _integers(_remainder),
    "arith.floordivsi": _integers(_PYTHON.floordiv), "arith.ceildivsi": _integers(_ceil_quotient),
    "arith.ceildivui": _integers(_ceil_quotient, True),
    "arith.minui": _integers(_smaller, True), "arith.maxui": _integers(_larger, True),
    "arith.minsi": _integers(_smaller), "arith.maxsi": _integers(_larger),
    "arith.andi": _integers(_PYTHON.and_), "arith.ori": _integers(_PYTHON.or_), "arith.xori": _integers(_PYTHON.xor),
    "arith.shli": _integers(_PYTHON.lshift), "arith.shrui": _integers(_PYTHON.rshift, True),
    "arith.shrsi": _integers(_PYTHON.rshift),
    "arith.index_cast": _integer_cast, "arith.index_castui": _integer_cast, "arith.extsi": _integer_cast,
    "arith.extui": _integer_cast, "arith.trunci": _integer_cast,
    "math.absf": _always(np.abs), "math.absi": _always(np.abs), "math.exp": _floats(np.exp),
    "math.exp2": _floats(np.exp2), "math.expm1": _floats(np.expm1), "math.log": _floats(np.log),
    "math.log2": _floats(np.log2), "math.log10": _floats(np.log10), "math.log1p": _floats(np.log1p),
    "math.sqrt": _floats(np.sqrt), "math.cbrt": _floats(np.cbrt), "math.rsqrt": _floats(_rsqrt),
    "math.tanh": _floats(np.tanh), "math.sinh": _floats(np.sinh), "math.cosh": _floats(np.cosh),
    "math.sin": _floats(np.sin), "math.cos": _floats(np.cos), "math.tan": _floats(np.tan),
    "math.asin": _floats(np.arcsin), "math.acos": _floats(np.arccos), "math.atan": _floats(np.arctan),
    "math.atan2": _floats(np.arctan2), "math.erf": _floats(_erf), "math.erfc": _floats(_erfc),
    "math.asinh": _floats(np.arcsinh), "math.acosh": _floats(np.arccosh), "math.atanh": _floats(np.arctanh),
    "math.floor": _floats(np.floor), "math.ceil": _floats(np.ceil), "math.trunc": _floats(np.trunc),
    "math.roundeven": _floats(np.rint), "math.round": _floats(_round),
    "math.copysign": _floats(np.copysign), "math.powf": _floats(np.power), "math.fma": _always(_fma),
    "math.fpowi": _floats(np.power), "vector.fma": _always(_fma),
}  # fmt: skip
