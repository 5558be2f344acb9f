"""global_operands: the mma reads A, or B, or both where they lie in global memory, and what is left of them from shared
memory (`promote`, `promote_a`, `promote_b`)."""

from __future__ import annotations

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.layout import is_staged
from mlir_gemm.parts.registry import mainloop_of, mainloops, mma_of, mmas_on
from mlir_gemm.parts.wording import divisors, shown_tile
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def _given(schedule: Schedule, operand: str = "") -> str:
    """The field by which an operand, or one of them, is not staged."""
    if not schedule.promote:
        return "promote=off"
    return "promote_a=off" if operand == "a" or (not operand and not schedule.promote_a) else "promote_b=off"


def one_of_two(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Of schedules that do the same there is one."""
    if schedule.promote_a and schedule.promote_b:
        return None
    if not schedule.promote:
        given = "promote_a=off" if not schedule.promote_a else "promote_b=off"
        return f"{given} with promote=off, which is for both: expected {given[:-3]}on"
    if not schedule.promote_a and not schedule.promote_b:
        return "promote_a=off, promote_b=off: with neither in shared memory expected promote=off"
    return None


def read_by_lanes(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Descriptors, and copies beside a computed operand, are for both operands."""
    mma, mainloop, given = mma_of(schedule), mainloop_of(schedule), _given(schedule)
    if mma.by_descriptor:
        able = " or ".join(each.name for each in mmas_on(target) if not each.by_descriptor)
        return (
            f"{given} with mma={mma.name}, which takes its operands from shared memory by descriptors: expected "
            f"{given[:-3]}on, or mma={able}"
        )
    if schedule.promote and mainloop.mixed:
        able = " or ".join(each.name for each in mainloops().values() if not each.mixed)
        return f"{given} with mainloop={mainloop.name}, which brings both: expected mainloop={able}"
    if schedule.promote and not schedule.accumulate:
        return f"{given} with accumulate=off: expected accumulate=on"
    return None


def read_as_it_lies(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What is read in place is an operand as it is in memory, in whole tiles: nothing stops at an edge."""
    for operand in "ab":
        if is_staged(schedule, operand) or mma_of(schedule).by_descriptor:
            continue
        given, name = _given(schedule, operand), operand.upper()
        expected = f"expected {given[:-3]}on"
        memory = problem.a_memory if operand == "a" else problem.b_memory
        windows = problem.a_channels if operand == "a" else problem.b_channels
        if memory:
            return f"{given}: {name} is computed from {memory} on its way to shared memory; {expected}"
        if windows:
            return f"{given}: {name} is read by windows, whose addresses copies compute; {expected}"
        if mma_of(schedule).whole_tiles:  # whose own rules are about tiles
            continue
        if problem.dynamic:
            return (
                f"{given}: {name} is read in whole tiles, and sizes are known at run time only "
                f"({', '.join(problem.dynamic)}); {expected}"
            )
        for axis, size, extent in _sides(problem, schedule, operand):
            if extent % size:
                return (
                    f"block={shown_tile(schedule.block)} with {given}: {name} is read in whole tiles, and {axis} of "
                    f"{size} does not divide {axis.upper()}={extent}; {expected}, or {axis} of "
                    f"{divisors(extent, size, 1)}"
                )
    return None


def _sides(problem: Problem, schedule: Schedule, operand: str) -> list[tuple[str, int, int]]:
    """The sides of an operand's tile: their names, sizes, and those of the product."""
    m, n, k = schedule.block
    across = ("m", m, problem.m) if operand == "a" else ("n", n, problem.n)
    return [across, ("k", k, problem.k)]


PART = Part(
    "global_operands",
    lambda schedule: not (schedule.promote and schedule.promote_a and schedule.promote_b),
    lambda _, __: [],
    fields=(
        Field(
            "promote_a", "Stage A in shared memory, where `promote` is on. Without it the mma reads A where it lies."
        ),
        Field("promote_b", "The same of B."),
    ),
    rules=Rules(shape=(one_of_two, read_by_lanes, read_as_it_lies)),
)
