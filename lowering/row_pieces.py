"""What a thread holds of the tiles of a kernel of rows, and how it loads and stores them.

A tile is divided into equal fragments of as many rows as there are groups of threads, and as many columns as a group's
threads take in one access each. A thread has one piece of each: a few neighbours of one row of the tile. Of a tile with
one column, or one row, every thread has the one that its pieces of other tiles are in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.lowering.access import COLUMN, FIXED, ROW, LaneAccess
from mlir_gemm.lowering.layouts import Lane, Layout


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
    """A tile.load or tile.store of a thread's pieces, which knows of each piece whether it lies within the memory."""

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
        known = first is not None and size != ir.ShapedType.get_dynamic_size()
        return known and first + at // extent * extent + extent <= size
