"""Passes over the rows of a tile: loops along them, where their tiles lie, and what a thread holds at each place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.grid_exchange import Meeting
from mlir_gemm.dialect.row_loops import RowLoops, TileShape, phases
from mlir_gemm.spec.rows import kept_tiles

Work = Callable[[list[Any]], list[Any]]
"""What an iteration makes of the values that a loop carries."""


@dataclass
class RowPasses:
    """Goes over rows, at the insertion point."""

    loops: RowLoops
    tile: TileShape
    place: dict[int, Any]
    """The value of each loop that is entered: where tiles run along it, of the tile's first point."""
    held: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The wide values at this place, by buffer, or by what of memory was loaded."""
    shift: int = 0
    """If not 0, tiles start at a multiple of this many elements in memory, up to one less before a row does."""
    cluster: int = 1
    """Blocks that share the rows of a tile: each has a tile of its part."""
    meeting: Meeting | None = None
    """These blocks, where they are no cluster, but any of the grid."""
    ahead: Any = None
    """How many elements of a row the tiles of the blocks before this one of the cluster have; None for one block."""
    rank: Any = None
    unroll: int = 1
    """Tiles that follow each other in a row that an iteration of a pass takes: it carries values for one of them."""
    front: int = 0
    """Tiles at the start of a row that threads hold from the first pass to the last: no loop goes over them."""
    fronts: dict[int, dict[Any, Any]] = field(default_factory=dict[int, dict[Any, Any]])
    """What they hold, by the number of the tile."""
    in_front: bool = False
    """Whether what is built is for these tiles."""
    kept: dict[int, dict[Any, Any]] = field(default_factory=dict[int, dict[Any, Any]])
    """In an iteration of a pass, `held` for each of its tiles."""
    start: Any = None
    """Where tiles start in a row: an index value that is 0 or negative; None for 0."""
    passed: Any = None
    """In a pass the distance from `start`, or from the end of the tiles in `front`."""
    tiles: int = 1
    """So many tiles an iteration of the running loop takes."""
    full: bool = False
    """Whether all of them lie within the rows."""
    entered: tuple[Any, Any] = (None, None)
    """In a pass where the first tile of the iteration lies, and its distance from `start`."""

    @property
    def whole(self) -> bool:
        """Whether a tile holds whole rows."""
        loops = self.loops
        size = loops.sizes[loops.element]
        before = max(self.shift - 1, 0)
        return loops.element == loops.outer and isinstance(size, int) and size + before <= self.step

    @property
    def step(self) -> int:
        """Elements of a row that all tiles of a cluster have."""
        return self.tile.elements * self.cluster

    @property
    def chunk(self) -> int:
        """Elements of a row that an iteration of a pass takes."""
        return self.step if self.whole else self.step * self.unroll

    @property
    def rest(self) -> Any:
        """Elements of a row that loops go over."""
        size = self.loops.sizes[self.loops.element]
        return size - self.front * self.step if self.front else size

    @property
    def kept_elements(self) -> int:
        """Elements of its part of a row that a block keeps in shared memory."""
        before, exact = max(self.shift - 1, 0), self.meeting is not None and self.start is None
        return kept_tiles(self.rest + before, self.step, self.unroll, exact) * self.tile.elements

    def moved(self, at: Any) -> Any:
        """A place in a row that the tiles of a cluster have in common as this block's own."""
        return at if self.ahead is None else dialect("arith").AddIOp(at, self.ahead).result

    def go_over(self, carried: list[Any], work: Work) -> list[Any]:
        """Loops over the tiles of the rows, which carry values. `work` says what an iteration makes of them; what the
        loops give is returned."""
        before = self.held
        if self.front:
            carried = self._over_front(carried, work)
        found = self._loop(self.loops.outer, carried, work)
        self.held, self.passed, self.full = before, None, False
        self.end_pass()
        return found

    def end_pass(self) -> None:
        """What is done when a pass has ended."""

    def _over_front(self, carried: list[Any], work: Work) -> list[Any]:
        """One iteration, of all tiles that threads hold: the first pass loads them."""
        element, start = self.loops.element, constants.index(0)
        self.tiles, self.full, self.in_front = self.front, True, True
        self.place[element], self.passed = self.moved(start), start
        self.entered = self.place[element], start
        self.held, self.kept = self.fronts.setdefault(0, {}), self.fronts
        found = work(carried)
        del self.place[element]
        self.in_front = False
        return found

    def _loop(self, loop: int, carried: list[Any], work: Work) -> list[Any]:
        if loop < self.loops.element:
            return self._made_loop((0, self.loops.sizes[loop], 1), carried, loop,
                                   lambda values: self._loop(loop + 1, values, work))  # fmt: skip
        size = self.rest
        at_once = self.step if self.meeting is not None else 0
        for first, end, tiles, full in phases(size, self.chunk, self.unroll, self.start is not None, at_once):
            self.tiles, self.full = tiles, full
            if not full and self.start is not None and end == size:
                end = dialect("arith").SubIOp(constants.index(end), self.start).result
            bounds = first, end, self.step * tiles
            carried = self._made_loop(bounds, carried, loop, lambda values: self._at(values, work))
        return carried

    def _made_loop(self, bounds: tuple[Any, Any, int], carried: list[Any], loop: int, work: Work) -> list[Any]:
        scf, (first, end, step) = dialect("scf"), bounds
        start, stop = (constants.index(each) if isinstance(each, int) else each for each in (first, end))
        made = scf.ForOp(start, stop, constants.index(step), carried)
        with ir.InsertionPoint(made.body):
            self.place[loop] = made.body.arguments[0]
            scf.YieldOp(work(list(made.body.arguments)[1:]))
        del self.place[loop]
        return list(made.results)

    def _at(self, values: list[Any], work: Work) -> list[Any]:
        """One iteration along a row."""
        element, add = self.loops.element, dialect("arith").AddIOp
        self.passed = self.place[element]
        if self.start is not None:
            self.place[element] = add(self.passed, self.start).result
        if self.front:
            self.place[element] = add(self.passed, constants.index(self.front * self.step)).result
        self.place[element] = self.moved(self.place[element])
        self.entered = self.place[element], self.passed
        self.held, self.kept = {}, {}
        return work(values)

    def at_start(self, build: Callable[[], Any]) -> Any:
        """What is built for the first tile of a row, before a pass."""
        element = self.loops.element
        self.place[element] = self.moved(constants.index(0) if self.start is None else self.start)
        found = build()
        del self.place[element]
        self.held = {}
        return found

    def is_uneven(self, number: int) -> bool:
        """Whether a tile of an iteration lies wholly beyond the row in some block of a cluster, and all tiles are
        loaded before it is used. Such a block would compute with neutral elements."""
        size, before = self.loops.sizes[self.loops.element], max(self.shift - 1, 0)
        if not (number and self.shift and self.cluster > 1 and self.meeting is None and isinstance(size, int)):
            return False
        once = self.loops.element == self.loops.outer and size + before <= self.chunk
        return once and (number + 1) * self.step - self.tile.elements - before >= size

    def within(self, number: int) -> Any | None:
        """Whether a tile of an iteration begins within the row; None where it does in each block."""
        if not self.is_uneven(number):
            return None
        arith, size = dialect("arith"), self.loops.sizes[self.loops.element]
        place = arith.AddIOp(self.entered[0], constants.index(number * self.step)).result
        return arith.CmpIOp(arith.CmpIPredicate.slt, place, constants.index(size)).result

    def each_tile(self, some: range | None = None) -> Iterator[None]:
        """In an iteration of a pass, each of its tiles in turn, or some of them."""
        first, passed = self.entered
        self.kept.setdefault(0, self.held)
        for number in range(self.tiles) if some is None else some:
            self.place[self.loops.element], self.passed = first, passed
            if number:
                further = constants.index(number * self.step)
                self.place[self.loops.element] = dialect("arith").AddIOp(first, further).result
                self.passed = dialect("arith").AddIOp(passed, further).result
            common: dict[Any, Any] = {
                key: value for key, value in self.held.items() if isinstance(key, tuple) and not key[2]
            }
            self.held = self.kept.setdefault(number, {})
            self.held |= common
            yield
        self.place[self.loops.element], self.passed = first, passed
