"""Numbers that kernels take by value: from what a caller gives to the bits of a parameter."""

from __future__ import annotations

import struct
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.spec.launch import Argument

_FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
_BOOL = "i1"


def bits_of(argument: Argument, given: Any) -> int:
    """The bits of a number, rounded to the nearest where the type of the argument has fewer: Python's numbers, NumPy's,
    and arrays of one element and no dimensions. Raises ArgumentError for anything else, and for what does not fit."""
    value = _plain(argument, given)
    if not TYPES[argument.dtype].is_float:
        return _bits_of_integer(argument, value)
    try:
        number = float(value)
        if argument.dtype == "bf16":
            return _bf16(number)
        return int.from_bytes(struct.pack(_FORMATS[argument.dtype], number), "little")
    except OverflowError:
        raise ArgumentError(f"{given} given, which {argument.dtype} does not hold") from None


def _plain(argument: Argument, given: Any) -> int | float:
    value = given
    if not isinstance(given, int | float):
        if getattr(given, "shape", None) != () or not hasattr(given, "item"):
            kind = type(given).__name__
            raise ArgumentError(f"{kind} given, the kernel takes a number ({argument.dtype})")
        value = given.item()
    if isinstance(value, float) and not TYPES[argument.dtype].is_float:
        raise ArgumentError(f"{value} given, the kernel takes an integer ({argument.dtype})")
    if not isinstance(value, int | float):
        value = float(value)  # numbers of ml_dtypes
    return value


def _bits_of_integer(argument: Argument, value: int | float) -> int:
    bits = 8 * argument.item_bytes
    number = int(value)
    least, most = (0, 1) if argument.dtype == _BOOL else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if not least <= number <= most:
        raise ArgumentError(f"{number} given, the kernel takes {least} to {most} ({argument.dtype})")
    return number & ((1 << bits) - 1)


def _bf16(number: float) -> int:
    """To nearest even, by way of an f32 whose last bit says whether anything was cut off (rounding to odd)."""
    wide = struct.pack("<f", number)
    bits = int.from_bytes(wide, "little")
    near = struct.unpack("<f", wide)[0]
    if number != number:
        return bits >> 16 | 0x40
    if near != number and not bits & 1:
        bits += -1 if abs(near) > abs(number) else 1
    if bits & 0x7FFFFFFF < 0x7F800000:
        bits += 0x7FFF + (bits >> 16 & 1)
    return bits >> 16
