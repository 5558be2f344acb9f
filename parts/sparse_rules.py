"""What every mma with a 2:4 sparse A expects of the product, and how it refuses fields that it was not tried with."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.sparse import DEPTH


def sparse_form(problem: Problem) -> str | None:
    """Why a product with a 2:4 sparse A has no form that instructions take; None where it has."""
    if problem.a_order == "mk" and problem.k % DEPTH == 0 and problem.batch <= 1 and not problem.dynamic:
        return None
    return (
        f"a 2:4 sparse operand in {problem}: expected one product of sizes that are numbers, and rows that run "
        f"along a k that {DEPTH} divides"
    )


def untried(schedule: Schedule, names: Iterable[str]) -> str | None:
    """The first of these fields that is not as it usually is; None where all are."""
    for name in names:
        value = getattr(schedule, name)
        if value != FIELDS[name]:
            return f"{name}={shown_value(value)} with a 2:4 sparse operand: expected {shown_value(FIELDS[name])}"
    return None
