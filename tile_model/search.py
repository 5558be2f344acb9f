"""Where the choice of a schedule looks: which tiles, stages and layouts are worth proposing, legal or not.

`wmma` takes tiles that divide the problem. The other operators take any tile, so theirs are powers of two up to just
above the problem's sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import gcd
from typing import Any

from mlir_gemm.spec.problem import ELEMENT_BYTES, Problem
from mlir_gemm.spec.schedule import VECTOR_BITS, Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.grid import blocks as blocks_of
from mlir_gemm.tile_model.group_search import group_proposals
from mlir_gemm.tile_model.layout import CHUNK, LINE, VECTOR_ELEMENT_BITS
from mlir_gemm.tile_model.operators import LANES, element_bytes, instruction_of, warp_unit
from mlir_gemm.tile_model.problem_rules import SIZE_UNIT
from mlir_gemm.tile_model.shape_rules import SWIZZLED_ROWS

LARGEST = 256
"""Largest block tile in m and n that is proposed; larger ones do not fit in the registers of an SM."""
LARGEST_K = 128
DEPTHS = 3
"""How many block tile k are proposed, from the largest: more steps of less work have never paid."""
WARP_K = 16
"""The warp tile's k that is proposed. The inner loop is unrolled, so a larger one gives the same code."""
MANY_BLOCKS = 32
"""Blocks for each SM from which tiles of an eighth of the largest area, or less, are no longer proposed."""
MOST_WARPS = 16
MOST_WARP_AREA = 64 * 96
"""Largest warp tile proposed: 192 accumulators a thread."""
MOST_ASPECT = 4

SWIZZLE = True
"""Whether asynchronous copies are proposed with swizzled rows, where rows allow it, rather than padded ones: 1.2 times
as fast at 4096 and 8192 on the H200."""
SPREAD_STAGES, SPREAD_AREA, SPREAD_STEPS = 3, 96 * 128, 24
"""Stages, elements of a block tile and k steps from which copies are spread over the products of a step. On the H200 it
gives 3 to 5 % with large tiles, costs 1 to 4 % with smaller ones, and 15 % with two stages, which have no time to
spare."""
SIZES = (256, 128, 96, 64, 32, 16)
"""Block tiles in m and n of `mma_sync` and `simt`."""
DEPTH_BYTES = (128, 64, 32)
"""Bytes that block tiles of `mma_sync` and `simt` have in k; the last for short products only."""
STAGES = ((2, 4, 6), (2, 3, 4))
"""Stages that are proposed for asynchronous copies of small and of large tiles."""
RING_STAGES = (2, 3, 4, 6)
"""Stages that are proposed for a ring of `mma_sync`."""
SMALL_STAGE = 16 * 1024
"""Bytes of A and B in a stage up to which the tiles are small."""
MOST_SYNC_WARPS = 8
MOST_ACCUMULATORS = 128
"""Registers of accumulators in a thread."""
FEW_WARPS = 1024
"""Elements of a block tile for each warp that it must have, up to four: a single one would copy too much."""
SIMT_K = 8
"""The warp tile's k of `simt`: its products are unrolled."""
WIDE_LANE = 16
"""Most rows or columns of a lane's tile in `simt`."""


def proposals(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool = False) -> Iterator[Schedule]:
    """Schedules to try, legal or not, of the operator and the copy that `pinned` names, `wmma` and `prefetch` if none.
    A `wide` search also proposes tiles that cannot divide the problem, long warp tiles and small tiles for large
    problems."""
    if pinned.get("operator", Schedule.operator) == "wmma":
        return _wmma_proposals(problem, target, pinned, wide)
    if pinned["operator"] == "wgmma":
        return group_proposals(problem, target, pinned, wide)
    return _sync_proposals(problem, target, pinned, wide)


