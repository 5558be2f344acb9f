"""Main loops: how operands reach shared memory while others are multiplied."""
