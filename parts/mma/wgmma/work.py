"""What a schedule of `wgmma` has to do: clocks, rows and bytes of one k step, tiles, waves. `cost` turns
these into seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.epilogue.unaligned_rows import rows_bytes
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.grid import busiest, covered, grid, k_share, merged_readers, share, steps, stores
from mlir_gemm.parts.grid import walkers as walkers_of
from mlir_gemm.parts.layout import LINE, buffer, panel_of
from mlir_gemm.parts.mma.wgmma.constants import WgmmaLimits
from mlir_gemm.parts.registry import raster_of
from mlir_gemm.parts.resources import metadata_bytes, staging_bytes
from mlir_gemm.parts.scheduler.stream_k import shared_tiles
from mlir_gemm.parts.traffic import STAYING, epilogue_bytes, operand_bytes, stays
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.problem import (
    MATRIX_OPERATIONS,
    Problem,
    by_registers,
    element_bytes,
    memory_bytes,
    stored_part,
    transposes_b,
)
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE
from mlir_gemm.spec.zeros import parse

INSTRUCTION_BYTES = 32
"""Bytes of k that one instruction multiplies, whatever the type."""
GROUP_ROWS = 64
FED, FED_COLUMN, ALONE = 48, 5 / 16, 1.375
"""Clocks that an instruction with A in registers takes at least, and more for each column of B, and how much longer it
takes where one warpgroup multiplies at a time. tf32 on the H200: tiles of 128x128 by two warpgroups at once or in
turns, and of 64x256 in turns, take 1.35 to 1.4 times the time of the tensor cores at 4096 and 8192, and of 128x256 by
two at once no longer. Bytes take 47 to 62 clocks for 16 columns, 51 to 74 for 32, 68 for 64, 64 to 78 for 96 (H100,
H200, five products: `2026-11-27-h200-spaces.jsonl.xz`, `2026-11-28-h100-seed-34-spaces.jsonl.xz`)."""
SPREAD = 0.5
"""Exponent of the blocks that share the steps of a tile, by which rows outside pass faster: all that work on one step
ask for the same lines, at the edge, those of other steps for others. 3.4 rows a clock pass for 95 schedules without
(quartiles 3.1 and 3.5), at least 4.7, 6.3 and 6.2 where two, three and four blocks share a tile (H100, 114 schedules
of three files of 2026-11-28). Where DRAM has a part in it the figures say nothing."""
BORDERS = 0.6
"""Of lines that two tiles of a slice of k both need, those that come from DRAM twice, since blocks are not at the same
step. 8x168x448448, whose rows of 336 bytes lie in two tiles, takes 88.5 us, in clusters of both 64.6, by one tile 60.3
(0.87 of them); 16x96x371968 36.4, and by one tile 29.7 (0.35; `2026-11-28-h100-seed-35-spaces.jsonl.xz`). With many
tiles of a whole product none do: 13x7696x7600 comes at DRAM's rate."""
LEFT = 1 / 8
"""Of lines that are the first to leave L2, those that have left it when a later k step asks for their other half. From
one pair: 592704x96x96, whose rows have 192 bytes, takes 92.3 us in two steps, and in one 89.2, which is 8 of 64 MB
(256x128, f16, H100)."""


