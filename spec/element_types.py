"""Element types by their MLIR names: what other libraries call them, and their NumPy types.

NumPy is imported only when its types are asked for, and `ml_dtypes`, which adds bf16 and the 8-bit ones to it, only for
those.
"""

from __future__ import annotations

import importlib
from typing import Any

from mlir_gemm.spec.problem import ELEMENT_BYTES

UNSIGNED_BYTE = "ui8"
"""MLIR's i8 has no sign of its own: a kernel that takes i8 takes int8 and uint8. Arrays of uint8 go by this name."""
ITEM_BYTES = {**ELEMENT_BYTES, UNSIGNED_BYTE: 1}
NAMES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2",
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", UNSIGNED_BYTE: "uint8",
}  # fmt: skip
"""By the name that NumPy, PyTorch, CuPy and JAX share."""
BY_NAME = {name: dtype for dtype, name in NAMES.items()}
_BEYOND_NUMPY = ("bf16", "f8E4M3FN", "f8E5M2")
TYPE_STRINGS = {
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
    "i1": "|b1", "i8": "|i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", UNSIGNED_BYTE: "|u1",
}  # fmt: skip
"""How NumPy's array protocols write them; they have no way to write bf16 and the 8-bit floating-point types."""


def numpy_dtype(dtype: str) -> Any:
    """The NumPy type of elements of an MLIR type."""
    if dtype in _BEYOND_NUMPY:
        return importlib.import_module("numpy").dtype(getattr(importlib.import_module("ml_dtypes"), NAMES[dtype]))
    return importlib.import_module("numpy").dtype(NAMES[dtype])


def accepts(wanted: str, given: str) -> bool:
    """Whether a kernel that takes elements of type `wanted` may be given those of type `given`."""
    return given == wanted or (wanted == "i8" and given == UNSIGNED_BYTE)


def spread(memory: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """A view of a flat NumPy array with these sizes and strides, in elements. (NumPy's own `as_strided` does not take
    every type of `ml_dtypes`.)"""
    tricks = importlib.import_module("numpy").lib.stride_tricks
    size = memory.itemsize
    return tricks.as_strided(memory.view(f"u{size}"), shape, tuple(size * step for step in strides)).view(memory.dtype)
