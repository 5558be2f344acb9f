"""Numbers of threads that act together."""

LANES = 32
"""Threads of a warp."""
WARPGROUP = 128
"""Threads of a warpgroup."""
UNITS = {"warp": 1, "wave": 2, "warpgroup": 4}
"""Who multiplies a tile together, and its warps. A wave of 64 threads, as AMD's matrix instructions need, is two
warps here: code counts threads in warps of 32 whatever runs in step on the chip."""
