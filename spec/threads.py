"""Numbers of threads that act together."""

LANES = 32
"""Threads of a warp."""
WARPGROUP = 128
"""Threads of a warpgroup."""
