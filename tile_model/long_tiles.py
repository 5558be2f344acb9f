"""How products of a long k are multiplied with `wgmma`: which tiles and clusters cover a small result, and after how
many k steps ordinary additions take over from the tensor cores (`promotion`).

Where the slices of k are long enough to be read at the speed of DRAM, a cluster has all of the result, so that each row
of the operands is read once. Blocks of the same part that only meet in L2 drift apart in products of 2 ms:
256x256x10,000,000 in tiles of 256x128 took 3650 us on the H200, as long as 1.5 times the operands take.
"""

from __future__ import annotations

import dataclasses
from math import ceil
from typing import Any

from mlir_gemm.parts.mma.wgmma.work import cluster_places
from mlir_gemm.parts.registry import warpgroup_mma
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.emulation import multiplied_as
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.long_sums import LONGEST_LARGE, NARROW, Division, fitted, is_small, shows_more

PANEL = 128
"""Bytes of k in a step."""
ADDED = dict.fromkeys(NARROW, 128)
ADDED_OTHERS, ADDED_SHOWN = 256, 64
"""Elements of k whose products tensor cores add up, before ordinary additions take over: 8-bit floats as many as
`torch._scaled_mm` without fast accumulation; others; those whose result shows all that a sum loses."""
PROMOTED_FROM = 4096
"""Elements of k from which parts are promoted that need not be: shorter ones lose 2.7e-5 at most."""
COVERED = ((32, 64, 1 << 23), (64, 128, 1 << 20), (128, 256, 1 << 20))
"""More rows and columns than the first, and as many as the second at most, have a result that a cluster covers, from so
many bytes of k on. 64x64x1,000,000 takes 65 us in tiles of its size and 66 in clusters, ten times as much 622 and 588;
128x128x1,000,000 132 and 129."""
CUT = 1 << 23
"""Bytes of k from which a result of 129 to 256 rows is covered by two tiles of 128x256, whose accumulators leave no
registers for others, and not by four of 128x128: of 256x256, 1,000,000 takes 280 us (four: 269), 10,000,000 2671 beside
2546 of `torch.mm` with four, 2745 beside 2717 with two."""
FEW, FEW_DEEP = 32, 1 << 14
"""Rows and columns up to which a result that shows what a sum loses has promoted parts only if k is no longer:
3x3x100,000 takes 7.8 us with them, 4.5 in parts of 200."""
QUARTERED, QUARTERED_FROM = (128, 256), 1 << 16
_HALF = (128, 128, 64), (64, 128, 64)
TILES: dict[str, tuple[Tile, Tile]] = {
    "f16": _HALF, "bf16": _HALF, "f32": ((128, 128, 32), (32, 64, 32)), "f64": ((128, 64, 16), (64, 32, 16)),
}  # fmt: skip
"""Tiles of the block and of a warp or warpgroup for results of more rows and columns than the first, and as many as the
second at most, from this many elements of k on. 256x256x100,000 with what the model chose and with these: f16 NN 33.5
and 32.1 us, TN 31.6 and 31.2, f32 342 and 334, f64 313 and 300."""
LARGE = 512
"""Rows and columns up to which tiles of 128x256 below each other share B: 512x512x1,000,000 takes 1014 us without, 776
with."""


def promotion_of(problem: Problem, precision: str) -> int:
    """k steps of 128 bytes whose products tensor cores add up; 0 where ordinary arithmetic does, or sums are exact."""
    if problem.acc != "f32" or (problem.a == "f32" and multiplied_as(precision) != "tf32"):
        return 0
    elements = ADDED_SHOWN if shows_more(problem) else ADDED_OTHERS
    return max(1, ADDED.get(problem.a, elements) * ELEMENT_BYTES[problem.a] // PANEL)


def long_fields(problem: Problem, target: Target, precision: str) -> dict[str, Any]:
    """The fields that the slices of a long product should have if they can: `promotion` where they would have to be
    short without, for 8-bit floats and where a result shows what a sum loses; tiles that were found to be faster. None
    on chips without `wgmma`, where nothing of it was measured."""
    if warpgroup_mma(target) is None:
        return {}
    promotion = promotion_of(problem, precision)
    shown = shows_more(problem) and (max(problem.m, problem.n) > FEW or problem.k <= FEW_DEEP)
    if promotion and is_small(problem) and (problem.a in ADDED or shown):
        return {"promotion": promotion}
    if not _between(problem, *QUARTERED) or precision != "full" or problem.k < QUARTERED_FROM:
        return sharing(problem)
    tiles = TILES.get(problem.a)
    return {"block": tiles[0], "warp": tiles[1]} if tiles else {}


def covering(problem: Problem, target: Target, precision: str) -> Division | None:
    """The division of a long product whose result each cluster has all of; None where that was not found to pay."""
    promotion = promotion_of(problem, precision)
    bytes_of_k = problem.k * ELEMENT_BYTES.get(problem.a, 4)
    least = next((size for low, high, size in COVERED if _between(problem, low, high)), None)
    if not promotion or problem.batch > 1 or (problem.a_order, problem.b_order) != ("mk", "nk"):
        return None
    if least is None or bytes_of_k < least:
        return None
    side = max(problem.m, problem.n)
    if side > 128 and bytes_of_k > CUT and problem.a not in ADDED:
        return _in_waves(problem, target, (128, 256), {"cluster_m": 2}, ceil(problem.k / LONGEST_LARGE))
    tile = next(tile for size, tile in ((64, (64, 32)), (128, (128, 64)), (256, (128, 128))) if side <= size)
    down, along = ceil(problem.m / tile[0]), ceil(problem.n / tile[1])
    return _in_waves(problem, target, tile, {"cluster_m": down, "cluster_n": along, "promotion": promotion}, 1)


def _between(problem: Problem, low: int, high: int) -> bool:
    return min(problem.m, problem.n) > low and max(problem.m, problem.n) <= high


def _in_waves(
    problem: Problem, target: Target, tile: tuple[int, int], fields: dict[str, Any], least: int
) -> Division | None:
    """Parts that fill whole waves of clusters, with the fields of their schedule."""
    cluster = fields["cluster_m"] * fields.get("cluster_n", 1)
    wave = cluster_places(target, cluster) // cluster
    if not wave:
        return None
    made = fitted(problem, ceil(least / wave) * wave, least, wave)
    return dataclasses.replace(made, fields=(*_tiles(problem, tile), *fields.items()))


def sharing(problem: Problem) -> dict[str, Any]:
    """The fields of a long product of a few large tiles: those below each other share copies."""
    whole = problem.m % 256 == 0 and problem.n % 256 == 0 and max(problem.m, problem.n) <= LARGE
    along_k = (problem.a_order, problem.b_order) == ("mk", "nk") and ELEMENT_BYTES.get(problem.a) == 2
    if not whole or not along_k or problem.batch > 1 or max(problem.m, problem.n) <= COVERED[-1][1]:
        return {}
    return {**dict(_tiles(problem, (128, 256))), "cluster_m": 2}


def _tiles(problem: Problem, tile: tuple[int, int]) -> tuple[tuple[str, Tile], tuple[str, Tile]]:
    """The block tile and a warpgroup's."""
    m, n = tile
    k = PANEL // ELEMENT_BYTES[problem.a]
    return ("block", (m, n, k)), ("warp", (64, n, k))
