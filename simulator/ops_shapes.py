"""vector: taking vectors apart and together. The first axis of a value is the lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers, is_vector
from mlir_gemm.simulator.elements import LANES, is_array
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.fused import multiply_add
from mlir_gemm.simulator.memory import count
from mlir_gemm.simulator.warps import Warp


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
        found = np.empty((lanes, *shape), element.value)
        found[...] = value
        warp.slots[out] = found

    return step


def _position(decoder: Decoder, operation: Any, dynamic: list[Any]) -> Any:
    """A function from a warp's values to the index of a vector with its lanes in front."""
    marker = ir.ShapedType.get_dynamic_size()
    slots = iter(decoder.all_slots(dynamic))
    static = integers(operation.operation.attributes["static_position"])
    places = [next(slots) if number == marker else None for number in static]
    if not dynamic:
        fixed = (slice(None), *static)

        def constant(values: list[Any], lanes: int) -> Any:
            return fixed

        return constant

    def position(values: list[Any], lanes: int) -> Any:
        index = [number if slot is None else values[slot] for number, slot in zip(static, places, strict=True)]
        if any(is_array(number) for number in index):  # each lane takes its own
            return (count(LANES) if lanes == LANES else 0, *index)
        return (slice(None), *index)

    return position


@handles("vector.extract")
def _extract(decoder: Decoder, operation: Any) -> Step:
    source, *dynamic = operation.operation.operands
    place = _position(decoder, operation, dynamic)
    slot, out = decoder.slot(source), decoder.slot(operation.operation.results[0])
    whole = is_vector(operation.operation.results[0])

    def step(warp: Warp) -> None:
        vector = warp.slots[slot]
        value = vector[place(warp.slots, len(vector))]
        if not whole and value.shape[0] == 1:
            value = value[0] if value.dtype.kind == "f" else value[0].item()
        warp.slots[out] = value

    return step


@handles("vector.insert")
def _insert(decoder: Decoder, operation: Any) -> Step:
    value, target, *dynamic = operation.operation.operands
    place = _position(decoder, operation, dynamic)
    source, into, out = decoder.slot(value), decoder.slot(target), decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        part, whole = np.asarray(warp.slots[source]), warp.slots[into]
        lanes = LANES if dynamic else max(whole.shape[0], part.shape[0] if part.ndim else 1)
        result = np.broadcast_to(whole, (lanes, *whole.shape[1:])).copy()
        result[place(warp.slots, lanes)] = part
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
        warp.slots[out] = element.cast(multiply_add(a, b, c) if element.bits == 64 else a * b + c)

    return step


@handles("vector.transpose")
def _transpose(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    order = (0, *(axis + 1 for axis in integers(operation.operation.attributes["permutation"])))

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[source].transpose(order)

    return step


@handles("vector.shuffle")
def _shuffle(decoder: Decoder, operation: Any) -> Step:
    left, right = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    picked = np.array(integers(operation.operation.attributes["mask"]))
    picked = np.where(picked < 0, 0, picked)  # -1: any value

    def step(warp: Warp) -> None:
        values = warp.slots
        lanes = max(len(values[left]), len(values[right]))
        both = [np.broadcast_to(values[slot], (lanes, *values[slot].shape[1:])) for slot in (left, right)]
        values[out] = np.concatenate(both, axis=1)[:, picked]

    return step


@handles("vector.to_elements")
def _to_elements(decoder: Decoder, operation: Any) -> Step:
    source, outs = decoder.slot(operation.operation.operands[0]), decoder.all_slots(operation.operation.results)

    def step(warp: Warp) -> None:
        vector = warp.slots[source]
        flat = vector.reshape(len(vector), -1)
        for number, out in enumerate(outs):
            value = flat[:, number]
            if len(value) == 1:
                value = value[0] if value.dtype.kind == "f" else value[0].item()
            warp.slots[out] = value

    return step


_COMBINE: dict[str, Any] = {
    "add": np.add, "mul": np.multiply, "minsi": np.minimum, "maxsi": np.maximum, "minnumf": np.fmin,
    "maxnumf": np.fmax, "minimumf": np.minimum, "maximumf": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


@handles("vector.reduction")
def _reduction(decoder: Decoder, operation: Any) -> Step:
    slots, out = decoder.all_slots(operation.operation.operands), decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)
    name = str(operation.operation.attributes["kind"]).rstrip(">").partition("<")[2].split(".")[-1]
    if name not in _COMBINE:
        raise unsupported(operation, f"a reduction by {name} is not simulated")
    combine = _COMBINE[name]

    def step(warp: Warp) -> None:  # in order, rounded after each
        vector = warp.slots[slots[0]]
        start = 1 if len(slots) == 1 else 0
        value = vector[:, 0] if start else np.broadcast_to(np.asarray(warp.slots[slots[1]], element.value), len(vector))
        for number in range(start, vector.shape[1]):
            value = combine(value, vector[:, number])
            value = element.cast(value) if element.is_float else value
        warp.slots[out] = value

    return step
