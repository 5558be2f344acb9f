"""The search for schedules with `wgmma`: block tiles of one or two warpgroups, as many stages as fit, and
clusters that share copies or the steps of k."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.grid import grid
from mlir_gemm.parts.layout import buffer
from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants, WgmmaLimits
from mlir_gemm.parts.mma.wgmma.rules import PANEL, SPARSE_ROWS
from mlir_gemm.parts.mma.wgmma.work import cluster_places, fills_l2, in_two_steps, lies_between_lines, work_of
from mlir_gemm.parts.registry import mainloops, mmas, panelled
from mlir_gemm.parts.resources import smem_bytes, staging_bytes
from mlir_gemm.parts.traffic import STAYING, operand_bytes
from mlir_gemm.spec.problem import Problem, element_bytes, transposes_b
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE

ROWS = ((64, 64), (128, 64), (192, 64), (256, 128))
"""Rows of a block tile and of a warpgroup's."""
COLUMNS = (16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256)
"""Columns of both. Of 57 shapes measured on the H200 for 79 products, with more columns, and with warpgroups beside
each other, these hold the best, or one within 1 %, of every product."""
LOW, HIGH, NARROW = 64, 256, 48
"""Tiles of at most NARROW columns have LOW rows; or many rows, in clusters of four that share the columns, or alone
where the product has at most 16 columns and they are HIGH, or DRAM limits: 20064x7x1408 takes 11.3 us so, 12.9 in
clusters, and 14.3 with 64x224. On the H200, for 28672 x 8192 weights and 32 columns, 64x32 takes 119 us, and 256x32
123 us alone, 124 in clusters of two and 117 in clusters of four. For 8192 x 8192 weights 64x16 takes 34.3 us."""
FEW_COLUMNS = {192: (96, 128), 256: (32, 64, 128)}
"""Those of high block tiles: with others they were not faster than lower ones."""
SMALL = 128 * 64
"""Elements of a block tile from which it is never too small."""
DEEP = 64 * 64
"""Elements of a block tile up to which a stage may hold two panels of k: its copies are small."""
MOST_STAGES = 12
TURNS_TILE = (128, 128)
"""The tile of a warpgroup that takes turns. Tiles of 96 to 160 columns are legal and were not faster on the H200, but
by 3 % for 2560 x 2560 x 2560."""
FEWEST_OPERATIONS = 3
"""Instructions on an element from which pacing them is worth it."""
SCHEDULERS = 4
"""Of an SM, of which each has a warp of a warpgroup."""
FEW_ACCUMULATORS = 96
SPLITS = (2, 3, 4, 8)
PAIRS = ((1, 1), (2, 1), (1, 2))
CLUSTERS = (*PAIRS, (2, 2), (4, 1), (1, 4), (4, 2), (2, 4))
"""Blocks of a cluster along m and n. More than two are for rows that start between lines, which take more requests: of
114 products measured on the H200 with others, pairs are the best of 113, or within 2 % of it."""
FILLED = 1.1
"""How many times as many tiles there may be with those that lie outside the result and fill the last clusters."""
WIDER_SPLITS = {32: 4, 64: 8}
"""Blocks that a tile wider than the product is divided among, by its columns. Each of them ends 8 columns, so that
tiles of 16 have two: of up to 33 tiles, four on 64x32 take 0.87 of the time of two on 64x16 (eight products of 7 to 14
columns, 0.80 to 0.96, H100 and H200, four files of 2026-11-24 to 2026-11-28)."""
NARROW_SHARE, FEWEST_SHARED, SLOW_CLUSTERS = 2, 6, 1000
"""Blocks that share the steps of tiles as narrow as they get without being clusters (`stream_k`), where there is a tile
for a sixth of the SMs or more, and SMs for all; clocks that clusters take to form (`form`) from which that is tried.
On an H100, where `form` is 1540, 13 products of 2 to 16 columns go from 1.12 of the best to 1.07 by it (1.00 to 1.40),
in three of four files, and the fourth stays; on an H200, where it is 724, twelve would go from 1.04 to 1.09
(2026-11-24 to 2026-11-28)."""
SHARED_SPLITS = (2, 3, 4)
"""Parts of the steps of k that several blocks each may have, which then share copies."""
LARGE_CLUSTER = 4


