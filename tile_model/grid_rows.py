"""How the model divides long rows among all SMs: the blocks that share a row are any of the grid, all of which run at
the same time.

Each block loads its part of a row once, and keeps it in registers and in shared memory until what all blocks have
reduced is known: a few kernels that read the row again, one for each step, take its bytes twice from memory. Where all
rows fit on the chip at once, an SM has one block; else two, of which one reads while the other computes or writes, and
groups of blocks take one row after another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mlir_gemm.spec.rows import MOST_CLUSTER, MOST_UNROLLED, RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.row_accesses import ACCESS, power, vector_of

RESERVED = 4096
"""Bytes of shared memory that reductions and the system need."""
THREADS = 512
TURN = 5.5e-6
"""Seconds of a turn in which not all that memory can do is asked of it: softmax of 64x1000000 f32 by 37 blocks a row,
in 10 turns, takes 179.6 us, by 44, in 11, 183.0, by 33, in 8, 170.6; a layer norm of 100x600000 by 22, in 9, 170.6, by
26, in 10, 174.9 (H200)."""
HELD, WEIGHTED = {1: 48, 2: 8}, {1: 48, 2: 4}
"""Registers in which a thread holds elements from the first pass to the last, by blocks of an SM: it has 128, or 64;
and where it takes weights too: a layer norm of 100x600000 f32 by 20 blocks a row, with 8, takes 174.4 us (H200)."""
UNDER_WAY, AT_ONCE = {1: 128, 2: 64}, {1: 64, 2: 16}
"""Bytes, and elements, that a thread loads at once: 64 KB of an SM, or half of it where they are narrow."""
THIRD = 3
"""Where clusters of eight blocks have fewer than this part of the SMs, blocks of the grid pay from `LEAST` bytes on;
else from `LEAST_FUSED` on: softmax of 8x262144 f32 takes 8.2 us either way, cold 13.3 and 15.6 (H100)."""
APART = 4
"""Groups of blocks that should be at different steps at a time, if their tiles have several rows."""
LEAST, LEAST_FUSED = 2 << 20, 6 << 20
"""Bytes of rows, or more, that are worth the exchange between blocks, a microsecond or so for each step; and those from
which that beats a kernel for each step, whose rows L2 holds else: softmax of 8x1000000 f32 28.9 us, not 33.1, of
4x1000003 bf16 8.8, not 14.5, but of 1x1000000 f32 7.2 for 6.3 (cold 11.0 for 10.9), of 2x1000000 f16 7.1 for 6.8 (H100,
2026-11-28-h100-grid-rows.json.xz)."""


def room(target: Target) -> tuple[int, int, int, int]:
    """Blocks that run at the same time, the bytes that the shared memory of each can hold of a row, the registers for
    more, and the least bytes of rows for which that pays; no blocks where there are no such launches."""
    if not target.has_cooperative_launch:
        return 0, 0, 0, 0
    return target.sms, _shared(target, 1), THREADS * HELD[1], LEAST_FUSED


def of_grid(problem: RowProblem, target: Target) -> RowSchedule | None:
    """The schedule of a few rows that all fit on the chip, each shared by more blocks than a cluster has; None where
    others take them."""
    if not (_can_share(problem) and problem.fixed and _pays(problem, problem.length * problem.read, target)):
        return None
    forms = (_shared_by(_Grid(problem, target, target.sms * down // problem.rows, 1, down)) for down in _downs(problem))
    return next(filter(None, forms), None)


def of_open(problem: RowProblem, target: Target) -> RowSchedule | None:
    """The schedule of a few rows of an open length, or along several loops, each shared by more blocks than a cluster
    has, which go over their parts in each pass in whole vectors; None where others take them. Group norm of four groups
    of 2x512x512 takes 11.6 us, by clusters of eight 15.2 (torch.compile 10.8), an instance norm of 8x524288 13.8, not
    15.3, but by single elements, of 8x300001, 17.3, not 13.4 (H200)."""
    vector = vector_of(problem, problem.length)
    pays = _pays(problem, problem.length * problem.lines * problem.narrowest, target)
    if not (_can_share(problem) and pays and vector * problem.narrowest >= ACCESS):
        return None
    blocks = target.sms // problem.rows
    pieces = -(-problem.length // (THREADS * vector * blocks))
    most = min(UNDER_WAY[1] // (vector * problem.narrowest), AT_ONCE[1] // vector, MOST_UNROLLED)
    found = RowSchedule(THREADS, THREADS, vector, (1, THREADS * vector), unroll=max(1, min(most, pieces)), grid=blocks,
                        groups=_at_a_time(problem, 1))  # fmt: skip
    found.check()
    return found


def of_groups(problem: RowProblem, target: Target) -> RowSchedule | None:
    """The schedule of rows that no cluster holds, some at a time, in as many turns as are predicted to be fastest."""
    if not (_can_share(problem) and problem.fixed and target.has_cooperative_launch):
        return None
    forms = (_in_turns(problem, target, each, down) for each in (2, 1) for down in _downs(problem))
    return next(filter(None, forms), None)


def _in_turns(problem: RowProblem, target: Target, each: int, down: int) -> RowSchedule | None:
    """By so many blocks of an SM, tiles of so many rows: as few turns as their blocks can take, or up to twice as many,
    where fewer blocks are idle in the last one."""
    slots, tiles = target.sms * each, problem.rows // down
    sizes = (_Grid(problem, target, n, each, down) for n in range(MOST_CLUSTER, slots + 1))
    fitting = next((grid.blocks for grid in sizes if _shared_by(grid, singly=False)), 0)
    if not fitting or (down > 1 and slots // fitting < APART):
        return None
    least = -(-tiles // (slots // fitting))
    best, found = math.inf, None
    for groups in sorted({-(-tiles // turns) for turns in range(least, 2 * least + 1)}, reverse=True):
        turns = -(-tiles // groups)
        made = _shared_by(_Grid(problem, target, slots // groups, each, down, groups if turns > 1 else 0), singly=False)
        if made is not None and (seconds := _seconds(problem, target, made, turns)) < best:
            best, found = seconds, made
    return found


def _seconds(problem: RowProblem, target: Target, schedule: RowSchedule, turns: int) -> float:
    """How long turns take, in which whole tiles are read and written."""
    line = schedule.tile[1] * schedule.grid
    bytes_ = 2 * problem.read * problem.rows * -(-problem.length // line) * line
    return bytes_ / target.dram_bytes_s + turns * TURN


def _downs(problem: RowProblem) -> list[int]:
    """How many rows a tile may have, best first: several that share weights, which L2 hands out once then, where they
    need no pairs combined: a layer norm of 4x2000000 f16 takes 15.4 us by 33 blocks a row, not 18.5 (H200)."""
    if problem.pair:
        return [1]
    return [down for down in (4, 2) if problem.beside and problem.rows % down == 0] + [1]


def _can_share(problem: RowProblem) -> bool:
    return problem.again and not (problem.updated or problem.transposed or problem.results)


def _at_a_time(problem: RowProblem, down: int) -> int:
    """How many tiles of rows blocks take at a time that could take all of them; of an open number as many as are
    typical, so that all blocks run at the same time whatever a call has."""
    return -(-problem.rows // down) if problem.open_rows else 0


def _pays(problem: RowProblem, bytes_: int, target: Target) -> bool:
    """Whether a row of so many bytes has more blocks of the grid than of a cluster, and enough for them."""
    least = LEAST if THIRD * MOST_CLUSTER * problem.rows < target.sms else LEAST_FUSED
    return room(target)[0] // problem.rows > MOST_CLUSTER and problem.rows * bytes_ >= least


@dataclass(frozen=True)
class _Grid:
    """Rows, and the blocks that share one of them."""

    problem: RowProblem
    target: Target
    blocks: int
    each: int
    """Of an SM."""
    down: int
    """Rows of a tile."""
    groups: int = 0
    """Tiles of rows at a time; 0 for all."""

    def schedule(self, vector: int, shift: int) -> RowSchedule | None:
        """With accesses of so many elements, and tiles from multiples of `shift` elements on; None where that does not
        hold a row."""
        problem, line = self.problem, THREADS * vector
        tiles = -(-(problem.length + max(shift - 1, 0)) // (line * self.blocks))
        registers = max(problem.held, -(-problem.read // _WORD)) * vector * self.down
        groups = self.groups or _at_a_time(problem, self.down)
        common = RowSchedule(THREADS, THREADS, vector, (self.down, line), shift=shift, grid=self.blocks, groups=groups,
                             min_blocks=self.each if self.each > 1 else 0)  # fmt: skip
        if vector * self.down > AT_ONCE[self.each]:
            return None
        most = (WEIGHTED if problem.beside else HELD)[self.each]
        if tiles * registers <= most:
            return replace(common, tile=(self.down, tiles * line))
        width = vector * self.down
        unroll = min(UNDER_WAY[self.each] // (width * problem.narrowest), AT_ONCE[self.each] // width, MOST_UNROLLED)
        for front in range(most // registers + 1 if not shift else 1):
            made = replace(common, staged=True, unroll=max(1, min(unroll, tiles - front)), front=front)
            if made.kept(problem.length) * self.down * problem.read <= _shared(self.target, self.each):
                return made
        return None


def _shared(target: Target, each: int) -> int:
    """Bytes of rows that shared memory holds for a block, of which an SM has so many."""
    return min(target.smem_block, target.smem_sm // each - target.smem_reserved) - RESERVED


def _shared_by(grid: _Grid, singly: bool = True) -> RowSchedule | None:
    """By accesses as wide as rows allow, or, of narrow elements, from aligned addresses before each row on, if not
    `singly` only so."""
    problem = grid.problem
    vector, wanted = vector_of(problem, problem.length), power(ACCESS // problem.narrowest)
    shifted = problem.even and problem.narrowest < _WORD and vector < wanted and grid.down == 1
    found = grid.schedule(wanted, wanted) if shifted else None
    found = found or (grid.schedule(vector, 0) if singly or not shifted else None)
    if found is not None:
        found.check()
    return found


_WORD = 4


def is_grid_too_large(problem: RowProblem, schedule: RowSchedule, target: Target) -> str:
    """Why the blocks of a schedule cannot all run at the same time; empty where they can."""
    if not schedule.grid:
        return ""
    if not target.has_cooperative_launch:
        return f"{target.chip} has no cooperative launches; expected grid=0"
    down = schedule.tile[0]
    kept = schedule.kept(problem.length) * down * problem.read if schedule.staged else 0
    shared = target.smem_sm // (kept + target.smem_reserved) if kept else target.blocks_sm
    each = min(target.threads_sm // schedule.threads, shared, target.blocks_sm)
    tiles = -(-problem.rows // down)
    blocks = (schedule.groups if problem.open_rows else min(schedule.groups or tiles, tiles)) * schedule.grid
    if blocks <= each * target.sms:
        return ""
    return f"{blocks} blocks do not fit on {target.chip} at once: {each} on each of {target.sms} SMs; expected fewer"
