"""What a schedule makes of a problem: tiles along each dimension, blocks, k steps, and what hangs over the edges."""

from __future__ import annotations

import heapq
from functools import lru_cache
from math import gcd

from mlir_gemm.parts.base import Raster
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import HALVES, K_RANGE, folded, square_of
from mlir_gemm.spec.zeros import Span, growing, parse, steps_of

FAR = 0.15
"""Part of the blocks that read the same rows or columns, but are no neighbours in the raster's order, whose requests
become one. 25 pairs of `wgmma` kernels, diagonal and grouped, differ by 1.0 to 1.55 in measured time, and by 0.9 to 1.7
in predicted time with this (before by nothing: root mean square 0.105 for 0.244); 22 of `row` 0.114 for 0.178
(`2026-11-24-h200-spaces.jsonl.xz`, `2026-11-27-h200-spaces.jsonl.xz`). Four strided tiles a block on diagonals of
4096^3 take 325 us, in groups 191 (`2026-11-28-h100-parameters.json.xz`)."""
MOST_TILES, MOST_OF_BOTH = 512, 32
"""Tiles along a side whose steps of k are counted, where these depend on one side, and on both: of more, some."""
MOST_DEALT = 16
"""Tiles for each block at a time from which unequal ones come to the same for all blocks."""


