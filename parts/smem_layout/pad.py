"""pad: `pad` elements follow each row, against bank conflicts."""

from __future__ import annotations

from mlir_gemm.parts.base import Layout, Rules
from mlir_gemm.parts.layout import CHUNK, VECTOR_ELEMENT_BITS, buffer
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.wording import multiples
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def pad_aligned(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not schedule.promote:
        return None
    mma = mma_of(schedule)
    if mma.whole_tiles:
        unit = schedule.vector // VECTOR_ELEMENT_BITS
        if schedule.pad % unit == 0:
            return None
        return (
            f"pad={schedule.pad}: rows must stay aligned to the {schedule.vector}-bit vectors that fill them, so the "
            f"pad must be a multiple of {unit} elements; the nearest: {multiples(schedule.pad, unit, least=0)}"
        )
    wide = (mma.tensor_cores and not mma.by_descriptor) or mainloop_of(schedule).asynchronous
    unit_bytes = CHUNK if wide else schedule.vector // 8
    for operand in "ab":
        lying = buffer(problem, schedule, operand)
        if lying.stride % unit_bytes:
            unit = max(1, unit_bytes // lying.element)
            padded = multiples(lying.columns + schedule.pad, unit).split(" or ")
            nearest = " or ".join(str(int(size) - lying.columns) for size in padded if int(size) >= lying.columns)
            return (
                f"pad={schedule.pad}: the rows of {operand.upper()}, {lying.columns} elements and the pad, must be "
                f"multiples of {unit_bytes} bytes in shared memory; the nearest: {nearest}"
            )
    return None


PADDING = Field(
    "pad",
    "Elements added to each row of the shared-memory buffers, against bank conflicts.",
    most=1024,
    unit="elements",
)

PART = Layout("pad", padded=True, rules=Rules(shape=(pad_aligned,)), fields=(PADDING,), default=True)
