"""Kernels of rows as operations on tiles: what a block's tile holds, and when it has to be computed again.

A value of the kernel is *wide*, an element for each element of a row, or *narrow*, one for each row. Narrow values are
computed once. Wide ones are computed where they are needed: once where a tile holds whole rows, else in each pass over
the rows, from what is in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, positions, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.flat_rows import FlatRows
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import rank
from mlir_gemm.dialect.row_loops import reads
from mlir_gemm.dialect.row_passes import RowPasses
from mlir_gemm.dialect.staged_rows import StagedRows

FEW_TILES = 2
"""Tiles from shared memory that are computed before any is stored, where they take a norm's weights, which are not
loaded ahead of a store that may be to the same memory: more take more registers than there are. One at a time, with
the next one's weights loaded before it is stored, takes as long, within 1 % (256x50257 and 2000x20001 f16, H200)."""


@dataclass
class RowTiles(RowPasses):
    """Builds what a block does, at the insertion point."""

    narrow: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The narrow values by buffer."""
    makers: dict[Any, Generic] = field(default_factory=dict[Any, Generic])
    """The operations that make wide values, by buffer."""
    staged: bool = False
    """Whether what the first pass over rows loads is kept in shared memory for the others."""
    loading: bool = False
    """Whether all tiles of an iteration are loaded before any is used."""
    evict_first: bool = False
    """Whether what is read of rows is the first that L2 gives up."""
    flat: int = 0
    """If not 0, rows are copied to shared memory and back as they lie in memory, so many elements at once."""
    part: Any = None
    """Where in a row the only tile of it lies that the block has; None where it has whole rows."""
    first: Any = None
    """The block of operations in which everything is built."""

    def __post_init__(self) -> None:
        if self.part is not None:
            self.place[self.loops.element] = self.part

    def enter_cluster(self) -> None:
        """Finds out which of the blocks that share rows this is."""
        if self.cluster > 1:
            self.rank = rank() if self.meeting is None else self.meeting.rank
            self.ahead = indexing.mul(self.rank, self.tile.elements)
            if self.whole:
                self.place[self.loops.element] = self.ahead

    def align(self, memory: Any, map_: Any) -> None:
        """Lets tiles start where rows of an operand have aligned addresses, with `shift`. All operands along rows must
        have rows at the same distances from such addresses."""
        arith = dialect("arith")
        strides, _ = memory.type.get_strides_and_offset()
        distance: Any = 0
        for expression, stride in zip(map_.results, strides, strict=True):
            if isinstance(expression, ir.AffineDimExpr) and expression.position < self.loops.outer:
                step = indexing.mul(self.place[expression.position], stride % self.shift)
                distance = step if isinstance(distance, int) else indexing.add(distance, step)
        if not isinstance(distance, int):
            distance = indexing.rem(distance, self.shift)
            self.start = arith.SubIOp(constants.index(0), distance).result
            if self.whole:
                self.place[self.loops.element] = self.moved(self.start)

    def elementwise(self, generic: Generic) -> None:
        """Notes an operation for each element, or computes one for each row."""
        wide = len(generic.parallel) > self.loops.outer
        for output in generic.outputs:
            if wide:
                self.makers[output] = generic
                self.held.pop(output, None)
        if not wide:
            values = self._yielded(generic, generic.yielded)
            for output, value in zip(generic.outputs, values, strict=True):
                self.narrow[output] = self.spread(value, False)

    def store(self, buffers: Sequence[tuple[Any, Any]]) -> None:
        """Stores values to buffers, given with their maps: the narrow ones, then the wide ones in one pass."""
        narrow = [each for each in buffers if each[0] in self.narrow]
        is_first = self.rank and dialect("arith").CmpIOp(0, self.rank, constants.index(0)).result
        if narrow:
            guards.do(is_first, lambda: self._store_narrow(narrow))
        wide = [each for each in buffers if each[0] not in self.narrow]
        if self.whole or self.part is not None:
            self._put([self.spread(self._wide(buffer), True) for buffer, _ in wide], wide)
        elif wide:
            self.staged = False  # no pass comes after this one
            self.go_over([], lambda _: self._put_tiles(wide))

    def _put_tiles(self, wide: Sequence[tuple[Any, Any]]) -> list[Any]:
        makers = [self.makers[buffer] for buffer, _ in wide if buffer in self.makers]
        if self.shift:
            self.load_ahead(makers)
        read = [map_ for generic in makers for _, map_ in reads(generic, self.makers, set(self.narrow))]
        beside = any(self._along(map_) and not self.has_rows(map_) for map_ in read)
        many = FEW_TILES if self._kept_rows.shared and self.shift and beside else self.tiles
        first = 0
        while first < self.tiles:
            end = min(first + many, self.tiles)
            uneven = (each for each in range(first + 1, end) if self.is_uneven(each) and not self.is_uneven(first))
            some = range(first, next(uneven, end))
            guards.do(self.within(first), lambda some=some: self._compute_and_put(some, wide))
            first = some.stop
        return []

    def _compute_and_put(self, some: range, wide: Sequence[tuple[Any, Any]]) -> None:
        values = [[self.spread(self._wide(buffer), True) for buffer, _ in wide] for _ in self.each_tile(some)]
        for each, _ in zip(values, self.each_tile(some), strict=True):
            self._put(each, wide)

    def unless_beyond(self, number: int, build: Callable[[], list[Any]], neutral: list[Any]) -> list[Any]:
        """Wide values of a tile of an iteration, or splats of these elements in a block whose tile lies beyond the
        row."""
        before = dict(self.held)
        types = [self.tile.type(each.type, True) for each in neutral]
        found = guards.either_of(self.within(number), types, build, lambda: [
            constants.splat(type_, each) for type_, each in zip(types, neutral, strict=True)])  # fmt: skip
        if self.is_uneven(number):
            self.held.clear()
            self.held.update(before)
        return found

    def _store_narrow(self, buffers: Sequence[tuple[Any, Any]]) -> None:
        for buffer, map_ in buffers:
            tile.store(self.narrow[buffer], buffer, self._place(map_, False))

    def load(self, memory: Any, map_: Any, wide: bool) -> Any:
        """A tile of memory, loaded once at a place."""
        key = memory, str(map_), wide
        if key in self.held:
            return self.held[key]
        type_ = self.tile.type(memory.type.element_type, wide)
        if key in self._kept_rows.shared and not self.in_front:
            value = self._kept_rows.load(key, self.passed, type_)
        elif self.flat and wide and self.has_rows(map_):
            value = self._rows.load(memory, type_)
        else:
            value = tile.load(memory, self._place(map_, wide), type_)
            if positions.is_position(memory):
                self.held[key] = value
                return value
            if self._say_aligned(value.owner, map_, wide):
                value.owner.attributes[tile.BEYOND] = ir.UnitAttr.get()
            if self.evict_first and wide and self.has_rows(map_):
                value.owner.attributes[tile.EVICT_FIRST] = ir.UnitAttr.get()
            if self.staged and wide and self.passed is not None and not self.in_front and self.has_rows(map_):
                self._kept_rows.waiting.append((key, value, self.passed))
                self._stage()
        self.held[key] = value
        return value

    def has_rows(self, map_: Any) -> bool:
        """Whether an operand has elements of its own for each row."""
        loops = [e.position for e in map_.results if isinstance(e, ir.AffineDimExpr)]
        single = all(isinstance(size, int) and size == 1 for size in self.loops.sizes[: self.loops.outer])
        return self.loops.element in loops and (single or any(loop < self.loops.outer for loop in loops))

    def _along(self, map_: Any) -> bool:
        return any(isinstance(e, ir.AffineDimExpr) and e.position == self.loops.element for e in map_.results)

    def _say_aligned(self, operation: Any, map_: Any, wide: bool) -> bool:
        if self.shift and wide and self.has_rows(map_):
            operation.attributes[tile.ALIGNED] = constants.integer(self.shift)
        return tile.ALIGNED in operation.attributes

    def _stage(self) -> None:
        """Puts what was loaded into shared memory, in whole tiles, once all of an iteration's tiles are loaded."""
        if self._kept_rows.waiting and not self.loading:
            self._kept_rows.put(self.kept_elements)

    def end_pass(self) -> None:
        """From now on rows that were put into shared memory are found there."""
        self._kept_rows.end_pass()

    @functools.cached_property
    def _kept_rows(self) -> StagedRows:
        return StagedRows(self.cluster, self.first, self.tile.elements if self.meeting is not None else 0)

    @functools.cached_property
    def _rows(self) -> FlatRows:
        return FlatRows(self.tile.rows, self.loops.sizes[self.loops.element], self.flat, self.place[self.loops.row],
                        self.first)  # fmt: skip

    def _put(self, values: Sequence[Any], buffers: Sequence[tuple[Any, Any]]) -> None:
        if self.flat:
            self._rows.store(values, [buffer for buffer, _ in buffers])
            return
        for value, (buffer, map_) in zip(values, buffers, strict=True):
            self._say_aligned(tile.store(value, buffer, self._place(map_, True)), map_, True)

    def load_ahead(self, generics: Sequence[Generic]) -> None:
        """Loads what operations read of rows for all tiles of an iteration, before any of it is used: where tiles are
        tested at the ends of rows, a thread would wait for each before it loads the next. The last comes first, since
        it may be loaded in a branch, after which what stands before it may be waited for."""
        known = {*self.narrow, *(memory for memory, *_ in self._kept_rows.shared)}
        read = (each for generic in generics for each in reads(generic, self.makers, known))
        wanted = [each for each in dict.fromkeys(read) if self.has_rows(each[1])]
        self.loading = True
        for _ in self.each_tile(range(self.tiles - 1, -1, -1)):
            for memory, map_ in wanted:
                self.load(memory, map_, True)
        self.loading = False
        self._stage()

    def value(self, generic: Generic, value: Any) -> Any:
        """A value of a body as a wide tile."""
        return self.spread(self._yielded(generic, [value])[0], True)

    def _yielded(self, generic: Generic, wanted: Sequence[Any]) -> list[Any]:
        """Values of a body, on tiles."""
        known: dict[Any, Any] = {}
        for argument, buffer, map_ in zip(generic.body.arguments, generic.operands, generic.maps, strict=True):
            if any(True for _ in argument.uses):
                known[argument] = lambda buffer=buffer, map_=map_: self.operand(buffer, map_)
        return [self._computed(value, known, generic) for value in wanted]

    def operand(self, buffer: Any, map_: Any) -> Any:
        """What is read of a buffer: computed, or loaded."""
        if buffer in self.narrow:
            return self.narrow[buffer]
        if buffer in self.makers:
            return self._wide(buffer)
        if not isinstance(buffer.type, ir.MemRefType):
            if getattr(buffer.owner, "name", "") != "arith.constant":
                raise pass_error(buffer.owner, "a number known at run time only; expected a constant")
            return buffer.owner.attributes["value"]
        along = {e.position for e in map_.results if isinstance(e, ir.AffineDimExpr)}
        return self.load(buffer, map_, any(loop >= self.loops.outer for loop in along))

    def _wide(self, buffer: Any) -> Any:
        if buffer not in self.held:
            generic = self.makers[buffer]
            values = self._yielded(generic, generic.yielded)
            self.held.update(zip(generic.outputs, values, strict=True))
        return self.held[buffer]

    def _computed(self, value: Any, known: dict[Any, Any], generic: Generic) -> Any:
        """A value of a body: its operations on vectors, of one element for each row as long as that is enough."""
        if value in known:
            if callable(known[value]):
                known[value] = known[value]()
            return known[value]
        owner = value.owner.operation
        if owner.name == "arith.constant":
            return owner.attributes["value"]
        if not owner.name.startswith(("arith.", "math.")):
            raise pass_error(owner, f"'{owner.name}' in the body of a row; expected operations of arith and math")
        operands = [self._computed(each, known, generic) for each in owner.operands]
        wide = any(self._is_wide(each) for each in operands)
        given = [self.spread(each, wide) for each in operands]
        types = [self.tile.type(result.type, wide) for result in owner.results]
        made = ir.Operation.create(owner.name, results=types, operands=given, attributes=attributes_of(owner))
        known.update(zip(owner.results, made.results, strict=True))
        return known[value]

    def _is_wide(self, value: Any) -> bool:
        return not isinstance(value, ir.Attribute) and value.type == self.tile.type(value.type.element_type, True)

    def spread(self, value: Any, wide: bool) -> Any:
        """A value as a tile: a number everywhere, a value of each row along it."""
        if isinstance(value, ir.Attribute):
            return constants.splat(self.tile.type(value.type, wide), value)
        type_ = self.tile.type(value.type.element_type, wide)
        return value if value.type == type_ else dialect("vector").BroadcastOp(type_, value).result

    def clipped(self, value: Any, neutral: Any) -> Any:
        """A tile with the neutral element beyond the ends of rows."""
        size = self.loops.sizes[self.loops.element]
        if self.full or (isinstance(size, int) and self.rest % self.chunk == 0 and self.start is None):
            return value
        end = constants.index(size) if isinstance(size, int) else size
        at = self.place.get(self.loops.element)
        return tile.clip(value, self.tile.element_dim, constants.index(0) if at is None else at, end, neutral)

    def _place(self, map_: Any, wide: bool) -> tile.Place:
        """Where a tile lies in an operand's memory."""
        offsets: list[Any] = []
        dims: list[int] = []
        inside: list[bool] = []
        for expression in map_.results:
            loop = expression.position if isinstance(expression, ir.AffineDimExpr) else -1
            extent = {self.loops.row: self.tile.rows, self.loops.element: self.chunk}.get(loop, 1)
            at = self.place.get(loop) if loop >= 0 else constants.index(expression.value)
            offsets.append(constants.index(0) if at is None else at)
            dim = {self.loops.row: self.tile.row_dim, self.loops.element: self.tile.element_dim}.get(loop, -1)
            dims.append(dim if wide or dim != self.tile.element_dim else -1)
            size = self.loops.sizes[loop] if loop >= 0 else 1
            moved = loop == self.loops.element and self.start is not None
            along = self.rest if loop == self.loops.element else size
            whole = isinstance(along, int) and along % extent == 0 and not moved
            inside.append(dim < 0 or whole or (self.full and loop == self.loops.element))
        return tile.Place(tuple(offsets), tuple(dims), tuple(inside))