def grid(problem: Problem, schedule: Schedule) -> tuple[int, int]:
    """Tile rows and tile columns of one product's result; the last of each may be partly outside. Some of the tiles
    that fill the last clusters are entirely outside."""
    m, n, _ = schedule.block
    rows, columns = -(-problem.m // m), -(-problem.n // n)
    return -(-rows // schedule.cluster_m) * schedule.cluster_m, -(-columns // schedule.cluster_n) * schedule.cluster_n


def walked(problem: Problem, schedule: Schedule) -> tuple[int, int]:
    """Rows and columns of the rectangle of tiles that the raster walks: the grid, or what a triangle is folded into."""
    rows, columns = grid(problem, schedule)
    if schedule.space not in HALVES:
        return rows, columns
    side = square_of(schedule.cluster_m, schedule.cluster_n)
    high, wide = folded(-(-rows // side))
    return high * side, wide * side


def blocks(problem: Problem, schedule: Schedule) -> int:
    """Blocks of the whole batch."""
    rows, columns = walked(problem, schedule)
    return problem.batch * rows * columns


def walkers(problem: Problem, schedule: Schedule) -> int:
    """Blocks that walk several tiles each, of the whole batch; 0 where each block has one."""
    if schedule.tiles_per_block == 1:
        return schedule.persistent
    cluster = schedule.cluster_m * schedule.cluster_n
    return -(-blocks(problem, schedule) // (cluster * schedule.tiles_per_block)) * cluster


def covered(schedule: Schedule, raster: Raster, rows: int, columns: int, flight: float) -> tuple[float, float]:
    """Rows and columns of a grid of tiles, distinct ones, of which so many blocks in flight read the operands. Blocks
    with neighbouring tiles of their own are apart by as many tiles: they cover more, and at a time have each so-many-th
    column, and each so-many-th row where that number divides the rows that are walked at a time; else, column after
    column, they have other ones. On diagonals tile i of diagonal d lies in row i and column i + d."""
    near = schedule.tiles_per_block if schedule.sequential_tiles else 1
    if raster.diagonal:
        down = max(1.0, min(rows, near * flight) / gcd(near, rows))
        diagonals = max(1.0, near * flight / rows)
        apart = max(1.0, near / rows)
        return down, min(columns, max(1.0, down * min(diagonals, near) + max(0.0, diagonals - near)) / apart)
    high = raster.rows(schedule, rows)
    wide = min(columns, max(1.0, near * flight / high))
    if near == 1:
        return min(rows, max(1.0, flight / wide)), wide
    reached = min(rows, near * flight / wide)
    return max(1.0, reached / gcd(near, high)), max(1.0, wide / max(1.0, near / high))


def merged_readers(
    schedule: Schedule, raster: Raster, rows: int, across: tuple[float, float], flight: float
) -> tuple[float, float]:
    """Blocks in flight whose requests for the same rows of A, and for the same columns of B, become one. `across` are
    the rows and columns that these cover. Those that share rows are neighbours, but on diagonals; of those that share
    columns, in rows one is, in groups all count: with these L2's figures were fitted. Of others FAR counts."""
    rectangle = not raster.diagonal and not (schedule.tiles_per_block > 1 and schedule.sequential_tiles)
    readers_a, readers_b = across[::-1] if rectangle else (flight / across[0], flight / across[1])
    if raster.diagonal:
        readers_a = 1 + FAR * (readers_a - 1)
    if not raster.grouped:
        near = 1.0 if raster.diagonal else min(readers_b, raster.rows(schedule, rows))
        readers_b = near + FAR * (readers_b - near)
    return max(1.0, readers_a), max(1.0, readers_b)


def share(problem: Problem, schedule: Schedule) -> float:
    """Of the steps of all tiles of the result, the part that is computed."""
    rows, columns = grid(problem, schedule)
    return blocks(problem, schedule) / (problem.batch * rows * columns) * k_share(problem, schedule)


def k_share(problem: Problem, schedule: Schedule) -> float:
    """Of the k steps of the tiles that are computed, the part that is walked."""
    if schedule.space != K_RANGE:
        return 1.0
    found = _lengths(problem, schedule.block, steps(problem, schedule))
    return sum(found) / (len(found) * steps(problem, schedule))


def busiest(problem: Problem, schedule: Schedule, at_once: int) -> float:
    """Of unequal tiles, in the raster's order, how many of mean length the blocks have that have most steps, where so
    many clusters run at once: each takes the next tile when it is done with one, or has its tiles back and forth."""
    tiles = blocks(problem, schedule) // (schedule.cluster_m * schedule.cluster_n)
    if schedule.stream_k or tiles > MOST_DEALT * at_once:
        return tiles / at_once
    return _busiest(problem, schedule.block, steps(problem, schedule), tiles, at_once, bool(walkers(problem, schedule)))


@lru_cache(maxsize=256)
def _busiest(problem: Problem, block: Tile, whole: int, tiles: int, at_once: int, walk: bool) -> float:
    found = _lengths(problem, block, whole)
    found = sorted(found, reverse=True) if growing(problem.zeros) else found
    dealt = [found[tile * len(found) // tiles] for tile in range(tiles)]
    loads = [0] * at_once
    if walk:
        for tile, length in enumerate(dealt):
            round_, place = divmod(tile, at_once)
            loads[at_once - 1 - place if round_ % 2 else place] += length
    else:
        for length in dealt:
            heapq.heapreplace(loads, loads[0] + length)
    return max(loads) * len(dealt) / sum(dealt)


@lru_cache(maxsize=256)
def _lengths(problem: Problem, block: Tile, whole: int) -> list[int]:
    """The k steps of the tiles of the result, or of some at equal distances."""
    m, n, k = block
    sides = {each.across for each in parse(problem.zeros)} | ({"m", "n"} if problem.result_mask else set[str]())
    most = MOST_TILES if len(sides) == 1 else MOST_OF_BOTH
    rows = _sample(problem.m, m, most) if "m" in sides else [(0, m)]
    columns = _sample(problem.n, n, most) if "n" in sides else [(0, n)]
    return [
        len(steps_of(problem.zeros, problem.result_mask, row, column, k, whole)) for row in rows for column in columns
    ]


def _sample(size: int, tile: int, most: int) -> list[Span]:
    """Where tiles lie along a side: all, or of many some at equal distances."""
    count = -(-size // tile)
    apart = -(-count // most)
    return [(place * tile, (place + 1) * tile) for place in range(apart // 2, count, apart)]


def stores(schedule: Schedule) -> int:
    """How many times a tile is stored."""
    return 2 if schedule.space in HALVES else 1


def outside(problem: Problem, schedule: Schedule) -> int:
    """Blocks whose tiles lie outside the result: they fill the last clusters."""
    return blocks(problem, schedule) - blocks(problem, schedule.replace(cluster_m=1, cluster_n=1))


def is_one_wave(problem: Problem, schedule: Schedule, target: Target) -> bool:
    """Whether there are SMs for all tiles at once, or for all parts of them."""
    return blocks(problem, schedule) * schedule.split_k_cluster <= target.sms


def steps(problem: Problem, schedule: Schedule) -> int:
    """Steps of a block's k loop."""
    return -(-problem.k // schedule.block[2])


def ragged(problem: Problem, schedule: Schedule) -> bool:
    """Whether a tile reaches over an edge of the problem, or may because its sizes are known at run time only."""
    m, n, k = schedule.block
    return bool(problem.dynamic or problem.m % m or problem.n % n or problem.k % k)


def waste(problem: Problem, schedule: Schedule) -> float:
    """Products that the tiles compute, relative to those of the problem: 1 when the tiles divide it."""
    m, n, k = schedule.block
    whole = blocks(problem, schedule) * steps(problem, schedule) * m * n * k
    return 2 * whole / problem.flops


def tile_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of one k step's tiles of A and B, without padding."""
    m, n, k = schedule.block
    return m * k * element_bytes(problem, "a") + k * n * element_bytes(problem, "b")
