"""nvgpu: ldmatrix, mma.sync on vectors of each lane, and asynchronous copies to shared memory.

Which lane holds which element is PTX's (ldmatrix; mma.m16n8k8 and mma.m16n8k16 for 16-bit operands). A copy reads its
source when it is issued and reaches its target when it is waited for, the latest that the machine may take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, addresses, lane_starts
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers
from mlir_gemm.simulator.elements import LANES
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import count
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Warp

_ROWS = 8
"""Rows, and 16-bit columns, of the matrices that ldmatrix loads."""
_ROW_BYTES = 16


@handles("nvgpu.ldmatrix")
def _ldmatrix(decoder: Decoder, operation: Any) -> Step:
    memory, *indices = operation.operation.operands
    attributes, result = operation.operation.attributes, operation.operation.results[0]
    element = decoder.element(operation, result.type)
    tiles = ir.IntegerAttr(attributes["numTiles"]).value
    transposed = ir.BoolAttr(attributes["transpose"]).value
    if element.bytes != 2:
        raise unsupported(operation, f"of {element.name} is not simulated; expected elements of 16 bits")
    info = decoder.info(operation, collective=True)
    address = addresses(decoder, operation, memory, indices, (_ROWS,), info)
    access = Access(decoder, info, element, _ROWS, _ROW_BYTES)
    out = decoder.slot(result)

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        view, base = address(warp)
        starts = np.broadcast_to(base, LANES)[: tiles * _ROWS]
        rows = access.read(warp, view, starts, None, warp.code + ANY_LANE).reshape(tiles, _ROWS, _ROWS)
        if transposed:
            rows = rows.transpose(0, 2, 1)
        warp.slots[out] = np.ascontiguousarray(rows.reshape(tiles, LANES, 2).transpose(1, 0, 2))

    return step


@handles("nvgpu.mma.sync")
def _mma_sync(decoder: Decoder, operation: Any) -> Step:
    slots = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    shape = integers(operation.operation.attributes["mmaShape"])
    operand = decoder.element(operation, operation.operation.operands[0].type)
    element = decoder.element(operation, operation.operation.results[0].type)
    if shape[:2] != [16, 8] or shape[2] not in (8, 16) or operand.bits != 16 or not operand.is_float:
        raise unsupported(operation, f"m{shape[0]}n{shape[1]}k{shape[2]} of {operand.name} is not simulated")
    halves = shape[2] // _ROWS
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        left, right, sums = (np.broadcast_to(warp.slots[s], (LANES, *warp.slots[s].shape[1:])) for s in slots)
        # Axes of a lane's registers: row, pair of columns, then by operand, the element of the pair last.
        a = left.reshape(8, 4, halves, 2, 2).transpose(3, 0, 2, 1, 4).reshape(16, shape[2]).astype(np.float32)
        b = right.reshape(8, 4, halves, 2).transpose(2, 1, 3, 0).reshape(shape[2], 8).astype(np.float32)
        c = sums.reshape(8, 4, 2, 2).transpose(2, 0, 1, 3).reshape(16, 8)
        product = element.cast(a @ b + c)
        warp.slots[out] = product.reshape(2, 8, 4, 2).transpose(1, 2, 0, 3).reshape(LANES, 2, 2)
        counters.tensor_operations += 1
        counters.flops += 2 * shape[0] * shape[1] * shape[2]

    return step


@handles("nvgpu.device_async_copy")
def _async_copy(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    operands = list(operation.operation.operands)
    _, to_rank, _, from_rank, partial = integers(attributes["operandSegmentSizes"])
    target, source = operands[0], operands[1 + to_rank]
    elements = ir.IntegerAttr(attributes["dstElements"]).value
    element = decoder.element(operation, target.type)
    info = decoder.info(operation)
    width = elements * element.bytes
    if width not in (4, 8, 16):
        raise unsupported(operation, f"of {width} bytes; cp.async copies 4, 8 or 16")
    to = addresses(decoder, operation, target, operands[1 : 1 + to_rank], (elements,), info)
    indices = operands[2 + to_rank : 2 + to_rank + from_rank]
    whence = addresses(decoder, operation, source, indices, (1 if partial else elements,), info)
    access = Access(decoder, info, element, elements, width)
    kept = decoder.slot(operands[-1]) if partial else None
    decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        view, base = whence(warp)
        starts, lanes, codes = lane_starts(warp, base)
        rows = access.read(warp, view, starts, lanes, codes)
        if kept is not None:  # elements behind this number are zero
            number = np.broadcast_to(warp.slots[kept], LANES)[lanes]
            rows = np.where(count(elements) < number[:, None], rows, 0).astype(rows.dtype)
        view, base = to(warp)
        starts, lanes, codes = lane_starts(warp, base)
        warp.copies.append(access.write_later(warp, view, starts, lanes, codes, rows))

    return step


@handles("nvgpu.device_async_create_group")
def _create_group(decoder: Decoder, operation: Any) -> Step:
    decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        warp.groups.append(warp.copies)
        warp.copies = []

    return step


@handles("nvgpu.device_async_wait")
def _wait(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    pending = ir.IntegerAttr(attributes["numGroups"]).value if "numGroups" in attributes else 0

    def step(warp: Warp) -> None:
        while len(warp.groups) > pending:
            for arrive in warp.groups.popleft():
                arrive(warp)

    return step
