"""Memory as bytes, and typed views of it. Two views of the same bytes alias, as on the machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mlir_gemm.simulator.elements import Array, Element
from mlir_gemm.simulator.shadow import Shadow

_CHUNKS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
"""Types that move 1 to 16 bytes at a time; none of them is computed with."""
_MOST = 16
POISON = 0xFF
"""Every byte of memory that was never written: NaN in every floating-point type, -1 in the integers."""


class Buffer:
    """A stretch of memory: an argument, the shared memory of a block, or what lanes keep for themselves."""

    def __init__(self, name: str, space: str, size: int):
        self.name = name
        self.space = space
        """`global`, `shared` or `private`."""
        self.size = size
        self.data = np.full(-(-max(size, 1) // _MOST) * _MOST, POISON, np.uint8)
        self._chunks = {width: self.data.view(dtype) for width, dtype in _CHUNKS.items()}
        self.shadow: Shadow | None = None
        self.address = 0
        """Where it starts in its block's shared memory, or in global memory if addresses there are computed with."""
        self.raised: dict[int, tuple[int, Any]] = {}
        """Of flags, by their bytes: the cluster whose warp raised it last, and what that warp had seen."""
        self.written = 0
        """How often words of it were written (`ops_words`)."""
        self.block: Any = None
        """The block that it belongs to."""
        self.view: View | None = None
        """The buffer as a whole, as it is declared: for messages."""

    def gather(self, starts: Array, width: int, storage: Any) -> Array:
        """Rows of `width` bytes at the addresses `starts`, as an array (rows, elements) of `storage`."""
        step = _step(starts, width)
        places = starts // step
        if step != width:
            places = places[:, None] + count(width // step)
        return self._chunks[step][places].view(storage).reshape(len(starts), -1)

    def scatter(self, starts: Array, width: int, rows: Array) -> None:
        """Writes `rows`, an array (rows, elements) of the storage type, to the addresses `starts`."""
        step = _step(starts, width)
        places = starts // step
        if step != width:
            places = places[:, None] + count(width // step)
        pieces = np.ascontiguousarray(rows).view(np.uint8).view(_CHUNKS[step])
        self._chunks[step][places] = pieces.reshape(places.shape)


def strided(array: Array, shape: Any, steps: Any) -> Array:
    """The memory of an array from its start on, by another shape and other strides (in bytes), whatever its type."""
    bits = array.view(f"u{array.itemsize}")  # NumPy's as_strided does not take every type of ml_dtypes
    return as_strided(bits, tuple(shape), tuple(steps)).view(array.dtype)


def _step(starts: Array, width: int) -> int:
    """The widest type in which all of these rows can be moved."""
    low = int(np.bitwise_or.reduce(starts)) | width
    return min(_MOST, low & -low)


@lru_cache(maxsize=256)
def count(number: int) -> Array:
    """0, 1, ... as a shared array that nobody writes to."""
    array = np.arange(number, dtype=np.int64)
    array.flags.writeable = False
    return array


@dataclass(slots=True)
class View:
    """A memref: sizes and strides in elements over a buffer, `base` in bytes (one for all lanes, or one for each)."""

    buffer: Buffer
    base: Any
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    element: Element
    aligned: Any = 0
    """Where the memref's pointer points, in bytes; `base` is further on by its offset."""

    def describe(self, address: int) -> str:
        """`address`, a byte of the buffer, in words."""
        base = int(np.asarray(self.base).flat[0])
        at = f"byte {address} of {self.buffer.space} {self.buffer.name}"
        rest, indices = (address - base) // self.element.bytes, list[int]()
        if rest < 0:
            return at
        for stride in self.strides:
            indices.append(rest // stride if stride else 0)
            rest -= indices[-1] * stride
        shape = "x".join(map(str, self.sizes))
        return f"[{', '.join(map(str, indices))}] of {shape}x{self.element.name} ({at})"


def dense_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides, step = list[int](), 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
