"""Kernels of rows: what is computed, and how rows are divided among threads."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mlir_gemm.errors import ScheduleError

MOST_VECTOR = 16
"""Elements of the widest access: 16 bytes of the narrowest ones."""
MOST_CLUSTER = 8
"""Blocks of the largest cluster that every GPU with clusters takes."""
MOST_UNROLLED = 32
"""Tiles that an iteration takes at most."""
MOST_HELD = 256
"""Elements of a tile for each thread, more than which no thread has registers for."""


MOST_BLOCKS = 32
"""Blocks of an SM at most."""

_WHERE_SET = ("prefetch", "evict_first", "flat", "min_blocks", "part", "grid", "front", "groups", "paired")
_NUMBERS = ("threads", "across", "vector", "shift", "unroll", "cluster", "flat", "min_blocks", "part", "grid", "front",
            "groups")  # fmt: skip
MOST_GRID, MOST_TOGETHER = 1024, 8
"""Blocks of a grid that share a row at most: a warp waits for all of them, 32 to a lane; and rows of their tiles."""


EXPONENTIALS, SQUARES = "exponentials", "squares"
"""What the second of a pair of reductions adds up, around what the first finds."""


def kept_tiles(length: int, step: int, unroll: int, exact: bool) -> int:
    """How many tiles of a row of some length a block keeps in shared memory, where all blocks that share the row have
    `step` elements of it in a tile each, and iterations take `unroll` of them: whole iterations, unless it is known
    that the last ones take a tile each."""
    if exact and length >= step * unroll:
        return -(-length // step)
    return -(-length // (step * unroll)) * unroll


@dataclass(frozen=True)
class RowProblem:
    """What the choice for a kernel of rows depends on."""

    rows: int
    """How many rows there are; a typical number where that is known at run time only."""
    length: int
    """Elements of a row."""
    narrowest: int
    """Bytes of the narrowest element of what is read or written along rows."""
    aligned: int
    """A number of elements that every row starts at a multiple of, in what is accessed along neighbours in memory."""
    transposed: bool = False
    """Whether neighbours in memory belong to different rows: sums of columns."""
    held: int = 1
    """32-bit registers for each element of a row that a thread holds at once."""
    even: bool = False
    """Whether the rows of all that is accessed along them lie at the same distances from aligned addresses."""
    read: int = 0
    """Bytes of what is read for an element of a row, from memory that has rows."""
    again: bool = False
    """Whether elements of a row are needed again after a reduction, or their places are."""
    places: int = 0
    """32-bit registers for the place of each element that passes over rows carry beside it."""
    fixed: bool = True
    """Whether the length is a constant, and elements of a row follow each other evenly: a tile can hold whole rows."""
    lines: int = 1
    """So many lengths make a row, where it has several dimensions."""
    side: int = 0
    """Rows side by side in memory, of `rows`; 0 for all of them."""
    element: str = "f32"
    """The type of the elements of a row in memory."""
    dense: bool = False
    """Whether all that has rows is a matrix whose rows lie one after another."""
    results: int = 0
    """If not 0, the elements of a row of the results, and `length` is how many parts of it others have reduced."""
    open_rows: bool = False
    """Whether the number of rows is known at run time only."""
    updated: bool = False
    """Whether a value of each row is both read and written."""
    beside: int = 0
    """How many operands have an element for each place in a row, which all rows share: a norm's weights."""

    pair: str = ""
    """If not empty, there are two reductions, of which the second adds up exponentials less the first's maximum, or
    squares around its mean."""

    def __str__(self) -> str:
        length = f"{self.lines}x{self.length}" if self.lines > 1 else str(self.length)
        return f"{self.rows} {'columns' if self.transposed else 'rows'} of {length} {self.element}"


