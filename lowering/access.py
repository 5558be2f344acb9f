"""Loads and stores of a tile in memory by lanes, piece by piece, guarded where the tile may leave the memory."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, positions, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.constants import zero_of
from mlir_gemm.dialect.memory import size_divisor, stride_divisors, vector_bytes
from mlir_gemm.dialect.sizes import size_of
from mlir_gemm.dialect.stores import STORES
from mlir_gemm.dialect.walk import users
from mlir_gemm.lowering.layouts import Lane, Layout
from mlir_gemm.lowering.multiples import base_multiple, multiple_of

BYTE = 8
ROW, COLUMN, FIXED = 0, 1, -1
"""What a dimension of the memory runs along: the tile's rows or columns, or neither."""


@dataclass
class LaneAccess:
    """A tile.load or tile.store of a warp, as accesses of one lane. Indices and conditions are built once each, where
    they are first asked for: all pieces must be accessed in one block."""

    operation: Any
    layout: Layout
    lane: Lane
    place: tile.Place = field(init=False)
    memory: Any = field(init=False)
    shape: tuple[int, int] = field(init=False)
    width: int = field(init=False)
    _known: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def __post_init__(self) -> None:
        op = self.operation.operation
        self.place = tile.place_of(op)
        self.memory = tile.memory_of(op)
        type_ = (op.results[0] if op.name == "tile.load" else op.operands[0]).type
        rows, columns = type_.shape
        self.shape = (rows, columns)
        self.width = self._vector()

    def load(self, number: int) -> Any:
        """Piece `number` of the tile; zero where it lies beyond the memory. The same value for the same elements."""
        row, column = self.layout.place(number, self.shape)
        key = tuple(at if dim in self.place.dims else 0 for dim, at in ((ROW, row), (COLUMN, column)))
        return self._once(("piece", key), lambda: self._load_piece(row, column))

    def store(self, number: int) -> PieceStore:
        """What storing piece `number` takes, built before any condition is entered."""
        row, column = self.layout.place(number, self.shape)
        parts = [(self._inside(COLUMN, column + first), self._at(row, column + first, self._index), first)
                 for first in range(0, self.layout.width, self.width)]  # fmt: skip
        outer = self._once(("outer", row), lambda: both(self._inside(FIXED, 0), self._inside(ROW, row)))
        return PieceStore(self, outer, parts)

    def _vector(self) -> int:
        """Elements of the widest access: a piece, or a part of it, that is contiguous in memory, starts at a multiple
        of its size and is never partly outside the memory."""
        if positions.is_position(self.memory):
            return self.layout.width
        strides = stride_divisors(self.memory)
        dims = self.place.dims
        if COLUMN not in dims or dims[-1] != COLUMN or strides[-1] != 1:
            return 1
        if self.memory.type.element_type.width < BYTE:
            return 1  # in memory each i1 has a byte, in a vector a bit
        width = self.layout.width
        numbers = [base_multiple(self.memory), multiple_of(self.place.offsets[-1])]
        for dim, offset, stride in zip(dims[:-1], self.place.offsets[:-1], strides[:-1], strict=True):
            if dim != FIXED or constants.integer_of(offset) != 0:
                numbers.append(stride)
        if not self.surely_inside(len(dims) - 1):
            numbers.append(size_divisor(self.memory, len(dims) - 1))
        while any(number % width for number in numbers):
            width //= 2
        return width

    def surely_inside(self, axis: int) -> bool:
        """Whether the tile is known to lie within one dimension of the memory."""
        if self.place.in_bounds[axis]:
            return True
        first, size = constants.integer_of(self.place.offsets[axis]), self.memory.type.shape[axis]
        extent = 1 if self.place.dims[axis] == FIXED else self.shape[self.place.dims[axis]]
        return first is not None and size != ir.ShapedType.get_dynamic_size() and first + extent <= size

    def _is_written(self) -> bool:
        """Whether somebody may be storing to the memory as well."""
        return tile.WRITTEN in self.operation.operation.attributes or any(
            user.name in _STORES for user in users(self.memory)
        )

    def _once(self, key: Any, build: Any) -> Any:
        if key not in self._known:
            self._known[key] = build()
        return self._known[key]

    def _start(self, axis: int) -> Any:
        """The index of the lane's first element in one dimension."""
        dim, offset = self.place.dims[axis], self.place.offsets[axis]
        if dim == FIXED:
            return offset
        own = self.lane.row if dim == ROW else self.lane.column
        return self._once(("start", axis), lambda: indexing.add(offset, own))

    def _index(self, axis: int, at: int) -> Any:
        """The index in one dimension of the element at distance `at` from the lane's first one."""
        return self._once(("index", axis, at), lambda: indexing.add(self._start(axis), at))

    def size(self, axis: int) -> Any:
        """The memory's size in one dimension, as a value."""
        size = self.memory.type.shape[axis]
        if size != ir.ShapedType.get_dynamic_size():
            return self._once(("size", axis), lambda: constants.index(size))
        return self._once(("size", axis), lambda: size_of(self.memory, axis))

    def _inside(self, dim: int, at: int) -> Any | None:
        """Whether the index at `at` lies within the memory, in the dimensions that run along `dim`; None: it does."""
        return self._once(("inside", dim, at), lambda: self._compare(dim, at))

    def _compare(self, dim: int, at: int) -> Any | None:
        arith = dialect("arith")
        found = None
        for axis, own in enumerate(self.place.dims):
            if own == dim and not self.surely_inside(axis):
                below = arith.CmpIOp(arith.CmpIPredicate.ult, self._index(axis, at), self.size(axis)).result
                found = both(found, below)
        return found

    def _clamped(self, axis: int, at: int) -> Any:
        """The same index, or the last one from which an access stays within the memory."""
        if self.surely_inside(axis):
            return self._index(axis, at)
        return self._once(("clamped", axis, at), lambda: self._clamp(axis, at))

    def _clamp(self, axis: int, at: int) -> Any:
        back = self.width if axis == len(self.place.dims) - 1 else 1
        size = self.memory.type.shape[axis]
        if size == ir.ShapedType.get_dynamic_size():
            last = self._once(("last", axis), lambda: indexing.sub(self.size(axis), back))
        else:
            last = self._once(("last", axis), lambda: constants.index(size - back))
        return dialect("arith").MinUIOp(self._index(axis, at), last).result

    def _at(self, row: int, column: int, index: Any) -> list[Any]:
        positions = {ROW: row, COLUMN: column, FIXED: 0}
        return [index(axis, positions[dim]) for axis, dim in enumerate(self.place.dims)]

    def _load_piece(self, row: int, column: int) -> Any:
        element = self.memory.type.element_type
        type_ = self.layout.piece_type(element)
        if positions.is_position(self.memory):
            return self._positions(type_, row, column)
        if COLUMN not in self.place.dims:
            return dialect("vector").BroadcastOp(type_, self._load_part(element, row, column)).result
        part = element if self.width == 1 else ir.VectorType.get([self.width], element)
        firsts = range(0, self.layout.width, self.width)
        return assemble(type_, [self._load_part(part, row, column + first) for first in firsts])

    def _positions(self, type_: Any, row: int, column: int) -> Any:
        """A piece of positions, which are computed: beyond their ends too."""
        indices = self._at(row, column, self._index)
        if COLUMN not in self.place.dims:
            return dialect("vector").BroadcastOp(type_, positions.at(self.memory, indices)).result
        return positions.in_a_row(self.memory, indices, self.place.dims.index(COLUMN), self.layout.width)

    def _load_part(self, type_: Any, row: int, column: int) -> Any:
        """One access, from a place that is surely inside the memory; elements from beyond the memory are then replaced
        by zero. From memory that is also written only what the lane needs is read: its neighbour may be writing the
        rest."""
        inside = both(both(self._inside(FIXED, 0), self._inside(ROW, row)), self._inside(COLUMN, column))
        if inside is not None and self._once("written", self._is_written):
            at = self._at(row, column, self._index)
            return guards.value_or_zero(inside, type_, lambda: load(type_, self.memory, at))
        once = tile.EVICT_FIRST in self.operation.operation.attributes
        loaded = load(type_, self.memory, self._at(row, column, self._clamped), once)
        if inside is None:
            return loaded
        zero = self._once(("zero", type_), lambda: dialect("arith").ConstantOp(type_, zero_of(type_)).result)
        return dialect("arith").SelectOp(inside, loaded, zero).result


