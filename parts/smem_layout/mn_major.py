"""mn_major: rows run along m and n, whatever the order of the operands in memory, and are padded.

What lies along k is transposed by its copies, a single element each. For lanes that multiply numbers of 4 bytes: they
then load neighbours along m of A and along n of B, in half the registers that a few steps of k take."""

from __future__ import annotations

from mlir_gemm.parts.base import Layout, Rules
from mlir_gemm.parts.layout import ASYNCHRONOUS_BITS, buffer, laid_out, layout_field
from mlir_gemm.parts.registry import mainloop_of, mainloops, mma_of, mmas, padded
from mlir_gemm.parts.smem_layout.pad import PAD_B, PADDING, pad_aligned, pad_of_padded
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def for_lanes(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Only lanes read rows in either order, and copies that transpose are worth it where they are asynchronous."""
    turned = "a" if schedule.layout == "mn_major" else "b"
    given = layout_field(schedule, turned)
    other = f"expected {given.partition('=')[0]}={padded().name}"
    if not schedule.promote:
        return f"{given} with promote=off: without buffers in shared memory {other}"
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    if not mma.lanes:
        able = [each.name for each in mmas().values() if each.lanes and each.forms_of(problem, "full", target)]
        return f"{given} with mma={mma.name}: {other}{f', or mma={able[0]}' if able else ''}"
    if not mainloop.asynchronous or mainloop.producer or mainloop.in_registers:
        able = " or ".join(
            each.name
            for each in mainloops().values()
            if each.asynchronous and not each.producer and not each.in_registers
        )
        return f"{given} with mainloop={mainloop.name}: {other}, or mainloop={able}"
    for operand in laid_out(schedule, "mn_major"):
        if 8 * buffer(problem, schedule, operand).element < ASYNCHRONOUS_BITS:
            element = problem.a if operand == "a" else problem.b
            return f"{given}: {operand.upper()} is of {element}, of which no single one is copied: {other}"
    return None


PART = Layout(
    "mn_major",
    padded=True,
    turns=True,
    rules=Rules(shape=(for_lanes, pad_of_padded, pad_aligned)),
    fields=(PADDING, PAD_B),
)