def _wmma_proposals(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
    fixed = {name: value for name, value in pinned.items() if name not in ("block", "warp", "stages", "vector")}
    promote = pinned.get("promote", True)
    streamed = pinned.get("copy") == "cp_async"
    for block in [pinned["block"]] if "block" in pinned else _blocks(problem, target, wide):
        stages = (1, 2) if promote and problem.k > block[2] else (1,)
        if streamed:
            stages = _stages(problem, block)
        for warp in [pinned["warp"]] if "warp" in pinned else _warps(block, wide):
            vector = pinned.get("vector") or widest_vector(block, warp, pinned.get("pad", 8))
            for count in (pinned["stages"],) if "stages" in pinned else stages:
                yield Schedule(block=block, warp=warp, stages=count, vector=vector, **fixed)


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


def widest_vector(block: Tile, warp: Tile, pad: int) -> int:
    """The widest vector, in bits, that splits the tiles of A and B evenly among the threads and keeps padded rows
    aligned; 16 when none does."""
    m, n, k = block
    threads = 32 * max(1, (m // warp[0]) * (n // warp[1]))
    for bits in reversed(VECTOR_BITS):
        width = bits // VECTOR_ELEMENT_BITS
        aligned = not (k % width or n % width or pad % width)
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
    return _worthwhile(problem, target, rows, columns, depths)


def _worthwhile(problem: Problem, target: Target, rows: list[int], columns: list[int], depths: list[int]) -> list[Tile]:
    """Block tiles of these sizes, less the small ones where there are many blocks anyway."""
    largest = rows[0] * columns[0]
    few = MANY_BLOCKS * target.sms
    return [
        (m, n, k)
        for m in rows
        for n in columns
        if 8 * m * n >= largest or problem.batch * problem.m * problem.n <= few * m * n
        for k in depths
    ]


def _warps(block: Tile, wide: bool) -> list[Tile]:
    rows, columns = _splits(block[0]), _splits(block[1])
    tiles: list[Tile] = [(m, n, WARP_K) for m in rows for n in columns]
    if wide:
        return tiles

    def likely(tile: Tile) -> bool:
        m, n, _ = tile
        area, warps = m * n, (block[0] // m) * (block[1] // n)
        return area <= MOST_WARP_AREA and warps <= MOST_WARPS and max(m, n) <= MOST_ASPECT * min(m, n)

    return [tile for tile in tiles if likely(tile)]


def _splits(extent: int) -> list[int]:
    """The sizes of warp tiles that divide a block tile's `extent`, largest first; 16 when none does."""
    sizes = [size for size in range(SIZE_UNIT, min(extent, LARGEST) + 1, SIZE_UNIT) if extent % size == 0]
    return sizes[::-1] or [SIZE_UNIT]


def _sync_proposals(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
    searched = ("block", "warp", "stages", "vector", "instruction", "layout", "pad", "spread")
    fixed = {name: value for name, value in pinned.items() if name not in searched}
    operator: str = pinned["operator"]
    instruction: Tile = pinned.get("instruction") or instruction_of(operator, problem, target)
    streamed, ring = pinned.get("copy") == "cp_async", pinned.get("copy") == "tma"
    vector = pinned.get("vector", VECTOR_BITS[-1])
    for block in [pinned["block"]] if "block" in pinned else _sync_blocks(problem, target, operator, wide):
        layout, pad = _layout(problem, block, operator, streamed, pinned)
        stages = _stages(problem, block) if streamed else (1, 2) if problem.k > block[2] else (1,)
        if ring:
            stages = RING_STAGES
            walked = blocks_of(problem, Schedule(block=block)) > target.sms
            fixed["persistent"] = pinned.get("persistent", target.sms if walked else 0)
        if "stages" in pinned:
            stages = (pinned["stages"],)
        tiles = [pinned["warp"]] if "warp" in pinned else _sync_warps(problem, block, operator, instruction, wide)
        for warp in tiles:
            for buffers in stages:
                spread: bool = pinned.get("spread", streamed and _spreads(problem, block, buffers))
                yield Schedule(
                    block=block, warp=warp, instruction=instruction, stages=buffers, vector=vector, layout=layout,
                    pad=pad, spread=spread, **fixed,
                )  # fmt: skip


def _spreads(problem: Problem, block: Tile, stages: int) -> bool:
    """Whether copies are better spread over the products of a step than issued in front of them."""
    m, n, k = block
    return stages >= SPREAD_STAGES and m * n >= SPREAD_AREA and problem.k >= SPREAD_STEPS * k


def _stages(problem: Problem, block: Tile) -> tuple[int, ...]:
    """Stages worth their shared memory: no more than the loop has steps."""
    m, n, k = block
    size = k * (m * element_bytes(problem, "a") + n * element_bytes(problem, "b"))
    proposed = STAGES[size > SMALL_STAGE]
    return tuple(count for count in proposed if count <= max(proposed[0], -(-problem.k // k)))


def _sync_blocks(problem: Problem, target: Target, operator: str, wide: bool) -> list[Tile]:
    rows, columns = _up_to(problem.m), _up_to(problem.n)
    widest = max(element_bytes(problem, "a"), element_bytes(problem, "b"))
    depths = [size // widest for size in DEPTH_BYTES]
    if wide:
        return [(m, n, k) for m in rows for n in columns for k in depths]
    # The shortest only where a longer one would be twice the product's k.
    likely = [k for k in depths[:-1] if k < 2 * problem.k] or depths[-1:]
    if operator == "simt":
        rows, columns = ([size for size in sizes if size < LARGEST] for sizes in (rows, columns))
        likely = [k for k in depths if k < 2 * problem.k] or depths[-1:]
    return _worthwhile(problem, target, rows, columns, likely)


def _up_to(extent: int) -> list[int]:
    """Block tiles up to the first that holds `extent` elements, largest first."""
    return [size for size in SIZES if size < 2 * extent] or [SIZES[-1]]


@lru_cache(maxsize=1 << 12)
def _warp_sizes(extent: int, unit: int) -> tuple[int, ...]:
    """Warp tiles along a side of a block tile. Those under 16 read too much for what they multiply, and are for the
    shortest sides only."""
    sizes = [size for size in (128, 64, 48, 32, 16, 8) if extent % size == 0 and size % unit == 0]
    return tuple(size for size in sizes if size >= 16) or tuple(sizes[:1]) or (unit,)


def _sync_warps(problem: Problem, block: Tile, operator: str, instruction: Tile, wide: bool) -> list[Tile]:
    unit_m, unit_n, unit_k = warp_unit(operator, instruction)
    deep = unit_k if operator == "mma_sync" else gcd(block[2], SIMT_K)
    rows, columns = _warp_sizes(block[0], unit_m), _warp_sizes(block[1], unit_n)
    words = 2 if problem.acc == "f64" else 1
    tiles: list[Tile] = []
    for m in rows:
        for n in columns:
            warps = (block[0] // m) * (block[1] // n)
            if not wide:
                aspect = max(m, n) > MOST_ASPECT * min(m, n)
                if warps > MOST_SYNC_WARPS or m * n * words > 32 * MOST_ACCUMULATORS or aspect:
                    continue
                if operator == "simt" and max(m // LANES[0], n // LANES[1]) > WIDE_LANE:
                    continue
                if warps < min(4, block[0] * block[1] // FEW_WARPS):
                    continue
            tiles.append((m, n, deep))
    return tiles


def _layout(problem: Problem, block: Tile, operator: str, streamed: bool, pinned: Mapping[str, Any]) -> tuple[str, int]:
    """The layout and the pad that are pinned, or that suit the copy and how fragments are read: those of f64 element by
    element, four columns of eight rows, which fill the banks where rows are shifted by four elements."""
    narrowest = min(element_bytes(problem, "a"), element_bytes(problem, "b"))
    by_element = narrowest == ELEMENT_BYTES["f64"]
    swizzled = SWIZZLE and streamed and not pinned.get("pad") and operator == "mma_sync" and not by_element
    if pinned.get("copy") == "tma":
        return pinned.get("layout", "swizzle128"), pinned.get("pad", 0)
    layout: str = pinned.get("layout") or ("xor" if swizzled and _swizzles(problem, block) else "pad")
    if "pad" in pinned:
        return layout, pinned["pad"]
    if layout == "xor":
        return layout, 0
    return layout, (2 * CHUNK if by_element and operator == "mma_sync" else CHUNK) // narrowest


def _swizzles(problem: Problem, block: Tile) -> bool:
    m, n, k = block
    rows = (
        (k if problem.a_order == "mk" else m) * element_bytes(problem, "a"),
        (k if problem.b_order == "nk" else n) * element_bytes(problem, "b"),
    )
    return all(row in SWIZZLED_ROWS or row % LINE == 0 for row in rows)
