"""How the model divides short odd rows, which are copied to shared memory and back as one line."""

from __future__ import annotations

from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.threads import LANES
from mlir_gemm.tile_model.row_accesses import ACCESS, power, vector_of

LINE_LENGTH, LINE_WEIGHTED, LINE_BYTES = 1536, 1280, 4 << 20
"""Odd rows of 16 bits that are copied as one line: of up to so many elements, with two weights or more of fewer, if
there are as many bytes. RMS norm of 67587x71 bf16 5.7 us, not 6.9; softmax of 20000x1001 22.4, not 23.5, but of
20000x1999 48.1, not 44.8; layer norm of 20000x1001 25.1, not 26.5, but of 20000x1535 41.6, not 38.1."""
LINE_ELEMENTS, LINE_THREADS, LINE_SHORT = 20, (128, 256), 256
"""Elements of a row that a thread takes there, up to a warp's threads; threads of a block, fewer for rows up to a
length. With two weights and more, twice as many threads take two rows each, which share the weights."""
WORD = 4
"""Bytes of an element that a warp loads as fast alone as several at once."""


def is_line(problem: RowProblem) -> bool:
    """Whether odd rows are copied as one line."""
    odd = problem.narrowest == WORD // 2 and vector_of(problem, problem.length) == 1 and problem.length > 1
    size = problem.rows * problem.length * problem.narrowest
    longest = LINE_LENGTH if problem.beside < 2 else LINE_WEIGHTED
    return problem.dense and problem.again and odd and problem.length <= longest and size >= LINE_BYTES


def of_line(problem: RowProblem) -> RowSchedule:
    """Odd rows that are copied as one line."""
    down = 2 if problem.beside > 1 else 1
    across = min(LANES, 2 * power((problem.length - 1) // LINE_ELEMENTS)) * down
    threads = LINE_THREADS[problem.length > LINE_SHORT]
    tile = threads // across * down, across * -(-problem.length // across)
    line = threads * (ACCESS // problem.narrowest)
    schedule = RowSchedule(threads, across, 1, tile, flat=-(-tile[0] * problem.length // line) * line)
    schedule.check()
    return schedule
