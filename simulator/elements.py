"""Element types: how a number is kept in memory, and what NumPy computes with it.

A value of a warp is one of:
- a number that all lanes share: a Python int (two's complement, sign as written), bool, or NumPy float scalar;
- a number of each lane: an array of shape (32,);
- a vector: an array of shape (32, ...), or (1, ...) where all lanes share it;
- a fragment (mma_matrix): one matrix of the warp, f16 and bf16 operands kept as the f32 that equals them;
- a view of memory (memref).
bf16, tf32 and the types of 8 bits are kept as f32 and rounded after every operation. In memory, and in the caller's
arrays, they are the types of `ml_dtypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.spec.element_types import Derived, ElementType, numpy_dtype, of_modules

LANES = 32
Array = Any
choose: Any = np.where
"""numpy.where, which type checkers cannot follow for values of any type."""


def spread_to(value: Any, shape: tuple[int, ...]) -> Array:
    """The value in a shape: one that all lanes share for each of them. NumPy's `broadcast_to` takes 6 us even where the
    value has the shape already, as most have."""
    return value if is_array(value) and value.shape == shape else np.broadcast_to(value, shape)


@dataclass(frozen=True)
class Element:
    """One element type. `bits` is its width as a number, `bytes` what it takes in memory."""

    name: str
    bits: int
    storage: Any
    """dtype in memory."""
    value: Any
    """dtype of values."""
    is_float: bool
    round: Callable[[Array], Array] | None = None
    """Rounds f32 values to this type, where NumPy lacks it."""

    @property
    def bytes(self) -> int:
        return self.storage.itemsize

    def load(self, raw: Array) -> Array:
        """Values from an array of `storage`."""
        return raw if self.storage == self.value else raw.astype(self.value)

    def store(self, value: Array) -> Array:
        """An array of `storage` from values."""
        array = np.asarray(value)
        return array if array.dtype == self.storage else array.astype(self.storage)

    def cast(self, value: Array) -> Array:
        """Floating-point values rounded to this type, to nearest even; types without infinity, such as f8E4M3FN, give
        NaN beyond their range."""
        if self.round is not None:
            return self.round(_to_odd(np.asarray(value)))
        return value.astype(self.value)

    def wrap(self, number: int) -> int | bool:
        """A Python integer brought into this type's range."""
        if self.bits == 1:
            return bool(number & 1)
        half = 1 << (self.bits - 1)
        return ((number + half) & ((half << 1) - 1)) - half


def _round_to(kept: int) -> Callable[[Array], Array]:
    """Rounds f32 to nearest even with `kept` bits of fraction."""
    drop = 23 - kept

    def rounded(value: Array) -> Array:
        bits = np.asarray(value, np.float32).view(np.uint32)
        up = ((bits >> drop) & 1) + np.uint32((1 << (drop - 1)) - 1)
        result = ((bits + up) >> drop << drop).view(np.float32)
        return np.where(np.isfinite(value), result, value).astype(np.float32)

    return rounded


def _to_odd(value: Array) -> Array:
    """f32 from any floating-point values; f64 rounded so that rounding once more gives what one rounding would."""
    if value.dtype != np.float64:
        return value.astype(np.float32)
    narrow = value.astype(np.float32)
    back = narrow.astype(np.float64)
    away = np.isfinite(value) & (np.abs(back) > np.abs(value))
    towards_zero = choose(away, np.nextafter(narrow, np.float32(0)), narrow)
    inexact = np.isfinite(value) & (back != value)
    return choose(inexact, (towards_zero.view(np.uint32) | 1).view(np.float32), narrow)


def _through(dtype: Any) -> Callable[[Array], Array]:
    """Rounds f32 to a type of `ml_dtypes`."""
    return lambda value: value.astype(dtype).astype(np.float32)


def truncated(value: Array) -> Array:
    """f32 values as a tensor core reads them as tf32: the last 13 bits do not take part."""
    return (np.ascontiguousarray(value, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def _element(row: ElementType) -> Element:
    storage = numpy_dtype(row.name)
    if row.type_string:
        return Element(row.name, row.bits, storage, storage, row.is_float)
    return Element(row.name, row.bits, storage, np.dtype(np.float32), row.is_float, _through(storage))


_TF32 = Element("tf32", 32, np.dtype(np.float32), np.dtype(np.float32), True, _round_to(10))
INDEX = Element("index", 64, np.dtype(np.int64), np.dtype(np.int64), False)
ELEMENTS = Derived(
    lambda rows: {"tf32": _TF32, "index": INDEX, **{row.name: _element(row) for row in of_modules(rows)}}
)
"""By MLIR's names."""


def element_of(type_: Any) -> Element | None:
    """The element type of an MLIR scalar type, or None when it is not known here."""
    return ELEMENTS.get(str(type_))


def is_array(value: Any) -> bool:
    """Whether a value is an array, of lanes or of a vector, and no number."""
    return isinstance(value, np.ndarray)


def per_lane(value: Any, element: Element) -> Array:
    """A number as an array of shape (32,)."""
    array = np.asarray(value, element.value)
    return array if array.ndim else np.full(LANES, array)


def expand(lanes: Array, array: Array) -> Array:
    """A lane-wise array shaped so that it broadcasts along `array`, whose first axis is the lanes."""
    return lanes.reshape((-1,) + (1,) * (array.ndim - 1))


def collapse(value: Any) -> Any:
    """A lane-wise integer that is the same in all lanes as one Python int; anything else as it is."""
    if is_array(value):
        first = value[0]
        if first == value[-1] and (value == first).all():
            return first.item()
    return value
