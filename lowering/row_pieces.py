"""What a thread holds of the tiles of a kernel of rows, and how it loads and stores them.

A tile is divided into equal fragments of as many rows as there are groups of threads, and as many columns as a group's
threads take in one access each. A thread has one piece of each: a few neighbours of one row of the tile. Of a tile with
one column, or one row, every thread has the one that its pieces of other tiles are in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, positions, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import collapsed, stride_divisors
from mlir_gemm.lowering.access import COLUMN, FIXED, ROW, LaneAccess, assemble, load, store
from mlir_gemm.lowering.between_vectors import HALF, WORD, Between
from mlir_gemm.lowering.layouts import Lane, Layout
from mlir_gemm.lowering.multiples import base_multiple
from mlir_gemm.lowering.row_ends import Ends, least_of, may_be_negative, most_of, plus, starts_within


@dataclass(frozen=True)
class RowLayout(Layout):
    """Threads of a block side by side along the rows of a tile, in groups below each other."""

    def __post_init__(self) -> None:
        """Any shape: several threads may have the same piece."""

    def grid(self, tile: tuple[int, int]) -> tuple[int, int]:
        """Fragments down and along a tile."""
        return tile[0] // self.shape[0], tile[1] // self.shape[1]


@dataclass(frozen=True)
class Threads:
    """The threads of a block, and where the running one is."""

    count: int
    across: int
    """Threads side by side."""
    width: int
    """Elements of one access."""
    number: Any
    row: Any
    """The thread's group, which is its row in a fragment."""
    column: Any
    """Its place in the group."""

    @staticmethod
    def of(count: int, across: int, width: int) -> Threads:
        """The threads of a block, at the insertion point."""
        number = indexing.thread()
        return Threads(count, across, width, number, indexing.div(number, across), indexing.rem(number, across))

    def side_by_side(self, width: int) -> Threads:
        """All of them in one group, with so many elements in an access."""
        return Threads(self.count, self.count, width, self.number, constants.index(0), self.number)

    @property
    def groups(self) -> int:
        """Groups of threads below each other."""
        return self.count // self.across

    @property
    def fragment(self) -> tuple[int, int]:
        """The shape of a fragment."""
        return self.groups, self.across * self.width

    def layout(self, shape: tuple[int, int]) -> RowLayout:
        """How tiles of a shape are divided; a tile of one row or one column is the same for all along it."""
        rows, columns = self.fragment
        width = 1 if shape[1] == 1 else self.width
        return RowLayout((1 if shape[0] == 1 else rows, 1 if shape[1] == 1 else columns), (0,), width,
                         stacked=False, lanes=self.count)  # fmt: skip

    def lane(self, shape: tuple[int, int]) -> Lane:
        """Where the running thread's piece lies in a fragment of such a tile."""
        row = constants.index(0) if shape[0] == 1 else self.row
        column = constants.index(0) if shape[1] == 1 else indexing.mul(self.column, self.width)
        return Lane(self.number, row, column)


def shape_of(type_: Any) -> tuple[int, int]:
    """Rows and columns of a tile."""
    rows, columns = type_.shape
    return rows, columns


def is_tile(value: Any) -> bool:
    """Whether a value is a tile, which threads hold pieces of."""
    return isinstance(value.type, ir.VectorType) and value.type.rank == 2


