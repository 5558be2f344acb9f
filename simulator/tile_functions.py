"""Rare operations of arith and math in the block-wide interpreter: tests of numbers, bits of integers, two results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.tile_numbers import dtype_of
from mlir_gemm.simulator.tile_program import Decoder, Function, Maker, Step, StepMaker, located

_WHERE: Any = np.where
_Two = tuple[Any, Any]


def _sine_and_cosine(x: Any) -> _Two:
    wide = np.asarray(x, np.float64)
    return np.sin(wide), np.cos(wide)


def _extended(operation: Any) -> Callable[[Any, Any], _Two]:
    name = operation.operation.name
    dtype = dtype_of(operation.operation.operands[0].type, operation)
    bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize

    def number(value: Any) -> int:
        unsigned = int(value) & ((1 << bits) - 1)
        return unsigned - (1 << bits) if name == "arith.mulsi_extended" and unsigned >> (bits - 1) else unsigned

    def one(a: Any, b: Any) -> tuple[int, int]:
        x, y = number(a), number(b)
        total = x + y if name == "arith.addui_extended" else x * y
        low, high = total & ((1 << bits) - 1), (total >> bits) & ((1 << bits) - 1)
        return _signed(low, bits), high if name == "arith.addui_extended" else _signed(high, bits)

    return np.frompyfunc(one, 2, 2)


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if bits > 1 and number >> (bits - 1) else number


def _step(decoder: Decoder, operation: Any) -> Step:
    results = list(operation.operation.results)
    dtypes = [dtype_of(result.type, operation) for result in results]
    compute = located(
        _sine_and_cosine if operation.operation.name == "math.sincos" else _extended(operation), operation
    )
    inputs, outputs = decoder.slots(operation.operation.operands), decoder.slots(results)

    def step(frame: Any) -> None:
        found = compute(*(frame[slot] for slot in inputs))
        for slot, dtype, value in zip(outputs, dtypes, found, strict=True):
            frame[slot] = np.asarray(value).astype(dtype)[()]

    return step


def _is_nan(x: Any, _: float) -> Any:
    return np.isnan(x)


def _is_infinite(x: Any, _: float) -> Any:
    return np.isinf(x)


def _is_finite(x: Any, _: float) -> Any:
    return np.isfinite(x)


def _is_normal(x: Any, least: float) -> Any:
    return np.isfinite(x) & (np.abs(x) >= least)


def _test(holds: Callable[[Any, float], Any]) -> Maker:
    """The maker of a test of a number, which is also told the least normal one of its type."""

    def make(operation: Any) -> Function:
        least = _LEAST_NORMAL[str(_element(operation))]

        def test(x: Any) -> Any:
            return holds(np.asarray(x, np.float64), least)[()]

        return test

    return make


def _flush(operation: Any) -> Function:
    dtype = dtype_of(operation.operation.results[0].type, operation)
    least = _LEAST_NORMAL[str(_element(operation))]

    def flush(x: Any) -> Any:
        small = np.abs(np.asarray(x, np.float64)) < least
        return np.asarray(_WHERE(small, np.copysign(0.0, x), x), dtype)[()]

    return flush


def _element(operation: Any) -> Any:
    type_ = operation.operation.operands[0].type
    return ir.ShapedType(type_).element_type if isinstance(type_, ir.ShapedType) else type_


def _clamp(operation: Any) -> Function:
    dtype = dtype_of(operation.operation.results[0].type, operation)

    def clamp(x: Any, low: Any, high: Any) -> Any:
        return np.asarray(_WHERE(x < low, low, np.asarray(_WHERE(x > high, high, x))), dtype)[()]

    return clamp


def _of_bits(count: Callable[[str], int]) -> Maker:
    """The maker of a number that is read off the bits of an integer."""

    def make(operation: Any) -> Function:
        dtype = dtype_of(operation.operation.results[0].type, operation)
        bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize

        def one(x: Any) -> int:
            return count(format(int(x) & ((1 << bits) - 1), f"0{bits}b"))

        return _each(one, dtype)

    return make


def _power(operation: Any) -> Function:
    dtype = dtype_of(operation.operation.results[0].type, operation)
    bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize

    def one(x: Any, n: Any) -> int:
        base, exponent = int(x), int(n)
        if exponent < 0:
            return base ** (exponent % 2) if abs(base) == 1 else 0
        return _signed(pow(base, exponent, 1 << bits), bits)

    return _each(one, dtype)


def _each(function: Any, dtype: Any) -> Function:
    """A function of numbers, on arrays."""
    every = cast("Callable[..., Any]", np.frompyfunc(function, function.__code__.co_argcount, 1))

    def compute(*values: Any) -> Any:
        return np.asarray(every(*values)).astype(dtype)[()]

    return compute


_LEAST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
STEPS: dict[str, StepMaker] = dict.fromkeys(
    ("math.sincos", "arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended"), _step
)
FUNCTIONS: dict[str, Maker] = {
    "math.isnan": _test(_is_nan), "math.isinf": _test(_is_infinite),
    "math.isfinite": _test(_is_finite),
    "math.isnormal": _test(_is_normal),
    "arith.flush_denormals": _flush, "math.clampf": _clamp, "math.ipowi": _power,
    "math.ctpop": _of_bits(lambda bits: bits.count("1")),
    "math.ctlz": _of_bits(lambda bits: len(bits) - len(bits.lstrip("0"))),
    "math.cttz": _of_bits(lambda bits: len(bits) - len(bits.rstrip("0"))),
}  # fmt: skip
