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
"""Registers in which a thread holds elements, by choice; more where a row is still held by one block then."""
SPARE = 24
"""Registers that a thread needs for other things."""
RESERVED = 4096
"""Bytes of shared memory that reductions and the system need."""
LEAST_SHIFTED = 512
"""Elements of the shortest rows whose tiles start before them, so that accesses are wide."""
SEGMENT = 64
"""Bytes of neighbours that a block reads of each element, where neighbours belong to different rows."""


def select_rows(problem: RowProblem, target: Target) -> RowSchedule:
    """The schedule of a kernel of rows."""
    return _of_columns(problem, target) if problem.transposed else _of_rows(problem, target)


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
    each = max(1, HELD // problem.held // vector // 2)  # accesses of a thread, by choice
    across = _power(max(1, -(-pieces // each)))
    if across * each < pieces:
        across *= 2
    across = min(across, MOST_THREADS)
    busy = target.sms * target.threads_sm // 2
    while across < min(MOST_THREADS, _power(pieces)) and problem.rows * across < busy:
        across *= 2
    if shift:
        threads = across = max(across, LANES)
    else:
        threads = max(across, FEWEST_THREADS)
        while threads > max(across, LANES) and problem.rows * across < target.sms * threads:
            threads //= 2
    most = _most_held(problem, threads, target) // vector
    count, staged = -(-pieces // across), False
    if not problem.fixed or count > most:
        count = _at_a_time(pieces, across, max(1, min(most, HELD // problem.held // vector)))
        rows = threads // across
        padded = -(-pieces // (across * count)) * across * count * vector
        staged = problem.fixed and problem.again and rows * padded * problem.read <= target.smem_block - RESERVED
    tile = threads // across, across * vector * count
    schedule = RowSchedule(threads, across, vector, tile, shift=shift, staged=staged)
    schedule.check()
    return schedule


def _at_a_time(pieces: int, across: int, most: int) -> int:
    """How many accesses of a thread a tile has where rows take several: as many as waste least at their ends."""
    return min(range(most, 0, -1), key=lambda count: -(-pieces // (across * count)) * count)


def _most_held(problem: RowProblem, threads: int, target: Target) -> int:
    """Elements that a thread can hold."""
    registers = min(target.registers_thread, target.registers_sm // threads) - SPARE
    return max(1, registers // problem.held)


def _of_columns(problem: RowProblem, target: Target) -> RowSchedule:
    vector = _vector(problem, problem.rows)
    wanted = max(1, SEGMENT // problem.narrowest)
    while vector > 1 and -(-problem.rows // (vector * 4)) < target.sms:
        vector //= 2
    across = min(LANES, _power(max(1, wanted // vector)))
    while across > 1 and across * vector > problem.rows * 2:
        across //= 2
    threads = MOST_THREADS
    while threads > LANES and threads // across > max(1, problem.length):
        threads //= 2
    threads = max(threads, LANES, across)
    groups = threads // across
    count = -(-problem.length // groups)
    most = _most_held(problem, threads, target) // vector
    if not problem.fixed or count > most:
        count = max(1, min(most, HELD // problem.held // vector))
    schedule = RowSchedule(threads, across, vector, (groups * count, across * vector), transposed=True)
    schedule.check()
    return schedule
