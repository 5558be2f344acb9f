"""tma: one warp copies by the copy engine, up to `stages` k tiles ahead, and hands over through barriers (sm_90a)."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Mainloop
from mlir_gemm.parts.mma.table import mma_of
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

LARGEST_SHARE, PRODUCER_REGISTERS, CONSUMER_REGISTERS = 248, 40, 240
"""The most 32-bit registers that a thread can start with, what the thread that copies keeps, and the most that one that
multiplies takes over: 24 and 240 for two consumers gave nothing over 40 and 232, with which nothing spills."""


def _passes(schedule: Schedule, target: Target) -> Iterable[Placed]:
    mma = mma_of(schedule)
    yield at("pipeline", "mainloop", step("specialize-copies", asynchronous=mma.asynchronous))
    yield at("describe", "maps", step("describe-copies", tf32=schedule.precision == "tf32"))
    if min(schedule.keep_a, schedule.keep_b) < PARTS:
        yield at("describe", "l2", step("keep-lines", a=schedule.keep_a, b=schedule.keep_b))
    producer, consumer = _registers(schedule, target)
    yield at("lower", "roles", step("lower-rings"), step("lower-roles", producer=producer, consumer=consumer))
    if schedule.overlap:
        yield at("lower", "roles", step("overlap-launches", early=schedule.ahead))
    yield at("nvvm", "maps", step("mark-maps"))


def _registers(schedule: Schedule, target: Target) -> tuple[int, int]:
    """Registers of a thread that copies and of one that multiplies; zeros where they stay as they start."""
    each = min(LARGEST_SHARE, target.registers_sm // (schedule.threads * (schedule.resident or 1)) // 8 * 8)
    consumer = (each * (schedule.groups + 1) - PRODUCER_REGISTERS) // schedule.groups
    if consumer <= each or schedule.groups < 2:
        return 0, 0
    return PRODUCER_REGISTERS, min(CONSUMER_REGISTERS, consumer // 8 * 8)


PART = Mainloop("tma", _passes, most_stages=16, least_stages=2, asynchronous=True, producer=True)
