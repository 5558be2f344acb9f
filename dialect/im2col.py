"""Windows as the copy engine moves them (its mode im2col): pixels in a row of output places, shifted within a window.

A tensor map in this mode describes an image of 3 to 5 dimensions, the channels last. A copy takes so many pixels, from
one on, in steps along each spatial dimension and from row to row of a box, and of each pixel a run of channels. The
offsets of a copy shift all its pixels, which is how it goes through a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import indexing, windows
from mlir_gemm.dialect.bindings import ir

Digit = tuple[int, int, int]
"""A number that an index counts through: the image's dimension, how many there are, and by how much each moves there."""

LIMITS = {3: (1 << 15, 1 << 16), 4: (1 << 7, 1 << 8), 5: (1 << 4, 1 << 5)}
"""By the image's dimensions: the corners of the box lie below this in either direction, and offsets of copies below
that (CUDA driver API, cuTensorMapEncodeIm2col; PTX ISA, cp.async.bulk.tensor)."""
MOST_STEP = 8
"""Of the steps between pixels (cuTensorMapEncodeIm2col, elementStrides)."""


@dataclass(frozen=True)
class Im2col:
    """What a view by windows is to the copy engine."""

    rows: tuple[Digit, ...]
    """What its first dimension counts through, outermost first."""
    columns: tuple[Digit, ...]
    """The same of its second."""
    lower: tuple[int, ...]
    """For each spatial dimension where the box of first pixels begins, from the image's begin."""
    upper: tuple[int, ...]
    """And where it ends, from the image's end."""
    steps: tuple[int, ...]
    """And how far pixels are apart."""

    def attributes(self) -> dict[str, Any]:
        """The same for a copy, which only sees a tensor map."""

        def digits(given: Sequence[Digit]) -> Any:
            return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(list(each)) for each in given])

        return {
            "pixels": digits(self.rows),
            "window": digits(self.columns),
            "corner": ir.DenseI64ArrayAttr.get(list(self.lower)),
        }


def of(value: Any) -> Im2col | str:
    """What a view by windows is to the copy engine; a reason where it is nothing to it."""
    parts, shape = windows.parts_of(value), list(windows.source_of(value).type.shape)
    rank = len(shape)
    if len(parts) != 2 or rank not in LIMITS:
        return f"windows of {len(parts)} dimensions on an image of {rank}; expected 2 on one of 3 to 5"
    rows, columns = (_digits(each, shape) for each in parts)
    if rows is None or columns is None:
        return "windows that do not run along the image's dimensions"
    starts = _starts(windows.offset_of(value), shape)
    if starts[0] or starts[-1]:
        return "windows that do not begin with the first image and channel"
    along = [dim for dim, _, _ in rows]
    if along != sorted(set(along)) or rank - 1 in along or any(dim == 0 and step != 1 for dim, _, step in rows):
        return "places of the window that are not in the order of the image's dimensions"
    if not columns or columns[-1][0] != rank - 1 or columns[-1][2] != 1 or any(dim == 0 for dim, _, _ in columns):
        return "windows without channels innermost"
    if len({dim for dim, _, _ in columns}) < len(columns):
        return "windows that run along a dimension of the image twice"
    spatial = range(1, rank - 1)
    found = {dim: (size, step) for dim, size, step in rows}
    places = [found.get(dim, (1, 1)) for dim in spatial]
    lower = tuple(starts[1:-1])
    upper = tuple(start + (size - 1) * step + 1 - shape[dim]
                  for dim, start, (size, step) in zip(spatial, lower, places, strict=True))  # fmt: skip
    corner, offset = LIMITS[rank]
    if any(not -corner <= each < corner for each in (*lower, *upper)):
        return f"a box of places whose corners are {lower} and {upper} from the image's; expected less than {corner}"
    if any((size - 1) * step >= offset for dim, size, step in columns[:-1]):
        return f"a window that reaches {offset} pixels or more"
    if any(step > MOST_STEP for _, step in places):
        return f"steps of more than {MOST_STEP} pixels"
    return Im2col(rows, columns, lower, upper, tuple(step for _, step in places))


def channels_of(value: Any) -> int:
    """How many channels of a pixel the copy engine can take in a row, and all that divide them; 1 where it takes
    none."""
    return 1 if isinstance(of(value), str) else gcd(windows.run_of(value), windows.source_of(value).type.shape[-1])


def coordinates(op: Any, row: Any, column: Any) -> tuple[list[Any], list[Any]]:
    """Of a copy with `Im2col.attributes`, from the first row and column of what it moves: the first pixel, an index
    value for each dimension of the image, and the offsets in the spatial ones. Built at the insertion point."""
    pixels, window = ([tuple(each) for each in op.attributes[name]] for name in ("pixels", "window"))
    corner = list(op.attributes["corner"])
    first: list[Any] = [0, *corner, 0]
    offsets: list[Any] = [0] * len(corner)
    for dim, number in _numbers(row, pixels, last=True):
        first[dim] = indexing.add(number, first[dim])
    for dim, number in _numbers(column, window, last=False):
        if dim == len(first) - 1:
            first[dim] = number
        else:
            offsets[dim - 1] = number
    return first, offsets


def _numbers(index: Any, digits: Sequence[Digit], last: bool) -> list[tuple[int, Any]]:
    """How far an index is along each dimension; with `last` the outermost one may be beyond the end."""
    found: list[tuple[int, Any]] = []
    inner = 1
    for place in reversed(range(len(digits))):
        dim, size, step = digits[place]
        number = index if inner == 1 else indexing.div(index, inner)
        number = number if last and place == 0 else indexing.rem(number, size)
        found.append((dim, number if step == 1 else indexing.mul(number, step)))
        inner *= size
    return found


def _digits(parts: windows.Parts, shape: list[int]) -> tuple[Digit, ...] | None:
    """What an index counts through, each a dimension of the image; None where that is not so."""
    strides = [prod(shape[dim + 1 :]) for dim in range(len(shape))]
    found: list[Digit] = []
    for size, stride in reversed(parts):
        while size > 1:
            dim = next((dim for dim, each in enumerate(strides) if each <= stride), None)
            if dim is None or not stride or stride % strides[dim]:
                return None
            room = strides[dim - 1] // stride if dim else size
            if size > room and (strides[dim - 1] % stride or size % room):
                return None
            found.append((dim, min(size, room), stride // strides[dim]))
            size, stride = size // min(size, room), strides[dim - 1] if dim else 0
    return tuple(reversed(found))


def _starts(offset: int, shape: list[int]) -> list[int]:
    found: list[int] = []
    for size in reversed(shape):
        found.append(offset % size)
        offset //= size
    return found[::-1]