@dataclass(frozen=True, slots=True)
class Work:
    """Figures of one block's k step unless said otherwise. All are plain numbers, flags 0 or 1, so that the arithmetic
    on them also works on columns of a table of kernels, which is how the constants are fitted."""

    tensor: float
    """Clocks of the tensor cores at their full rate: N / 2 for each 64 rows and 32 bytes of k; and what instructions
    take longer with A in registers."""
    reads: float
    """Clocks that reading A and B from shared memory takes, at 128 bytes a clock. Instructions of a warpgroup that
    multiply different rows of A by the same B are taken to read B once. That is an assumption, with which the constants
    were fitted: f16 and bf16 by 256x128 take 1.006 of the time of 128x256 (14 products, 2026-11-24-h100-own-row).
    Bytes read it for each instruction: 256x128 takes 1.02 to 1.04 times the clocks of 128x256 at 4096^3 and 8192^3, at
    the same power (2026-11-28-h100-clocks), and where B is transposed too all of it counts."""
    writes: float
    """Clocks that writing the copies to shared memory takes."""
    crowded: float
    """Where B is transposed in shared memory, clocks of all that goes through it, at 128 bytes a clock: A, which is
    loaded into registers, B for each instruction, the copies, and reading and writing B once more. Else 0."""
    rows_a: float
    """Rows of boxes that the copy engine fetches of A, of 128 bytes or, of narrower panels, 64 or 32; those that
    clusters get from a neighbour do not count. That narrow rows take as long as others is assumed."""
    rows_b: float
    outside: float
    """Rows of boxes that lie outside the operand: they take the copy engine longer than those inside, and clusters
    share them only where not all blocks have them."""
    odd_a: float
    """Whether rows of boxes of A begin elsewhere than at multiples of their bytes, so that each takes two lines of
    L2."""
    odd_b: float
    thin_a: float
    """Whether rows of boxes of A have 64 or 32 bytes and not 128."""
    thin_b: float
    bytes_a: float
    """Bytes of A from L2, all blocks' together divided by the blocks; clusters share them."""
    bytes_b: float
    readers_a: float
    """Blocks in flight, or clusters that share it, that read the same rows of A."""
    readers_b: float
    panels: float
    """Rows of 128 bytes that the block tile's k makes."""
    steps: float
    """Steps of k of one tile in one block."""
    groups: float
    stages: float
    active: float
    """SMs that have a block."""
    alone: float
    """Whether at most half of the SMs have one, so that the next kernel starts beside this one."""
    rounds: float
    """Tiles of the SM that has most: parts of them too, with `stream_k`."""
    mean: float
    """Tiles of the average SM that has any."""
    hidden: float
    """Whether a tile ends while other warpgroups multiply the next, with `ping_pong`."""
    staged: float
    """Bytes of a tile's result that leave through shared memory by the copy engine."""
    narrow: float
    """How many more rows of panels that takes than with 128 bytes in each, to those: 0, 1 or 3."""
    by_rows: float
    """Those that leave through it by lanes, since rows of the result start between vectors, and of C that come so."""
    brought: float
    """Bytes of what the epilogue adds that the copy engine brings to shared memory."""
    read: float
    """Those that lanes read from global memory, or bring to shared memory."""
    direct: float
    """Bytes that threads store, or load in the epilogue, themselves."""
    arithmetic: float
    """Instructions of the epilogue on a tile, each for 32 elements."""
    guarded: float
    """Those of `direct` that are tested against the result's edge."""
    parts: float
    """Bytes of partial sums that a block reads from the others of its cluster, with `split_k_cluster`."""
    splits: float
    """Whether blocks share the steps of k."""
    handed: float
    """Bytes of partial sums that a block leaves to others, and reads of them, with `stream_k`."""
    clustered: float
    again: float
    """Tiles that blocks of their own begin on an SM after its first one, in `k_range`: each fills its ring anew."""
    dram: float
    """Bytes of the whole product from and to DRAM."""
    result: float
    """Bytes of the whole result."""
    odd_d: float
    """Whether its rows begin elsewhere than at lines of 128 bytes."""
    useful: float
    """Clocks of all tensor cores of an SM for the problem's own products, spread over all SMs: what takes power."""
    integers: float
    """Whether these multiply integers."""


