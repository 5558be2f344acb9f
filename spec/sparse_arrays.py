"""2:4 sparse matrices on arrays of the bits of their elements: packed as `spec/sparse.py` says, and unpacked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.spec import sparse
from mlir_gemm.spec.sparse import DEPTH, GROUP, KEPT, ROWS


def crowded(bits: Any) -> tuple[int, int] | None:
    """The row and the column at which the first four start of which more than two are not zero; None where none do."""
    m, k = bits.shape
    many = np.count_nonzero(bits.reshape(m, k // GROUP, GROUP) & 0x7FFF, axis=2) > KEPT
    row, group = divmod(int(many.argmax()), k // GROUP)
    return (row, group * GROUP) if many[row, group] else None


def pack(bits: Any) -> Any:
    """Values and metadata, as one array, of a matrix [m, k] of 16-bit floats given as their bits (uint16): of each four
    the two of the largest magnitude, the first ones where these are equal."""
    m, k = bits.shape
    fours = bits.reshape(m, k // GROUP, GROUP)
    size = fours & 0x7FFF  # orders the magnitudes of floats of any format
    # The largest two, the first ones where they are equal; then by place.
    kept = np.argsort(-size.astype(np.int32), axis=2, kind="stable")[:, :, :KEPT]
    kept.sort(axis=2)
    values = np.take_along_axis(fours, kept, axis=2).reshape(-1)
    nibbles = (kept[:, :, 0] | kept[:, :, 1] << 2).astype(np.uint16)
    rows = sparse.metadata_rows(m) * ROWS
    padded = np.full((rows, k // GROUP), sparse.PAIRS[0], np.uint16)
    padded[:m] = nibbles
    return np.concatenate([values, _metadata(padded)])


def _metadata(nibbles: Any) -> Any:
    """The metadata of four bits for each four of [rows, k / 4], as lanes take it: as one row of uint16."""
    rows = len(nibbles)
    quarters = nibbles.reshape(rows, -1, 4)
    halves = quarters[:, :, 0] | quarters[:, :, 1] << 4 | quarters[:, :, 2] << 8 | quarters[:, :, 3] << 12
    # [of 16 rows, upper or lower 8, g, of 64 of k, t] -> [of 16 rows, of 64 of k, g, t, half of a word]
    halves = halves.reshape(rows // ROWS, 2, ROWS // 2, -1, 4)
    return np.ascontiguousarray(halves.transpose(0, 3, 2, 4, 1)).reshape(-1)


def places(metadata: Any, rows: int, k: int) -> Any:
    """Where in its four each value is, [rows, k / 4, 2], from metadata as lanes take it: uint16, or rows of words."""
    halves = np.ascontiguousarray(metadata).view(np.uint16).reshape(rows // ROWS, k // DEPTH, ROWS // 2, 4, 2)
    halves = halves.transpose(0, 4, 2, 1, 3).reshape(rows, -1)
    nibbles = halves[:, :, None] >> np.arange(0, 16, 4, dtype=np.uint16) & 0xF
    nibbles = nibbles.reshape(rows, k // GROUP)
    return np.stack([nibbles & 3, nibbles >> 2], axis=2).astype(np.int64)


def spread(values: Any, at: Any) -> Any:
    """A matrix [m, k] from its values [m, k / 2], and where each is in its four, [m, k / 4, 2]."""
    m, half = values.shape
    found = np.zeros((m, half // KEPT, GROUP), values.dtype)
    pairs = values.reshape(m, -1, KEPT)
    for number in range(KEPT):  # where both are at one place, as in a tile beyond the end, both are zero
        np.put_along_axis(found, at[:, :, number : number + 1], pairs[:, :, number : number + 1], axis=2)
    return found.reshape(m, half * GROUP // KEPT)


def unpacked(packed: Any, shape: tuple[int, int]) -> Any:
    """The matrix with its zeros, as bits, of values and metadata as bits."""
    m, k = shape
    start, rows = sparse.metadata_start(m, k), sparse.metadata_rows(m) * ROWS
    return spread(packed[:start].reshape(m, k // KEPT), places(packed[start:], rows, k)[:m])
