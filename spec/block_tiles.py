"""Sizes of the buffers through which C is read, and results are stored, a block tile at a time. Passes and the model
share these numbers. No bindings are imported here."""

from __future__ import annotations

from collections.abc import Sequence

VECTOR = 16
"""Bytes that a thread moves at once."""
PAD = 8
"""Elements after each row: a row of the lanes' pieces, 8 neighbours of mma.sync, lies in other banks than the next."""
BAND = 16 * 1024
"""Bytes of the rows that a block's threads have in flight together: 32 registers of 128 threads."""


def pad_of(width: int) -> int:
    """Elements of this many bytes that follow each row: whole vectors."""
    return max(PAD, VECTOR // width)


def band_of(shape: Sequence[int], width: int) -> int:
    """Rows that are stored together: the most that divide the tile and are no more than BAND bytes, or one."""
    rows, columns = shape
    sizes = (size for size in range(rows, 0, -1) if rows % size == 0 and size * columns * width <= BAND)
    return next(sizes, 1)


def tile_bytes(shape: Sequence[int], width: int) -> int:
    """Bytes of a buffer for a tile of this shape."""
    rows, columns = shape
    return rows * (columns + pad_of(width)) * width
