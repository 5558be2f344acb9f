"""Rules of every kernel about its tiles: of the instruction, of a warp and of a block."""

from __future__ import annotations

from dataclasses import replace

from mlir_gemm.parts.block import of_each
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of, parts_of
from mlir_gemm.parts.wording import multiples, shown_tile, shown_value
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target

_AXES = ("m", "n", "k")


def instruction_shape(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    shapes = [form.instruction for form in mma.forms_of(problem, schedule.precision, target) or mma.forms[:1]]
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


def unrolled_evenly(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    by, steps = schedule.unroll_by, schedule.block[2] // schedule.warp[2]
    if not by:
        return None
    given = f"unroll_by={by}"
    if not schedule.unroll:
        return f"{given} with unroll=off: expected unroll=on, or unroll_by=0"
    if steps % by == 0 and by < steps:
        return None
    able = [str(size) for size in range(1, steps) if steps % size == 0]
    return (
        f"{given}: a block tile has {steps} steps of k (block and warp); expected {' or '.join([*able, '0, for all'])}"
    )


_UNTRIED = (
    "accumulate", "promote", "promote_a", "promote_b", "stream_k", "split_k_cluster", "split_k_workspace", "promote_c",
    "promote_result", "promotion", "space", "swap_ab", "layout_b",
)  # fmt: skip
"""Fields that products of several matrices B have not been tried with."""


def equal_parts(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Of several matrices B each has an equal part of a tile's columns, which is one that the operation takes."""
    count = problem.b_matrices
    if not count:
        return None
    what = f"with B of {count} matrices"
    mma = mma_of(schedule)
    if target.backend != NVPTX or mma.whole_tiles:
        return f"mma={mma.name} {what} on {target.chip}: expected a product for each"
    for name in _UNTRIED:
        value, usual = schedule.value(name), FIELDS[name]
        if value != usual:
            return f"{name}={shown_value(value)} {what}: expected {shown_value(usual)}"
    unit = count * mma.tile_unit(schedule.instruction)[1]
    for name, tile in (("block", schedule.block), ("warp", schedule.warp)):
        if tile[1] % unit:
            nearest = multiples(tile[1], unit)
            return f"{name}={shown_tile(tile)} {what}: its n must be a multiple of {unit}; the nearest: {nearest}"
    each = replace(schedule, block=of_each(schedule.block, count), warp=of_each(schedule.warp, count))
    one = replace(problem, n=problem.n // count, b_matrices=0)
    owners = (mma, mainloop_of(each), *(layout_of(each, operand) for operand in "ab"), *parts_of(each))
    reasons = (rule(one, each, target) for owner in owners for rule in owner.rules.shape)
    return next((f"{reason} ({what})" for reason in reasons if reason), None)
