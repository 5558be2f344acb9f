"""The operations that multiply, by their names in a schedule."""

from __future__ import annotations

from mlir_gemm.parts.base import Mma
from mlir_gemm.parts.mma import mma_sync, simt, wgmma, wmma
from mlir_gemm.spec.schedule import Schedule

MMAS: dict[str, Mma] = {part.name: part for part in (wgmma.PART, mma_sync.PART, wmma.PART, simt.PART)}
"""In the order in which the model tries them."""


def mma_of(schedule: Schedule) -> Mma:
    """The operation that a schedule multiplies with."""
    return MMAS[schedule.operator]
