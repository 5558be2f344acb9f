"""The search for schedules with WMMA: tiles that divide the problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlir_gemm.parts.layout import VECTOR_ELEMENT_BITS
from mlir_gemm.parts.mma.wmma.rules import SHAPES, SIZE_UNIT
from mlir_gemm.parts.mma.wmma.tiles import operand_tiles
from mlir_gemm.parts.registry import mainloops
from mlir_gemm.parts.warp_level.worthwhile import LARGEST, MOST_ASPECT, stages_of, worthwhile
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import VECTOR_BITS, Schedule, Tile
from mlir_gemm.spec.target import Target

LARGEST_K = 128
DEPTHS = 3
"""How many block tile k are proposed, from the largest: more steps of less work have never paid."""
MOST_WARPS = 16
MOST_WARP_AREA = 64 * 96
"""Largest warp tile proposed: 192 accumulators a thread."""


def proposals(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
    """Schedules to try, legal or not. A `wide` search also proposes the other shapes of the instruction, tiles that
    cannot divide the problem, long warp tiles and small tiles for large problems."""
    searched = ("block", "warp", "instruction", "stages", "vector")
    fixed = {name: value for name, value in pinned.items() if name not in searched}
    shapes = [pinned["instruction"]] if "instruction" in pinned else SHAPES if wide else SHAPES[:1]
    promote = pinned.get("promote", True)
    mainloop = mainloops()[pinned["mainloop"]] if "mainloop" in pinned else None
    streamed = mainloop is not None and mainloop.asynchronous and not mainloop.producer
    for block in [pinned["block"]] if "block" in pinned else _blocks(problem, target, wide):
        stages = (1, 2) if promote and problem.k > block[2] else (1,)
        if streamed:
            stages = stages_of(problem, block)
        for shape in shapes:
            if (
                "warp" in pinned
                and shape != shapes[0]
                and any(w % s for w, s in zip(pinned["warp"], shape, strict=True))
            ):
                continue  # the warp tile rules out this shape, so take the first one
            for warp in [pinned["warp"]] if "warp" in pinned else _warps(block, shape, wide):
                vector = pinned.get("vector") or widest_vector(problem, block, warp, pinned.get("pad", 8))
                for count in (pinned["stages"],) if "stages" in pinned else stages:
                    yield Schedule.make({
                        "block": block, "warp": warp, "instruction": shape, "stages": count, "vector": vector, **fixed,
                    })  # fmt: skip


def tile_sizes(extent: int) -> list[int]:
    """Tile sizes to try along a dimension of `extent` elements, largest first: the powers of two from 16 to 256 that
    divide it. When those end below 128, the other multiples of 16 that divide it too, none closer than a fifth to
    the next larger one."""
    powers = [size for size in (256, 128, 64, 32, 16) if extent % size == 0]
    if powers and powers[0] >= 128:
        return powers
    spread: list[int] = []
    for size in range(LARGEST, 0, -SIZE_UNIT):
        if extent % size == 0 and (not spread or 5 * size <= 4 * spread[-1]):
            spread.append(size)
    return spread


def widest_vector(problem: Problem, block: Tile, warp: Tile, pad: int) -> int:
    """The widest vector, in bits, that splits the tiles of A and B evenly among the threads and keeps padded rows
    aligned; 16 when none does."""
    m, n, k = block
    threads = 32 * max(1, (m // warp[0]) * (n // warp[1]))
    (_, columns_a), (_, columns_b) = operand_tiles(problem, block)
    for bits in reversed(VECTOR_BITS):
        width = bits // VECTOR_ELEMENT_BITS
        aligned = not (columns_a % width or columns_b % width or pad % width)
        if aligned and not (m * k % (width * threads) or k * n % (width * threads)):
            return bits
    return VECTOR_BITS[0]


def _blocks(problem: Problem, target: Target, wide: bool) -> list[Tile]:
    if wide:
        # The sizes that divide, and around them the powers of two that may not: those are rejected, with a reason.
        powers = {16, 32, 64, 128, 256}
        rows, columns, depths = (
            sorted(powers.union(tile_sizes(extent))) for extent in (problem.m, problem.n, problem.k)
        )
        return [(m, n, k) for m in rows for n in columns for k in depths if k <= LARGEST_K]
    rows, columns = tile_sizes(problem.m), tile_sizes(problem.n)
    depths = [k for k in tile_sizes(problem.k) if k <= LARGEST_K][:DEPTHS]
    return worthwhile(problem, target, rows, columns, depths)


def _warps(block: Tile, shape: Tile, wide: bool) -> list[Tile]:
    """Warp tiles of a block tile. Their k is that of the instruction: the inner loop is unrolled, so that a larger one
    gives the same code."""
    rows, columns = _splits(block[0], shape[0]), _splits(block[1], shape[1])
    tiles: list[Tile] = [(m, n, shape[2]) for m in rows for n in columns]
    if wide:
        return tiles

    def likely(tile: Tile) -> bool:
        m, n, _ = tile
        area, warps = m * n, (block[0] // m) * (block[1] // n)
        return area <= MOST_WARP_AREA and warps <= MOST_WARPS and max(m, n) <= MOST_ASPECT * min(m, n)

    return [tile for tile in tiles if likely(tile)]


def _splits(extent: int, unit: int) -> list[int]:
    """The sizes of warp tiles that divide a block tile's `extent`, largest first; `unit` when none does."""
    sizes = [size for size in range(unit, min(extent, LARGEST) + 1, unit) if extent % size == 0]
    return sizes[::-1] or [unit]
