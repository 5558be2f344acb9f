"""arith and math on numbers and vectors, with the rounding of their types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.constants import dense_contents
from mlir_gemm.simulator.decode import Decoder, Info, Step, handles, is_vector
from mlir_gemm.simulator.elements import Element, collapse, element_of, expand, is_array
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.fused import multiply_add
from mlir_gemm.simulator.warps import Warp
from mlir_gemm.spec.element_types import numpy_dtype

_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@handles("arith.constant", "index.constant")
def _constant(decoder: Decoder, operation: Any) -> None:
    result = operation.operation.results[0]
    attribute = operation.operation.attributes["value"]
    element = decoder.element(operation, result.type)
    if isinstance(result.type, ir.VectorType):
        dense = ir.DenseElementsAttr(attribute)
        if not dense.is_splat and element.is_float:
            contents = dense_contents(attribute, numpy_dtype(f"{result.type.element_type}"), operation)
            values = contents[None].astype(np.float64)
        elif not dense.is_splat:
            values = np.array([*ir.DenseIntElementsAttr(attribute)]).reshape(1, *result.type.shape)
        else:
            values = np.full((1, *result.type.shape), _number(dense.get_splat_value()))
        decoder.constant(result, element.cast(values) if element.is_float else values.astype(element.value))
        return
    number = _number(attribute)
    decoder.constant(result, element.cast(np.float64(number))[()] if element.is_float else element.wrap(number))


def _number(attribute: Any) -> Any:
    return getattr(attribute, "value", attribute)


def unsigned(array: Any, element: Element) -> Any:
    """An integer array read as unsigned."""
    return array.view(_UNSIGNED[element.bits]) if element.bits > 1 else array


def _mask(element: Element) -> int:
    return (1 << element.bits) - 1


def _divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _array_divide(a: Any, b: Any) -> Any:
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))


_SIGNED: dict[str, tuple[Callable[[int, int], int], Callable[[Any, Any], Any]]] = {
    "addi": (lambda a, b: a + b, np.add),
    "subi": (lambda a, b: a - b, np.subtract),
    "muli": (lambda a, b: a * b, np.multiply),
    "andi": (lambda a, b: a & b, np.bitwise_and),
    "ori": (lambda a, b: a | b, np.bitwise_or),
    "xori": (lambda a, b: a ^ b, np.bitwise_xor),
    "minsi": (min, np.minimum),
    "maxsi": (max, np.maximum),
    "divsi": (_divide, _array_divide),
    "remsi": (lambda a, b: a - _divide(a, b) * b, np.fmod),
    "floordivsi": (lambda a, b: a // b, np.floor_divide),
    "ceildivsi": (lambda a, b: -(-a // b), lambda a, b: np.floor_divide(a, b) + (np.remainder(a, b) != 0)),
    "shli": (lambda a, b: a << b, np.left_shift),
    "shrsi": (lambda a, b: a >> b, np.right_shift),
}
_BY_UNSIGNED: dict[str, tuple[Callable[[int, int], int], Callable[[Any, Any], Any]]] = {
    "divui": (lambda a, b: a // b, np.floor_divide),
    "remui": (lambda a, b: a % b, np.remainder),
    "ceildivui": (lambda a, b: -(-a // b), lambda a, b: (a + (b - np.ones_like(b))) // b),
    "minui": (min, np.minimum),
    "maxui": (max, np.maximum),
    "shrui": (lambda a, b: a >> b, np.right_shift),
}
_DIVIDING = ("divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi", "ceildivui")
_ON_BITS = {"addi": np.logical_xor, "subi": np.logical_xor, "muli": np.logical_and, "andi": np.logical_and,
            "ori": np.logical_or, "xori": np.logical_xor}  # fmt: skip
_INDEX_NAMES = {
    "add": "addi", "sub": "subi", "mul": "muli", "divs": "divsi", "divu": "divui", "rems": "remsi", "remu": "remui",
    "floordivs": "floordivsi", "ceildivs": "ceildivsi", "ceildivu": "ceildivui", "mins": "minsi", "maxs": "maxsi",
    "minu": "minui", "maxu": "maxui", "shl": "shli", "shrs": "shrsi", "shru": "shrui", "and": "andi", "or": "ori",
    "xor": "xori",
}  # fmt: skip


@handles(*(f"arith.{name}" for name in (*_SIGNED, *_BY_UNSIGNED)), *(f"index.{name}" for name in _INDEX_NAMES))
def _integers(decoder: Decoder, operation: Any) -> Step:
    dialect, name = operation.operation.name.split(".")
    name = _INDEX_NAMES[name] if dialect == "index" else name
    left, right = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)
    if element.bits == 1:
        if name not in _ON_BITS:
            raise unsupported(operation, "this operation on i1 is not simulated")
        return _binary(left, right, out, _ON_BITS[name])
    without_sign = name in _BY_UNSIGNED
    on_numbers, on_arrays = (_BY_UNSIGNED if without_sign else _SIGNED)[name]
    info = decoder.info(operation)
    divides, wrap, everything = name in _DIVIDING, element.wrap, _mask(element)
    lowest, highest = -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1

    def step(warp: Warp) -> None:
        values = warp.slots
        a, b = values[left], values[right]
        if type(a) is int and type(b) is int:
            if divides and b == 0:
                b = _zero(info, warp)
            number = on_numbers(a & everything, b & everything) if without_sign else on_numbers(a, b)
            values[out] = number if lowest <= number <= highest else wrap(number)
            return
        a, b = np.asarray(a, element.value), np.asarray(b, element.value)
        if divides and not b.all():
            zero = b == 0
            if warp.mask is None or not b.ndim or b.shape[0] == 1 or zero[warp.mask].any():
                _zero(info, warp)
            b = np.where(zero, np.ones_like(b), b)
        if without_sign:
            result = on_arrays(unsigned(a, element), unsigned(b, element)).view(element.value)
            values[out] = collapse(result) if result.ndim == 1 else result
        else:
            values[out] = on_arrays(a, b)

    return step


def _zero(info: Info, warp: Warp) -> int:
    info.find("undefined", warp, info.first_lane(warp), "", "division by zero")
    return 1


def _binary(left: int, right: int, out: int, function: Callable[[Any, Any], Any]) -> Step:
    def step(warp: Warp) -> None:
        values = warp.slots
        result = function(values[left], values[right])
        values[out] = bool(result) if np.ndim(result) == 0 else result

    return step


_COMPARE: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b,
    lambda a, b: a >= b,
)  # fmt: skip
_INDEX_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@handles("arith.cmpi", "index.cmp")
def _compare_integers(decoder: Decoder, operation: Any) -> Step:
    left, right = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.operands[0].type)
    attributes = operation.operation.attributes
    if operation.operation.name == "arith.cmpi":
        predicate = ir.IntegerAttr(attributes["predicate"]).value
    else:
        text = str(attributes["pred"])
        predicate = next(number for number, name in enumerate(_INDEX_PREDICATES) if f"({name})" in text)
    compare = _COMPARE[predicate if predicate < 6 else predicate - 4]
    without_sign = predicate >= 6
    everything = _mask(element)

    def step(warp: Warp) -> None:
        values = warp.slots
        a, b = values[left], values[right]
        if not is_array(a) and not is_array(b):
            values[out] = compare(a & everything, b & everything) if without_sign else compare(a, b)
            return
        if without_sign:
            a, b = (unsigned(np.asarray(value, element.value), element) for value in (a, b))
        values[out] = compare(a, b)

    return step


@handles("arith.cmpf")
def _compare_floats(decoder: Decoder, operation: Any) -> Step:
    left, right = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    predicate = ir.IntegerAttr(operation.operation.attributes["predicate"]).value
    ordered = {1: 0, 2: 4, 3: 5, 4: 2, 5: 3, 6: 1}

    def compare(a: Any, b: Any) -> Any:
        nan = np.isnan(a) | np.isnan(b)
        if predicate in (0, 15):
            return np.full(np.shape(nan), predicate == 15)[()]
        if predicate == 7:
            return ~nan
        if predicate == 14:
            return nan
        if predicate < 7:
            return _COMPARE[ordered[predicate]](a, b) & ~nan
        return _COMPARE[ordered[predicate - 7]](a, b) | nan

    return _binary(left, right, out, compare)


_ERF = np.frompyfunc(math.erf, 1, 1)


def erf(value: Any) -> Any:
    """The error function, in f64."""
    return np.asarray(_ERF(value), np.float64)


_FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod, "arith.minimumf": np.minimum, "arith.maximumf": np.maximum, "arith.minnumf": np.fmin,
    "arith.maxnumf": np.fmax, "math.powf": np.power, "math.atan2": np.arctan2, "math.copysign": np.copysign,
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "arith.negf": np.negative, "math.absf": np.abs, "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1,
    "math.log": np.log, "math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p, "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.tanh": np.tanh, "math.sin": np.sin, "math.cos": np.cos,
    "math.tan": np.tan, "math.sinh": np.sinh, "math.cosh": np.cosh, "math.atan": np.arctan, "math.ceil": np.ceil,
    "math.floor": np.floor, "math.trunc": np.trunc, "math.roundeven": np.rint,
    "math.round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "math.erf": erf, "math.erfc": lambda x: 1 - erf(x), "math.cbrt": np.cbrt, "math.asin": np.arcsin,
    "math.acos": np.arccos,
}  # fmt: skip


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c  # of narrower types: the product is exact


@handles(*_FLOATS, *_UNARY, "math.fma")
def _floats(decoder: Decoder, operation: Any) -> Step:
    name = operation.operation.name
    slots = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)
    if not element.is_float:
        raise unsupported(operation, f"on {element.name} is not simulated")
    if name in _FLOATS and name.startswith("arith."):
        function, (left, right) = _FLOATS[name], slots

        def simple(warp: Warp) -> None:
            values = warp.slots
            values[out] = element.cast(function(values[left], values[right]))

        return simple
    fused = multiply_add if element.bits == 64 else _multiply_add
    wide: Callable[..., Any] = fused if name == "math.fma" else {**_FLOATS, **_UNARY}[name]

    def step(warp: Warp) -> None:  # in f64, so that the result is rounded once
        operands = [np.asarray(warp.slots[slot], np.float64) for slot in slots]
        warp.slots[out] = element.cast(np.asarray(wide(*operands)))[()]

    return step


@handles("arith.extf", "arith.truncf")
def _convert_floats(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)

    def step(warp: Warp) -> None:
        warp.slots[out] = element.cast(warp.slots[source])[()]

    return step


@handles("math.ctpop")
def _count_bits(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)
    mask = (1 << element.bits) - 1

    def step(warp: Warp) -> None:
        warp.slots[out] = element.cast(np.bitwise_count(np.asarray(warp.slots[source], np.int64) & mask))[()]

    return step


@handles("math.absi")
def _absolute(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)

    def step(warp: Warp) -> None:
        value = warp.slots[source]
        warp.slots[out] = np.abs(value) if is_array(value) else element.wrap(abs(value))

    return step


@handles("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui", "index.casts",
         "index.castu")  # fmt: skip
def _convert_integers(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    before = decoder.element(operation, operation.operation.operands[0].type)
    after = decoder.element(operation, operation.operation.results[0].type)
    by_sign = operation.operation.name not in ("arith.extui", "arith.index_castui", "index.castu")

    def step(warp: Warp) -> None:
        value = warp.slots[source]
        if not is_array(value):
            number = -int(value) if before.bits == 1 and by_sign else int(value)
            warp.slots[out] = after.wrap(number if by_sign else number & _mask(before))
        elif before.bits == 1:
            warp.slots[out] = value.astype(after.value) * (-1 if by_sign else 1)
        elif after.bits == 1:
            warp.slots[out] = (value & 1).astype(np.bool_)
        else:
            warp.slots[out] = (value if by_sign else unsigned(value, before)).astype(after.value)

    return step


@handles("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui")
def _between_kinds(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    before = decoder.element(operation, operation.operation.operands[0].type)
    after = decoder.element(operation, operation.operation.results[0].type)
    name = operation.operation.name

    def step(warp: Warp) -> None:
        value = warp.slots[source]
        array = np.asarray(value, before.value)
        if name == "arith.uitofp":
            array = unsigned(array, before)
        elif before.bits == 1:  # true is -1
            array = -array.astype(np.int8)
        if after.is_float:
            warp.slots[out] = element_cast(after, array)
            return
        result = np.trunc(array.astype(np.float64)).astype(np.int64).astype(after.value)
        warp.slots[out] = result if result.ndim else after.wrap(int(result))

    return step


def element_cast(element: Element, array: Any) -> Any:
    """Integers rounded to a floating-point type."""
    return element.cast(array.astype(np.float64) if element.bits < 64 else array)[()]


@handles("arith.bitcast", "vector.bitcast")
def _bitcast(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    before = decoder.element(operation, operation.operation.operands[0].type)
    after = decoder.element(operation, operation.operation.results[0].type)

    def step(warp: Warp) -> None:
        value = warp.slots[source]
        raw = np.ascontiguousarray(before.store(value)).view(after.storage)
        result = after.load(raw)
        if np.ndim(value) == 0:
            result = result[0] if result.ndim else result[()]
            result = result if after.is_float else after.wrap(int(result))
        warp.slots[out] = result

    return step


@handles("arith.select")
def _select(decoder: Decoder, operation: Any) -> Step:
    condition, first, second = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    type_ = operation.operation.results[0].type
    element = element_of(getattr(type_, "element_type", type_))
    by_lane = is_vector(operation.operation.results[0]) and not is_vector(operation.operation.operands[0])

    def step(warp: Warp) -> None:
        values = warp.slots
        which, a, b = values[condition], values[first], values[second]
        if not is_array(which):
            values[out] = a if which else b
            return
        if element is None or isinstance(type_, ir.MemRefType):
            raise unsupported(operation, f"a {type_} that differs between lanes is not simulated")
        a, b = np.asarray(a, element.value), np.asarray(b, element.value)
        values[out] = np.where(expand(which, a) if by_lane else which, a, b)

    return step
