"""cp_async: asynchronous copies, `stages` - 1 k tiles ahead (sm_80 and later)."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Mainloop, Rules
from mlir_gemm.parts.common_fields import STAGES
from mlir_gemm.parts.registry import mainloops
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    yield at("pipeline", "mainloop", step("cp-async-pipeline"))
    if schedule.interleave:
        yield at("lower", "copies", step("interleave-cp-async"))
    yield at("lower", "copies", step("lower-cp-async"))


def asynchronous_operands(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not (problem.a_memory or problem.b_memory):
        return None
    name, memory = ("A", problem.a_memory) if problem.a_memory else ("B", problem.b_memory)
    one = bool(problem.a_memory) != bool(problem.b_memory)
    able = (each for each in mainloops().values() if (each.in_registers and one) or not each.asynchronous)
    others = " or ".join(each.name for each in able)
    return (
        f"mainloop=cp_async: {name} is computed from {memory} on its way to shared memory, and asynchronous copies "
        f"pass no registers; expected {others}"
    )


INTERLEAVE = Field(
    "interleave",
    "Issue the copies of a step between its products rather than in front of them, where the mma allows it.",
)

PART = Mainloop(
    "cp_async", 1, _passes, needs=frozenset({"cp.async"}), rules=Rules(shape=(asynchronous_operands,)),
    fields=(STAGES, INTERLEAVE), most_stages=8, least_stages=2, asynchronous=True,
)  # fmt: skip
