"""pad: `pad` elements follow each row, against bank conflicts."""

from __future__ import annotations

from mlir_gemm.parts.base import Layout, Rules
from mlir_gemm.parts.layout import CHUNK, VECTOR_ELEMENT_BITS, buffer, layout_field, pad_of, staged
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of
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
        for operand in padded_operands(schedule):
            pad = pad_of(schedule, operand)
            if pad % unit:
                return (
                    f"{_given(schedule, operand)}: rows must stay aligned to the {schedule.vector}-bit vectors that "
                    f"fill them, so the pad must be a multiple of {unit} elements; the nearest: "
                    f"{multiples(pad, unit, least=0)}"
                )
        return None
    wide = (mma.tensor_cores and not mma.by_descriptor) or mainloop_of(schedule).asynchronous
    unit_bytes = CHUNK if wide else schedule.vector // 8
    for operand in padded_operands(schedule):
        lying = buffer(problem, schedule, operand)
        if lying.stride % unit_bytes:
            unit = max(1, unit_bytes // lying.element)
            padded = multiples(lying.columns + pad_of(schedule, operand), unit).split(" or ")
            nearest = " or ".join(str(int(size) - lying.columns) for size in padded if int(size) >= lying.columns)
            return (
                f"{_given(schedule, operand)}: the rows of {operand.upper()}, {lying.columns} elements and the pad, "
                f"must be multiples of {unit_bytes} bytes in shared memory; the nearest: {nearest}"
            )
    return None


def padded_operands(schedule: Schedule) -> list[str]:
    """The operands in shared memory whose rows are padded."""
    return [operand for operand in staged(schedule) if layout_of(schedule, operand).padded]


def pad_of_padded(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """B's own pad goes with rows of B that are padded."""
    if schedule.pad_b < 0 or layout_of(schedule, "b").padded:
        return None
    return f"pad_b={schedule.pad_b} with {layout_field(schedule, 'b')}, whose rows have no pad: expected pad_b=-1"


def _given(schedule: Schedule, operand: str) -> str:
    """The field that pads an operand."""
    return f"pad_b={schedule.pad_b}" if operand == "b" and schedule.pad_b >= 0 else f"pad={schedule.pad}"


PAD_B = Field(
    "pad_b", "Elements added to each row of B, where they are others than those of A; -1 takes `pad`.", least=-1,
    most=1024, unit="elements",
)  # fmt: skip
PADDING = Field(
    "pad",
    "Elements added to each row of the shared-memory buffers, against bank conflicts.",
    most=1024,
    unit="elements",
)

PART = Layout(
    "pad", padded=True, rules=Rules(shape=(pad_of_padded, pad_aligned)), fields=(PADDING, PAD_B), default=True
)
