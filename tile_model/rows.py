"""How the model divides rows among threads.

A kernel of rows is bound by memory: what counts is that enough bytes are under way, in wide accesses, and that a row is
read once. So a row goes to as few threads as hold it in a few accesses each, up to a block's; where rows are few, to
more. Rows that a block's registers do not hold are read again in each pass.
"""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import LANES

ACCESS = 16
"""Bytes of the widest access."""
FEWEST_THREADS = 128
"""Threads of a block that takes several rows."""
MOST_THREADS = 1024
HELD = 32
"""Registers in which a thread holds elements, at most by choice; more where a row is still held by one block then."""
SPARE = 24
"""Registers that a thread needs for other things."""
RESERVED = 4096
"""Bytes of shared memory that reductions and the system need."""
STAGED_THREADS = 512
"""Threads of a block whose rows are in shared memory: two such blocks, which wait at different times, fit on an SM."""
FEW, WASTE = 4, 0.04
"""Accesses that a thread should have of a row, or half as many as it may, and by how much a schedule is worse for each
that it has more or less."""
LEAST_PART, LEAST_PART_OF_COLUMNS = 8192, 128
"""Elements of a part of a row, where neighbours belong to the row, and where they belong to different rows."""
LAUNCH = 4e-6
"""Seconds that the kernels cost which combine parts."""
LEAST_SHIFTED = 2048
"""Elements of the shortest rows whose tiles start before them, so that accesses are wide."""
SEGMENT = 64
"""Bytes of neighbours that a block reads of each element, where neighbours belong to different rows."""


def select_rows(problem: RowProblem, target: Target) -> RowSchedule:
    """The schedule of a kernel of rows."""
    return _of_columns(problem, target) if problem.transposed else _of_rows(problem, target)