@dataclass(frozen=True)
class PieceStore:
    """A lane's store of one piece, without the value."""

    access: LaneAccess
    outer: Any | None
    """Whether the piece lies within the memory in every dimension but along its columns; None: it does."""
    parts: list[tuple[Any | None, list[Any], int]]
    """For each part that is stored at once: whether it lies within the columns, its indices, its first element."""

    def emit(self, value: Any) -> None:
        """Stores `value`, where `outer` holds."""
        for inside, indices, first in self.parts:
            with guarded(inside):
                self._part(value, indices, first)

    def _part(self, value: Any, indices: list[Any], first: int) -> None:
        width = self.access.width
        if width == 1:
            value = dialect("vector").ExtractOp(value, [], [first]).result
        elif width < value.type.shape[0]:
            value = part_of(value, first, width)
        store(value, self.access.memory, indices)


_STORES = (*STORES, "vector.store", "memref.store")


def both(left: Any | None, right: Any | None) -> Any | None:
    """The conjunction of two conditions, either of which may be None: certainly true."""
    if left is None or right is None:
        return right if left is None else left
    return dialect("arith").AndIOp(left, right).result


@contextmanager
def guarded(condition: Any | None) -> Generator[None]:
    """Puts what is built inside under a condition, unless that is None."""
    if condition is None:
        yield
        return
    scf = dialect("scf")
    branch = scf.IfOp(condition)
    with ir.InsertionPoint(branch.then_block):
        yield
        scf.YieldOp([])


