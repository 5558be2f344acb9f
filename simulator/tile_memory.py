"""Memory on whole arrays: a memref is a NumPy array that shares the memory of its buffer.

Reads beyond the bounds of a tile operation give zero and writes beyond them are dropped, by definition of these
operations; a view that leaves its buffer is an error. Memory that nobody wrote holds NaN, so that reading it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.tile_numbers import dtype_of
from mlir_gemm.simulator.tile_program import Decoder, Frame, Function, Maker, Step, StepMaker, Written, call, uniform

_WHERE: Any = np.where
POISON = 0xFF
"""Every byte of memory that nobody wrote: NaN in every floating-point type."""


def poisoned(count: int, dtype: Any) -> Any:
    """A new array of `count` elements that nobody has written."""
    return np.full(count * dtype.itemsize, POISON, np.uint8).view(dtype)


def region_of(memory: Any, offsets: Sequence[int], shape: Sequence[int]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where a tile of `shape` at `offsets` meets `memory`: the slices of the memory, and those of the tile."""
    inside: list[slice] = []
    of_tile: list[slice] = []
    for offset, extent, size in zip(offsets, shape, memory.shape, strict=True):
        first, last = max(0, min(offset, size)), max(0, min(offset + extent, size))
        inside.append(slice(first, last))
        of_tile.append(slice(first - offset, last - offset))
    return tuple(inside), tuple(of_tile)


def read_tile(memory: Any, offsets: Sequence[int], shape: tuple[int, ...]) -> Any:
    """A copy of the tile of `shape` at `offsets`, zero beyond the bounds."""
    inside, of_tile = region_of(memory, offsets, shape)
    part = memory[inside]
    if part.shape == shape:
        return part.copy()
    tile = np.zeros(shape, memory.dtype)
    tile[of_tile] = part
    return tile


def write_tile(memory: Any, offsets: Sequence[int], tile: Any) -> tuple[slice, ...]:
    """Writes a tile, nothing beyond the bounds; the region that was written."""
    inside, of_tile = region_of(memory, offsets, tile.shape)
    memory[inside] = tile[of_tile]
    return inside


def gather(memory: Any, indices: Sequence[Any]) -> Any:
    """Elements at indices that are integers or broadcastable arrays, zero beyond the bounds."""
    if all(_fits(index, size) for index, size in zip(indices, memory.shape, strict=True)):
        return memory[tuple(indices)]
    inside = _inside(memory, indices)
    clipped = tuple(np.clip(index, 0, size - 1) for index, size in zip(indices, memory.shape, strict=True))
    found = memory[clipped]
    return _WHERE(inside, found, np.zeros_like(found))[()]


def scatter(memory: Any, indices: Sequence[Any], value: Any) -> None:
    """Writes elements at indices that are integers or broadcastable arrays, nothing beyond the bounds."""
    if all(_fits(index, size) for index, size in zip(indices, memory.shape, strict=True)):
        memory[tuple(indices)] = value
        return
    inside = _inside(memory, indices)
    places = tuple(np.broadcast_to(index, inside.shape)[inside] for index in indices)
    memory[places] = np.broadcast_to(value, inside.shape)[inside]


def _fits(index: Any, size: int) -> bool:
    if type(index) is int:
        return 0 <= index < size
    return bool(index.size == 0 or (index.min() >= 0 and index.max() < size))


def _inside(memory: Any, indices: Sequence[Any]) -> Any:
    inside: Any = np.True_
    for index, size in zip(indices, memory.shape, strict=True):
        inside = inside & (np.asarray(index) >= 0) & (np.asarray(index) < size)
    return inside


