"""Stores of tiles with unaligned rows in memory, by lanes, still in whole vectors.

A lane has two neighbours of a row. Where rows are not a multiple of 16 bytes apart, it would store them one by one, and
each 32 bytes of memory would be written in eight parts. So some rows of the tile go to a buffer in shared memory first,
or columns, where the memory's rows run down the tile. In it each row begins as far after a multiple of 16 bytes as in
memory. What is a whole vector there is one in memory too, and leaves at once; neighbouring lanes have neighbouring
vectors. What is left at both ends of a row, less than a vector each, leaves element by element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.guards import less
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import cast_values
from mlir_gemm.dialect.stores import is_transposed
from mlir_gemm.lowering.access import COLUMN, FIXED, ROW, LaneAccess, both, guarded, load, store
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.named_barriers import sync_warp, sync_warpgroup
from mlir_gemm.spec.shared_rows import VECTOR
from mlir_gemm.spec.threads import LANES


@dataclass
class UnalignedStores:
    """All tile.unaligned_store of a group of operations."""

    stores: list[Any]
    fragments: Fragments
    shape: tuple[int, int]

    @staticmethod
    def of(operations: list[Any], fragments: Fragments) -> UnalignedStores | None:
        """Those among some operations; None where there are none."""
        stores = [op for op in operations if op.name == "tile.unaligned_store"]
        if not stores:
            return None
        rows, columns = stores[0].operands[0].type.shape
        return UnalignedStores(stores, fragments, (rows, columns))

    @property
    def columns(self) -> int:
        """Columns of the tile that a buffer holds."""
        return columns_of(self.stores[0])

    def emit(self, numbers: range, _chunks: int, piece: Callable[[Any, int], Any]) -> None:
        """Stores one of the tile's chunks; `piece` gives a lane's piece of a tile by its number."""
        layout = self.fragments.layout
        unit = indexing.div(indexing.thread(), layout.lanes)
        for store_ in self.stores:
            with store_.location:
                rows = _Rows(store_, self.fragments, self.shape, numbers)
                self._meet(unit)  # what was in the buffer has been read
                rows.fill(unit, [piece(store_.operands[0], number) for number in numbers])
                self._meet(unit)
                rows.leave(unit)

    def _meet(self, unit: Any) -> None:
        """A barrier of the unit's lanes."""
        if self.fragments.layout.lanes > LANES:
            sync_warpgroup(unit)
        else:
            sync_warp()


def columns_of(store_: Any) -> int:
    """Columns of the tile that the buffer of a tile.unaligned_store holds."""
    _, lines, pitch = store_.operands[2].type.shape
    return lines if is_transposed(store_) else pitch - _vector(store_.operands[2])


def _vector(staging: Any) -> int:
    return VECTOR * 8 // staging.type.element_type.width


