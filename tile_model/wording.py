"""Words that the rules share: a tile, the nearest sizes that would be right."""

from __future__ import annotations

from mlir_gemm.pipeline.schedule import Schedule, Tile
from mlir_gemm.tile_model.layout import VECTOR_ELEMENT_BITS


def shown_tile(tile: Tile) -> str:
    return "x".join(map(str, tile))


def multiples(value: int, unit: int, least: int = 1) -> str:
    """The multiples of `unit` below and above `value`, from `least` times the unit."""
    below = max(value // unit, least) * unit
    above = max(-(-value // unit), least) * unit
    return str(below) if below == above else f"{below} or {above}"


def divisors(extent: int, value: int, unit: int) -> str:
    """The multiples of `unit` that divide `extent`, the closest to `value` below and above it."""
    sizes = [size for size in range(unit, min(extent, 2 * value) + 1, unit) if extent % size == 0]
    below = [size for size in sizes if size <= value][-1:]
    above = [size for size in sizes if size > value][:1]
    return " or ".join(map(str, below + above)) or str(min(extent, unit))


def narrower_vector(schedule: Schedule) -> str:
    """The widest vector at most as wide as the one given that splits both tiles, as advice."""
    m, n, k = schedule.block
    for bits in (128, 64, 32, 16):
        width = bits // VECTOR_ELEMENT_BITS
        tiles_split = m * k % (width * schedule.threads) == 0 == k * n % (width * schedule.threads)
        if bits < schedule.vector and k % width == 0 == n % width and tiles_split:
            return f"the nearest: vector={bits}"
    return "no vector does: take fewer warps or a larger block tile"
