"""Rules about the problem and the operator: what it can multiply at all."""

from __future__ import annotations

from mlir_gemm.spec.problem import ELEMENT_BYTES, Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.operators import WMMA_OUTPUTS, forms_of, shown_forms
from mlir_gemm.tile_model.wording import multiples

SIZE_UNIT = 16
"""Sizes of a product by `wmma` are multiples of this: it guards no edges."""
WMMA_ALIGNMENT = 128
"""Bits to which everything that `wmma` reads or writes is aligned."""


def sizes_positive(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k), ("batch", problem.batch)):
        if size < 1:
            return f"{name}={size} is not supported: a kernel needs sizes of at least 1"
    return None


def supported_types(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    operator = schedule.operator
    if forms_of(operator, problem, schedule.precision, target):
        return None
    given = f"types {problem.a},{problem.b} accumulated in {problem.acc} are not supported"
    for precision in ("full", "tf32", "f16", "f8"):
        if forms_of(operator, problem, precision, target):
            return f"{given} by operator={operator} with precision={schedule.precision}: expected precision={precision}"
    return f"{given} by operator={operator}: expected {shown_forms(operator)}"


def supported_result(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    known = WMMA_OUTPUTS if schedule.operator == "wmma" else tuple(ELEMENT_BYTES)
    if problem.out in known:
        return None
    return f"result type {problem.out} is not supported by operator={schedule.operator}: expected {', '.join(known)}"


def wmma_sizes(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.operator != "wmma" or not (problem.m | problem.n | problem.k) % SIZE_UNIT:
        return None
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
        if size % SIZE_UNIT:
            return (
                f"{name}={size} is not supported by operator=wmma: its sizes must be multiples of {SIZE_UNIT} (it "
                f"guards no edges); the nearest: {multiples(size, SIZE_UNIT)}, or operator=mma_sync or simt"
            )
    return None


def wmma_plain(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """`wmma` is the operator of plain aligned products."""
    if schedule.operator != "wmma":
        return None
    given = ""
    if (problem.a_order, problem.b_order) != ("mk", "kn"):
        given = f"operands in the orders {problem.a_order} and {problem.b_order}"
    elif problem.batch > 1:
        given = f"a batch of {problem.batch}"
    elif problem.dynamic:
        given = f"sizes known at run time only ({', '.join(problem.dynamic)})"
    elif problem.a_memory or problem.b_memory:
        given = "an operand that is computed on its way to shared memory"
    elif min(problem.a_vector, problem.b_vector, problem.out_vector) < WMMA_ALIGNMENT:
        given = f"rows aligned to less than {WMMA_ALIGNMENT} bits"
    if not given:
        return None
    return f"{given}: not with operator=wmma, which takes one aligned product of mk and kn; expected mma_sync or simt"
