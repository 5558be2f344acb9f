"""What the parts of `space` have in common: when a part of the tiles is not enough."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule


def open_sizes(problem: Problem, schedule: Schedule, needed: str = "mnkb") -> str | None:
    """Which tiles are left out must be known when the kernel is compiled, as far as that depends on some sizes."""
    unknown = ", ".join(each for each in problem.dynamic if each in needed)
    if unknown:
        return f"space={schedule.space}: sizes known at run time only ({unknown}); expected space=all"
    return None


def other_fields(schedule: Schedule, names: Iterable[str]) -> str | None:
    """The first of some fields that is not as where nobody says."""
    for name in names:
        value = getattr(schedule, name)
        if value != FIELDS[name]:
            return f"{name}={shown_value(value)} with space={schedule.space}: expected {shown_value(FIELDS[name])}"
    return None
