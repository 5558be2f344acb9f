"""Legality as a list of small rules. Each looks at a problem, a schedule and a chip and returns None, or the reason
why they do not go together: the value given, the rule it breaks and the nearest value that is right.

The rules stand in three groups, because a later group only makes sense when the earlier ones hold: what the operation
can multiply at all, the shapes of tiles, and what those shapes need of the chip. Each group has rules that hold
whatever a kernel is made of (`problem_rules`, `shape_rules`, `resource_rules`), those of two parts together
(`parts.together`), and those of its parts. `violations` stops after the first group that has something to say. The
published tiling rules are no part of this: see `published`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts import fields, together
from mlir_gemm.parts.base import NO_RULES, Rule, Rules
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of, parts_of
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import problem_rules, resource_rules, shape_rules

OF_CHIP: tuple[Rule, ...] = (
    shape_rules.mma_of_chip,
    shape_rules.copy_of_chip,
    together.rings,
    together.parts_on_rings,
    fields.fields_of_others,
)
OF_SHAPES: tuple[Rule, ...] = (
    shape_rules.instruction_shape,
    shape_rules.warp_multiple_of_instruction,
    shape_rules.block_divisible_by_warp,
    shape_rules.stages_supported,
    shape_rules.promote_for_copies,
    shape_rules.accumulates,
)
OF_PROBLEMS: tuple[Rule, ...] = (
    problem_rules.sizes_positive,
    problem_rules.supported_types,
    problem_rules.supported_result,
)
OF_RESOURCES: tuple[Rule, ...] = (
    resource_rules.threads_fit,
    resource_rules.smem_fits,
    resource_rules.resident_fits,
    resource_rules.registers_fit,
    resource_rules.grid_fits,
)


def problem_rules_of(schedule: Schedule) -> Iterator[Rule]:
    """The rules about what a schedule's operation can multiply at all."""
    yield from OF_PROBLEMS
    yield from mma_of(schedule).rules.problem


def _groups(schedule: Schedule) -> Iterator[Iterator[Rule]]:
    yield problem_rules_of(schedule)
    yield _shapes(schedule)
    yield _resources(schedule)


def _shapes(schedule: Schedule) -> Iterator[Rule]:
    yield from OF_CHIP
    yield from mainloop_of(schedule).rules.shape
    yield from OF_SHAPES
    for rules in _of_parts(schedule):
        if rules is not NO_RULES:
            yield from rules.shape
    yield together.warps_on_rings


def _resources(schedule: Schedule) -> Iterator[Rule]:
    yield from OF_RESOURCES
    yield from mainloop_of(schedule).rules.resource
    for rules in _of_parts(schedule):
        if rules is not NO_RULES:
            yield from rules.resource


def _of_parts(schedule: Schedule) -> Iterator[Rules]:
    yield mma_of(schedule).rules
    yield layout_of(schedule).rules
    for part in parts_of(schedule):
        yield part.rules


def rules_of(schedule: Schedule) -> Iterator[Rule]:
    """All rules that a schedule is asked for."""
    for group in _groups(schedule):
        yield from group


def broken(problem: Problem, schedule: Schedule, target: Target) -> Iterator[tuple[str, str]]:
    """The rules that do not hold, as (name, reason), from the first group that has any; lazily, so that asking for
    the first costs no more than it must."""
    for group in _groups(schedule):
        found = False
        for rule in group:
            reason = rule(problem, schedule, target)
            if reason is not None:
                found = True
                yield rule.__name__, reason
        if found:
            return


def violations(problem: Problem, schedule: Schedule, target: Target) -> list[str]:
    """Why this schedule is illegal for this problem on this chip: one reason for each rule broken, empty when legal."""
    return [reason for _, reason in broken(problem, schedule, target)]
