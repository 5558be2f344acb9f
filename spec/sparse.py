"""2:4 sparse matrices: how their values and metadata lie in memory, one after the other.

Of each four neighbours along k at most two are not zero. The values are a matrix [m, k / 2]: of each four the two that
may be other than zero, in order. The metadata says of each value which of the four it is, in two bits. It is laid out
for `wgmma.mma_async.sp` of 16-bit elements (PTX ISA, "Sparse matrix storage"), so that what the lanes of a warp need
for 16 rows and 64 of k is 32 words in a row: lane 4 g + t has, in its lower and its upper half, the rows g and g + 8 at
the 16 places of k from 16 t on, of each four the first value's bits below the second's. These rows of 32 words make a
matrix [m / 16, k / 64 * 32] of words. Both are one array of the values' type: first the values, then the metadata.
"""

from __future__ import annotations

GROUP, KEPT = 4, 2
"""Neighbours along k, and how many of them may be other than zero."""
ROWS, WORDS, DEPTH = 16, 32, 64
"""Rows of the matrix that have their metadata in one row, words of it, and places of k that these are for."""
INSTRUCTION_ROWS = 64
"""Rows that metadata is there for are a multiple of this."""
ELEMENTS = ("f16", "bf16")
"""Types of values, by their MLIR names."""
PAIRS = (0x4, 0x8, 0xC, 0x9, 0xD, 0xE)
"""The bits of four neighbours: all pairs of different places, the lower place in the lower bits."""


def metadata_rows(m: int) -> int:
    """Rows of the matrix of metadata for so many rows of the sparse matrix."""
    return -(-m // INSTRUCTION_ROWS) * INSTRUCTION_ROWS // ROWS


def metadata_start(m: int, k: int) -> int:
    """Elements of the values' type before the metadata."""
    return m * k // KEPT


def packed_elements(m: int, k: int) -> int:
    """Elements of the values' type that values and metadata of a matrix [m, k] take together."""
    return metadata_start(m, k) + metadata_rows(m) * k  # 32 words for 64 of k are 64 elements of 16 bits
