"""vector: loads and stores by each lane. The first axis of a value is the lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, addresses, lane_starts
from mlir_gemm.simulator.decode import Decoder, Step, handles
from mlir_gemm.simulator.elements import LANES, spread_to
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.warps import Warp


def _access(decoder: Decoder, operation: Any, vector: Any, memory: Any, indices: list[Any]) -> tuple[Any, Access]:
    if len(vector.shape) != 1:
        raise unsupported(operation, f"of {vector}: only vectors of one dimension are simulated")
    strides, _ = memory.type.get_strides_and_offset()
    if strides[-1] != 1 or memory.type.element_type != vector.element_type:
        raise unsupported(operation, f"of {vector} in {memory.type}: expected consecutive elements of the same type")
    element = decoder.element(operation, vector)
    attributes = operation.operation.attributes
    alignment = ir.IntegerAttr(attributes["alignment"]).value if "alignment" in attributes else element.bytes
    info = decoder.info(operation)
    elements = vector.shape[0]
    return addresses(decoder, operation, memory, indices, (elements,), info), Access(
        decoder, info, element, elements, alignment
    )


@handles("vector.load")
def _load(decoder: Decoder, operation: Any) -> Step:
    memory, *indices = operation.operation.operands
    result = operation.operation.results[0]
    address, access = _access(decoder, operation, result.type, memory, indices)
    out = decoder.slot(result)
    shape = (LANES, result.type.shape[0])

    def step(warp: Warp) -> None:
        view, base = address(warp)
        starts, lanes, codes = lane_starts(warp, base)
        rows = access.read(warp, view, starts, lanes, codes)
        if warp.mask is not None:
            full = np.zeros(shape, access.element.value)
            full[lanes] = rows
            rows = full
        warp.slots[out] = rows

    return step


@handles("vector.store")
def _store(decoder: Decoder, operation: Any) -> Step:
    value, memory, *indices = operation.operation.operands
    address, access = _access(decoder, operation, value.type, memory, indices)
    source = decoder.slot(value)
    shape = (LANES, value.type.shape[0])

    def step(warp: Warp) -> None:
        view, base = address(warp)
        starts, lanes, codes = lane_starts(warp, base)
        rows = spread_to(warp.slots[source], shape)
        access.write(warp, view, starts, lanes, codes, rows if warp.mask is None else rows[lanes])

    return step
