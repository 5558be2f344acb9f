"""tma: one warp copies by the copy engine, up to `stages` k tiles ahead, and hands over through barriers (sm_90a)."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Mainloop, Rules
from mlir_gemm.parts.common_fields import STAGES
from mlir_gemm.parts.layout import is_staged, panel_of
from mlir_gemm.parts.registers import role_registers
from mlir_gemm.parts.registry import mainloops, mma_of
from mlir_gemm.spec.emulation import multiplied_as
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

ALIGNED = 128
"""Bits that rows in global memory must be multiples of for the copy engine."""


def _passes(schedule: Schedule, target: Target) -> Iterable[Placed]:
    mma = mma_of(schedule)
    promoted = {"promotion": schedule.promotion} if schedule.promotion else {}
    yield at("pipeline", "mainloop", step("warp-specialize", asynchronous=mma.asynchronous, **promoted))
    yield at("describe", "maps", step("create-tensor-maps", tf32=multiplied_as(schedule.precision) == "tf32"))
    producer, consumer = role_registers(schedule, target)
    apart = {"apart": True} if schedule.fragments_ahead and producer else {}
    yield at(
        "lower",
        "roles",
        step("lower-mbarrier-pipeline"),
        step("lower-warp-specialize", producer=producer, consumer=consumer, **apart),
    )
    yield at("nvvm", "maps", step("mark-tensor-maps"))


def copy_engine(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    others = [each.name for each in mainloops().values() if not each.asynchronous]
    for name, memory in (("A", problem.a_memory), ("B", problem.b_memory)):
        if memory:
            return (
                f"mainloop=tma: {name} is computed from {memory} on its way to shared memory, and the copy engine "
                f"passes no registers; expected {' or '.join(others)}"
            )
    for name, operand, channels in (("A", "a", problem.a_channels), ("B", "b", problem.b_channels)):
        if channels and (why := _windows(problem, schedule, operand, channels)):
            return f"mainloop=tma: {name} is read by windows, {why}; expected {' or '.join(others)}"
    for name, bits in (("A", problem.a_vector), ("B", problem.b_vector)):
        if bits < ALIGNED and is_staged(schedule, name.lower()):
            others = [each.name for each in mainloops().values() if each.ahead and not (each.producer or each.mixed)]
            return (
                f"mainloop=tma: the rows of {name} start at multiples of {bits} bits only, the copy engine needs "
                f"{ALIGNED}; expected mainloop={' or '.join(others)}"
            )
    return None


def _windows(problem: Problem, schedule: Schedule, operand: str, channels: int) -> str:
    """Why the copy engine cannot take an operand by windows: its boxes hold pixels of one place of the window, and what
    it reads beyond the end of k are no zeros."""
    if problem.k % schedule.block[2]:
        return f"whose k of {problem.k} tiles of {schedule.block[2]} do not divide"
    element = element_bytes(problem, operand)
    panel = panel_of(schedule.block[2] * element)
    if not panel or channels * element % panel:
        return f"whose pixels have {channels} channels that it can take in a row, no whole panels of {panel} bytes"
    return ""


PART = Mainloop(
    "tma", 0, _passes, needs=frozenset({"cp.async.bulk.tensor"}), rules=Rules(shape=(copy_engine,)), fields=(STAGES,),
    most_stages=16, least_stages=2, asynchronous=True, producer=True,
)  # fmt: skip
