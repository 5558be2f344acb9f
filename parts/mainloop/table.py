"""The main loops, by their names in a schedule."""

from __future__ import annotations

from mlir_gemm.parts.base import Mainloop
from mlir_gemm.parts.mainloop import cp_async, direct, register_prefetch, tma
from mlir_gemm.spec.schedule import Schedule

MAINLOOPS: dict[str, Mainloop] = {
    part.name: part for part in (direct.PART, register_prefetch.PART, cp_async.PART, tma.PART)
}


def mainloop_of(schedule: Schedule) -> Mainloop:
    """The main loop of a schedule."""
    return MAINLOOPS[schedule.copy]