def work_of(problem: Problem, schedule: Schedule, target: Target) -> Work:
    """The work of a schedule of `wgmma`."""
    m, n, k = schedule.block
    warp_m, warp_n, _ = schedule.warp
    size = element_bytes(problem, "a")
    rows, columns = grid(problem, schedule)
    tiles, split = blocks_of(problem, schedule), schedule.split_k_cluster
    places = cluster_places(target, schedule.cluster)
    walking = walkers_of(problem, schedule)
    walkers = min(walking, tiles) if walking else tiles * split
    waves, left, shared = shared_tiles(problem, schedule, tiles)
    if shared and not waves:
        walkers = shared
    active = min(walkers, places)
    rounds = -(-tiles // walking) * -(-walkers // places) if walking else -(-walkers // places)
    if shared:
        rounds = waves + left / shared
    if schedule.space == K_RANGE:
        rounds = busiest(problem, schedule, max(1, active // schedule.cluster))
    flight = max(1, min(tiles, active // split))
    raster = raster_of(schedule)
    across_m, across_n = covered(schedule, raster, rows, columns, flight)
    together = min(flight, rows * columns)  # of one product of a batch
    readers_a, readers_b = merged_readers(schedule, raster, rows, (across_m, across_n), together)

    part_a = stored_part(problem, "a")
    dense = 2 if problem.sparse else 1  # an instruction takes twice the k of B in the same time
    deep = k * size // INSTRUCTION_BYTES // dense
    panels = k * size / LINE
    alike = GROUP_ROWS if size == 1 else warp_m
    inside_m, inside_n = problem.m / rows, problem.n / columns
    beside = 0.0 if problem.b_order == "kn" else n - inside_n
    below = 0.0 if problem.a_order == "km" else m - inside_m
    bytes_d = epilogue_bytes(problem, read=False) / (problem.batch * problem.m * problem.n)
    in_tile = m * n * bytes_d / split * stores(schedule)
    c_ahead = schedule.prefetch_c and problem.reads_c
    if c_ahead:
        in_tile -= m * n * ELEMENT_BYTES[problem.out] / split
    alone = (not problem.extra_bytes or problem.b_matrices) and (c_ahead or not problem.reads_c)
    by_rows = in_tile if alone and rows_bytes(problem, schedule) else 0.0
    staged = in_tile if alone and staging_bytes(problem, schedule) and not by_rows else 0.0
    types = problem.epilogue_types.split()
    added = m * n * sum(ELEMENT_BYTES[each] for each in types)
    # C in whole vectors of its rows.
    by_tile = m * n * ELEMENT_BYTES[problem.acc] if schedule.promote_c and problem.reads_c else 0.0
    operations = problem.epilogue_ops - MATRIX_OPERATIONS * len(types)
    direct = in_tile - staged - by_rows - (0.0 if c_ahead else by_tile)
    over = problem.dynamic or problem.m % m or problem.n % n
    return Work(
        tensor=deep * (m // GROUP_ROWS) * _columns_clocks(problem, schedule),
        reads=deep * (m * (n // warp_n) * problem.matrices + dense * n * (m // alike)) * INSTRUCTION_BYTES / LINE,
        writes=(part_a * m + n) * panels,
        crowded=_crowded(problem, schedule) if transposes_b(problem) else 0.0,
        rows_a=_box_rows(problem, schedule, "a", inside_m) / schedule.cluster_n,
        rows_b=_box_rows(problem, schedule, "b", inside_n) / schedule.cluster_m,
        outside=(_apart(below, schedule.cluster_n, rows) + _apart(beside, schedule.cluster_m, columns))
        * panels
        / (split**SPREAD if split > 1 and stays(problem, target) else 1),
        odd_a=_odd(problem, schedule, "a"),
        odd_b=_odd(problem, schedule, "b"),
        thin_a=buffer(problem, schedule, "a").panel < LINE,
        thin_b=buffer(problem, schedule, "b").panel < LINE,
        bytes_a=part_a * inside_m * k * size / schedule.cluster_n,
        bytes_b=inside_n * k * size / schedule.cluster_m,
        readers_a=max(1.0, readers_a / schedule.cluster_n),
        readers_b=max(1.0, readers_b / schedule.cluster_m),
        panels=panels,
        steps=-(-steps(problem, schedule) // split) * k_share(problem, schedule),
        groups=consumer_warpgroups(schedule),
        stages=schedule.stages,
        active=active,
        alone=active <= target.sms // 2,
        rounds=rounds,
        mean=tiles * split / active,
        hidden=schedule.ping_pong,
        staged=staged,
        narrow=_narrow(problem, schedule) if staged else 0.0,
        by_rows=by_rows + (0.0 if schedule.prefetch_c else by_tile),
        brought=by_tile + added if schedule.prefetch_c else 0.0,
        read=0.0 if schedule.prefetch_c else added,
        direct=direct,
        arithmetic=m * n * max(0, operations) / (32 * split),
        guarded=direct if over else 0.0,
        parts=m * n * 4 * (split - 1) / split,
        splits=split > 1,
        handed=m * n * 4 * (1 + -(-shared // left)) if shared else 0.0,
        clustered=schedule.cluster_m * schedule.cluster_n > 1,
        again=max(0.0, tiles * split / active - 1) if schedule.space == K_RANGE and not walking else 0.0,
        dram=_dram(problem, schedule, target, tiles / flight, across_m / rows, across_n / columns),
        result=epilogue_bytes(problem, read=False),
        odd_d=_odd_result(problem),
        useful=problem.flops
        * share(problem, schedule)
        / (4 * dense * GROUP_ROWS * INSTRUCTION_BYTES / size)
        / target.sms,
        integers=problem.a.startswith("i"),
    )


def _crowded(problem: Problem, schedule: Schedule) -> float:
    m, n, k = schedule.block
    rows = m * (n // schedule.warp[1]) + n * (m // GROUP_ROWS) + m + n + 2 * n
    return rows * k * element_bytes(problem, "b") / LINE


def _columns_clocks(problem: Problem, schedule: Schedule) -> float:
    """Clocks of the tensor cores for 64 rows and 32 bytes of k of a block tile."""
    n, warp_n = schedule.block[1], schedule.warp[1]
    if not by_registers(problem):
        return n / 2
    alone = schedule.ping_pong or consumer_warpgroups(schedule) == 1
    return max(warp_n / 2 * (ALONE if alone else 1), FED + FED_COLUMN * warp_n) * (n // warp_n)


def cluster_places(target: Target, blocks: int) -> int:
    """Blocks of clusters of so many that fit on a chip at once, each on an SM of its own."""
    return int(target.sms * dict(target.constants(WgmmaLimits).places).get(blocks, 1.0)) // blocks * blocks


def _apart(outside: float, blocks: int, tiles: int) -> float:
    """Rows outside an operand for each block that shares a box with others. Of an operand of a single tile all blocks
    have them: each SM writes its zeros itself, and sharing saves nothing. 39 pairs of 1 to 16 columns take 1.06 times
    as long in clusters of two as alone (median, 0.90 to 1.25; H200, three files of 2026-11-22 to 2026-11-27)."""
    return outside / (blocks if tiles > 1 else 1)


def _narrow(problem: Problem, schedule: Schedule) -> float:
    """Rows of panels in which a result leaves, beyond those of 128 bytes, to these. Transposed they have 128."""
    if problem.out_order == "nm":
        return 0.0
    return LINE / panel_of(schedule.warp[1] // schedule.split_k_cluster * ELEMENT_BYTES[problem.out]) - 1


def _box_rows(problem: Problem, schedule: Schedule, operand: str, inside: float) -> float:
    """Rows of boxes that hold one k step of this many rows or columns of an operand."""
    lying = buffer(problem, schedule, operand)
    rows = inside * (schedule.block[2] * lying.element / lying.panel)
    return rows / 2 + metadata_bytes(problem, schedule) / LINE if problem.sparse == operand else rows


def lies_between_lines(problem: Problem, schedule: Schedule) -> bool:
    """Whether rows of boxes of A or B take two lines of L2 each."""
    return any(_odd(problem, schedule, operand) for operand in "ab")


def _odd(problem: Problem, schedule: Schedule, operand: str) -> bool:
    """Whether rows of an operand, which start at multiples of its vectors, start elsewhere than at 128-byte lines, or
    where panels are narrower at multiples of those: then each row of a box lies in one line."""
    return _row_bytes(problem, operand) % (buffer(problem, schedule, operand).panel or LINE) != 0


def _row_bytes(problem: Problem, operand: str) -> int:
    """Bytes from one row of an operand to the next, as it lies in memory."""
    if operand == "a":
        row, vector = problem.k if problem.a_order == "mk" else problem.m, problem.a_vector
    else:
        row, vector = problem.n // problem.matrices if problem.b_order == "kn" else problem.k, problem.b_vector
    unit = max(1, vector // 8)
    return -(-row * memory_bytes(problem, operand) // unit) * unit


def in_two_steps(problem: Problem, operand: str, depth: int) -> float:
    """Part of the lines of an operand that lie in two k steps of so many elements, if k runs along its rows."""
    along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
    return _lines_in_two(_row_bytes(problem, operand), depth * memory_bytes(problem, operand)) if along_k else 0.0


@lru_cache
def _lines_in_two(row: int, depth: int) -> float:
    """Counts them in rows until one starts at a line again. Tensor maps fetch whole lines (`L2_PROMOTION_L2_128B`): of
    two rows of 192 bytes, which have three lines, two are in both steps of 128 bytes."""
    rows = LINE // gcd(row, LINE)
    asked = {
        (line, start)
        for first in range(0, rows * row, row)
        for start in range(0, row, depth)
        for line in range((first + start) // LINE, -(-(first + min(start + depth, row)) // LINE))
    }
    return len(asked) * LINE / (rows * row) - 1


def _in_two_tiles(problem: Problem, schedule: Schedule, operand: str) -> float:
    """Part of the lines of an operand of slices that lie in two tiles beside each other, those of a cluster taken as
    one, where its rows run across k and begin between lines."""
    across = (problem.a_order if operand == "a" else problem.b_order) in ("km", "kn")
    if schedule.split_k_workspace == 1 or not across:
        return 0.0
    side = schedule.block[0] * schedule.cluster_m if operand == "a" else schedule.block[1] * schedule.cluster_n
    row, width = _row_bytes(problem, operand), side * memory_bytes(problem, operand)
    return 0.0 if width >= row else -(-row // width) * (LINE - gcd(row, LINE)) / row


def fills_l2(problem: Problem, target: Target) -> bool:
    """Whether what is written takes the place in L2 of all that is marked as the first to leave: lines of operands
    leave soon then. Elsewhere they replace each other, and stay for long."""
    return epilogue_bytes(problem, read=False) > STAYING * target.l2_bytes


def _read_again(problem: Problem, schedule: Schedule, target: Target) -> float:
    """Bytes of operands that come from DRAM once more, since lines that lie in two k steps leave L2 in between."""
    if not (schedule.marks and fills_l2(problem, target)):
        return 0.0
    depth = schedule.block[2]
    marked = {"a": 1 - schedule.l2_keep_a / PARTS, "b": 1 - schedule.l2_keep_b / PARTS}
    return LEFT * sum(
        operand_bytes(problem, each) * in_two_steps(problem, each, depth) * part
        for each, part in marked.items()
        if part
    )


def _odd_result(problem: Problem) -> bool:
    """Whether rows of the result, as it lies in memory, start elsewhere than at lines."""
    row = problem.m if problem.out_order == "nm" else problem.n // problem.matrices
    return row * ELEMENT_BYTES[problem.out] % LINE != 0


def _dram(problem: Problem, schedule: Schedule, target: Target, waves: float, part_a: float, part_b: float) -> float:
    """Bytes from and to DRAM: none when everything fits in L2, where a kernel that runs again finds it; otherwise the
    result once, and of the operands what each wave covers, each at least once but for what L2 keeps, and lines twice
    that leave it between two k steps."""
    result = epilogue_bytes(problem)
    if stays(problem, target):
        return 0.0
    a, b = (operand_bytes(problem, each) * (1 + BORDERS * _in_two_tiles(problem, schedule, each)) for each in "ab")
    # Of an operand with zeros only what the steps need is read, and of the other one that at a time.
    steps, across = k_share(problem, schedule), {each.across for each in parse(problem.zeros)} if problem.zeros else ()
    least = sum(size * (steps if side in across else 1) for size, side in ((a, "m"), (b, "n")))
    read = max(1.0, waves / problem.batch) * (part_a * a + part_b * b) * steps
    kept = sum(size * part / PARTS for size, part in ((a, schedule.l2_keep_a), (b, schedule.l2_keep_b)) if part < PARTS)
    return max(least, read) - kept + _read_again(problem, schedule, target) + result
