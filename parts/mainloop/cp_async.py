"""cp_async: asynchronous copies, `stages` - 1 k tiles ahead (sm_80 and later)."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Mainloop
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    yield at("pipeline", "mainloop", step("stream-copies"))
    if schedule.spread:
        yield at("lower", "copies", step("spread-copies"))
    yield at("lower", "copies", step("lower-async"))


PART = Mainloop("cp_async", _passes, most_stages=8, least_stages=2, asynchronous=True)
