"""mixed_input: one operand is computed on its way to shared memory, through registers and a step ahead; the other is
copied asynchronously, `stages` - 1 k tiles ahead (sm_80 and later)."""

from __future__ import annotations

from mlir_gemm.parts.base import Mainloop, Rules
from mlir_gemm.parts.common_fields import STAGES
from mlir_gemm.parts.registry import mainloops
from mlir_gemm.spec.passes import at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def one_computed(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if bool(problem.a_memory) != bool(problem.b_memory):
        return None
    others = " or ".join(each.name for each in mainloops().values() if each.ahead != each.asynchronous)
    both = "both operands are" if problem.a_memory else "neither operand is"
    return f"mainloop=mixed_input: {both} computed on the way to shared memory; expected one that is, or {others}"


PART = Mainloop(
    "mixed_input",
    1,
    lambda _, __: [
        at("pipeline", "mainloop", step("mixed-input-pipeline")),
        at("lower", "copies", step("lower-cp-async")),
    ],
    needs=frozenset({"cp.async"}),
    rules=Rules(shape=(one_computed,)),
    fields=(STAGES,),
    most_stages=8,
    least_stages=2,
    in_registers=True,
    asynchronous=True,
)
