"""The search for schedules with warp-level mmas that guard their edges: block tiles are powers of two up to just above
the problem's sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import gcd
from typing import Any

from mlir_gemm.parts.base import Mma, Search
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.registry import mainloops, mmas
from mlir_gemm.parts.warp_level.layouts import layouts_tried
from mlir_gemm.parts.warp_level.worthwhile import LARGEST, MOST_ASPECT, stages_of, worthwhile
from mlir_gemm.spec.fields import named
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import VECTOR_BITS, Schedule, Tile
from mlir_gemm.spec.target import Target

DEEP_AREA = 128 * 128
"""Elements of a block tile from which tiles of f64 have twice the longest k: 2.56 to 2.67 ms at 4096, and 2.57 to 2.81
by the longest (`2026-11-24-h200-lanes.json.xz`)."""
SHALLOW_AREA, LONG_K = 64 * 64, 512
"""Elements of a block tile up to which they may have it too, and the k from which: each step has a barrier and first
loads. With fragments ahead such steps take 0.77 to 0.99 of the time (0.88 in the mean of ten pairs of three products,
H200 and H100); with a k of 320 and 374 0.97, of 128 by larger tiles 1.1 to 1.3 (`2026-11-27-h200-spaces.jsonl.xz`,
`2026-11-28-h100-seed-32-spaces.jsonl.xz`, `2026-11-28-h100-seed-33-spaces.jsonl.xz`)."""
SPREAD_STAGES, SPREAD_AREA, SPREAD_STEPS = 3, 96 * 128, 24
"""Stages, elements of a block tile and k steps from which copies are spread over the products of a step. On the H200 it
gives 3 to 5 % with large tiles, costs 1 to 4 % with smaller ones, and 15 % with two stages, which have no time to
spare."""
SLOW_AREA = 64 * 64
"""The same area where products are slow: f64 by 64x128x16 takes 2.60 to 2.72 ms at 4096 with copies between products
and 2.74 to 2.88 without, by 128x128x16 2.57 to 2.81 and 2.97 to 3.01 (`2026-11-24-h200-lanes.json.xz`)."""
SIZES = (256, 128, 96, 64, 32, 16)
"""Block tiles in m and n."""
DEPTH_BYTES = (128, 64, 32)
"""Bytes that block tiles have in k; the last for products whose k is short, or fills few steps of the others: of 89
bytes two steps of 64 multiply a third more than three of 32 (968x1300x89 takes 5.0 us so, 6.3 by steps of 64, H100)."""
WASTED = 7 / 8
"""Part of the k of bytes that is multiplied in longer steps under which the shortest are tried."""
RING_STAGES = (2, 3, 4, 6)
"""Stages that are proposed for a ring."""
MOST_WARPS = 8
MOST_ACCUMULATORS = 128
"""Registers of accumulators in a thread."""
FEW_WARPS = 1024
"""Elements of a block tile for each warp that it must have, up to four: a single one would copy too much."""
LANE_K = 8
"""The warp tile's k where lanes multiply: their products are unrolled."""
WIDE_LANE = 16
"""Most rows or columns of a lane's tile."""


