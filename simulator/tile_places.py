"""tile.load, store and copy: regions of memory as tiles, along any of its dimensions.

Reads beyond the bounds give zero and writes beyond them are dropped, by definition of these operations; what a load
with `beyond` has there may be anything, and is NaN here (-1 for integers). An access that is marked `in_bounds` and is
not is an error. The target of an asynchronous copy holds NaN (-1 for integers) until the copy was waited for, so that
reading it too early shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.simulator.errors import SimulationError, unsupported
from mlir_gemm.simulator.tile_memory import poisoned
from mlir_gemm.simulator.tile_program import (
    Decoder,
    Frame,
    Function,
    Maker,
    Step,
    StepMaker,
    Written,
    call,
    located,
    uniform,
)

_WHERE: Any = np.where


@dataclass(frozen=True)
class Region:
    """How an access runs along the dimensions of its memory."""

    dims: tuple[int, ...]
    in_bounds: tuple[bool, ...]
    name: str
    location: Any

    @staticmethod
    def of(operation: Any) -> Region:
        place = tile.place_of(operation)
        used = [dim for dim in place.dims if dim >= 0]
        if len(used) != len(set(used)):
            raise unsupported(operation, f"dims = {list(place.dims)}: two dimensions along the same one of the tile")
        return Region(place.dims, place.in_bounds, operation.operation.name, location_of(operation))

    def meets(self, memory: Any, offsets: Sequence[Any], shape: Sequence[int]) -> tuple[Any, Any]:
        """The slices of the memory that a tile of `shape` covers, and those of the tile, by the memory's dimensions."""
        inside: list[slice] = []
        of_tile: list[slice] = []
        for axis, (offset, dim, size) in enumerate(zip(offsets, self.dims, memory.shape, strict=True)):
            start = offset if type(offset) is int else uniform(offset, "the offset of a tile")
            extent = 1 if dim < 0 else shape[dim]
            if self.in_bounds[axis] and not 0 <= start <= size - extent:
                message = f"elements {start} to {start + extent - 1} of dimension {axis}, which has {size}"
                raise SimulationError(f"'{self.name}' is marked in_bounds but accesses {message}", self.location)
            first, last = max(0, min(start, size)), max(0, min(start + extent, size))
            inside.append(slice(first, last))
            of_tile.append(slice(first - start, last - start))
        return tuple(inside), tuple(of_tile)

    def read(self, memory: Any, offsets: Sequence[Any], shape: tuple[int, ...], *, beyond: bool = False) -> Any:
        """A copy of the tile, zero beyond the bounds; with `beyond` NaN (-1 for integers)."""
        inside, of_tile = self.meets(memory, offsets, shape)
        part = memory[inside]
        alone = tuple(axis for axis, dim in enumerate(self.dims) if dim < 0)
        if any(part.shape[axis] == 0 for axis in alone):
            return np.zeros(shape, memory.dtype)
        along = [dim for dim in self.dims if dim >= 0]
        order = sorted(range(len(along)), key=lambda place: along[place])
        part = part.squeeze(alone).transpose(order)
        spans: list[Any] = [slice(None)] * len(shape)
        for dim, span in zip(self.dims, of_tile, strict=True):
            if dim >= 0:
                spans[dim] = span
        part = part[tuple(slice(None) if dim in along else None for dim in range(len(shape)))]
        found = np.full(shape, poisoned(1, memory.dtype)) if beyond else np.zeros(shape, memory.dtype)
        found[tuple(spans)] = part
        return found

    def write(self, memory: Any, offsets: Sequence[Any], value: Any) -> tuple[slice, ...]:
        """Writes a tile, nothing beyond the bounds; the region that was written."""
        inside, of_tile = self.meets(memory, offsets, value.shape)
        along = [dim for dim in self.dims if dim >= 0]
        if any(size > 1 and dim not in along for dim, size in enumerate(value.shape)):
            raise SimulationError(f"'{self.name}' writes a tile along {along} only", self.location)
        spans = {dim: span for dim, span in zip(self.dims, of_tile, strict=True) if dim >= 0}
        part = value[tuple(spans.get(dim, 0) for dim in range(value.ndim))]
        part = part.transpose([sorted(along).index(dim) for dim in along])
        part = part[tuple(None if dim < 0 else slice(None) for dim in self.dims)]
        memory[inside] = np.broadcast_to(part, memory[inside].shape)
        return inside


def _load(operation: Any) -> Function:
    region, shape = Region.of(operation), tuple(operation.operation.results[0].type.shape)
    beyond = tile.BEYOND in operation.operation.attributes

    def load(memory: Any, *offsets: Any) -> Any:
        return region.read(memory, offsets, shape, beyond=beyond)

    return load


def _store(decoder: Decoder, operation: Any) -> Step:
    state, region = decoder.state, Region.of(operation)

    def store(value: Any, memory: Any, *offsets: Any) -> None:
        written = region.write(memory, offsets, value)
        if state.written is not None:
            state.written.append(Written(memory, written))

    return call(located(store, operation), decoder.slots(operation.operation.operands), None)


def _copy(operation: Any) -> Function:
    region = Region.of(operation)

    def copy(target: Any, source: Any, *offsets: Any) -> None:
        target[...] = region.read(source, offsets, target.shape)

    return copy


def _copy_async(decoder: Decoder, operation: Any) -> Step:
    state, region = decoder.state, Region.of(operation)

    def copy(target: Any, source: Any, *offsets: Any) -> None:
        state.copies.append((target, region.read(source, offsets, target.shape)))
        target[...] = poisoned(1, target.dtype)

    return call(copy, decoder.slots(operation.operation.operands), None)


def _commit(decoder: Decoder, _: Any) -> Step:
    state = decoder.state

    def commit(_: Frame) -> None:
        state.groups.append(state.copies)
        state.copies = []

    return commit


def _await(decoder: Decoder, operation: Any) -> Step:
    state, pending = decoder.state, ir.IntegerAttr(operation.operation.attributes["pending"]).value

    def wait(_: Frame) -> None:
        while len(state.groups) > pending:
            for target, content in state.groups.popleft():
                target[...] = content

    return wait


def _clip(operation: Any) -> Function:
    attributes = operation.operation.attributes
    dim = ir.IntegerAttr(attributes["dim"]).value
    neutral = attributes["neutral"].value if "neutral" in attributes else 0

    def clip(value: Any, offset: Any, size: Any) -> Any:
        extent: int = value.shape[dim]
        shape: list[int] = [extent if axis == dim else 1 for axis in range(value.ndim)]
        points = np.arange(extent).reshape(shape)
        places = points + uniform(offset, "an offset")
        there = (places >= 0) & (places < uniform(size, "a size"))
        return _WHERE(there, value, np.asarray(neutral).astype(value.dtype))

    return clip


FUNCTIONS: dict[str, Maker] = {"tile.load": _load, "tile.copy": _copy, "tile.clip": _clip}
STEPS: dict[str, StepMaker] = {
    "tile.store": _store, "tile.copy_async": _copy_async, "tile.commit": _commit, "tile.await": _await,
}  # fmt: skip
