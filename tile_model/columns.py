"""How the model divides columns among threads: sums of rows whose neighbours in memory belong to different rows.

A group of threads takes some columns side by side, a segment of each line of memory, and groups take lines in turn.
Where columns alone do not fill the chip, blocks have parts of them, which a second kernel combines in a fixed order.
"""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES
from mlir_gemm.tile_model.row_accesses import FEWEST_THREADS, HELD, MOST_THREADS, most_held, power, vector_of

LAUNCH = 4e-6
"""Seconds that the kernels cost which combine parts."""
SEGMENT, LARGE_SEGMENTS = 64, 16 << 20
"""Bytes of neighbours that a block reads of each element, where neighbours belong to different rows; twice as many of
memory of so many bytes, where blocks are many, or so few that columns are divided among them: 256x50257 f16 5.6 us, not
7.1; of 4096x4096, which has 128 blocks, it would be 8.1, not 6.0."""
NARROW = 0.12
"""By how much shorter segments are slower: 16384x4096 f32 in one kernel, 64 bytes each, 70 us, not 60."""
FEW_COLUMNS = 4
"""So many times the blocks must fill the SMs for segments to be that wide."""
MANY_COLUMNS = 8
"""So many times, and blocks have half as many threads: 256x50257 f16 5.0 us, not 5.6; cold 15.7, not 16.0 (H200)."""
LONG_SEGMENT, PASS_THREADS = 512, 512
"""Bytes of neighbours that a block reads of each element, and its threads, where it goes over columns."""
UNROLL = 8
"""Lines that a thread has loads of under way there."""
SHORT, ALONE_THREADS = 8, 256
"""Columns of so few elements are a thread's each, and threads of a block then: 4x1000000 f16 2.1 us, not 4.2; 7x183873
bf16 1.5, not 1.7, cold 5.6, not 6.5 (H200, 2026-11-24-h200-row-schedules.json.xz)."""
WAVES, LEAST_PART, MOST_PARTS = 4, 64, 1056
"""How many times the blocks of all parts fill the SMs, elements of a part, and most parts. Sums of 199162x528 f32 take
96 us in 211 to 422 parts of 512 bytes, 127 in 16 of 64 bytes; 1000000x64 f16 31.1 in 1056 parts, 31.4 in 528 (H200,
2026-11-23-h200-rows-passes.json.xz)."""


def of_columns(problem: RowProblem, target: Target) -> RowSchedule:
    """The schedule of a kernel of columns."""
    if problem.fixed and problem.length <= SHORT and not problem.side < problem.rows:
        return _alone(problem, target)
    columns, full = _segment(problem), target.sms * target.threads_sm
    if not problem.again and _blocks(problem, columns) * PASS_THREADS >= full:
        return _in_passes(problem, columns, PASS_THREADS)
    held = _held(problem, target)
    if problem.fixed and held.tile[0] >= problem.length:
        return held
    while columns > vector_of(problem, problem.length) and columns * problem.narrowest > SEGMENT:
        if _blocks(problem, columns) * PASS_THREADS >= full // 2:
            break
        columns //= 2
    return _in_passes(problem, columns, MOST_THREADS)


def _alone(problem: RowProblem, target: Target) -> RowSchedule:
    """Threads that have whole columns, as many as fill the chip."""
    vector, threads = vector_of(problem, problem.rows), ALONE_THREADS
    while vector > 1 and problem.rows < target.sms * threads * vector:
        vector //= 2
    while threads > LANES and problem.rows < target.sms * threads * vector:
        threads //= 2
    schedule = RowSchedule(threads, threads, vector, (problem.length, threads * vector), transposed=True)
    schedule.check()
    return schedule


def parts_of_columns(problem: RowProblem, schedule: RowSchedule, target: Target) -> tuple[int, int]:
    """In how many parts columns are reduced side by side, and how many elements each has."""
    busy = _blocks(problem, schedule.tile[1]) * schedule.threads
    full = target.sms * target.threads_sm
    seconds = problem.rows * problem.length * max(problem.read, 1) / target.dram_bytes_s
    narrow = NARROW if schedule.tile[1] < _segment(problem) else 0.0
    if seconds * max(full / busy / 2 - 1, narrow) < LAUNCH:
        return 1, problem.length
    wanted = WAVES * full // PASS_THREADS // _blocks(problem, _segment(problem))
    most = min(wanted, MOST_PARTS, problem.length // LEAST_PART)
    choices = range(most, max(2, most * 2 // 3) - 1, -1)
    if not choices:
        return 1, problem.length
    parts = min(choices, key=lambda count: problem.length % count)
    return parts, problem.length // parts


def _side(problem: RowProblem) -> int:
    return problem.side or problem.rows or 1


def _blocks(problem: RowProblem, columns: int) -> int:
    """Blocks that take so many columns each."""
    side = _side(problem)
    return -(-side // columns) * (problem.rows // side)


def _segment(problem: RowProblem) -> int:
    """Columns that a block which goes over them takes."""
    most = max(1, LONG_SEGMENT // problem.narrowest)
    columns = vector_of(problem, _side(problem))
    while columns < _side(problem) and 2 * columns <= most:
        columns *= 2
    return columns


def _in_passes(problem: RowProblem, columns: int, most: int) -> RowSchedule:
    """Blocks of up to so many threads that go over their columns, with several lines at a time."""
    vector = vector_of(problem, _side(problem))
    across = columns // vector
    groups = max(1, min(most // across, power(problem.length)))
    threads = max(LANES, groups * across)
    groups = threads // across
    unroll = max(1, min(UNROLL, power(problem.length // groups)))
    schedule = RowSchedule(threads, across, vector, (groups, columns), transposed=True, unroll=unroll)
    schedule.check()
    return schedule


def _held(problem: RowProblem, target: Target) -> RowSchedule:
    """Blocks whose threads hold whole columns, or as much of them as they can."""
    vector = vector_of(problem, problem.rows)
    wanted = max(1, SEGMENT // problem.narrowest)
    blocks = -(-problem.rows // wanted)
    large = problem.rows * problem.length * problem.narrowest >= LARGE_SEGMENTS
    if large and (blocks >= 2 * target.sms or FEW_COLUMNS * blocks <= target.sms):
        wanted *= 2
    many = large and blocks >= MANY_COLUMNS * target.sms
    groups = power(max(1, min(MOST_THREADS, problem.length // 4)))
    while vector > 1 and problem.rows * groups // (vector * LANES) < target.sms * target.threads_sm // LANES // 4:
        vector //= 2
    across = power(max(1, wanted // vector))
    if groups * across < FEWEST_THREADS:  # few elements: more of their rows side by side
        across = FEWEST_THREADS // groups
    while across > 1 and across * vector >= problem.rows * 2:
        across //= 2
    groups = max(1, min(groups, (PASS_THREADS if many else MOST_THREADS) // across))
    threads = max(groups * across, LANES)
    groups = threads // across
    count = -(-problem.length // groups)
    most = most_held(problem, threads, target) // vector
    if not problem.fixed or count > most:
        count = max(1, min(most, HELD // problem.held // vector))
    schedule = RowSchedule(threads, across, vector, (groups * count, across * vector), transposed=True)
    schedule.check()
    return schedule
