"""wmma: fragments of 16x16x16, of which only the operation knows which lane holds what."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Mma
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target


def _passes(_: Schedule, __: Target) -> Iterable[Placed]:
    yield at("accumulate", "initialise", step("sink-init"))
    yield at("lower", "mma", step("stage-epilogue"), step("mma-to-wmma"))


PART = Mma("wmma", _passes, opaque=True)
