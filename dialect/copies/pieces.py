"""A tile's accesses to memory, piece by piece: how wide a piece can be, and reading, writing and copying one.

A piece is the vector that one thread takes in one round (`division.Division`). Nothing outside the bounds of a memref
is ever touched: where a place is not known to be in bounds, each piece asks first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, memory, positions, windows
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.division import Division, Spot
from mlir_gemm.dialect.sizes import size_of
from mlir_gemm.dialect.tile import Place, memory_of, place_of

DYNAMIC_SIZE = ir.ShapedType.get_dynamic_size()
BYTE = 8


@dataclass(frozen=True)
class Access:
    """A tile in memory: a memref and the place in it."""

    memory: Any
    place: Place

    @staticmethod
    def of(operation: Any) -> Access:
        """The place that a tile.load, store, copy or copy_async names."""
        return Access(memory_of(operation), place_of(operation))

    @staticmethod
    def whole(target: Any) -> Access:
        """All of a memref."""
        rank = len(target.type.shape)
        return Access(target, Place((None,) * rank, tuple(range(rank)), (True,) * rank))

    @property
    def element(self) -> Any:
        """The type of an element."""
        return self.memory.type.element_type

    def axis_of(self, dim: int) -> int | None:
        """The dimension of the memory that a dimension of the tile runs along, None for a broadcast."""
        return self.place.dims.index(dim) if dim in self.place.dims else None

    def runs_close(self, dim: int) -> bool:
        """Whether neighbours along a dimension of the tile are neighbours in memory."""
        axis = self.axis_of(dim)
        return axis is not None and self.memory.type.get_strides_and_offset()[0][axis] == 1

    def width(self, shape: tuple[int, ...], dim: int, bits: int) -> int:
        """The most elements along `dim` that one access of at most `bits` bits can take."""
        if positions.is_position(self.memory):
            return bits  # they are computed
        if self.element.width < BYTE:
            return 1  # in memory each i1 has a byte, in a vector a bit
        width = max(1, bits // self.element.width)
        if self.axis_of(dim) is None:
            return width
        if not self.runs_close(dim) or not self._can_be_last(self.axis_of(dim)):
            return 1
        type_ = self.memory.type
        strides = memory.stride_divisors(self.memory)
        numbers = [shape[dim], memory.offset_divisor(self.memory)]
        if windows.is_windows(self.memory):
            numbers.append(windows.divisor(self.memory))
        for axis, stride in enumerate(strides):
            offset = self.place.offsets[axis]
            if self.place.dims[axis] == dim:
                numbers.append(0 if offset is None else memory.divisor_of(offset))
                if self._must_ask(axis, shape):
                    numbers.append(memory.size_divisor(self.memory, axis))
            elif type_.shape[axis] != 1:
                numbers.append(stride)
        return gcd(width, *numbers)

    def _can_be_last(self, axis: int | None) -> bool:
        """Whether vectors along a dimension can be taken: it is the last one, or a cast may move it there. Buffers in
        shared memory are still to be placed and folded, which casts would hide."""
        return axis == len(self.memory.type.shape) - 1 or self.memory.type.memory_space is None

    def _must_ask(self, axis: int, shape: tuple[int, ...]) -> bool:
        """Whether a piece may lie outside along a dimension of the memory."""
        if self.place.in_bounds[axis]:
            return False
        start = constants.integer_of(self.place.offsets[axis])
        size = self.memory.type.shape[axis]
        extent = 1 if self.place.dims[axis] < 0 else shape[self.place.dims[axis]]
        return start is None or size == DYNAMIC_SIZE or not 0 <= start <= size - extent

    def locate(self, division: Division, spot: Spot) -> Located:
        """Where a piece lies in the memory and whether it does; built at the insertion point."""
        indices: list[Any] = []
        conditions: list[Any | None] = []
        for axis, (offset, dim) in enumerate(zip(self.place.offsets, self.place.dims, strict=True)):
            index = offset if dim < 0 else spot.at[dim] if offset is None else indexing.add(offset, spot.at[dim])
            indices.append(index)
            asks = self._must_ask(axis, division.shape)
            conditions.append(guards.less(index, self._size(axis)) if asks else None)
        seen = windows.reached(self.memory, indices) if windows.is_windows(self.memory) else None
        return Located(self, division, indices, conditions, spot.inside, seen)

    def _size(self, axis: int) -> Any:
        return size_of(self.memory, axis)


@dataclass(frozen=True)
class Located:
    """One piece of an access."""

    access: Access
    division: Division
    indices: list[Any]
    conditions: list[Any | None]
    """For each dimension of the memory, whether the piece lies within it; None where that is known."""
    inside: Any | None
    """Whether the piece is one of the tile's."""
    seen: tuple[Any, Any | None] | None = None
    """Of a view by windows: where the piece lies in the image as one row of memory, and whether it lies in it."""

    @property
    def _within(self) -> Any | None:
        return guards.both([*self.conditions, self.seen[1] if self.seen else None])

    def load(self) -> Any:
        """The piece as a vector, zero where it is out of bounds."""
        type_ = self.division.vector(self.access.element)
        if positions.is_position(self.access.memory):
            return self._positions(type_)
        return guards.value_or_zero(guards.both([self._within, self.inside]), type_, lambda: self._load(type_))

    def _positions(self, type_: Any) -> Any:
        axis = self.access.axis_of(self.division.along)
        if axis is None:
            return dialect("vector").BroadcastOp(type_, positions.at(self.access.memory, self.indices)).result
        return positions.in_a_row(self.access.memory, self.indices, axis, self.division.width)

    def _load(self, type_: Any) -> Any:
        axis = self.access.axis_of(self.division.along)
        if axis is not None and self.access.runs_close(self.division.along):
            source, indices = self._with_last(axis, self.indices)
            return dialect("vector").LoadOp(type_, source, indices, alignment=memory.vector_bytes(type_)).result
        scalar = dialect("memref").LoadOp(self.access.memory, self.indices).result
        return dialect("vector").BroadcastOp(type_, scalar).result

    def store(self, value: Any) -> None:
        """Writes a vector to the piece, unless it is out of bounds."""
        guards.do(guards.both([*self.conditions, self.inside]), lambda: self._store(value))

    def _store(self, value: Any) -> None:
        axis = self.access.axis_of(self.division.along)
        vector = dialect("vector")
        if axis is not None and self.access.runs_close(self.division.along):
            target, indices = self._with_last(axis, self.indices)
            vector.StoreOp(value, target, indices, alignment=memory.vector_bytes(value.type))
            return
        assert self.division.width == 1
        scalar = vector.ExtractOp(value, [], [0]).result
        dialect("memref").StoreOp(scalar, self.access.memory, self.indices)

    def copy_async(self, target: Located) -> None:
        """Begins to copy the piece to one in shared memory; zeros where it is out of bounds."""
        width = self.division.width
        within = self._within
        axis = self.access.axis_of(self.division.along)
        assert axis is not None
        indices, elements = self.indices, None
        if within is not None:
            origin, select = constants.index(0), dialect("arith").SelectOp
            elements = select(within, constants.index(width), origin).result
            indices = (
                []
                if self.seen
                else [
                    index if condition is None else select(condition, index, origin).result
                    for index, condition in zip(indices, self.conditions, strict=True)
                ]
            )  # nothing is read from there, but an address outside is not even made
        source, indices = self._with_last(axis, indices)
        if self.seen and within is not None:
            indices = [dialect("arith").SelectOp(within, indices[0], constants.index(0)).result]
        whole = width * self.access.element.width == 128  # only copies of 16 bytes can go past L1
        to = target.access.memory

        def issue() -> None:
            copy = dialect("nvgpu").DeviceAsyncCopyOp
            copy(to, target.indices, source, indices, width, srcElements=elements, bypassL1=whole or None)

        guards.do(self.inside, issue)

    def _with_last(self, axis: int, indices: list[Any]) -> tuple[Any, list[Any]]:
        """The memory with one dimension moved to the end, and indices for it; what windows see, as one row."""
        if self.seen:
            return windows.flat(self.access.memory), [self.seen[0]]
        return memory.with_last(self.access.memory, axis), [*indices[:axis], *indices[axis + 1 :], indices[axis]]