@dataclass(frozen=True)
class RowSchedule:
    """How a kernel of rows is divided: what stands in `tile.rows`."""

    threads: int
    """Threads of a block."""
    across: int
    """Threads side by side along the rows of the tile."""
    vector: int
    """Elements that a thread takes in one access."""
    tile: tuple[int, int]
    """A block's tile, down and along."""
    transposed: bool = False
    """Whether elements of a row run down the tile."""
    shift: int = 0
    """If not 0, tiles start at a multiple of this many elements in memory, where rows do not."""
    staged: bool = False
    """Whether rows that a tile does not hold are kept in shared memory."""
    unroll: int = 1
    """Tiles of a row that an iteration takes at once, where rows take several."""
    cluster: int = 1
    """Blocks of a cluster, which share the rows of a tile: each has a tile of its part."""
    prefetch: bool = False
    """Whether what is needed after the reductions, such as a norm's weights, is loaded before them."""
    evict_first: bool = False
    """Whether what is read of rows is the first that L2 gives up."""
    flat: int = 0
    """If not 0, the rows of a tile are copied to shared memory and back as they lie in memory, all threads side by
    side, so many elements in all."""
    part: int = 0
    """If not 0, rows are parts that others have reduced: each block combines them, and computes so many elements."""
    min_blocks: int = 0
    """If not 0, threads get so few registers that an SM has so many blocks."""
    grid: int = 0
    """If not 0, so many blocks of the grid share a row: all run at the same time, and hand each other what they
    reduced through global memory."""
    groups: int = 0
    """With `grid`, so many rows at a time: each group of blocks takes one after another; 0 for all at once."""
    front: int = 0
    """With `staged`, so many tiles of a block's part of a row stay in registers, and not in shared memory."""
    paired: bool = False
    """Whether blocks that share a row exchange at once what two reductions find, of which the second is around the
    first's result: a maximum and a sum of exponentials, a mean and a sum of squares."""

    def fields(self) -> dict[str, Any]:
        """All fields by name, but those that say nothing of what few rows have."""
        fields = dataclasses.asdict(self)
        return {name: value for name, value in fields.items() if value or name not in _WHERE_SET}

    @staticmethod
    def make(fields: Mapping[str, Any]) -> RowSchedule:
        """A schedule from its fields. Raises ScheduleError for others, and for those that do not go together."""
        names = [field.name for field in dataclasses.fields(RowSchedule)]
        unknown = [name for name in fields if name not in names]
        missing = [name for name in names[:4] if name not in fields]
        if unknown or missing:
            said = f"no field '{unknown[0]}'" if unknown else f"the field '{missing[0]}' is missing"
            raise ScheduleError(f"tile.rows: {said}; expected {', '.join(names)}")
        numbers = {name: fields.get(name, 1) for name in _NUMBERS}
        wrong = {name: value for name, value in numbers.items() if type(value) is not int}
        flags = ("transposed", "staged", "prefetch", "evict_first", "paired")
        wrong |= {name: fields[name] for name in flags if type(fields.get(name, False)) is not bool}
        if wrong:
            name, value = next(iter(wrong.items()))
            expected = "a number" if name in numbers else "true or false"
            raise ScheduleError(f"tile.rows: {name}={value}; expected {expected}")
        given = fields["tile"]
        tile = cast("tuple[Any, ...]", given) if isinstance(given, tuple) else (given,)
        if [type(size) for size in tile] != [int, int]:
            raise ScheduleError(f"tile.rows: tile={'x'.join(map(str, tile))}; expected two sizes, such as [8, 128]")
        schedule = RowSchedule(**fields)
        schedule.check()
        return schedule

    def check(self) -> None:
        """Raises ScheduleError for fields that do not go together."""
        for name, value in (("across", self.across), ("vector", self.vector)):
            most = MOST_VECTOR if name == "vector" else 1024
            if not 1 <= value <= most or value & (value - 1):
                raise ScheduleError(f"tile.rows: {name}={value}; expected a power of two up to {most}")
        if self.threads % 32 or not 32 <= self.threads <= 1024 or self.threads % self.across:
            wanted = "a multiple of 32 up to 1024, which across divides"
            raise ScheduleError(f"tile.rows: threads={self.threads} with across={self.across}; expected {wanted}")
        fragment = self.threads // self.across, self.across * self.vector
        if any(size < 1 or size % part for size, part in zip(self.tile, fragment, strict=True)):
            raise ScheduleError(f"tile.rows: tile={self.tile[0]}x{self.tile[1]}; expected multiples of "
                                f"{fragment[0]}x{fragment[1]}")  # fmt: skip
        if math.prod(self.tile) > MOST_HELD * self.threads:
            raise ScheduleError(f"tile.rows: tile={self.tile[0]}x{self.tile[1]} for {self.threads} threads; expected "
                                f"{MOST_HELD} elements for each at most")  # fmt: skip
        if self.shift and (self.shift < 0 or self.shift & (self.shift - 1) or self.transposed or self.tile[0] != 1):
            raise ScheduleError(f"tile.rows: shift={self.shift}; expected 0, or a power of two for tiles of one row "
                                "that runs along them")  # fmt: skip
        if not 1 <= self.unroll <= MOST_UNROLLED:
            raise ScheduleError(f"tile.rows: unroll={self.unroll}; expected 1 to {MOST_UNROLLED}")
        if self.staged and self.transposed:
            raise ScheduleError("tile.rows: staged=true with transposed=true; expected one of them at most")
        if not 1 <= self.cluster <= MOST_CLUSTER or self.cluster & (self.cluster - 1):
            raise ScheduleError(f"tile.rows: cluster={self.cluster}; expected a power of two up to {MOST_CLUSTER}")
        if self.cluster > 1 and self.transposed:
            raise ScheduleError(f"tile.rows: cluster={self.cluster} with transposed=true; expected 1")
        if self.part < 0 or self.part % fragment[1] or (self.part and self.tile[0] != 1):
            raise ScheduleError(f"tile.rows: part={self.part}; expected 0, or a multiple of {fragment[1]} with a tile "
                                "of one row")  # fmt: skip
        if not 0 <= self.min_blocks <= MOST_BLOCKS:
            raise ScheduleError(f"tile.rows: min_blocks={self.min_blocks}; expected 0 to {MOST_BLOCKS}")
        if self.flat < 0 or self.flat % self.threads:
            raise ScheduleError(f"tile.rows: flat={self.flat}; expected 0, or a multiple of threads={self.threads}")
        if self.flat and (self.shift or self.staged or self.transposed or self.cluster > 1):
            raise ScheduleError(f"tile.rows: flat={self.flat} with shift, staged, transposed or cluster; expected none "
                                "of these")  # fmt: skip

        if self.paired and self.sharing == 1:
            raise ScheduleError("tile.rows: paired=true for rows that no blocks share; expected false")
        self._check_grid()

    def _check_grid(self) -> None:
        alone = not (self.transposed or self.flat or self.part or self.cluster > 1)
        alone = alone and self.tile[0] <= MOST_TOGETHER and self.across == self.threads
        if self.grid and (not 2 <= self.grid <= MOST_GRID or not alone):
            raise ScheduleError(f"tile.rows: grid={self.grid}; expected 0, or 2 to {MOST_GRID} with tiles of up to "
                                f"{MOST_TOGETHER} rows, all threads side by side, and no transposed, flat, part or "
                                "cluster")  # fmt: skip
        if self.groups and (self.groups < 0 or not self.grid):
            raise ScheduleError(f"tile.rows: groups={self.groups} with grid={self.grid}; expected 0, or rows at a time "
                                "that blocks of the grid share")  # fmt: skip
        if self.front and (self.front < 0 or not self.staged or self.shift or self.front * self.tile[1] > MOST_HELD *
                           self.threads):  # fmt: skip
            raise ScheduleError(f"tile.rows: front={self.front}; expected 0, or tiles with staged=true and shift=0, of "
                                f"{MOST_HELD} elements for each thread at most")  # fmt: skip

    @property
    def sharing(self) -> int:
        """Blocks that share a row."""
        return max(self.grid, self.cluster)

    def kept(self, length: int) -> int:
        """Elements that a block keeps in shared memory of its part of a row of this length, with `staged`."""
        step, before = self.sharing * self.tile[1], max(self.shift - 1, 0)
        exact = bool(self.grid) and not self.shift
        return kept_tiles(length - self.front * step + before, step, self.unroll, exact) * self.tile[1]

    def __str__(self) -> str:
        turned = ", elements of a row down the tile" if self.transposed else ""
        turned += f", from multiples of {self.shift} elements on" if self.shift else ""
        turned += ", rows in shared memory" if self.staged else ""
        turned += f", {self.unroll} tiles at a time" if self.unroll > 1 else ""
        turned += f", {self.cluster} blocks a row" if self.cluster > 1 else ""
        turned += f", {self.grid} blocks of the grid a row" if self.grid else ""
        turned += f", {self.groups} rows at a time" if self.groups else ""
        turned += f", {self.front} tiles of each in registers" if self.front else ""
        turned += ", two reductions exchanged at once" if self.paired else ""
        turned += ", all loads first" if self.prefetch else ""
        turned += ", evicted first from L2" if self.evict_first else ""
        turned += f", {self.flat} elements at once through shared memory" if self.flat else ""
        turned += f", {self.part} elements a block" if self.part else ""
        turned += f", {self.min_blocks} blocks an SM" if self.min_blocks else ""
        return (f"{self.threads} threads, {self.across} side by side with {self.vector} elements each, tile "
                f"{self.tile[0]}x{self.tile[1]}{turned}")  # fmt: skip
