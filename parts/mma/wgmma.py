"""wgmma: warpgroups multiply what lies in shared memory, asynchronously (sm_90a)."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Mma
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    yield at("lower", "mma", step("mma-to-wgmma"))
    if schedule.pace:
        yield at("lower", "epilogue", step("pace-epilogue", chains=schedule.pace, turns=schedule.turns))
    yield at("lower", "positions", step("sink-positions"))


PART = Mma("wgmma", _passes, unit="warpgroup", asynchronous=True, by_descriptor=True, stores_rows=True)
