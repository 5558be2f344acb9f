"""memref: buffers, views of them, and single elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, addresses, lane_starts
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers
from mlir_gemm.simulator.elements import LANES, collapse, is_array, per_lane
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import Buffer, View, count, dense_strides
from mlir_gemm.simulator.warps import Warp

_MOST_PRIVATE = 1 << 16
"""Bytes that one lane may keep in memory of its own."""


@handles("memref.get_global")
def _get_global(decoder: Decoder, operation: Any) -> Step:
    name = ir.FlatSymbolRefAttr(operation.operation.attributes["name"]).value
    out = decoder.slot(operation.operation.results[0])
    if name in decoder.constants:
        view = decoder.constants[name]

        def constant(warp: Warp) -> None:
            warp.slots[out] = view

        return constant
    if name not in decoder.globals:
        raise unsupported(operation, f"'{name}' is no memref.global in shared memory (memory space 3), and no constant")

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.block.shared[name].view

    return step


@handles("memref.alloca")
def _alloca(decoder: Decoder, operation: Any) -> Step:
    type_ = operation.operation.results[0].type
    element = decoder.element(operation, type_)
    if not type_.has_static_shape:
        raise unsupported(operation, f"{type_}: expected constant sizes")
    sizes = tuple(type_.shape)
    size = int(np.prod(sizes)) * element.bytes
    if size > _MOST_PRIVATE:
        raise unsupported(operation, f"{size} bytes for each lane; the simulator allows {_MOST_PRIVATE}")
    out = decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        buffer = Buffer("alloca", "private", size * LANES)
        starts = count(LANES) * size
        warp.slots[out] = View(buffer, starts, sizes, dense_strides(sizes), element, starts)

    return step


@handles("memref.view")
def _view(decoder: Decoder, operation: Any) -> Step:
    source, shift, *dynamic = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    type_ = operation.operation.results[0].type
    element = decoder.element(operation, type_)
    shape = list(type_.shape)
    info = decoder.info(operation)
    unknown = [axis for axis in range(len(shape)) if type_.is_dynamic_dim(axis)]
    checks = decoder.options.checks

    def step(warp: Warp) -> None:
        values = warp.slots
        view: View = values[source]
        sizes = list(shape)
        for axis, slot in zip(unknown, dynamic, strict=True):
            sizes[axis] = _one(values[slot], operation)
        first = view.base + values[shift]
        end = int(np.max(first)) + int(np.prod(sizes)) * element.bytes
        if checks and (np.min(first) < 0 or end > view.buffer.size):
            message = f"a view of bytes {np.min(first)} to {end}; the buffer has {view.buffer.size}"
            info.find("out-of-bounds", warp, -1, f"{view.buffer.space} {view.buffer.name}", message)
        values[out] = View(view.buffer, first, tuple(sizes), dense_strides(tuple(sizes)), element, first)

    return step


def _one(value: Any, operation: Any) -> int:
    value = collapse(value)
    if is_array(value):
        raise unsupported(operation, "a size that differs between lanes is not simulated")
    return int(value)


def _mixed(decoder: Decoder, operation: Any, name: str, dynamic: list[Any]) -> list[Callable[[list[Any]], Any]]:
    """The entries of `static_<name>` as functions of a warp's values: constants, or operands taken in turn."""
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    found: list[Callable[[list[Any]], Any]] = []
    for number in integers(operation.operation.attributes[f"static_{name}"]):
        if number == marker:
            slot = decoder.slot(dynamic.pop(0))
            found.append(lambda values, slot=slot: values[slot])
        else:
            found.append(lambda values, number=number: number)
    return found


@handles("memref.subview")
def _subview(decoder: Decoder, operation: Any) -> Step:
    source, *dynamic = operation.operation.operands
    offsets, sizes, steps = (_mixed(decoder, operation, name, dynamic) for name in ("offsets", "sizes", "strides"))
    place, out = decoder.slot(source), decoder.slot(operation.operation.results[0])
    kept = _kept_axes(operation, sizes)
    info = decoder.info(operation)
    checks = decoder.options.checks

    def step(warp: Warp) -> None:
        values = warp.slots
        view: View = values[place]
        base: Any = 0
        lengths, strides = list[int](), list[int]()
        for axis, stride in enumerate(view.strides):
            offset, by = offsets[axis](values), _one(steps[axis](values), operation)
            length = _one(sizes[axis](values), operation)
            last = np.max(offset) + (length - 1) * by
            if checks and (np.min(offset) < 0 or last >= view.sizes[axis]):
                message = (
                    f"elements {np.min(offset)} to {last} of dimension {axis}; expected 0 to {view.sizes[axis] - 1}"
                )
                info.find("out-of-bounds", warp, -1, f"{view.buffer.space} {view.buffer.name}", message)
            base = base + offset * stride
            lengths.append(length)
            strides.append(stride * by)
        values[out] = View(
            view.buffer,
            view.base + base * view.element.bytes,
            tuple(lengths[axis] for axis in kept),
            tuple(strides[axis] for axis in kept),
            view.element,
            view.aligned,
        )

    return step


