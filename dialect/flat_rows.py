"""Rows that lie one after another in memory, copied to shared memory and back as one line: in whole vectors, however
long a row is. Between the copies each row is a row of a tile in shared memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import collapsed, open_subview, shared_buffer, subview

ACCESS = 16
"""Bytes of a vector."""


@dataclass
class FlatRows:
    """The rows of a tile in shared memory, built at the insertion point."""

    rows: int
    """Of a tile."""
    length: int
    """Elements of a row."""
    size: int
    """Elements that are copied: at least those of the tile's rows."""
    at: Any
    """The first row."""
    first: Any
    """The block of operations in which everything is built."""
    buffers: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The shared memory of what is loaded, by memory."""

    def load(self, memory: Any, type_: Any) -> Any:
        """A tile of rows, of memory that is copied first."""
        if memory not in self.buffers:
            self.buffers[memory] = self._buffer(memory)
            self._copy(memory, self.buffers[memory], to_shared=True)
        return tile.load(self.buffers[memory], self._inside(type_), type_)

    def store(self, values: Sequence[Any], memories: Sequence[Any]) -> None:
        """Stores tiles of rows, each to the shared memory of what it was made of where types allow that: a thread
        overwrites what it alone has read."""
        free = list(self.buffers.values())
        used: list[Any] = []
        for value, memory in zip(values, memories, strict=True):
            fitting = [each for each in free if each.type.element_type == memory.type.element_type]
            used.append(fitting[0] if fitting else self._buffer(memory))
            free = [each for each in free if each != used[-1]]
            tile.store(value, used[-1], self._inside(value.type))
        for memory, buffer in zip(memories, used, strict=True):
            self._copy(memory, buffer, to_shared=False)

    def _buffer(self, memory: Any) -> Any:
        vector = self._vector(memory)
        strides, offset = memory.type.get_strides_and_offset()
        dense = memory.type.has_static_shape and list(strides) == [self.length, 1] and offset == 0
        if not dense or self.rows * self.length % vector or self.size < self.rows * self.length:
            raise pass_error(memory.owner.owner, f"flat={self.size} of {self.rows} rows of {memory.type}; expected at "
                             f"least as many elements, rows one after another, and multiples of {vector}")  # fmt: skip
        with ir.InsertionPoint.at_block_begin(self.first):
            return shared_buffer([math.ceil(self.size / self.length), self.length], memory.type.element_type)

    def _copy(self, memory: Any, buffer: Any, *, to_shared: bool) -> None:
        type_, vector = ir.VectorType.get([1, self.size], memory.type.element_type), self._vector(memory)
        line, there, filled = collapsed(buffer), self._part(memory), buffer in self.buffers.values()
        if not filled:  # nobody has written more than the rows
            line = subview(line, [constants.index(0)], [self.rows * self.length])
        inside = tile.Place((constants.index(0),), (1,), (filled,))
        place = tile.Place((constants.index(0),), (1,), (False,))
        value = tile.load(there, place, type_) if to_shared else tile.load(line, inside, type_)
        stored = tile.store(value, line, inside) if to_shared else tile.store(value, there, place)
        for op in (value.owner, stored):
            op.operation.attributes[tile.FLAT] = constants.integer(vector)
        if not there.type.has_static_shape:
            outer = value.owner if to_shared else stored
            outer.operation.attributes[tile.ALIGNED] = constants.integer(vector)

    def _part(self, memory: Any) -> Any:
        """The tile's rows as a line; of the last tile fewer, where tiles do not divide them."""
        line, whole = collapsed(memory), self.rows * self.length
        first, total = indexing.mul(self.at, self.length), line.type.shape[0]
        if total % whole == 0:
            return subview(line, [first], [whole])
        arith = dialect("arith")
        rest = arith.SubIOp(constants.index(total), first).result
        return open_subview(line, first, arith.MinUIOp(rest, constants.index(whole)).result)

    def _inside(self, type_: Any) -> tile.Place:
        zero = constants.index(0)
        return tile.Place((zero, zero), (0, 1), (True, type_.shape[1] <= self.length))

    def _vector(self, memory: Any) -> int:
        return ACCESS * 8 // memory.type.element_type.width
