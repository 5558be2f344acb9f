"""How the model divides rows among threads.

A kernel of rows is bound by memory: what counts is that enough bytes are in flight, in wide accesses, and that a row is
read once. So a row goes to as few threads as hold it in a few accesses each, up to a block's; where rows are few, to
more. Rows that a block's registers do not hold are read again in each pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.rows import MOST_CLUSTER, RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES
from mlir_gemm.tile_model.columns import of_columns
from mlir_gemm.tile_model.finishing_rows import of_results
from mlir_gemm.tile_model.grid_rows import RESERVED, is_grid_too_large, of_grid, of_groups, of_open
from mlir_gemm.tile_model.line_rows import LINE_BYTES, WORD, is_line, of_line
from mlir_gemm.tile_model.row_accesses import (
    ACCESS,
    FEWEST_THREADS,
    HELD,
    MOST_THREADS,
    most_held,
    power,
    vector_of,
)
from mlir_gemm.tile_model.row_eviction import evicts
from mlir_gemm.tile_model.row_pairs import paired

WHOLE = 40
"""Registers in which a thread holds elements of whole rows, by choice; more where a row is still held by one block of
1024 threads then."""
STAGED_THREADS = 512
"""Threads of a block whose rows are in shared memory, and most of one whose rows are in registers: two such blocks,
which wait at different times, fit on an SM. Blocks of 1024 threads are slower: softmax of 16384x16384 f16 533 us, not
316 (H200; the figures here are from 2026-11-23-h200-rows-schedules.json.xz and ...-rows-blocks.json.xz)."""
STAGED, STAGED_IN_CLUSTER = 108 << 10, 55 << 10
"""Bytes of a row, or of a block's part of it, in shared memory: two blocks of an SM, and four of a cluster's, or two of
the largest: softmax of 1000x300001 f16 485 us, not 732 with 1024 threads; of 4096x130000 f32 1531, not 1707 (H100)."""
PASS_THREADS, PASS_BYTES, PASS_LOADS = 512, 64, 8
"""Threads of a block that goes over rows, and bytes, and accesses, that a thread has under way: rows that are reduced
once and that registers do not hold, and those that shared memory does not hold either. argmax of 1000x50257 f32 takes
50 us with 4 or 8 accesses, in registers of a cluster 58 (H200, 2026-11-23-h200-rows-passes.json.xz)."""
CLUSTER_THREADS, CLUSTER_HELD = 256, 52
"""Threads of a block of a cluster, and registers in which each holds elements of its part of a row: softmax of
64x100000 f32 18.5 us, not 21.5 with 512; 2000x65536 282, not 301 from shared memory (H200)."""
PREFETCHED = {1: (512, 80), 2: (256, 60)}
"""Threads of a block, and registers in which a thread holds its part of a row and of the weights, if they are loaded
before the reductions, by how many weights there are, at least: RMS norm of 2686x5033 f16 18.1 us, not 20.5; of 129x604
f32 1.2, not 1.4, cold 4.6, not 5.0; but a layer norm of 16384x4096 f16, in 64 registers, 69.2, not 67.9."""
PAIRED = 64
"""Registers in which a thread of a cluster holds its part of two rows, which share the weights that it loads: RMS norm
of 1237x62188 f32 167 us, not 178."""
LONE_THREADS = 1024
"""Threads of a block that has an SM's shared memory alone, where there are no clusters: log-softmax of 235x92721 f16
36.2 us, with 512 38.2 (H200)."""
RESIDENT, WEIGHTED, MOST_OF_HALVES = ((88, 5), (112, 4), (128, 3)), 4, 4
"""Blocks that an SM should have at least, by the bytes that a thread loads at once, of rows in the shared memory of a
cluster that are odd or have two weights; at least with weights, and at most of 16-bit elements. Layer norms of
906x64483 bf16, 128 bytes, take 90.8 us with 4 blocks, with 3 91.6; of 1024x40000 bf16, 80 bytes, 63.7 with 5, with 4
62.5; of 509x42342 f32, 88 bytes, 64.8 with 5, with 4 66.2 (H100); softmax of 256x50257 f16, 112 bytes, 16.7 with 4,
with 3 17.8; log-softmax of 906x64483 f16, 128 bytes, 62.5 with 3, with 4 68.6 (H200)."""
CLUSTERS = (2, 4, MOST_CLUSTER)
"""Blocks of the clusters that take rows which no block of 512 threads holds in registers, the smallest first: an SM has
four such blocks or more, of which some read while others compute or write. Softmax of 256x50304 f16 takes 17.8 us by 4
blocks of 256 threads, by one of 512 with the row in shared memory 22.0; 64x50304 5.6, not 7.2; layer norm of 333x24576
f32 25.1, not 33.3. Of rows that one holds, f32 ones go to two: layer norm of 512x18000 f32 28.3, not 30.9; RMS norm of
267x20133 17.7, not 20.7; but a layer norm of 4096x16384 f16 95.5, not 92.7, of 4000x12001 bf16 93.9, not 81.0
(H100)."""
FEW_ROWS, LEAST_SHARED, LEAST_IN_CLUSTER = 4, 512, 8192
"""Rows are shared by the blocks of a cluster where so many times as many would give each SM one, if each block has so
many elements, and a row so many: 1x17275 f32 3.2 us, not 6.0, but 64x8192 f16 2.9, not 2.6."""
FEW, FEW_ELEMENTS, WASTE = 4, 16, 0.16
"""Accesses that a thread should have of a row, or more, if they are narrow, until it has this many elements; and by how
much a schedule is worse that has twice, or half, as many: odd rows of 1999 f16 take 48 us, not 80 with 4."""
TWO_WARPS = 128
"""Wide accesses of a row that two warps rather take than one: 65536x1024 f16 65.4 us, not 66.5 (an RMS norm, H200)."""
FEW_SINGLE, LONG_SINGLE, MOST_SINGLE = 32, 2048, 128
"""Single elements that a thread should have of rows without weights, of rows up to which length; and threads that rows
with two weights and more should have at most, 8 elements each or more: 20000x1001 f16, a softmax with 32 threads a row
23.8 us, not 25.0 with 64; a layer norm with 128 26.5, not 29.4 (H200, 2026-11-24-h200-row-schedules.json.xz)."""
BUSY, LEAST_ACCESSES, LEAST_WIDE = 8, 3, 2
"""More threads take a row where rows leave all but this part of the chip's threads idle, as long as each has so many
accesses, or so many wide ones: log-softmax of 4044x185 f16 with 16 threads a row 1.8 us, with 64 2.8; of 16x555 f32
with 128 1.2, with 512 1.35."""
LEAST_FULL = 1.5
"""Wide accesses that each thread has at least if rows go to twice as many threads, up to two warps, where the chip
takes all of these at once: RMS norm of 16965x120 f16 with 4 threads a row 3.5 us, with 8 2.9; log-softmax of 1109x608
f32 with 32 2.5, with 64 2.2, with 128 2.5 (H100)."""
ALONE_THREADS = 256
"""Threads of a block of rows that are a thread's each, for half as many blocks as there are SMs, or more: sums of
125803x3 f32 1.3 us, with 128 1.6; of 14370x4 bf16 with 128 1.02, with 64 1.08 (H100)."""
LEAST_BYTES, LEAST_SINGLE = 64, 16
"""Bytes that threads side by side take at once, and how many threads take single elements side by side: a sector of
memory, 32 bytes, of f16. Sums of 1000000x64 f16 take 37 us with 2 threads a row, 32 with 4."""
LEAST_ALONE = 7
"""Accesses of a row that one thread may take alone: sums of 93227x7 bf16 1.4 us, not 1.7."""
LEAST_SHIFTED, LEAST_SHIFTED_ALONE = 10241, 24576
"""Elements of the shortest rows whose tiles start before them, so that accesses are wide, by clusters and by a block.
Below, threads hold rows that they load in single elements: a layer norm of 6000x8191 f16 takes 79.8 us, not 82.9. One
of 2000x20001 takes 67.2 in wide vectors by two blocks, by single elements 84.8, softmax 55.7, not 64.0; of 4000x12001
81.5, as by single elements 81.0, softmax 68.5, not 73.0 (H100)."""
PLAIN, FILLED, STEP = range(1001, 5122), 1.34, 1024
"""Elements of many odd rows without weights, which would lie between vectors, that a block takes so, and how many more
its threads may have room for, in these steps: softmax f16 of 20000 rows of 1999, 1535, 1001 40.0, 30.9, 21.1 us, by
single elements or as lines 45.3, 33.6, 22.4; of 8000x5001 39.9, not 47.7; log-softmax 8000x3001 24.4, 28.7 (H200)."""


def select_rows(problem: RowProblem, target: Target) -> RowSchedule:
    """The schedule of a kernel of rows."""
    if problem.results:
        return of_results(problem, target)
    schedule = of_columns(problem, target) if problem.transposed else _of_rows(problem, target)
    schedule = paired(problem, schedule, target)
    return replace(schedule, prefetch=_prefetches(problem, schedule), evict_first=evicts(problem, schedule, target))


def check_rows(problem: RowProblem, schedule: RowSchedule, target: Target) -> None:
    """Raises ScheduleError for a schedule that keeps more of rows in shared memory than a block has, or is for rows
    whose parts others have reduced where that is not so."""
    too_large = is_grid_too_large(problem, schedule, target)
    if too_large:
        raise ScheduleError(f"tile.rows: grid={schedule.grid} for {problem}: {too_large}")
    if bool(schedule.part) != bool(problem.results):
        wanted = "the elements of a block" if problem.results else "0"
        raise ScheduleError(f"tile.rows: part={schedule.part} for {problem}; expected {wanted}")
    if not schedule.staged:
        return
    if not problem.fixed:
        raise ScheduleError("tile.rows: staged=true for rows whose length is not constant; expected false")
    kept = schedule.kept(problem.length) * schedule.tile[0] * problem.read
    most = target.smem_block - RESERVED
    if problem.again and kept > most:
        raise ScheduleError(
            f"tile.rows: staged=true for {problem} takes {kept} bytes of shared memory a block, more than the {most} "
            f"of {target.chip}; expected more blocks a cluster, or staged=false"
        )


def explain_rows(problem: RowProblem, schedule: RowSchedule) -> str:
    """Why, in a sentence."""
    if schedule.part:
        return (f"each block combines the {problem.length} parts of a row, which others have reduced, and computes "
                f"{schedule.part} of its {problem.results} elements")  # fmt: skip
    threads = schedule.threads // schedule.across if problem.transposed else schedule.across
    owner = f"{threads} threads" if threads > 1 else "one thread"
    belongs = f"{'a column' if problem.transposed else 'a row'} of {problem.length} elements belongs to {owner}"
    if schedule.cluster > 1:
        belongs += f" in each of {schedule.cluster} blocks, a cluster"
    if schedule.grid:
        belongs += f" in each of {schedule.grid} blocks of the grid, all of which run at the same time"
    held = schedule.tile[0 if problem.transposed else 1] * schedule.sharing
    if problem.fixed and held >= problem.length:
        return f"{belongs}, which {'hold' if threads > 1 else 'holds'} it in registers: it is read once"
    again = "later passes find it in shared memory" if schedule.staged else "each pass reads it again"
    again = again if problem.again or schedule.staged else "it is read once"
    again += f", and {schedule.front * held} of its elements in registers" if schedule.front else ""
    return f"{belongs}, {held} at a time: {again}"


def _of_rows(problem: RowProblem, target: Target) -> RowSchedule:
    if not problem.fixed:
        return _of_unknown(problem, target)
    shared = of_grid(problem, target)
    if shared is not None:
        return shared
    if is_line(problem) and not _is_plain(problem, target):
        schedule = of_line(problem)
        if 2 * schedule.tile[0] * problem.length * problem.read <= target.smem_block:
            return schedule
    few = _blocks_of_few(problem, target)
    rows = _Rows(problem, target, *_access(problem, few, target))
    if few > 1:
        forms = (rows.in_registers(few), rows.in_shared(MOST_CLUSTER, MOST_THREADS, 2, rows.all_shared),
                 of_groups(problem, target))  # fmt: skip
        return next(filter(None, forms), None) or rows.in_passes(MOST_CLUSTER)
    held = rows.in_registers(1)
    if held is None or (rows.shift and problem.again and held.threads > CLUSTER_THREADS):
        return _of_long(rows)
    if held.threads > CLUSTER_THREADS and problem.narrowest >= WORD and problem.again and target.has_clusters:
        return rows.in_few_registers(2, WHOLE) or held
    return held


def _of_long(rows: _Rows) -> RowSchedule:
    """Rows that a few hundred threads do not hold."""
    if not rows.problem.again:
        return rows.in_passes(1)
    weighted = rows.problem.beside > 1
    if not rows.target.has_clusters:
        alone = [rows.in_shared(1, STAGED_THREADS, 1, min(STAGED, rows.all_shared)), rows.in_many_registers(),
                 rows.in_shared(1, LONE_THREADS, 1, rows.all_shared), of_groups(rows.problem, rows.target)]  # fmt: skip
        return next(filter(None, alone), None) or rows.in_passes(1)
    words = rows.problem.narrowest >= WORD and not rows.shift
    held = [rows.in_few_registers(each, most) for most in (WHOLE, CLUSTER_HELD) for each in CLUSTERS if words]
    kept = [rows.in_shared(each, CLUSTER_THREADS, count, STAGED_IN_CLUSTER) for count in (0, 2) for each in CLUSTERS]
    forms = [*kept, *held] if weighted else [*held, *kept]
    larger = ((CLUSTER_THREADS, STAGED), (MOST_THREADS, rows.all_shared))
    forms += [rows.in_shared(MOST_CLUSTER, threads, 2, most) for threads, most in larger]
    forms += [of_groups(rows.problem, rows.target), rows.in_passes(MOST_CLUSTER)]
    return next(filter(None, forms), None) or rows.in_passes(1)


@dataclass(frozen=True)
class _Rows:
    """Rows, and the ways in which blocks can process them; None for a way that does not fit."""

    problem: RowProblem
    target: Target
    vector: int
    shift: int

    @property
    def all_shared(self) -> int:
        """Bytes of shared memory that a block can have for rows."""
        return self.target.smem_block - RESERVED

    def pieces(self, cluster: int) -> int:
        """Accesses that a block's part of a row takes."""
        return -(-(self.problem.length + max(self.shift - 1, 0)) // (self.vector * cluster))

    def in_registers(self, cluster: int) -> RowSchedule | None:
        """Held by as few threads as have a few accesses each."""
        problem, pieces = self.problem, self.pieces(cluster)
        across = _divided(pieces, max(1, WHOLE // problem.held // self.vector), self.vector, problem)
        if across is None:
            return None
        if cluster == 1:
            across = _busy(problem, self.target, pieces, across, self.vector)
            across = max(across, LANES) if self.shift else across
            threads = across if self.shift else _of_block(problem.rows, across, self.target)
        else:
            threads = across = max(across, LANES, min(CLUSTER_THREADS, power(pieces)))
        return self._schedule(threads, across, -(-pieces // across), cluster=cluster)

    def in_few_registers(self, cluster: int, most: int) -> RowSchedule | None:
        """Held by the threads of a cluster's blocks, each with up to so many registers."""
        count = -(-self.pieces(cluster) // CLUSTER_THREADS)
        if count * self.vector * self.problem.held > most:
            return None
        paired = self.problem.beside == 1 and self.problem.rows > 1 and 2 * count * self.vector <= PAIRED
        return self._schedule(CLUSTER_THREADS, CLUSTER_THREADS, count, cluster=cluster, down=1 + paired)

    def in_many_registers(self) -> RowSchedule | None:
        """Held by the most threads that a block has, with as much as each can hold."""
        count = -(-self.pieces(1) // MOST_THREADS)
        if count * self.vector > most_held(self.problem, MOST_THREADS, self.target):
            return None
        return self._schedule(MOST_THREADS, MOST_THREADS, count)

    def in_shared(self, cluster: int, threads: int, count: int, most: int) -> RowSchedule | None:
        """Kept in this many bytes of shared memory from the first pass to the last, in tiles of a few accesses; 0: with
        all accesses of a pass under way at once, if they are few."""
        unroll, count = 1 if count else -(-self.pieces(cluster) // threads), max(count, 1)
        tile = threads * self.vector * count * unroll
        tiles = -(-self.pieces(cluster) * self.vector // tile)
        bytes_ = unroll * self.vector * self.problem.narrowest
        if not self.problem.again or bytes_ > PASS_LOADS * ACCESS or tiles * tile * self.problem.read > most:
            return None
        schedule = self._schedule(threads, threads, count, staged=True, cluster=cluster, unroll=unroll)
        weighted = self.problem.beside > 1
        if not (weighted or self.shift) or cluster == 1 or unroll == 1:
            return schedule
        wanted = next(n for most, n in RESIDENT if bytes_ <= most)
        wanted = max(wanted, WEIGHTED) if weighted else wanted
        return replace(schedule, min_blocks=wanted if self.problem.narrowest >= WORD else min(wanted, MOST_OF_HALVES))

    def in_passes(self, cluster: int, threads: int = 0) -> RowSchedule:
        """Read again in each pass, by this many threads of a block; 0: by as many as there are of a cluster."""
        threads = threads or (MOST_THREADS if cluster > 1 else PASS_THREADS)
        most = min(PASS_LOADS, PASS_BYTES // self.problem.narrowest // self.vector) // (2 if self.shift else 1)
        count = max(1, min(most, self.pieces(cluster) // threads))
        return self._schedule(threads, threads, 1, cluster=cluster, unroll=count)

    def _schedule(
        self, threads: int, across: int, count: int, *, staged: bool = False, cluster: int = 1, unroll: int = 1,
        down: int = 1,
    ) -> RowSchedule:  # fmt: skip
        tile = threads // across * down, across * self.vector * count
        schedule = RowSchedule(threads, across, self.vector, tile, shift=self.shift, staged=staged, unroll=unroll,
                               cluster=cluster)  # fmt: skip
        schedule.check()
        return schedule


def _blocks_of_few(problem: RowProblem, target: Target) -> int:
    """Blocks of a cluster for rows so few that most SMs would have none; of an open length, which nobody holds, as many
    as give each SM one."""
    cluster, few = 1, FEW_ROWS * problem.rows <= target.sms
    if (problem.again or problem.places) and target.has_clusters and (few or not problem.fixed):
        while cluster < MOST_CLUSTER and problem.length >= 2 * cluster * LEAST_SHARED:
            if not few and problem.rows * cluster >= target.sms:
                break
            cluster *= 2
    return cluster if problem.length >= LEAST_IN_CLUSTER else 1


def _access(problem: RowProblem, cluster: int, target: Target) -> tuple[int, int]:
    """Elements of one access, and of which multiple tiles start in memory where rows do not (0: where rows do)."""
    vector, wanted = vector_of(problem, problem.length), power(ACCESS // problem.narrowest)
    least = LEAST_SHIFTED if target.has_clusters and problem.again else LEAST_SHIFTED_ALONE
    shifted = problem.even and problem.length >= least and problem.narrowest < WORD and cluster == 1
    shifted = shifted or (_is_plain(problem, target) and cluster == 1)
    return (wanted, wanted) if vector < wanted and shifted else (vector, 0)


def _is_plain(problem: RowProblem, target: Target) -> bool:
    """Whether rows are many odd ones of 16 bits without weights, to be taken from aligned addresses on."""
    alone = problem.again and not problem.beside and not problem.places and problem.even
    odd = problem.narrowest == WORD // 2 and problem.length in PLAIN and vector_of(problem, problem.length) == 1
    many = problem.rows * problem.length * problem.narrowest >= LINE_BYTES
    held = -(-(problem.length + ACCESS // problem.narrowest - 1) // STEP) * STEP
    return alone and odd and many and held <= FILLED * problem.length and target.has_clusters


def _of_unknown(problem: RowProblem, target: Target) -> RowSchedule:
    """Rows of no constant length, or along several loops. Few of them go to clusters, or to the whole grid, which go
    over them in each pass: nobody reduces their parts in a kernel of its own."""
    shared = of_open(problem, target)
    if shared is not None:
        return shared
    vector, few = vector_of(problem, problem.length), _blocks_of_few(problem, target)
    if few > 1:
        threads = MOST_THREADS if FEW_ROWS * problem.rows <= target.sms else PASS_THREADS
        return _Rows(problem, target, vector, 0).in_passes(few, threads)
    pieces = -(-problem.length // vector)
    most = max(1, HELD // problem.held // vector)
    across = _busy(problem, target, pieces, _divided(pieces, most, vector, problem) or MOST_THREADS, vector)
    threads = _of_block(problem.rows, across, target)
    some = max(1, min(most_held(problem, threads, target) // vector, most))
    count = _at_a_time(pieces, across, some)
    schedule = RowSchedule(threads, across, vector, (threads // across, across * vector * count))
    schedule.check()
    return schedule


def _prefetches(problem: RowProblem, schedule: RowSchedule) -> bool:
    """Whether there are registers to load weights before the reductions."""
    whole = problem.fixed and schedule.tile[1] * schedule.sharing >= problem.length + max(schedule.shift - 1, 0)
    if not problem.beside or problem.transposed or not whole or schedule.flat:
        return False
    elements = schedule.tile[0] * schedule.tile[1] // schedule.threads
    registers = max(WORD // schedule.vector, problem.narrowest) / WORD  # single elements of 16 bits take one each
    threads, most = PREFETCHED[min(problem.beside, 2)]
    return schedule.threads <= threads and elements * (problem.held + problem.beside * registers) <= most


def _few(pieces: int, vector: int, problem: RowProblem) -> int:
    """How many accesses of a row a thread should have."""
    if vector * problem.narrowest >= ACCESS:
        return FEW // 2 if TWO_WARPS // 2 < pieces <= TWO_WARPS else FEW
    if vector > 1 or problem.narrowest >= WORD or not problem.again:
        return max(FEW, FEW_ELEMENTS // vector)
    if problem.beside == 0 and problem.length <= LONG_SINGLE:
        return FEW_SINGLE
    return FEW_ELEMENTS if problem.beside < 2 else max(FEW_ELEMENTS // 2, pieces // MOST_SINGLE)


def _divided(pieces: int, most: int, vector: int, problem: RowProblem) -> int | None:
    """Threads of a row that hold all of it with the least waste; of equally good numbers, one with a few accesses for
    each thread. At least as many threads as cover a minimum of contiguous bytes. None where a row is longer."""
    least = LEAST_BYTES // (vector * problem.narrowest) if vector > 1 else LEAST_SINGLE
    least = min(least, power(pieces // 2)) if pieces > LEAST_ALONE else 1
    few = min(_few(pieces, vector, problem), most)
    choices = [(1 << power, -(-pieces >> power)) for power in range(STAGED_THREADS.bit_length())]
    fitting = [(across, count) for across, count in choices if count <= most and across >= least]
    if not fitting:
        return None
    return min(fitting, key=lambda each: each[0] * each[1] * (1 + WASTE * abs(math.log2(each[1] / few))))[0]


def _busy(problem: RowProblem, target: Target, pieces: int, across: int, vector: int) -> int:
    """More threads where rows are so few that the chip would be idle."""
    full = target.sms * target.threads_sm
    wide = vector * problem.narrowest >= ACCESS
    least = LEAST_WIDE if wide else LEAST_ACCESSES
    while across < MOST_THREADS and problem.rows * across < full // BUSY and pieces >= 2 * across * least:
        across *= 2
    most = 2 * LANES if wide else 0
    while across < most and 2 * problem.rows * across <= full and pieces >= 2 * across * LEAST_FULL:
        across *= 2
    return across


def _of_block(rows: int, across: int, target: Target) -> int:
    """Threads of a block that takes whole rows."""
    alone = across == 1
    threads = max(across, ALONE_THREADS if alone else FEWEST_THREADS)
    while threads > max(across, LANES) and rows * across * (1 + alone) < target.sms * threads:
        threads //= 2
    return threads


def _at_a_time(pieces: int, across: int, most: int) -> int:
    """How many accesses of a thread a tile has where rows take several: as many as waste least at their ends."""
    return min(range(most, 0, -1), key=lambda count: -(-pieces // (across * count)) * count)
