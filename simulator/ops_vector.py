"""vector: loads and stores by each lane, taking vectors apart and together. The first axis of a value is the lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, addresses, lane_starts
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers, is_vector
from mlir_gemm.simulator.elements import LANES
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
        rows = np.broadcast_to(warp.slots[source], shape)
        access.write(warp, view, starts, lanes, codes, rows if warp.mask is None else rows[lanes])

    return step


@handles("vector.broadcast", "vector.splat")
def _broadcast(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    type_ = operation.operation.results[0].type
    element = decoder.element(operation, type_)
    shape = tuple(type_.shape)
    from_vector = is_vector(operation.operation.operands[0])

    def step(warp: Warp) -> None:
        value = np.asarray(warp.slots[source], element.value)
        lanes = value.shape[0] if value.ndim else 1
        inner = value.shape[1:] if from_vector else ()
        value = value.reshape((lanes,) + (1,) * (len(shape) - len(inner)) + inner)
        warp.slots[out] = np.broadcast_to(value, (lanes, *shape))

    return step


def _position(decoder: Decoder, operation: Any, dynamic: list[Any]) -> list[int]:
    if dynamic:
        raise unsupported(operation, "at a position that is not constant is not simulated")
    return integers(operation.operation.attributes["static_position"])


@handles("vector.extract")
def _extract(decoder: Decoder, operation: Any) -> Step:
    source, *dynamic = operation.operation.operands
    place = (slice(None), *_position(decoder, operation, dynamic))
    slot, out = decoder.slot(source), decoder.slot(operation.operation.results[0])
    whole = is_vector(operation.operation.results[0])

    def step(warp: Warp) -> None:
        value = warp.slots[slot][place]
        if not whole and value.shape[0] == 1:
            value = value[0] if value.dtype.kind == "f" else value[0].item()
        warp.slots[out] = value

    return step


@handles("vector.insert")
def _insert(decoder: Decoder, operation: Any) -> Step:
    value, target, *dynamic = operation.operation.operands
    place = (slice(None), *_position(decoder, operation, dynamic))
    source, into, out = decoder.slot(value), decoder.slot(target), decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        part, whole = np.asarray(warp.slots[source]), warp.slots[into]
        lanes = max(whole.shape[0], part.shape[0] if part.ndim else 1)
        result = np.broadcast_to(whole, (lanes, *whole.shape[1:])).copy()
        result[place] = part
        warp.slots[out] = result

    return step


@handles("vector.from_elements")
def _from_elements(decoder: Decoder, operation: Any) -> Step:
    slots, out = decoder.all_slots(operation.operation.operands), decoder.slot(operation.operation.results[0])
    type_ = operation.operation.results[0].type
    element = decoder.element(operation, type_)
    shape = tuple(type_.shape)

    def step(warp: Warp) -> None:
        parts = np.broadcast_arrays(*(np.atleast_1d(np.asarray(warp.slots[slot], element.value)) for slot in slots))
        warp.slots[out] = np.stack(parts, axis=1).reshape(-1, *shape)

    return step


@handles("vector.extract_strided_slice", "vector.insert_strided_slice")
def _strided_slice(decoder: Decoder, operation: Any) -> Step:
    attributes = operation.operation.attributes
    offsets, strides = integers(attributes["offsets"]), integers(attributes["strides"])
    out = decoder.slot(operation.operation.results[0])
    slots = decoder.all_slots(operation.operation.operands)
    extracts = operation.operation.name == "vector.extract_strided_slice"
    shape = integers(attributes["sizes"]) if extracts else list(operation.operation.operands[0].type.shape)
    rank = len(operation.operation.operands[-1].type.shape)
    lead = offsets[: len(offsets) - len(strides)]  # insertion: the value may have fewer dimensions
    spans = [
        slice(offset, offset + size * stride, stride)
        for offset, size, stride in zip(offsets[len(lead) :], shape, strides, strict=False)
    ]
    place = (slice(None), *lead, *spans, *[slice(None)] * (rank - len(offsets)))

    def extract(warp: Warp) -> None:
        warp.slots[out] = warp.slots[slots[0]][place]

    def insert(warp: Warp) -> None:
        part, whole = warp.slots[slots[0]], warp.slots[slots[1]]
        result = np.broadcast_to(whole, (max(len(part), len(whole)), *whole.shape[1:])).copy()
        result[place] = part
        warp.slots[out] = result

    return extract if extracts else insert


@handles("vector.shape_cast")
def _shape_cast(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    shape = tuple(operation.operation.results[0].type.shape)

    def step(warp: Warp) -> None:
        value = warp.slots[source]
        warp.slots[out] = value.reshape(len(value), *shape)

    return step


@handles("vector.fma")
def _fma(decoder: Decoder, operation: Any) -> Step:
    slots, out = decoder.all_slots(operation.operation.operands), decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)

    def step(warp: Warp) -> None:  # in f64, so that the result is rounded once
        a, b, c = (warp.slots[slot].astype(np.float64) for slot in slots)
        warp.slots[out] = element.cast(a * b + c)

    return step
