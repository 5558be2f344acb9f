"""Element types: how a number is kept in memory, and what NumPy computes with it.

A value of a warp is one of:
- a number that all lanes share: a Python int (two's complement, sign as written), bool, or NumPy float scalar;
- a number of each lane: an array of shape (32,);
- a vector: an array of shape (32, ...), or (1, ...) where all lanes share it;
- a fragment (mma_matrix): one matrix of the warp, f16 and bf16 operands kept as the f32 that equals them;
- a view of memory (memref).
bf16 and tf32 are kept as f32 and rounded after every operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LANES = 32
Array = Any
choose: Any = np.where
"""numpy.where, which type checkers cannot follow for values of any type."""


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
        if self.name == "bf16":
            return (raw.astype(np.uint32) << 16).view(np.float32)
        return raw

    def store(self, value: Array) -> Array:
        """An array of `storage` from values."""
        if self.name == "bf16":
            return (np.asarray(value, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return np.asarray(value, self.storage)

    def cast(self, value: Array) -> Array:
        """Floating-point values rounded to this type, to nearest even."""
        if self.round is not None:
            return self.round(np.asarray(value).astype(np.float32))
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


def _float(name: str, bits: int, storage: Any, value: Any, round: Any = None) -> Element:
    return Element(name, bits, np.dtype(storage), np.dtype(value), True, round)


def _integer(name: str, bits: int, dtype: Any) -> Element:
    return Element(name, bits, np.dtype(dtype), np.dtype(dtype), False)


ELEMENTS: dict[str, Element] = {
    element.name: element
    for element in (
        _float("f16", 16, np.float16, np.float16),
        _float("bf16", 16, np.uint16, np.float32, _round_to(7)),
        _float("tf32", 32, np.float32, np.float32, _round_to(10)),
        _float("f32", 32, np.float32, np.float32),
        _float("f64", 64, np.float64, np.float64),
        _integer("i1", 1, np.bool_),
        _integer("i8", 8, np.int8),
        _integer("i16", 16, np.int16),
        _integer("i32", 32, np.int32),
        _integer("i64", 64, np.int64),
        _integer("index", 64, np.int64),
    )
}
INDEX = ELEMENTS["index"]


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
