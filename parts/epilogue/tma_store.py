"""tma_store: results leave through shared memory by the copy engine, where it can write them: two buffers for each
warpgroup."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.common_fields import SMEM_EPILOGUE
from mlir_gemm.parts.layout import CHUNK, LINE, NARROWEST
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem, by_registers
from mlir_gemm.spec.schedule import Schedule

STAGED = (2, 4)
"""Bytes of the elements that leave so."""
TRANSPOSED = 128
"""Bytes of the most columns of a tile in a buffer whose rows run along them: elements of two bytes leave so, and of
four where A comes through registers."""
ROWS, BUFFERS = 64, 2
"""Rows of a panel, and panels of each warpgroup."""


def leaves_transposed(problem: Problem) -> bool:
    """Whether the copy engine can write a result whose rows run down the tiles."""
    alone = problem.out_order == "nm" and not problem.extra_bytes
    able = STAGED if by_registers(problem) else (2,)
    return alone and ELEMENT_BYTES[problem.out] in able and problem.out_vector >= 8 * CHUNK


def _shared(problem: Problem, schedule: Schedule) -> int:
    columns = schedule.warp[1] // problem.matrices // schedule.split_k_cluster
    warpgroups = consumer_warpgroups(schedule)
    if leaves_transposed(problem):
        item = ELEMENT_BYTES[problem.out]
        part = next((part for part in range(TRANSPOSED // item, 0, -8) if columns % part == 0), 0)
        return warpgroups * BUFFERS * part * ROWS * item
    if problem.out_order == "nm" and not problem.extra_bytes:
        return 0
    last = (ELEMENT_BYTES[problem.out],) if problem.out_vector >= 8 * CHUNK else ()
    widths = STAGED if problem.extra_bytes else [width for width in last if width in STAGED]
    rows = [row for width in widths if (row := columns * width) >= LINE // 2 and row % NARROWEST == 0]
    if not rows:
        return 0
    return warpgroups * BUFFERS * ROWS * (LINE // 2 if all(row % LINE for row in rows) else LINE)


def _applies(schedule: Schedule) -> bool:
    return schedule.smem_epilogue and mainloop_of(schedule).producer and mma_of(schedule).unit == "warpgroup"


PART = Part(
    "tma_store",
    _applies,
    lambda _, __: [at("describe", "store", step("tma-store-epilogue"))],
    rank=20,
    fields=(SMEM_EPILOGUE,),
    by_rows=True,
    shared=_shared,
)
