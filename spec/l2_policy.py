"""Which lines of an operand L2 keeps: the units that the schedule, the passes and the mmas count in. No bindings are
imported here."""

PARTS = 32
"""Parts of an operand."""
KEEP = "keep"
"""On a tile.tma_load: of PARTS boxes, how many L2 keeps like any other data; the rest is the first to leave it."""
