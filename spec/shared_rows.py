"""Sizes of the buffers for unaligned rows: rows of a result that do not start at a multiple of 16 bytes are stored
through shared memory, in whole vectors. Passes, mmas and the model share these numbers. No bindings are imported
here."""

VECTOR = 16
"""Bytes that a lane stores at once."""
MOST_BYTES, LEAST_BYTES = 256, 64
"""Bytes of the longest part of a row that a buffer holds, and of the shortest: for less the way is too long."""
ROWS = {"warpgroup": 64, "warp": 16}
"""Rows of a tile that a buffer of each unit holds: those of a fragment."""
WIDTHS = (1, 2, 4)
"""Bytes of the elements that leave so."""
_UNIT = 8
"""Columns of a fragment."""


def columns_of_buffer(columns: int, width: int, unit: str, transposed: bool) -> int:
    """Columns of a unit's tile that a buffer holds, of elements of this many bytes: about equal parts, in whole
    vectors; 0 where the tile is not stored this way. `transposed`: rows of the memory run down the tile."""
    run = ROWS[unit] if transposed else columns
    least = _UNIT if transposed else max(_UNIT, VECTOR // width if width else 0)
    if width not in WIDTHS or columns % least or run * width < LEAST_BYTES:
        return 0
    parts = -(-columns // (ROWS[unit] if transposed else MOST_BYTES // width))
    return -(-columns // (parts * least)) * least


def shape_of_buffer(columns: int, width: int, unit: str, transposed: bool) -> tuple[int, int]:
    """Rows of the memory in a buffer for this many columns of a tile, and elements of each: a vector more, since they
    begin as far after one as in memory."""
    rows = ROWS[unit]
    lines, run = (columns, rows) if transposed else (rows, columns)
    return lines, run + VECTOR // width