class RowAccess(LaneAccess):
    """A tile.load or tile.store of a thread's pieces, which knows of each piece whether it lies within the memory.

    One that is `aligned` may start before the first index: pieces that lie within the memory are moved at once, others
    element by element.
    """

    @property
    def aligned(self) -> int:
        """The elements that the tile starts at a multiple of in memory, if it may start before the first index; or
        0."""
        return constants.number_of(self.operation, tile.ALIGNED)

    @property
    def _once_only(self) -> bool:
        return tile.EVICT_FIRST in self.operation.attributes

    def load(self, number: int) -> Any:
        if positions.is_position(self.memory):
            return super().load(number)
        if not self.aligned:
            between = self._once("between", self._between)
            return super().load(number) if between is None else self._load_between(between, number)
        column = self.layout.place(number, self.shape)[1]
        type_ = self.layout.piece_type(self.memory.type.element_type)
        line = self._once("line", self._as_line)
        if line is not None:
            return self._load_of_line(line, column, type_)
        indices, size = self.indices(column), self.length()
        return guards.either(
            self.whole(column), type_, lambda: load(type_, self.memory, indices, self._once_only),
            lambda: self._by_element(indices, size, type_),
        )  # fmt: skip

    def _as_line(self) -> Line | None:
        """The memory as one line, where a piece may be read that is not wholly of the tile's row."""
        type_, axis = self.memory.type, len(self.place.dims) - 1
        if tile.BEYOND not in self.operation.attributes or self.place.dims[axis] != COLUMN or self._is_written():
            return None
        return (
            Line.of(self.memory, [self._index(each, 0) for each in range(axis)], self.aligned)
            if (type_.has_static_shape and type_.shape[axis] >= self.aligned)
            else None
        )

    def _load_of_line(self, line: Line, column: int, type_: Any) -> Any:
        """A piece with whatever lies beside the row in memory: at once, unless some of it lies beyond the memory. In
        place of one that lies beyond the row another is loaded, without a test, and others beside it."""
        axis, arith = self._columns(), dialect("arith")
        size = self.memory.type.shape[axis]
        indices = self.indices(column)
        at = indices[axis]

        def whole() -> Any:
            return load(type_, line.memory, [arith.AddIOp(line.first, at).result], self._once_only)

        known = starts_within(self.place.offsets[axis], self.aligned) and column + self.layout.shape[1] <= size
        if self.surely_inside(axis) or known:
            return whole()
        inside = arith.CmpIOp(arith.CmpIPredicate.slt, at, line.end).result
        first = arith.SelectOp(inside, arith.AddIOp(line.first, at).result, constants.index(0)).result
        piece = load(type_, line.memory, [first], self._once_only)
        if line.divided:
            return piece
        length, outside = self.length(), arith.CmpIOp(arith.CmpIPredicate.sge, at, line.end).result
        crossing = guards.both([outside, arith.CmpIOp(arith.CmpIPredicate.slt, at, constants.index(size)).result])
        return guards.either(crossing, type_, lambda: self._by_element(indices, length, type_), lambda: piece)

    def _between(self) -> Between | None:
        """How a tile lies that all rows share and that starts between vectors of elements of 16 or 32 bits."""
        width, axis = self.layout.width, len(self.place.dims) - 1
        alone = width > 1 and self.width == 1 and self.place.dims[axis] == COLUMN and ROW not in self.place.dims
        if (
            not alone
            or self.memory.type.element_type.width not in (HALF, WORD)
            or self._once("written", self._is_written)
        ):
            return None
        dense = stride_divisors(self.memory)[-1] == 1 and base_multiple(self.memory) % width == 0
        strides = [
            stride for stride, own in zip(stride_divisors(self.memory)[:-1], self.place.dims[:-1], strict=True)
            if own != FIXED or constants.integer_of(self.place.offsets[self.place.dims.index(own)]) != 0
        ]  # fmt: skip
        size = self.memory.type.shape[axis]
        if not dense or any(stride % width for stride in strides) or size < 2 * width:
            return None
        return Between.of(self.place.offsets[axis], width, self.memory.type.element_type.width)

    def _load_between(self, between: Between, number: int) -> Any:
        column, width = self.layout.place(number, self.shape)[1], self.layout.width
        return self._once(("between", column), lambda: self._load_both(between, column, width))

    def _load_both(self, between: Between, column: int, width: int) -> Any:
        """Both vectors around a piece, which are loaded before anything is asked of them; where the memory ends in one,
        what there is."""
        type_, arith = self.layout.piece_type(self.memory.type.element_type), dialect("arith")
        first, size, length = self.indices(column)[:-1], self.memory.type.shape[self._columns()], self.length()
        at = plus(plus(between.first, self.lane.column), constants.index(column))
        after = plus(at, constants.index(width))
        offset, extent = self.place.offsets[self._columns()], self.layout.shape[1]
        if least_of(offset) + column < width:
            at = arith.MaxSIOp(at, constants.index(0)).result
        most = most_of(offset)
        inside = most is not None and most + column + extent + width <= size

        def vector(place: Any) -> Any:
            indices, whole = [*first, place], None if inside else guards.less(place, size - width + 1)
            return guards.either(whole, type_, lambda: load(type_, self.memory, indices),
                                 lambda: self._by_element(indices, length, type_))  # fmt: skip

        return between.between((vector(at), vector(after)))

    def store(self, number: int) -> Any:
        if not self.aligned:
            return super().store(number)
        return AlignedStore(self, self.layout.place(number, self.shape)[1])

    def _by_element(self, indices: list[Any], size: Any, type_: Any) -> Any:
        elements: list[Any] = []
        for place in range(self.layout.width):
            at = self.further(indices, place)
            inside = guards.less(at[self._columns()], size)
            element = type_.element_type
            elements.append(guards.value_or_zero(inside, element, lambda at=at: load(None, self.memory, at)))
        return assemble(type_, elements)

    def indices(self, column: int) -> list[Any]:
        """The indices of an element of an aligned tile, beyond the thread's first one."""
        positions = {ROW: 0, COLUMN: column, FIXED: 0}
        return [self._index(axis, positions[dim]) for axis, dim in enumerate(self.place.dims)]

    def further(self, indices: list[Any], distance: int) -> list[Any]:
        """The indices this many elements on."""
        axis = self._columns()
        return [plus(index, constants.index(distance)) if each == axis else index for each, index in enumerate(indices)]

    def whole(self, column: int) -> Any | None:
        """Whether a piece lies within the memory; None: it does. A negative index, compared as unsigned, is beyond the
        end."""
        axis, size = self._columns(), self.memory.type.shape[self._columns()]
        if self.surely_inside(axis):
            return None
        known = size != ir.ShapedType.get_dynamic_size() and starts_within(self.place.offsets[axis], self.aligned)
        if known and self.layout.width <= column <= size - self.layout.shape[1]:
            return None
        ends = self.ends(column)
        if ends is not None:
            return ends.whole
        first = self.indices(column)
        last = self.further(first, self.layout.width - 1)
        return guards.both([guards.less(each[axis], self.length()) for each in (first, last)])

    def ends(self, column: int) -> Ends | None:
        """Where a piece of an aligned tile is among the ends of a row of constant length."""
        axis, size = self._columns(), self.memory.type.shape[self._columns()]
        end = None if size == ir.ShapedType.get_dynamic_size() else size
        return Ends.of(self.place.offsets[axis], self.lane.column, column, end, self.layout)

    def length(self) -> Any:
        """The memory's size along the columns, as a value."""
        return self.size(self._columns())

    def _columns(self) -> int:
        return self.place.dims.index(COLUMN)

    def _vector(self) -> int:
        return min(self.layout.width, self.aligned) if self.aligned else super()._vector()

    def _start(self, axis: int) -> Any:
        if self.place.dims[axis] != COLUMN or not may_be_negative(self.place.offsets[axis]):
            return super()._start(axis)
        return self._once(("start", axis), lambda: plus(self.place.offsets[axis], self.lane.column))

    def _index(self, axis: int, at: int) -> Any:
        if self.place.dims[axis] != COLUMN or not may_be_negative(self.place.offsets[axis]):
            return super()._index(axis, at)
        return self._once(("index", axis, at), lambda: plus(self._start(axis), constants.index(at)))

    def _inside(self, dim: int, at: int) -> Any | None:
        if dim != FIXED and all(self._surely(axis, at) for axis, own in enumerate(self.place.dims) if own == dim):
            return None
        return super()._inside(dim, at)

    def _clamped(self, axis: int, at: int) -> Any:
        if self.place.dims[axis] != FIXED and self._surely(axis, at):
            return self._index(axis, at)
        return super()._clamped(axis, at)

    def _surely(self, axis: int, at: int) -> bool:
        """Whether what any thread has of the fragment at `at` lies within the memory, in one dimension of it."""
        if self.surely_inside(axis):
            return True
        first, size = constants.integer_of(self.place.offsets[axis]), self.memory.type.shape[axis]
        extent = self.layout.shape[{ROW: 0, COLUMN: 1}[self.place.dims[axis]]]
        if first is None or size == ir.ShapedType.get_dynamic_size():
            return False
        return bool(first + at // extent * extent + extent <= size)


@dataclass(frozen=True)
class Line:
    """Rows that lie one after another, as one line of memory."""

    memory: Any
    first: Any
    """Where the tile's row starts."""
    end: Any
    """The place in the row from which on no vector may be read: the row's end, or in the last row of the memory that of
    the last vector."""
    divided: bool
    """Whether vectors divide the line."""

    @staticmethod
    def of(memory: Any, row: list[Any], vector: int) -> Line | None:
        """The line of a memref of constant sizes, at the insertion point; None where rows lie otherwise."""
        type_, arith = memory.type, dialect("arith")
        strides, offset = type_.get_strides_and_offset()
        dense = [math.prod(type_.shape[axis + 1 :]) for axis in range(len(strides))]
        if list(strides) != dense or offset:
            return None
        first = constants.index(0)
        for index, stride in zip(row, strides[:-1], strict=True):
            first = indexing.add(first, indexing.mul(index, stride))
        size, total = type_.shape[-1], math.prod(type_.shape)
        divided = total % vector == 0
        end, last = constants.index(size), total - size - vector + 1
        if not divided and last > 0:
            before = guards.less(first, last)
            end = arith.SelectOp(before, end, constants.index(size - vector + 1)).result
        elif not divided:
            end = constants.index(size - vector + 1)
        return Line(collapsed(memory), first, end, divided)


@dataclass(frozen=True)
class AlignedStore:
    """A thread's store of one piece of an aligned tile."""

    access: RowAccess
    column: int
    outer: Any | None = None

    def emit(self, value: Any) -> None:
        """Stores `value`: at once where all of it lies within the memory, else what does."""
        access = self.access
        indices, size, whole = access.indices(self.column), access.length(), access.whole(self.column)
        if whole is None:
            store(value, access.memory, indices)
            return
        scf = dialect("scf")
        choice = scf.IfOp(whole, has_else=True)
        with ir.InsertionPoint(choice.then_block):
            store(value, access.memory, indices)
            scf.YieldOp([])
        axis = access.place.dims.index(COLUMN)
        with ir.InsertionPoint(choice.else_block):
            ends = access.ends(self.column)
            for place in range(value.type.shape[0]):
                at = access.further(indices, place)
                element = dialect("vector").ExtractOp(value, [], [place]).result
                inside = guards.less(at[axis], size) if ends is None else ends.inside(place)
                guards.do(inside, lambda at=at, element=element: store(element, access.memory, at))
            scf.YieldOp([])