def _kept_axes(operation: Any, sizes: list[Any]) -> list[int]:
    """The dimensions of the source that the result keeps: those of size 1 may be dropped, the first ones first."""
    drop = len(sizes) - len(operation.operation.results[0].type.shape)
    static = integers(operation.operation.attributes["static_sizes"])
    kept = list[int]()
    for axis, size in enumerate(static):
        if drop and size == 1:
            drop -= 1
        else:
            kept.append(axis)
    if drop:
        raise unsupported(operation, "which dimensions it drops cannot be told")
    return kept


@handles("memref.reinterpret_cast")
def _reinterpret(decoder: Decoder, operation: Any) -> Step:
    source, *dynamic = operation.operation.operands
    offsets, sizes, strides = (_mixed(decoder, operation, name, dynamic) for name in ("offsets", "sizes", "strides"))
    place, out = decoder.slot(source), decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        values = warp.slots
        view: View = values[place]
        values[out] = View(
            view.buffer,
            view.aligned + offsets[0](values) * view.element.bytes,
            tuple(_one(size(values), operation) for size in sizes),
            tuple(_one(stride(values), operation) for stride in strides),
            view.element,
            view.aligned,
        )

    return step


@handles("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _cast(decoder: Decoder, operation: Any) -> Step:
    source = decoder.slot(operation.operation.operands[0])
    results = list(operation.operation.results)
    out = decoder.slot(results[0]) if results else source

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[source]

    return step


@handles("memref.collapse_shape", "memref.expand_shape")
def _reshape(decoder: Decoder, operation: Any) -> Step:
    source, *dynamic = operation.operation.operands
    place, out = decoder.slot(source), decoder.slot(operation.operation.results[0])
    groups = [integers(group) for group in operation.operation.attributes["reassociation"]]
    expands = operation.operation.name == "memref.expand_shape"
    lengths = _mixed(decoder, operation, "output_shape", dynamic) if expands else []

    def step(warp: Warp) -> None:
        view: View = warp.slots[place]
        sizes, strides = list[int](), list[int]()
        for axis, group in enumerate(groups):
            if expands:
                inner = [_one(lengths[number](warp.slots), operation) for number in group]
                sizes += inner
                strides += [view.strides[axis] * by for by in dense_strides(tuple(inner))]
            else:
                wide = [number for number in group if view.sizes[number] != 1] or group[-1:]
                sizes.append(int(np.prod([view.sizes[number] for number in group])))
                strides.append(view.strides[wide[-1]] if wide else 1)
        warp.slots[out] = View(view.buffer, view.base, tuple(sizes), tuple(strides), view.element, view.aligned)

    return step


@handles("memref.transpose")
def _transpose(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    order: list[int] = [
        e.position for e in ir.AffineMapAttr(operation.operation.attributes["permutation"]).value.results
    ]

    def step(warp: Warp) -> None:
        view: View = warp.slots[source]
        sizes = tuple(view.sizes[axis] for axis in order)
        strides = tuple(view.strides[axis] for axis in order)
        warp.slots[out] = View(view.buffer, view.base, sizes, strides, view.element, view.aligned)

    return step


@handles("memref.dim")
def _dim(decoder: Decoder, operation: Any) -> Step:
    source, axis = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[source].sizes[_one(warp.slots[axis], operation)]

    return step


@handles("memref.load")
def _load(decoder: Decoder, operation: Any) -> Step:
    memory, *indices = operation.operation.operands
    result = operation.operation.results[0]
    element = decoder.element(operation, result.type)
    info = decoder.info(operation)
    address = addresses(decoder, operation, memory, indices, (), info)
    access = Access(decoder, info, element, 1, element.bytes)
    out = decoder.slot(result)

    def step(warp: Warp) -> None:
        view, base = address(warp)
        starts, lanes, codes = lane_starts(warp, base)
        rows = access.read(warp, view, starts, lanes, codes)[:, 0]
        if warp.mask is None:
            warp.slots[out] = rows
        else:
            full = np.zeros(LANES, element.value)
            full[lanes] = rows
            warp.slots[out] = full

    return step


@handles("memref.store")
def _store(decoder: Decoder, operation: Any) -> Step:
    value, memory, *indices = operation.operation.operands
    element = decoder.element(operation, value.type)
    info = decoder.info(operation)
    address = addresses(decoder, operation, memory, indices, (), info)
    access = Access(decoder, info, element, 1, element.bytes)
    source = decoder.slot(value)

    def step(warp: Warp) -> None:
        view, base = address(warp)
        starts, lanes, codes = lane_starts(warp, base)
        access.write(warp, view, starts, lanes, codes, per_lane(warp.slots[source], element)[lanes, None])

    return step
