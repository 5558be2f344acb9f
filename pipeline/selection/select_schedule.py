"""select-schedule: every product gets a schedule: what is fixed, and the rest by the model.

Expects a module as `import` leaves it, with what is fixed in `tile.schedule`. Registered selectors are asked before the
model. Leaves in `tile.schedule` all fields, and
in `tile.problem` what is computed. Raises InputError for a product that no operation of the chip can compute, and
ScheduleError where what is fixed leaves no legal schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.fields import fields_of
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.program import kind_of
from mlir_gemm.pipeline.undecided import kernels_before_select, undecided
from mlir_gemm.spec import extensions
from mlir_gemm.spec.attributes import HINTS, PROBLEM, SCHEDULE
from mlir_gemm.spec.extension_points import Selector
from mlir_gemm.spec.kernel_record import ROWS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select


@dataclass(frozen=True)
class SelectSchedule(Pass):
    """Choose the schedule of every product."""

    name: ClassVar[str] = "select-schedule"

    def run(self, module: Any) -> None:
        for kernel in undecided(module):
            with kernel.errors():
                problem = kernel.problem()
                schedule = _chosen(problem, kernel.target, kernel.pinned())
                broken = violations(problem, schedule, kernel.target)
                if broken:
                    raise ScheduleError("; ".join(broken))
                decided = {name: schedule.value(name) for name in fields_of(schedule)}
                kernel.function.attributes[SCHEDULE] = annotations.dictionary(decided)
                kernel.function.attributes[PROBLEM] = annotations.to_dictionary(problem)
        for kernel in kernels_before_select(module):  # what was typical has served its purpose
            if HINTS in kernel.function.attributes and kind_of(kernel.function) != ROWS:  # `select-rows` needs it
                del kernel.function.attributes[HINTS]


def _chosen(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Schedule:
    """What the first registered selector that has an answer says, else the model."""
    for selector in extensions.of(Selector):
        schedule = selector.choose(problem, target, pinned)
        if schedule is not None:
            changed = [name for name, value in pinned.items() if schedule.value(name) != value]
            if changed:
                raise ScheduleError(f"the selector '{selector.name}' changes what is fixed: {', '.join(changed)}")
            return schedule
    return select(problem, target, pinned).schedule
