"""unaligned_rows: results whose rows start between vectors leave through shared memory, by lanes, in whole vectors: a
buffer for each warpgroup or warp."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.common_fields import SMEM_EPILOGUE
from mlir_gemm.parts.layout import CHUNK, LINE
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.shared_rows import columns_of_buffer, shape_of_buffer

PATTERN = 1024
"""Bytes at multiples of which the pattern of the copy engine's swizzle starts, after the buffers."""


def rows_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of the buffers; 0 where rows are aligned, or the result is stored in another way: with a ring, only whole
    warpgroups store this way."""
    mma, ring = mma_of(schedule), mainloop_of(schedule).producer
    if not _applies(schedule) or problem.out_vector >= 8 * CHUNK or (mma.unit == "warpgroup") != ring:
        return 0
    units = consumer_warpgroups(schedule) if mma.unit == "warpgroup" else schedule.warps
    width, transposed = ELEMENT_BYTES[problem.out], problem.out_order == "nm"
    columns = schedule.warp[1] // problem.matrices // schedule.split_k_cluster
    columns = columns_of_buffer(columns, width, mma.unit, transposed)
    if not columns:
        return 0
    lines, run = shape_of_buffer(columns, width, mma.unit, transposed)
    unit = PATTERN if ring else LINE
    return -(-units * lines * run * width // unit) * unit


def _applies(schedule: Schedule) -> bool:
    return schedule.smem_epilogue and not schedule.promote_result and mma_of(schedule).stores_rows


PART = Part(
    "unaligned_rows",
    _applies,
    lambda _, __: [at("describe", "store", step("unaligned-store-epilogue"))],
    rank=21,
    fields=(SMEM_EPILOGUE,),
    by_rows=True,
    shared=rows_bytes,
)