@dataclass
class _Rows:
    """One chunk of a tile on its way: rows of the memory, each a part of `run` elements."""

    store: Any
    fragments: Fragments
    shape: tuple[int, int]
    numbers: range
    access: LaneAccess = field(init=False)
    start: tuple[int, int] = field(init=False)
    """Row and column of the tile at which the chunk starts."""
    line: int = field(init=False)
    """What the memory's rows are in the tile: ROW or COLUMN."""
    lines: int = field(init=False)
    run: int = field(init=False)
    vector: int = field(init=False)
    """Elements of 16 bytes."""
    _known: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def __post_init__(self) -> None:
        layout = self.fragments.layout
        self.access = LaneAccess(self.store, layout, self.fragments.lane)
        self.start = layout.place(self.numbers[0], self.shape)
        columns = len(self.numbers) // len(layout.rows) * layout.shape[1]
        sizes = layout.shape[0], columns
        self.line = COLUMN if is_transposed(self.store) else ROW
        self.lines, self.run = sizes[self.line], sizes[1 - self.line]
        self.vector = _vector(self.staging)
        _, lines, pitch = self.staging.type.shape
        if self.lines > lines or self.run + self.vector > pitch:
            raise pass_error(
                self.store,
                f"{self.lines} rows of {self.run} elements and a vector more in a buffer of {self.staging.type}; this "
                f"mma stores {layout.shape[0]} rows of a tile at a time",
            )

    @property
    def staging(self) -> Any:
        """The buffer: for each unit rows of `run` elements and a vector more."""
        return self.store.operands[2]

    def fill(self, unit: Any, pieces: list[Any]) -> None:
        """Puts a lane's pieces where they are in the rows."""
        layout = self.fragments.layout
        for number, piece in zip(self.numbers, pieces, strict=True):
            row, column = layout.place(number, self.shape)
            for each in range(layout.width):
                element = dialect("vector").ExtractOp(piece, [], [each]).result
                place = row - self.start[ROW], column + each - self.start[COLUMN]
                self._put(unit, element, place[self.line], place[1 - self.line])

    def _put(self, unit: Any, element: Any, line: int, along: int) -> None:
        """Puts one element there, this many rows of the memory and elements of a row beyond the lane's first."""
        lane = self.fragments.lane
        own = (lane.row, lane.column)
        residue = line % self.vector  # a multiple of vectors' elements, times any stride, is whole vectors
        behind = self._once(("behind", residue), lambda: self._behind(own[self.line], residue))
        first = self._once(("first", residue), lambda: indexing.add(own[1 - self.line], behind))
        store(element, self.staging, [unit, indexing.add(own[self.line], line), indexing.add(first, along)])

    def leave(self, unit: Any) -> None:
        """Stores the rows: whole vectors, and what is left at their ends."""
        self._count()  # what all slots need, before what some of them do under a condition
        for axis in range(len(self.access.place.dims)):
            self.access.size(axis)
        self._each_slot(self.run // self.vector, lambda line, slot: self._whole(unit, line, slot))
        self._each_slot(2 * self.vector, lambda line, slot: self._rest(unit, line, slot))

    def _each_slot(self, slots: int, prepare: Callable[[Any, Any], Callable[[], None]]) -> None:
        """Divides this many slots of each row among the lanes. What `prepare` returns is called once all are prepared,
        so that loads are in flight together."""
        lanes, total = self.fragments.layout.lanes, self.lines * slots
        lane = self.fragments.lane.number
        whole = list[Callable[[], None]]()
        for first in range(0, total, lanes):
            if lanes % slots == 0:
                line, slot = indexing.add(indexing.div(lane, slots), first // slots), indexing.rem(lane, slots)
            else:
                number = indexing.add(lane, first)
                line, slot = indexing.div(number, slots), indexing.rem(number, slots)
            if first + lanes <= total:
                whole.append(prepare(line, slot))
                continue
            with guarded(less(indexing.add(lane, first), total)):
                prepare(line, slot)()
        for finish in whole:
            finish()

    def _whole(self, unit: Any, line: Any, slot: Any) -> Callable[[], None]:
        """A vector of a row, `slot` vectors after the multiple of 16 bytes at or before its start."""
        behind, inside = self._behind(line, 0), self._inside(line)
        at = indexing.mul(slot, self.vector)
        begun = indexing.at_least(at, behind)
        filled = indexing.select(begun, at, self.vector)  # what is read is there, needed or not
        type_ = ir.VectorType.get([self.vector], self.staging.type.element_type)
        value = load(type_, self.staging, [unit, line, filled])
        whole = both(begun, inside)
        if not self._surely_ends:
            end = indexing.add(behind, self._count())
            whole = both(whole, indexing.at_least(end, indexing.add(at, self.vector)))

        def finish() -> None:
            with guarded(whole):
                store(value, self.access.memory, self._place(line, at, behind))

        return finish

    def _rest(self, unit: Any, line: Any, slot: Any) -> Callable[[], None]:
        """An element of a vector that is not whole: the first of a row, or the last."""
        arith = dialect("arith")
        behind, inside = self._behind(line, 0), self._inside(line)
        end = indexing.add(behind, self._count())
        last = indexing.mul(indexing.div(end, self.vector), self.vector)
        ahead = less(slot, self.vector)
        at = indexing.select(
            ahead, slot, arith.AddIOp(arith.SubIOp(slot, constants.index(self.vector)).result, last).result
        )
        ends = arith.SubIOp(indexing.add(behind, self.run), constants.index(1)).result
        value = load(
            self.staging.type.element_type,
            self.staging,
            [unit, line, arith.MaxUIOp(arith.MinUIOp(at, ends).result, behind).result],  # what is there, needed or not
        )
        # A row that starts at a vector has no first part, and the last one of a short row may be its first.
        torn = indexing.select(indexing.at_least(behind, 1), self.vector, 0)
        side = arith.CmpIOp(arith.CmpIPredicate.eq, ahead, less(at, torn)).result
        needed = both(both(indexing.at_least(at, behind), less(at, end)), side)
        needed = both(needed, inside)

        def finish() -> None:
            with guarded(needed):
                store(value, self.access.memory, self._place(line, at, behind))

        return finish

    def _behind(self, line: Any, further: int) -> Any:
        """How many elements after a multiple of 16 bytes a row starts."""
        access, total = self.access, None
        for axis, (stride, offset) in enumerate(zip(self._strides, access.place.offsets, strict=True)):
            dim = access.place.dims[axis]
            at = offset if dim == FIXED else indexing.add(offset, self.start[dim] % self.vector)
            if dim == self.line:
                at = indexing.add(indexing.add(at, line), further)
            if isinstance(stride, int):
                stride %= self.vector
                if not stride:
                    continue
            term = at if stride == 1 else indexing.mul(at, stride)
            total = term if total is None else indexing.add(total, term)
        offset = access.memory.type.get_strides_and_offset()[1] % self.vector
        return indexing.rem(constants.index(offset) if total is None else indexing.add(total, offset), self.vector)

    @property
    def _strides(self) -> list[Any]:
        """Elements between neighbours along each dimension: numbers, or index values."""
        memory = self.access.memory
        strides, _ = memory.type.get_strides_and_offset()
        if ir.ShapedType.get_dynamic_stride_or_offset() not in strides:
            return list(strides)
        return cast_values(memory.owner.operation, "strides")

    @property
    def _surely_ends(self) -> bool:
        """Whether rows are known to lie within the memory to their ends."""
        return all(
            self.access.surely_inside(axis)
            for axis, dim in enumerate(self.access.place.dims)
            if dim == 1 - self.line
        )  # fmt: skip

    def _count(self) -> Any:
        """Elements of a row of the chunk that lie within the memory."""
        return self._once("count", self._counted)

    def _counted(self) -> Any:
        if self._surely_ends:
            return constants.index(self.run)
        arith, access = dialect("arith"), self.access
        axis = access.place.dims.index(1 - self.line)
        at, size = indexing.add(access.place.offsets[axis], self.start[1 - self.line]), access.size(axis)
        left = arith.SubIOp(arith.MaxUIOp(size, at).result, at).result
        return arith.MinUIOp(left, constants.index(self.run)).result

    def _inside(self, line: Any) -> Any | None:
        """Whether a row lies within the memory; None: it does."""
        access, found = self.access, None
        for axis, dim in enumerate(access.place.dims):
            if dim != 1 - self.line and not access.surely_inside(axis):
                found = both(found, less(self._line_index(axis, dim, line), access.size(axis)))
        return found

    def _line_index(self, axis: int, dim: int, line: Any) -> Any:
        offset = self.access.place.offsets[axis]
        return offset if dim == FIXED else indexing.add(indexing.add(offset, line), self.start[dim])

    def _place(self, line: Any, at: Any, behind: Any) -> list[Any]:
        """The indices in memory of what lies at `at` in the buffer's row."""
        along, indices = 1 - self.line, list[Any]()
        for axis, dim in enumerate(self.access.place.dims):
            if dim == along:
                first = indexing.add(self.access.place.offsets[axis], self.start[along])
                indices.append(indexing.sub(indexing.add(first, at), behind))
            else:
                indices.append(self._line_index(axis, dim, line))
        return indices

    def _once(self, key: Any, build: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = build()
        return self._known[key]