def parts_of_rows(problem: RowProblem, target: Target) -> tuple[int, int]:
    """In how many parts rows are reduced side by side, and how many elements each has: few long rows keep too few
    threads busy for the memory. 1 where that does not pay for another launch, or elements are needed again."""
    schedule = select_rows(problem, target)
    if problem.again or not problem.fixed:
        return 1, problem.length
    taken = schedule.tile[1] if problem.transposed else schedule.tile[0]
    busy = -(-problem.rows // taken) * schedule.threads
    full = target.sms * target.threads_sm // 2
    seconds = problem.rows * problem.length * max(problem.read, 1) / target.dram_bytes_s
    least = LEAST_PART_OF_COLUMNS if problem.transposed else LEAST_PART
    parts = min(-(-full // busy), problem.length // least)
    if parts < 2 or seconds * (full / busy - 1) < LAUNCH:
        return 1, problem.length
    step = 1 if problem.transposed else schedule.vector * LANES
    for more in range(parts, 2 * parts):
        if problem.length % (more * step) == 0:
            return more, problem.length // more
    depth = problem.length // (parts * step) * step
    return (problem.length // depth, depth) if depth else (1, problem.length)


def explain_rows(problem: RowProblem, schedule: RowSchedule) -> str:
    """Why, in a sentence."""
    threads = schedule.threads // schedule.across if problem.transposed else schedule.across
    owner = f"{threads} threads" if threads > 1 else "one thread"
    belongs = f"{'a column' if problem.transposed else 'a row'} of {problem.length} elements belongs to {owner}"
    held = schedule.tile[0 if problem.transposed else 1]
    if problem.fixed and held >= problem.length:
        return f"{belongs}, which {'hold' if threads > 1 else 'holds'} it in registers: it is read once"
    again = "later passes find it in shared memory" if schedule.staged else "each pass reads it again"
    return f"{belongs}, {held} at a time: {again}"


def _power(number: int) -> int:
    """The largest power of two that is not above a number, at least 1."""
    return 1 << (max(number, 1).bit_length() - 1)


def _vector(problem: RowProblem, most: int) -> int:
    """Elements of one access."""
    vector = _power(min(ACCESS // problem.narrowest, most))
    while problem.aligned % vector:
        vector //= 2
    return vector


def _of_rows(problem: RowProblem, target: Target) -> RowSchedule:
    vector, shift = _vector(problem, problem.length), 0
    wanted = _power(ACCESS // problem.narrowest)
    if vector < wanted and problem.even and problem.fixed and problem.length >= LEAST_SHIFTED:
        vector = shift = wanted
    pieces = -(-(problem.length + max(shift - 1, 0)) // vector)
    most = max(1, HELD // problem.held // vector)  # accesses of a thread, by choice
    across, count = _divided(pieces, most)
    busy = target.sms * target.threads_sm // 2
    while across < min(MOST_THREADS, _power(pieces)) and problem.rows * across < busy:
        across *= 2
    count = min(count, -(-pieces // across))
    if shift:
        across = max(across, LANES)
    threads = across if shift else _of_block(problem.rows, across, target)
    staged = False
    limit = _most_held(problem, threads, target) // vector
    some = max(1, min(limit, most))
    if not problem.fixed:
        count = _at_a_time(pieces, across, some)
    elif across * count < pieces:
        count = -(-pieces // across)
        if count > limit:
            threads = across = STAGED_THREADS if problem.again else MOST_THREADS
            count = _at_a_time(pieces, across, some)
            bytes_ = -(-pieces // (across * count)) * across * count * vector * problem.read
            staged = problem.again and bytes_ <= target.smem_block - RESERVED
            if not staged:
                threads = across = MOST_THREADS
                count = _at_a_time(pieces, across, some)
    tile = threads // across, across * vector * count
    schedule = RowSchedule(threads, across, vector, tile, shift=shift, staged=staged)
    schedule.check()
    return schedule


def _divided(pieces: int, most: int) -> tuple[int, int]:
    """Threads of a row, and accesses of each, that hold all of it with the least waste; of equal ones, a few accesses.
    The most threads with as many accesses as a thread may have, where a row is longer."""
    choices = [(1 << power, -(-pieces >> power)) for power in range(11)]
    fitting = [(across, count) for across, count in choices if count <= most]
    if not fitting:
        return MOST_THREADS, most
    few = min(FEW, (most + 1) // 2)
    return min(fitting, key=lambda each: (each[0] * each[1] * (1 + WASTE * abs(each[1] - few)), each[0]))


def _of_block(rows: int, across: int, target: Target) -> int:
    """Threads of a block that takes whole rows."""
    threads = max(across, FEWEST_THREADS)
    while threads > max(across, LANES) and rows * across < target.sms * threads:
        threads //= 2
    return threads


def _at_a_time(pieces: int, across: int, most: int) -> int:
    """How many accesses of a thread a tile has where rows take several: as many as waste least at their ends."""
    return min(range(most, 0, -1), key=lambda count: -(-pieces // (across * count)) * count)


def _most_held(problem: RowProblem, threads: int, target: Target) -> int:
    """Elements that a thread can hold."""
    registers = min(target.registers_thread, target.registers_sm // threads) - SPARE
    return max(1, registers // problem.held)


def _of_columns(problem: RowProblem, target: Target) -> RowSchedule:
    """Neighbours belong to different rows ("columns" of a matrix): a group of threads takes some of them side by side,
    and groups take elements of theirs in turn."""
    vector = _vector(problem, problem.rows)
    wanted = max(1, SEGMENT // problem.narrowest)
    groups = _power(max(1, min(MOST_THREADS, problem.length // 4)))
    while vector > 1 and problem.rows * groups // (vector * LANES) < target.sms * target.threads_sm // LANES // 4:
        vector //= 2
    across = _power(max(1, wanted // vector))
    if groups * across < FEWEST_THREADS:  # few elements: more of their rows side by side
        across = FEWEST_THREADS // groups
    while across > 1 and across * vector > problem.rows * 2:
        across //= 2
    groups = max(1, min(groups, MOST_THREADS // across))
    threads = max(groups * across, LANES)
    groups = threads // across
    count = -(-problem.length // groups)
    most = _most_held(problem, threads, target) // vector
    if not problem.fixed or count > most:
        count = max(1, min(most, HELD // problem.held // vector))
    schedule = RowSchedule(threads, across, vector, (groups * count, across * vector), transposed=True)
    schedule.check()
    return schedule
