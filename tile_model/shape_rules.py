"""Rules about shapes that hold whatever multiplies: instruction, tiles, stages, copies."""

from __future__ import annotations

from mlir_gemm.parts.forms import forms_of
from mlir_gemm.parts.registry import has, mainloop_of, mainloops, mainloops_on, mma_of, mmas, mmas_on
from mlir_gemm.parts.wording import multiples, shown_tile
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

_AXES = ("m", "n", "k")


def mma_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if has(mma, target):
        return None
    return f"mma={mma.name}: {target.chip} has {', '.join(each.name for each in mmas_on(target))}"


def copy_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mainloop = mainloop_of(schedule)
    if has(mainloop, target):
        return None
    return f"mainloop={mainloop.name}: {target.chip} has {', '.join(each.name for each in mainloops_on(target))}"


def instruction_shape(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    shapes = [form.instruction for form in forms_of(mma, problem, schedule.precision, target) or mma.forms[:1]]
    if schedule.instruction in shapes:
        return None
    shown = " or ".join(map(shown_tile, shapes))
    types = f" for {problem.a}" if len({form.instruction for form in mma.forms}) > 1 else ""
    return f"instruction={shown_tile(schedule.instruction)}: mma={mma.name} has {shown}{types}"


def warp_multiple_of_instruction(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    what = "the lanes of a warp," if mma.lanes else "the instruction's"
    for axis, size, unit in zip(_AXES, schedule.warp, mma.tile_unit(schedule.instruction), strict=True):
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


def stages_supported(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.stages > 1 and not schedule.promote:
        return f"stages={schedule.stages} with promote=off: without buffers in shared memory there is 1 stage"
    mainloop = mainloop_of(schedule)
    least, most = mainloop.least_stages, mainloop.most_stages
    if least <= schedule.stages <= most:
        return None
    nearest = max(least, min(schedule.stages, most))
    return (
        f"stages={schedule.stages}: expected {least}{' or ' if most == least + 1 else ' to '}{most} with "
        f"mainloop={mainloop.name}; the nearest: {nearest}"
    )


def promote_for_copies(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.promote:
        return None
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    if mainloop.ahead:
        direct = " or ".join(each.name for each in mainloops().values() if not each.ahead)
        return f"mainloop={mainloop.name} with promote=off: without buffers in shared memory expected mainloop={direct}"
    if not mma.whole_tiles:
        able = " or ".join(each.name for each in mmas().values() if each.whole_tiles)
        return (
            f"promote=off with mma={mma.name}: it reads its operands from shared memory, where what lies "
            f"beyond the edges is zero; expected promote=on, or mma={able}"
        )
    return None


def accumulates(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if schedule.accumulate or mma.by_descriptor or mma.whole_tiles:  # whose own rules say so
        return None
    able = " or ".join(each.name for each in mmas().values() if each.whole_tiles)
    return f"accumulate=off with mma={mma.name}: expected accumulate=on, or mma={able}"
