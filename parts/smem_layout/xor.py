"""xor: the 16-byte chunks of a row change places, by XOR with the row's number."""

from __future__ import annotations

from mlir_gemm.parts.base import Layout, Rules
from mlir_gemm.parts.layout import LINE, SWIZZLED_ROWS, buffer, laid_out, layout_field, swizzles
from mlir_gemm.parts.registry import guarding_edges, mma_of, padded
from mlir_gemm.parts.wording import multiples
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def swizzled_rows(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if mma.by_descriptor:  # whose own rule says so
        return None
    if mma.whole_tiles:
        name = "layout" if schedule.layout == "xor" else "layout_b"
        others = guarding_edges(problem, target)
        return f"{name}=xor with mma={mma.name}: expected {name}={padded().name}, or mma={others}"
    if not schedule.promote:
        return f"layout=xor with promote=off: without buffers in shared memory expected layout={padded().name}"
    for operand in laid_out(schedule, "xor"):
        row = buffer(problem, schedule, operand).row
        if not swizzles(row):
            return (
                f"{layout_field(schedule, operand)}: rows of {operand.upper()} have {row} bytes in shared memory, "
                f"expected 32, 64, 96, 192 or a multiple of {LINE}; the nearest: {_nearest_row(row)}"
            )
    return None


def _nearest_row(row: int) -> str:
    if row < LINE:
        return str(min((*SWIZZLED_ROWS, LINE), key=lambda size: abs(size - row)))
    return multiples(row, LINE)


PART = Layout("xor", swizzled=True, rules=Rules(shape=(swizzled_rows,)))