def load(type_: Any, memory: Any, indices: list[Any], once: bool = False) -> Any:
    """A load of one element or, aligned to its size, of a vector of neighbours; of what is read `once` a nontemporal
    one."""
    given = {"nontemporal": True} if once else {}
    if not isinstance(type_, ir.VectorType):
        return dialect("memref").LoadOp(memory, indices, **given).result
    return dialect("vector").LoadOp(type_, memory, indices, alignment=vector_bytes(type_), **given).result


def store(value: Any, memory: Any, indices: list[Any]) -> None:
    """A store of one element or, aligned to its size, of a vector of neighbours."""
    if not isinstance(value.type, ir.VectorType):
        dialect("memref").StoreOp(value, memory, indices)
        return
    dialect("vector").StoreOp(value, memory, indices, alignment=vector_bytes(value.type))


def part_of(value: Any, first: int, count: int) -> Any:
    """`count` neighbours of a vector of one dimension."""
    numbers = [dialect("vector").ExtractOp(value, [], [first + number]).result for number in range(count)]
    return dialect("vector").FromElementsOp(ir.VectorType.get([count], value.type.element_type), numbers).result


def assemble(type_: Any, parts: list[Any]) -> Any:
    """A vector of one dimension from its elements, or from equal vectors. Element by element: upstream lowers slices of
    vectors in no pass that the pipeline has."""
    if len(parts) == 1 and parts[0].type == type_:
        return parts[0]
    numbers: list[Any] = []
    for part in parts:
        if isinstance(part.type, ir.VectorType):
            numbers += [dialect("vector").ExtractOp(part, [], [place]).result for place in range(part.type.shape[0])]
        else:
            numbers.append(part)
    return dialect("vector").FromElementsOp(type_, numbers).result


def register_of(row: Any) -> Any:
    """What a lane holds of a row of a matrix, 4 bytes or one f64, as a number."""
    vector = dialect("vector")
    if row.type.element_type.width < 64:
        row = vector.BitCastOp(ir.VectorType.get([1], ir.IntegerType.get_signless(32)), row).result
    return vector.ExtractOp(row, [], [0]).result