def _alloc(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    dtype = dtype_of(type_, operation)
    if not type_.has_static_shape:
        raise SimulationError(f"'{operation.operation.name}' of dynamic sizes ({type_}) cannot be simulated")
    shape = list(type_.shape)
    strides, _ = type_.get_strides_and_offset()
    steps = [stride * dtype.itemsize for stride in strides]
    count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    count = max([count, *(size * stride for size, stride in zip(shape, strides, strict=True))])  # padded rows in full

    def alloc() -> Any:
        return as_strided(poisoned(count, dtype), shape, steps)

    return alloc


def _empty(operation: Any) -> Function:
    type_ = ir.ShapedType(operation.operation.results[0].type)
    dtype, shape = dtype_of(type_, operation), list(type_.shape)
    return lambda: poisoned(int(np.prod(shape, dtype=np.int64)), dtype).reshape(shape)


def _copy(_: Any) -> Function:
    def copy(source: Any, target: Any) -> None:
        target[...] = source

    return copy


def _subview(operation: Any) -> Function:
    attributes = operation.operation.attributes
    marker = ir.ShapedType.get_dynamic_size()
    static = [list(attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")]
    kept = _kept_dimensions(static[1], list(operation.operation.results[0].type.shape))

    def subview(memory: Any, *dynamic: Any) -> Any:
        rest = iter(dynamic)
        offsets, sizes, strides = (
            [uniform(next(rest), "a subview") if number == marker else number for number in numbers]
            for numbers in static
        )
        for offset, size, stride, extent in zip(offsets, sizes, strides, memory.shape, strict=True):
            if offset < 0 or offset + (size - 1) * stride >= extent:
                raise IndexError(f"a view of {sizes} at {offsets} leaves its buffer of {list(memory.shape)}")
        slices = [
            slice(offset, offset + (size - 1) * stride + 1, stride)
            for offset, size, stride in zip(offsets, sizes, strides, strict=True)
        ]
        return memory[tuple(s if keep else s.start for s, keep in zip(slices, kept, strict=True))]

    return subview


def _kept_dimensions(sizes: list[int], shape: list[int]) -> list[bool]:
    """Which dimensions of a subview its result keeps: a result of lower rank drops some of size 1."""
    kept: list[bool] = []
    rest = list(shape)
    for size in sizes:
        keep = bool(rest) and rest[0] == size
        kept.append(keep)
        if keep:
            rest.pop(0)
    return kept


def _view(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    dtype, shape = dtype_of(type_, operation), list(type_.shape)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize

    def view(memory: Any, offset: Any) -> Any:
        start = uniform(offset, "the start of a view")
        if start < 0 or start + size > memory.size:
            raise IndexError(f"a view of {size} bytes at {start} leaves its buffer of {memory.size} bytes")
        return memory[start : start + size].view(dtype).reshape(shape)

    return view


def _same(_: Any) -> Function:
    def same(memory: Any, *_: Any) -> Any:
        return memory

    return same


def _load(_: Any) -> Function:
    def load(memory: Any, *indices: Any) -> Any:
        return memory[checked(memory, indices)]

    return load


def _store(_: Any) -> Function:
    def store(value: Any, memory: Any, *indices: Any) -> None:
        memory[checked(memory, indices)] = value

    return store


def checked(memory: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """Indices for NumPy, which must be in bounds: a memref access, unlike a tile operation, has no meaning beyond."""
    for axis, (index, size) in enumerate(zip(indices, memory.shape, strict=True)):
        if not _fits(index, size):
            raise IndexError(f"index {axis} is outside a memref of {list(memory.shape)}")
    return tuple(indices)


def _get_global(decoder: Decoder, operation: Any) -> Step:
    name = ir.FlatSymbolRefAttr(operation.operation.attributes["name"]).value
    slot, shared = decoder.slot(operation.operation.results[0]), decoder.state.shared

    def step(frame: Frame) -> None:
        frame[slot] = shared[name]

    return step


def _tile_load(operation: Any) -> Function:
    shape = tuple(operation.operation.results[0].type.shape)

    def load(memory: Any, *offsets: Any) -> Any:
        return read_tile(memory, _integers(offsets), shape)

    return load


def _tile_store(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state

    def store(tile: Any, memory: Any, *offsets: Any) -> None:
        region = write_tile(memory, _integers(offsets), tile)
        if state.written is not None:
            state.written.append(Written(memory, region))

    return call(store, decoder.slots(operation.operation.operands), None)


def _tile_copy(_: Any) -> Function:
    def copy(target: Any, source: Any, *offsets: Any) -> None:
        target[...] = read_tile(source, _integers(offsets), target.shape)

    return copy


def _integers(offsets: Sequence[Any]) -> list[int]:
    return [offset if type(offset) is int else uniform(offset, "the offset of a tile") for offset in offsets]


FUNCTIONS: dict[str, Maker] = {
    "memref.alloc": _alloc, "memref.alloca": _alloc, "memref.copy": _copy, "memref.subview": _subview,
    "memref.view": _view, "memref.cast": _same, "memref.load": _load, "memref.store": _store,
    "memref.assume_alignment": _same, "tensor.empty": _empty, "tile.load": _tile_load, "tile.copy": _tile_copy,
}  # fmt: skip
STEPS: dict[str, StepMaker] = {
    "memref.get_global": _get_global,
    "memref.dealloc": lambda _, __: None,
    "memref.global": lambda _, __: None,
    "tile.store": _tile_store,
}
