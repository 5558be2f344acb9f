"""Words that the rules share: a tile, the nearest sizes that would be right."""

from __future__ import annotations

from typing import cast

from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.tile_space import HALVES


def shown_tile(tile: Tile) -> str:
    return "x".join(map(str, tile))


def shown_time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def shown_walk(schedule: Schedule) -> str:
    """How the tiles of one block lie, as the end of a sentence about blocks that walk tiles."""
    if schedule.tiles_per_block == 1:
        return ""
    return ", neighbours in the raster's order" if schedule.sequential_tiles else ", as far apart as there are blocks"


def shown_clusters(schedule: Schedule, tiles: int, outside: int) -> list[str]:
    """What the blocks of a cluster do together, and how many of all tiles lie outside the result; nothing without."""
    lines: list[str] = []
    if schedule.split_k_cluster > 1:
        lines.append(
            f"clusters of {schedule.split_k_cluster} blocks, which share the steps of k of one tile and add up their "
            "parts"
        )
    shared = {
        "B below each other": schedule.cluster_m > 1,
        "A beside each other": schedule.cluster_n > 1,
    }
    if any(shared.values()):
        blocks = schedule.cluster_m * schedule.cluster_n
        size = f"{schedule.cluster_m} by {schedule.cluster_n}" if all(shared.values()) else str(blocks)
        each = " for each of these parts" if schedule.split_k_cluster > 1 else ""
        together = " and ".join(what for what, is_shared in shared.items() if is_shared)
        lines.append(f"clusters of {size} blocks{each}, which copy tiles of {together} together")
    if outside:
        where = ", or on the other side of its diagonal" if schedule.space in HALVES else ""
        last = "whole" if where else "the last"
        lines.append(f"{outside} of the {tiles} tiles lie outside the result{where}: they fill {last} clusters")
    return lines


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


def shown_value(value: object) -> str:
    """The value of a schedule's field, as its text has it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "x".join(map(str, cast("tuple[int, ...]", value))) if isinstance(value, tuple) else str(value)
