"""Tensor maps: tiles of an array that the copy engine moves, and where their bytes lie in shared memory.

With the 128-byte swizzle the chunks of 16 bytes of a tile change places within 128 bytes, by address: bits 4 to 6
change by bits 7 to 9; with that of 64 bytes bits 4 and 5 by bits 7 and 8, with that of 32 bytes bit 4 by bit 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlir_gemm.dialect.im2col import Im2col
from mlir_gemm.simulator.memory import View, count, strided
from mlir_gemm.spec import tensor_map

CHUNK = 16
"""Bytes that stay together."""
TARGET, PATTERN_ROWS = 128, 8
"""Bytes that the place of a tile in shared memory is a multiple of; with a swizzle those of so many of its rows, after
which the pattern repeats."""


@dataclass(frozen=True)
class TensorMap:
    """An array in global memory and a tile of it. Dimensions are in the order of the memref."""

    view: View
    box: tuple[int, ...]
    swizzle: str

    def problem(self) -> str | None:
        """Why the driver would refuse it; None if it would not."""
        view = self.view
        if view.strides and view.strides[-1] != 1 and view.sizes[-1] != 1:
            return f"its innermost stride is {view.strides[-1]}; expected 1"
        strides = tuple(stride * view.element.bytes for stride in view.strides[:-1])
        name, item = view.element.name, view.element.bytes
        if view.base % item:
            return f"its first element lies at byte {view.base}"
        found = tensor_map.TensorMap(0, name, view.sizes, strides, self.box, self.swizzle, view.base // item)
        return found.problem()

    @property
    def coordinates(self) -> int:
        """How many numbers say where a tile is."""
        return len(self.view.sizes)

    @cached_property
    def _elements(self) -> Any:
        """The array's elements as bits, on its memory."""
        view = self.view
        item = view.element.bytes
        data = view.buffer.data[view.base : view.base + _span(view)].view(f"u{item}")
        return strided(data, view.sizes, tuple(stride * item for stride in view.strides))

    @property
    def bytes(self) -> int:
        """Of a tile; those beyond the array count too."""
        return math.prod(self.box) * self.view.element.bytes

    def inside(self, place: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
        """The part of a tile that lies in the array, as slices of the array and of the tile; None for nothing."""
        array, tile = list[slice](), list[slice]()
        for at, size, extent in zip(place, self.view.sizes, self.box, strict=True):
            first, last = max(at, 0), min(at + extent, size)
            if first >= last:
                return None
            array.append(slice(first, last))
            tile.append(slice(first - at, last - at))
        return tuple(array), tuple(tile)

    def read(self, place: tuple[int, ...]) -> Any:
        """A tile as chunks of bytes, zero beyond the array."""
        tile = np.zeros(self.box, f"u{self.view.element.bytes}")
        found = self.inside(place)
        if found is not None:
            tile[found[1]] = self._elements[found[0]]
        return tile.reshape(-1).view(np.uint8).reshape(-1, CHUNK)

    def write(self, place: tuple[int, ...], chunks: Any) -> None:
        """Writes what lies in the array of a tile that comes as chunks of bytes."""
        found = self.inside(place)
        if found is not None:
            tile = np.ascontiguousarray(chunks).reshape(-1).view(f"u{self.view.element.bytes}").reshape(self.box)
            self._elements[found[0]] = tile[found[1]]

    def rows(self, place: tuple[int, ...]) -> tuple[Any, int]:
        """The bytes of the array that a tile touches: where its rows start in the buffer, and how long they are."""
        found = self.inside(place)
        if found is None:
            return np.zeros(0, np.int64), 0
        item = self.view.element.bytes
        *outer, last = found[0]
        starts: Any = np.full(1, self.view.base + last.start * item, np.int64)
        for part, stride in zip(outer, self.view.strides, strict=False):
            along = (count(part.stop - part.start) + part.start) * (stride * item)
            starts = (starts[:, None] + along).reshape(-1)
        return starts, (last.stop - last.start) * item

    def chunks(self, address: int) -> Any:
        """The addresses in shared memory of a tile's chunks."""
        plain = address + np.arange(0, self.bytes, CHUNK)
        if self.swizzle == "none":
            return plain
        return plain ^ ((plain >> 7) & (int(self.swizzle) // CHUNK - 1)) << 4

    @property
    def alignment(self) -> int:
        """What the address of a tile in shared memory is a multiple of."""
        return TARGET if self.swizzle == "none" else PATTERN_ROWS * int(self.swizzle)


@dataclass(frozen=True)
class Windows(TensorMap):
    """Windows of an image of which a copy takes so many pixels in a row, of each so many channels: `box` has both.

    A place is the first pixel, in all dimensions of the image, and after it the offsets in the spatial ones."""

    geometry: Im2col

    def problem(self) -> str | None:
        geometry, sizes = self.geometry, self.view.sizes
        box = (self.box[0], *[1] * (len(sizes) - 2), self.box[1])
        return TensorMap(self.view, box, self.swizzle).problem() or (
            "its box of first pixels is empty" if min(self._box, default=1) < 1 or not geometry.steps else None
        )

    @property
    def coordinates(self) -> int:
        return 2 * len(self.view.sizes) - 2

    @cached_property
    def _box(self) -> tuple[int, ...]:
        """Sizes of the box of first pixels."""
        given = zip(self.view.sizes[1:-1], self.geometry.lower, self.geometry.upper, strict=True)
        return tuple(size - low + high for size, low, high in given)

    def _pixels(self, place: tuple[int, ...]) -> Any:
        """The places of a tile's pixels in the image, a row for each, in all dimensions but the last."""
        rank = len(self.view.sizes)
        first, offsets, lower, steps = place[: rank - 1], place[rank:], self.geometry.lower, self.geometry.steps
        counts = [-(-size // step) for size, step in zip(self._box, steps, strict=True)]
        number = first[0]
        for at, low, step, many in zip(first[1:], lower, steps, counts, strict=True):
            number = number * many + (at - low) // step
        numbers: Any = number + np.arange(self.box[0])
        found = list[Any]()
        for many, low, step, offset in reversed(list(zip(counts, lower, steps, offsets, strict=True))):
            found.append(numbers % many * step + low + offset)
            numbers = numbers // many
        return np.stack([numbers, *reversed(found)], axis=1)

    def _starts(self, place: tuple[int, ...]) -> tuple[Any, Any, int]:
        """Where in the image the first channel of each pixel is, in elements; whether the pixel lies in it; and how
        many channels do."""
        pixels, rank = self._pixels(place), len(self.view.sizes)
        inside = np.all((pixels >= 0) & (pixels < np.array(self.view.sizes[:-1])), axis=1)
        starts = pixels @ np.array(self.view.strides[:-1], np.int64) + place[rank - 1]
        return starts, inside, max(0, min(self.box[1], self.view.sizes[-1] - place[rank - 1]))

    def read(self, place: tuple[int, ...]) -> Any:
        item = self.view.element.bytes
        starts, inside, many = self._starts(place)
        tile = np.zeros(self.box, f"u{item}")
        data = self.view.buffer.data[self.view.base : self.view.base + _span(self.view)].view(f"u{item}")
        tile[inside, :many] = data[starts[inside, None] + np.arange(many)]
        return tile.reshape(-1).view(np.uint8).reshape(-1, CHUNK)

    def rows(self, place: tuple[int, ...]) -> tuple[Any, int]:
        starts, inside, many = self._starts(place)
        item = self.view.element.bytes
        return (self.view.base + starts[inside] * item).astype(np.int64), many * item if inside.any() else 0


def _span(view: View) -> int:
    if 0 in view.sizes:
        return 0
    reach = sum((size - 1) * stride for size, stride in zip(view.sizes, view.strides, strict=True))
    return (1 + reach) * view.element.bytes
