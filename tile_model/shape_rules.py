"""Rules about shapes: instruction, tiles, stages, copies and how rows lie in shared memory."""

from __future__ import annotations

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.layout import CHUNK, LINE, VECTOR_ELEMENT_BITS, buffer
from mlir_gemm.tile_model.operators import FORMS, SYNC_OPERATORS, forms_of, warp_unit
from mlir_gemm.tile_model.problem_rules import SIZE_UNIT
from mlir_gemm.tile_model.wording import divisors, multiples, shown_tile

MOST_STAGES = {"plain": 2, "prefetch": 2, "cp_async": 8, "tma": 16}
"""Most buffers of each operand, by how they are filled."""
SWIZZLED_ROWS = (32, 64, 96, 192)
"""Bytes of rows that can be swizzled, beside the multiples of 128."""
WMMA_STRIDE = 8
"""WMMA loads f16 rows whose stride is a multiple of 8 elements (PTX: `wmma.load`, 16 bytes)."""
_AXES = ("m", "n", "k")


def operator_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator in target.operators:
        return None
    return f"operator={schedule.operator}: {target.chip} has {', '.join(target.operators)}"


def copy_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.copy in target.copies:
        return None
    return f"copy={schedule.copy}: {target.chip} has {', '.join(target.copies)}"


def instruction_shape(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    forms = forms_of(schedule.operator, problem, schedule.precision, target) or FORMS[schedule.operator][:1]
    shapes = [form.instruction for form in forms]
    if schedule.instruction in shapes:
        return None
    shown = " or ".join(map(shown_tile, shapes))
    types = f" for {problem.a}" if schedule.operator == "mma_sync" else ""
    return f"instruction={shown_tile(schedule.instruction)}: operator {schedule.operator} has {shown}{types}"


def warp_multiple_of_instruction(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    what = "the lanes of a warp," if schedule.operator == "simt" else "the instruction's"
    units = warp_unit(schedule.operator, schedule.instruction)
    for axis, size, unit in zip(_AXES, schedule.warp, units, strict=True):
        if size % unit:
            return (
                f"warp={shown_tile(schedule.warp)}: its {axis} of {size} must be a multiple of {what} {unit}; "
                f"the nearest: {multiples(size, unit)}"
            )
    return None


def block_divisible_by_warp(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for axis, size, unit in zip(_AXES, schedule.block, schedule.warp, strict=True):
        if size % unit:
            return (
                f"block={shown_tile(schedule.block)}: its {axis} of {size} must be a multiple of the warp tile's "
                f"{unit} (warp={shown_tile(schedule.warp)}); the nearest: {multiples(size, unit)}"
            )
    return None


def block_divides_problem(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator != "wmma":
        return None
    for axis, size, extent in zip(_AXES, schedule.block, (problem.m, problem.n, problem.k), strict=True):
        if extent % size:
            return (
                f"block={shown_tile(schedule.block)}: its {axis} of {size} must divide {axis.upper()}={extent} "
                f"(operator=wmma guards no edges); the nearest: {divisors(extent, size, SIZE_UNIT)}"
            )
    return None


def stages_supported(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.stages > 1 and not schedule.promote:
        return f"stages={schedule.stages} with promote=off: without buffers in shared memory there is 1 stage"
    most = MOST_STAGES[schedule.copy]
    least = 2 if schedule.copy in ("cp_async", "tma") else 1
    if least <= schedule.stages <= most:
        return None
    nearest = max(least, min(schedule.stages, most))
    return (
        f"stages={schedule.stages}: expected {least}{' or ' if most == least + 1 else ' to '}{most} with "
        f"copy={schedule.copy}; the nearest: {nearest}"
    )


def promote_for_copies(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.promote:
        return None
    if schedule.copy != "plain":
        return f"copy={schedule.copy} with promote=off: without buffers in shared memory expected copy=plain"
    if schedule.operator in SYNC_OPERATORS:
        return (
            f"promote=off with operator={schedule.operator}: it reads its operands from shared memory, where what lies "
            "beyond the edges is zero; expected promote=on, or operator=wmma"
        )
    return None


def asynchronous_operands(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.copy != "cp_async" or not (problem.a_memory or problem.b_memory):
        return None
    name, memory = ("A", problem.a_memory) if problem.a_memory else ("B", problem.b_memory)
    return (
        f"copy=cp_async: {name} is computed from {memory} on its way to shared memory, and asynchronous copies pass no "
        "registers; expected prefetch or plain"
    )


def accumulate_type(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.accumulate or schedule.operator == "wgmma":  # whose own rule says so
        return None
    if schedule.operator != "wmma":
        return f"accumulate=off with operator={schedule.operator}: expected accumulate=on, or operator=wmma"
    if schedule.copy == "cp_async":
        return "accumulate=off with copy=cp_async: expected copy=plain or prefetch"
    if problem.out == problem.acc:
        return None
    return (
        f"accumulate=off with result type {problem.out}: the result then holds partial sums and must be {problem.acc}"
    )


def accumulate_vectors(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.accumulate or schedule.vector >= 32:
        return None
    return f"accumulate=off with vector={schedule.vector}: a tile of f32 is copied too, so expected at least 32 bits"


def pad_aligned(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not schedule.promote or schedule.layout != "pad":
        return None
    if schedule.operator == "wmma":
        unit = schedule.vector // VECTOR_ELEMENT_BITS
        if schedule.pad % unit == 0:
            return None
        return (
            f"pad={schedule.pad}: rows must stay aligned to the {schedule.vector}-bit vectors that fill them, so the "
            f"pad must be a multiple of {unit} elements; the nearest: {multiples(schedule.pad, unit, least=0)}"
        )
    wide = schedule.operator == "mma_sync" or schedule.copy == "cp_async"
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


def wmma_stride(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator != "wmma" or not schedule.promote:
        return None
    if (schedule.block[2] + schedule.pad) % WMMA_STRIDE == 0 == (schedule.block[1] + schedule.pad) % WMMA_STRIDE:
        return None
    return (
        f"pad={schedule.pad}: WMMA needs rows in shared memory of a multiple of {WMMA_STRIDE} elements (16 bytes); "
        f"the nearest: {multiples(schedule.pad, WMMA_STRIDE, least=0)}"
    )


def swizzled_rows(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.layout != "xor" or schedule.operator == "wgmma":  # whose own rule says so
        return None
    if schedule.operator not in SYNC_OPERATORS:
        return f"layout=xor with operator={schedule.operator}: expected layout=pad, or operator=mma_sync or simt"
    if not schedule.promote:
        return "layout=xor with promote=off: without buffers in shared memory expected layout=pad"
    if schedule.pad:
        return f"pad={schedule.pad} with layout=xor: swizzled rows are not padded; expected pad=0"
    for operand in "ab":
        row = buffer(problem, schedule, operand).row
        if row not in SWIZZLED_ROWS and row % LINE:
            return (
                f"layout=xor: rows of {operand.upper()} have {row} bytes in shared memory, expected 32, 64, 96, 192 "
                f"or a multiple of {LINE}; the nearest: {_nearest_row(row)}"
            )
    return None


def _nearest_row(row: int) -> str:
    if row < LINE:
        return str(min((*SWIZZLED_ROWS, LINE), key=lambda size: abs(size - row)))
    return multiples(row, LINE)
