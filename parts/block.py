"""The threads of a block: who multiplies, and who copies."""

from __future__ import annotations

from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.spec.schedule import Schedule, Tile

WARP_SIZE = 32
WARPGROUP = 4
"""Warps of a warpgroup."""
MOST_CONSUMERS = 3
"""Warpgroups that multiply, beside the one that copies."""


def of_each(tile: Tile, matrices: int) -> Tile:
    """The part of a tile that each of several matrices B has."""
    m, n, k = tile
    return m, n // matrices, k


def consumer_warpgroups(schedule: Schedule) -> int:
    """Warpgroups that multiply, where another one copies; with ping-pong, all of them."""
    if mma_of(schedule).unit == "warpgroup":
        return schedule.warps * (2 if schedule.ping_pong else 1)
    return -(-schedule.warps // WARPGROUP)


def threads(schedule: Schedule) -> int:
    """Threads in a block: with a warp that only copies, those of the warpgroups that multiply and of one more
    warpgroup."""
    if mma_of(schedule).by_descriptor or mainloop_of(schedule).producer:
        return WARPGROUP * WARP_SIZE * (consumer_warpgroups(schedule) + 1)
    return WARP_SIZE * mma_of(schedule).warps * schedule.warps
