"""Legality as a list of small rules. Each looks at a problem, a schedule and a chip and returns None, or the reason
why they do not go together: the value given, the rule it breaks and the nearest value that is right.

The rules stand in three groups, because a later group only makes sense when the earlier ones hold: what the operator
can multiply at all (`problem_rules`), the shapes of tiles (`shape_rules`), and what those shapes need of the chip
(`resource_rules`). `violations` stops after the first group that has something to say. The published tiling rules are
no part of this: see `published`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import group_rules, problem_rules, resource_rules, shape_rules

Rule = Callable[[Problem, Schedule, Target], str | None]

PROBLEM_RULES: tuple[Rule, ...] = (
    problem_rules.sizes_positive,
    problem_rules.supported_types,
    problem_rules.supported_result,
    problem_rules.wmma_sizes,
    problem_rules.wmma_plain,
)
SHAPE_RULES: tuple[Rule, ...] = (
    shape_rules.operator_of_chip,
    shape_rules.copy_of_chip,
    group_rules.together,
    group_rules.copy_engine,
    group_rules.group_orders,
    shape_rules.instruction_shape,
    shape_rules.warp_multiple_of_instruction,
    shape_rules.block_divisible_by_warp,
    shape_rules.block_divides_problem,
    shape_rules.stages_supported,
    shape_rules.promote_for_copies,
    shape_rules.asynchronous_operands,
    shape_rules.accumulate_type,
    shape_rules.accumulate_vectors,
    shape_rules.pad_aligned,
    shape_rules.wmma_stride,
    shape_rules.swizzled_rows,
    group_rules.group_tiles,
    group_rules.warps_of_groups,
    group_rules.clusters,
    group_rules.shared_steps,
)
RESOURCE_RULES: tuple[Rule, ...] = (
    resource_rules.threads_fit,
    resource_rules.copies_even,
    resource_rules.smem_fits,
    resource_rules.resident_fits,
    resource_rules.registers_fit,
    resource_rules.grid_fits,
)


def broken(problem: Problem, schedule: Schedule, target: Target) -> Iterator[tuple[str, str]]:
    """The rules that do not hold, as (name, reason), from the first group that has any; lazily, so that asking for
    the first costs no more than it must."""
    for group in (PROBLEM_RULES, SHAPE_RULES, RESOURCE_RULES):
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
