"""Rules about the problem and the operation: what it can multiply at all."""

from __future__ import annotations

from mlir_gemm.parts.forms import forms_of, shown_forms
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import PRECISIONS, Schedule
from mlir_gemm.spec.target import Target


def sizes_positive(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k), ("batch", problem.batch)):
        if size < 1:
            return f"{name}={size} is not supported: a kernel needs sizes of at least 1"
    return None


def supported_types(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if forms_of(mma, problem, schedule.precision, target):
        return None
    given = f"types {problem.a},{problem.b} accumulated in {problem.acc} are not supported"
    for precision in PRECISIONS:
        if forms_of(mma, problem, precision, target):
            return f"{given} by mma={mma.name} with precision={schedule.precision}: expected precision={precision}"
    return f"{given} by mma={mma.name}: expected {shown_forms(mma)}"


def supported_result(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    known = mma.results or tuple(ELEMENT_BYTES)
    if problem.out in known:
        return None
    return f"result type {problem.out} is not supported by mma={mma.name}: expected {', '.join(known)}"