def searching(name: str) -> Search:
    """The search of the operation of this name."""

    def search(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
        return proposals(mmas()[name], problem, target, pinned, wide)

    return search


def proposals(
    mma: Mma, problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool = False
) -> Iterator[Schedule]:
    """Schedules of an operation to try, legal or not, with the main loop that `pinned` names."""
    searched = ("block", "warp", "stages", "vector", "instruction", "layout", "pad", "interleave")
    fixed = {name: value for name, value in pinned.items() if name not in searched}
    instruction: Tile = pinned.get("instruction") or mma.instruction_of(problem, target)
    mainloop = mainloops()[pinned["mainloop"]] if "mainloop" in pinned else None
    ring = mainloop is not None and mainloop.producer
    streamed = mainloop is not None and mainloop.asynchronous and not ring
    spreading = streamed and "interleave" in named(mainloop.fields if mainloop else ())
    vector = pinned.get("vector", VECTOR_BITS[-1])
    slow = _slow(problem, mma)
    for block in [pinned["block"]] if "block" in pinned else _blocks(problem, target, mma, wide):
        laid = layouts_tried(problem, block, mma, streamed, ring, pinned)
        stages = stages_of(problem, block) if streamed else (1, 2) if problem.k > block[2] else (1,)
        if ring:
            stages = RING_STAGES
            walked = blocks_of(problem, Schedule(block=block)) > target.sms and pinned.get("tiles_per_block", 1) == 1
            fixed["persistent"] = pinned.get("persistent", target.sms if walked else 0)
        if "stages" in pinned:
            stages = (pinned["stages"],)
        tiles = [pinned["warp"]] if "warp" in pinned else _warps(problem, block, mma, instruction, wide)
        for warp in tiles:
            for buffers in stages:
                spread: bool = pinned.get("interleave", not spreading or _spreads(problem, block, buffers, slow))
                for layout in laid:
                    yield Schedule.make({
                        "block": block, "warp": warp, "instruction": instruction, "stages": buffers, "vector": vector,
                        "interleave": spread, **layout, **fixed,
                    })  # fmt: skip


def _spreads(problem: Problem, block: Tile, stages: int, slow: bool) -> bool:
    """Whether copies are better spread over the products of a step than issued before them."""
    m, n, k = block
    area = SLOW_AREA if slow else SPREAD_AREA
    steps = SPREAD_STEPS // 2 if slow else SPREAD_STEPS
    return stages >= SPREAD_STAGES and m * n >= area and problem.k >= steps * k


def _slow(problem: Problem, mma: Mma) -> bool:
    """Whether products take so long that nothing else limits: of f64, and by lanes."""
    return problem.a == "f64" or (mma.lanes is not None and problem.acc == "f32" and not problem.algebra)


def _blocks(problem: Problem, target: Target, mma: Mma, wide: bool) -> list[Tile]:
    rows, columns = _up_to(problem.m), _up_to(problem.n)
    widest = max(element_bytes(problem, "a"), element_bytes(problem, "b"))
    sizes = (2 * DEPTH_BYTES[0], *DEPTH_BYTES) if _slow(problem, mma) and mma.tensor_cores else DEPTH_BYTES
    depths = [size // widest for size in sizes]
    if wide:
        return [(m, n, k) for m in rows for n in columns for k in depths]
    # The shortest only where a longer one would be twice the product's k, or reaches far beyond it.
    likely = [k for k in depths[:-1] if k < 2 * problem.k] or depths[-1:]
    walked = [-(-problem.k // k) * k for k in (*likely, depths[-1])]
    if widest == 1 and walked[-1] <= WASTED * min(walked[:-1]):
        likely = [*likely, depths[-1]]
    if mma.lanes:
        rows, columns = ([size for size in sizes if size < LARGEST] for sizes in (rows, columns))
        likely = [k for k in depths if k < 2 * problem.k] or depths[-1:]
    blocks = worthwhile(problem, target, rows, columns, likely)
    small = SHALLOW_AREA if problem.k >= LONG_K else 0
    return [(m, n, k) for m, n, k in blocks if k * widest <= DEPTH_BYTES[0] or m * n >= DEEP_AREA or m * n <= small]


def _up_to(extent: int) -> list[int]:
    """Block tiles up to the first that holds `extent` elements, largest first."""
    return [size for size in SIZES if size < 2 * extent] or [SIZES[-1]]


@lru_cache(maxsize=1 << 12)
def _warp_sizes(extent: int, unit: int) -> tuple[int, ...]:
    """Warp tiles along a side of a block tile. Those under 16 read too much for what they multiply, and are for the
    shortest sides only."""
    sizes = [size for size in (128, 64, 48, 32, 16, 8) if extent % size == 0 and size % unit == 0]
    return tuple(size for size in sizes if size >= 16) or tuple(sizes[:1]) or (unit,)


def _warps(problem: Problem, block: Tile, mma: Mma, instruction: Tile, wide: bool) -> list[Tile]:
    unit_m, unit_n, unit_k = mma.tile_unit(instruction)
    deep = gcd(block[2], LANE_K) if mma.lanes else unit_k
    rows, columns = _warp_sizes(block[0], unit_m), _warp_sizes(block[1], unit_n)
    words = 2 if problem.acc == "f64" else 1
    tiles: list[Tile] = []
    for m in rows:
        for n in columns:
            warps = (block[0] // m) * (block[1] // n)
            if not wide:
                aspect = max(m, n) > MOST_ASPECT * min(m, n)
                if warps > MOST_WARPS or m * n * words > 32 * mma.warps * MOST_ACCUMULATORS or aspect:
                    continue
                if mma.lanes and max(m // mma.lanes[0], n // mma.lanes[1]) > WIDE_LANE:
                    continue
                if warps < min(4, block[0] * block[1] // FEW_WARPS):
                    continue
            tiles.append((m, n, deep))
    return tiles