def proposals(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[Schedule]:
    """Schedules of `wgmma` to try, legal or not."""
    mma, ring = mmas()["wgmma"], next(each for each in mainloops().values() if each.producer)
    own: dict[str, Any] = {"mma": mma.name, "mainloop": ring.name, "layout": panelled().name, "pad": 0,
           "storage": "dynamic", "instruction": mma.instruction_of(problem, target)}  # fmt: skip
    fixed = {**own, **pinned}
    shapes: list[tuple[Tile, Tile, dict[str, Any]]] = [(*tiles, {}) for tiles in _tiles(problem, target, pinned, wide)]
    for block, warp, turns in [*shapes, *_by_turns(problem, target, pinned)]:
        fields: dict[str, Any] = {**fixed, "block": block, "warp": warp, **turns}
        base = Schedule.make(fields)
        if not wide and "block" not in pinned and _spills(problem, base):
            continue
        together: Iterable[dict[str, int]] = ({},) if turns else _clusters(problem, target, base, pinned)
        for shared, read in product(together, _reading(problem, pinned)):
            schedule = _staged(problem, target, base.replace(**shared, **read), pinned)
            paced = turns and "throttle" not in pinned and _hides(problem, schedule, target)
            yield schedule.replace(throttle=target.constants(WgmmaLimits).pace) if paced else schedule
            if schedule.space == K_RANGE and schedule.persistent and not turns and "persistent" not in pinned:
                yield schedule.replace(persistent=0)  # unequal tiles: who is done first takes the next


def _reading(problem: Problem, pinned: Mapping[str, Any]) -> list[dict[str, bool]]:
    """How the epilogue reads the matrices that it adds: by lanes, or as the copy engine has brought them, to memory
    that stages would have."""
    if not (problem.epilogue_types or problem.reads_c) or "promote_c" in pinned or "prefetch_c" in pinned:
        return [{}]
    if problem.reads_c and pinned.get("batch_invariant"):  # a sum's terms keep their order: C first
        return [{}]
    return [{}, {"promote_c": True, "prefetch_c": True}]


def is_proposed(schedule: Schedule) -> bool:
    """Whether the search proposes block tiles of this shape, in such clusters, for some product."""
    (m, n, _), rows = schedule.block, dict(ROWS)
    if (schedule.cluster_m, schedule.cluster_n) not in CLUSTERS:
        return False
    if schedule.ping_pong:
        return schedule.block[:2] == schedule.warp[:2] == TURNS_TILE
    return schedule.warp[:2] == (rows.get(m), n) and n in FEW_COLUMNS.get(m, COLUMNS)


def _spills(problem: Problem, schedule: Schedule) -> bool:
    """Whether a tile has so many accumulators a thread that registers spill in an epilogue that stores them one by one,
    or stores several results: 19 such kernels of about 380 assembled for sm_90a spilled."""
    staged = staging_bytes(problem, schedule) > 0 and not problem.extra_bytes
    plain = not problem.epilogue_ops and not problem.extra_bytes and problem.out in ("f16", "bf16", "f32", "i32")
    return not (staged or plain) and schedule.warp[0] * schedule.warp[1] > 128 * FEW_ACCUMULATORS


def _tiles(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool) -> Iterator[tuple[Tile, Tile]]:
    if "block" in pinned:
        yield pinned["block"], pinned.get("warp") or _divided(pinned["block"])
        return
    panel = PANEL // element_bytes(problem, "a")
    depths = (1, 2) if problem.sparse else ()
    # Where neighbours lie along n: panels narrower than 128 bytes take more rows of copies, unless one holds it all.
    # With A and B swapped the product has other tiles, unless neighbours of both lie across k.
    unit = 1
    if problem.b_order == "kn" and problem.n > panel // 2:
        unit = panel if problem.a_order == "mk" else panel // 2
    if transposes_b(problem):
        unit, depths = panel, (1,)
    least_m, least_n = 64, max(unit, COLUMNS[0])
    # One that holds a narrow problem is enough.
    widest = next((n for n in COLUMNS if n >= problem.n), COLUMNS[-1]) if problem.n <= LOW and not wide else COLUMNS[-1]
    smallest = problem.batch * problem.m * problem.n / (target.constants(WgmmaLimits).many_tiles * target.sms)
    whole_rows = panel < problem.k <= 2 * panel and _reads_lines_twice(problem, target, panel)
    for m, warp_m in ROWS:
        if m > (SPARSE_ROWS if problem.sparse else least_m) and m >= 2 * problem.m and not wide:
            continue
        own = FEW_COLUMNS.get(m, COLUMNS)[0]
        fewest = max(least_n, own if own <= NARROW else 0)
        for n in COLUMNS:
            if n % unit or n not in FEW_COLUMNS.get(m, COLUMNS):
                continue
            wider = n >= 2 * problem.n and m == LOW and _divides_wider(problem, target, n)
            if n > max(widest, fewest) and not wider:
                continue
            if not wide and ((n > fewest and n >= 2 * problem.n and not wider) or m * n < min(smallest, SMALL)):
                continue
            deep = wide or whole_rows or (m * n <= DEEP and problem.k >= 8 * panel)
            for depth in depths or ((1, 2) if deep else (1,)):
                warp = pinned.get("warp") or (warp_m, n, depth * panel)
                yield (m, n, depth * panel), warp


def _divides_wider(problem: Problem, target: Target, columns: int) -> bool:
    """Whether a tile of so many columns, more than the product has, can have blocks that a narrower one cannot."""
    parts, limits = WIDER_SPLITS.get(columns, 0), target.constants(WgmmaLimits)
    tiles = -(-problem.m // LOW) * problem.batch
    return 0 < tiles * parts <= limits.many * target.sms and tiles < limits.few * target.sms


def _reads_lines_twice(problem: Problem, target: Target, depth: int) -> bool:
    """Whether lines of the larger operand leave L2 between two k steps of this depth that both need them: one step of
    two panels asks for each line once. Elsewhere two steps are better, since the first product waits for half as much:
    nine kernels of 3264x168x80 take 1.04 to 1.10 times as long in one (`2026-11-24-h200-spaces.jsonl.xz`)."""
    larger = max("ab", key=lambda operand: operand_bytes(problem, operand))
    return fills_l2(problem, target) and in_two_steps(problem, larger, depth) > 0


def _by_turns(
    problem: Problem, target: Target, pinned: Mapping[str, Any]
) -> Iterator[tuple[Tile, Tile, dict[str, Any]]]:
    """Two warpgroups that ping-pong, where there is at least one tile for each."""
    named = ("block", "warp", "ping_pong", "persistent", "cluster_m", "cluster_n", "split_k_cluster")
    if any(name in pinned for name in named) or pinned.get("stream_k"):
        return
    m, n = TURNS_TILE
    if problem.batch * problem.m * problem.n >= target.constants(WgmmaLimits).turns_each * target.sms * m * n:
        tile: Tile = (m, n, PANEL // element_bytes(problem, "a"))
        walkers = target.sms if pinned.get("tiles_per_block", 1) == 1 else 0
        yield tile, tile, {"ping_pong": True, "cluster_m": 1, "cluster_n": 1, "persistent": walkers}


def _hides(problem: Problem, schedule: Schedule, target: Target) -> bool:
    """Whether the products of a tile take so long that the epilogue of another one, at its own pace, ends meanwhile."""
    work, limits = work_of(problem, schedule, target), target.constants(WgmmaLimits)
    ends = limits.paced * work.arithmetic / SCHEDULERS < limits.hiding * work.tensor * work.steps
    return problem.epilogue_ops >= FEWEST_OPERATIONS and ends


def _divided(block: Tile) -> Tile:
    """A warpgroup's tile of a block tile: half its rows where there are rows for two."""
    m, n, k = block
    return (m if m % 128 else m // 2, n, k)


def _clusters(problem: Problem, target: Target, base: Schedule, pinned: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    """How blocks work together: not at all, sharing copies, or sharing the steps of a tile."""
    names = ("cluster_m", "cluster_n", "split_k_cluster")
    given = {name: pinned[name] for name in names if name in pinned}
    if given or "persistent" in pinned or problem.dynamic:
        yield given
        return
    high, along, _ = base.block
    if high == LOW and along >= 2 * problem.n and along in WIDER_SPLITS and "block" not in pinned:
        yield {"split_k_cluster": WIDER_SPLITS[along]}
        return
    tiles, limits = blocks_of(problem, base), target.constants(WgmmaLimits)
    sharing = limits.sharing * target.sms
    if base.block[1] <= NARROW and base.block[0] > LOW:
        waits = operand_bytes(problem, "a") + operand_bytes(problem, "b") > STAYING * target.l2_bytes
        few = problem.n <= COLUMNS[0] and tiles >= sharing
        if "block" in pinned or (few and (waits or base.block[0] == HIGH)):
            yield {}
        if tiles >= sharing and _fills(problem, base, LARGE_CLUSTER, 1):
            yield {"cluster_m": LARGE_CLUSTER, "cluster_n": 1}
        return
    for down, along in CLUSTERS if lies_between_lines(problem, base) else PAIRS:
        if down * along == 1 or (tiles >= sharing and _fills(problem, base, down, along)):
            yield {"cluster_m": down, "cluster_n": along}
    if "stream_k" not in pinned and "block" not in pinned and _shares_narrow_tiles(problem, target, base, tiles):
        yield {"stream_k": NARROW_SHARE}
    if tiles < limits.few * target.sms and not pinned.get("stream_k"):
        for parts in SPLITS:
            if tiles * parts <= limits.many * target.sms:
                yield {"split_k_cluster": parts}
                if parts in SHARED_SPLITS and tiles * parts >= sharing:
                    yield from ({"split_k_cluster": parts, **shared} for shared in ({"cluster_m": 2}, {"cluster_n": 2}))


def _shares_narrow_tiles(problem: Problem, target: Target, base: Schedule, tiles: int) -> bool:
    """Whether blocks may share the steps of tiles as narrow as they get without being clusters."""
    narrow = problem.n <= COLUMNS[0] and base.block[:2] == (LOW, COLUMNS[0]) and not base.space
    some = target.sms <= FEWEST_SHARED * tiles and NARROW_SHARE * tiles <= target.sms
    return narrow and some and problem.batch == 1 and target.constants(WgmmaConstants).form >= SLOW_CLUSTERS


def _fills(problem: Problem, base: Schedule, down: int, along: int) -> bool:
    """Whether clusters of this many rows and columns of blocks have few tiles outside the result."""
    rows, columns = grid(problem, base)
    whole = blocks_of(problem, base.replace(cluster_m=down, cluster_n=along))
    return rows >= down and columns >= along and whole <= FILLED * blocks_of(problem, base)


def _staged(problem: Problem, target: Target, base: Schedule, pinned: Mapping[str, Any]) -> Schedule:
    """With as many stages as fit, and blocks that walk the tiles where there are more than places."""
    if "stages" not in pinned:
        share = min(target.smem_block, target.smem_sm // max(1, base.min_blocks) - target.smem_reserved)
        most = share // (buffer(problem, base, "a").size + buffer(problem, base, "b").size)
        deeper = (base.replace(stages=count) for count in range(min(MOST_STAGES, most), 2, -1))
        fitting = (schedule for schedule in deeper if smem_bytes(problem, schedule) <= share)
        base = next(fitting, base.replace(stages=2))
    # Of a number of tiles that is not known none go backwards, which unequal ones need.
    alone = base.split_k_cluster == base.tiles_per_block == 1 and not (base.space == K_RANGE and problem.dynamic)
    if "persistent" not in pinned and alone:
        tiles, places = blocks_of(problem, base), cluster_places(target, base.cluster) * max(1, base.min_blocks)
        walk = tiles > places or problem.dynamic or bool(base.stream_k)
        base = base.replace(persistent=places if walk else 0)
    return base
