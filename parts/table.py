"""All parts that a schedule has."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts.base import Part, Passes
from mlir_gemm.parts.cluster import multicast, split_k
from mlir_gemm.parts.epilogue import tma_store, unaligned_rows
from mlir_gemm.parts.mainloop.table import mainloop_of
from mlir_gemm.parts.mma.table import mma_of
from mlir_gemm.parts.scheduler import persistent, stream_k
from mlir_gemm.spec import extensions
from mlir_gemm.spec.schedule import Schedule

OPTIONAL = (stream_k.PART, persistent.PART, multicast.PART, split_k.PART, tma_store.PART, unaligned_rows.PART)
"""Parts that are there or not; inside a slot their passes run in this order."""


def passes_of_parts(schedule: Schedule) -> Iterator[Passes]:
    """What says which passes each part of a schedule needs."""
    yield mma_of(schedule).passes
    yield mainloop_of(schedule).passes
    for part in (*OPTIONAL, *extensions.of(Part)):
        if part.applies(schedule):
            yield part.passes
