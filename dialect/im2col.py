"""Windows as the copy engine moves them (its mode im2col): pixels in a row of output places, shifted within a window.

A tensor map in this mode describes an image of 3 to 5 dimensions, the channels last. A copy takes so many pixels, from
one on, in steps along each spatial dimension and from row to row of a box, and of each pixel a run of channels. The
offsets of a copy shift all its pixels, which is how it goes through a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.bindings import ir

LIMITS = {3: (1 << 15, 1 << 16), 4: (1 << 7, 1 << 8), 5: (1 << 4, 1 << 5)}
"""By the image's dimensions: the corners of the box lie below this in either direction, and offsets of copies below
that (CUDA driver API, cuTensorMapEncodeIm2col; PTX ISA, cp.async.bulk.tensor)."""
MOST_STEP = 8
"""Of the steps between pixels (cuTensorMapEncodeIm2col, elementStrides)."""


@dataclass(frozen=True)
class Im2col:
    """What a view by windows is to the copy engine."""

    rows: tuple[windows.Digit, ...]
    """What its first dimension counts through, outermost first."""
    columns: tuple[windows.Digit, ...]
    """The same of its second."""
    lower: tuple[int, ...]
    """For each spatial dimension where the box of first pixels begins, from the image's begin."""
    upper: tuple[int, ...]
    """And where it ends, from the image's end."""
    steps: tuple[int, ...]
    """And how far pixels are apart."""

    def attributes(self) -> dict[str, Any]:
        """The same for a copy, which only sees a tensor map."""

        def digits(given: Sequence[windows.Digit]) -> Any:
            return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(list(each)) for each in given])

        return {
            "pixels": digits(self.rows),
            "window": digits(self.columns),
            "corner": ir.DenseI64ArrayAttr.get(list(self.lower)),
        }


def of(value: Any) -> Im2col | str:
    """What a view by windows is to the copy engine; a reason where it is nothing to it."""
    parts, image = windows.parts_of(value), windows.image_of(value)
    shape = image.padded
    rank = len(shape)
    if len(parts) != 2 or rank not in LIMITS:
        return f"windows of {len(parts)} dimensions on an image of {rank}; expected 2 on one of 3 to 5"
    source = windows.source_of(value).type.shape
    if windows.OPEN in source and tuple(source) != image.shape:
        return "windows of images whose number is not the first size of their memory"
    rows, columns = (windows.digits(each, shape) for each in parts)
    if rows is None or columns is None:
        return "windows that do not run along the image's dimensions"
    starts = windows.starts_of(windows.offset_of(value), shape)
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
    lower = tuple(starts[dim] - image.low[dim] for dim in spatial)
    upper = tuple(start + (size - 1) * step + 1 - image.shape[dim]
                  for dim, start, (size, step) in zip(spatial, lower, places, strict=True))  # fmt: skip
    if any(each[dim] for each in (image.low, image.high) for dim in (0, rank - 1)):
        return "zeros around images or channels"
    corner, offset = LIMITS[rank]
    if any(not -corner <= each < corner for each in (*lower, *upper)):
        return f"a box of places whose corners are {lower} and {upper} from the image's; expected less than {corner}"
    if any((size - 1) * step >= offset for _, size, step in columns[:-1]):
        return f"a window that reaches {offset} pixels or more"
    if any(step > MOST_STEP for _, step in places):
        return f"steps of more than {MOST_STEP} pixels"
    return Im2col(rows, columns, lower, upper, tuple(step for _, step in places))


def channels_of(value: Any) -> int:
    """How many channels of a pixel the copy engine can take in a row, and all that divide them; 1 where it takes
    none."""
    return 1 if isinstance(of(value), str) else gcd(windows.run_of(value), windows.image_of(value).shape[-1])


def coordinates(op: Any, row: Any, column: Any) -> tuple[list[Any], list[Any]]:
    """Of a copy with `Im2col.attributes`, from the first row and column of what it moves: the first pixel, an index
    value for each dimension of the image, and the offsets in the spatial ones. Built at the insertion point."""
    pixels, window = ([tuple(each) for each in op.attributes[name]] for name in ("pixels", "window"))
    corner = list(op.attributes["corner"])
    first: list[Any] = [0, *corner, 0]
    offsets: list[Any] = [0] * len(corner)
    for dim, number in windows.numbers(row, pixels, beyond=True):
        first[dim] = windows.moved(number, first[dim])
    for dim, number in windows.numbers(column, window):
        if dim == len(first) - 1:
            first[dim] = number
        else:
            offsets[dim - 1] = number
    return first, offsets
