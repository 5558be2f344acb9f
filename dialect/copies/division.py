"""Dividing a tile among the threads of a block: consecutive threads take consecutive vectors."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect import guards, indexing
from mlir_gemm.dialect.bindings import dialect, ir


@dataclass(frozen=True)
class Spot:
    """The place in a tile of the vector that a thread takes in one round."""

    at: tuple[Any, ...]
    """Index values, one for each dimension of the tile."""
    inside: Any | None
    """Whether there is such a vector: an i1 value, None when there always is."""


PATCH = (8, 4)
"""Neighbours and rows of single elements that a warp takes where a copy transposes them."""


@dataclass(frozen=True)
class Division:
    """`rounds` vectors of `width` elements along dimension `along` for each of `threads` threads.

    With `patches` the 32 threads of a warp take 8 neighbours of each of 4 rows, of single elements: of 4 bytes each
    these are whole sectors of global memory, and lie in different banks where the 8 become rows of an odd number of 16
    bytes."""

    shape: tuple[int, ...]
    threads: int
    along: int
    width: int
    patches: bool = False

    @property
    def count(self) -> int:
        """Vectors in the tile."""
        return prod(self.shape) // self.width

    @property
    def rounds(self) -> int:
        """Vectors that a thread takes; some threads one less when they do not divide evenly."""
        return -(-self.count // self.threads)

    @property
    def divides_into_patches(self) -> bool:
        """Whether every thread takes the same place of a patch in every round, the patches of a round in whole rows."""
        near, rows = PATCH
        across = self._across
        whole = len(self.shape) == 2 and self.width == 1 and across % near == 0
        return whole and self.even and self.threads % (across * rows) == 0

    @property
    def even(self) -> bool:
        """Whether every thread takes a vector in every round."""
        return self.count % self.threads == 0

    def vector(self, element: Any) -> Any:
        """The type of a thread's vector."""
        return ir.VectorType.get([self.width], element)

    def spots(self) -> list[Spot]:
        """The places of all rounds, for the thread that runs this; built at the insertion point."""
        gpu = dialect("gpu")
        thread = gpu.thread_id(gpu.Dimension.x)
        return [self._spot(thread, number) for number in range(self.rounds)]

    def spot_in_loop(self, number: Any) -> Spot:
        """The place of a round whose number is an index value."""
        gpu = dialect("gpu")
        linear = indexing.add(gpu.thread_id(gpu.Dimension.x), indexing.mul(number, self.threads))
        across = self._across
        place = self._place(indexing.div(linear, across), indexing.mul(indexing.rem(linear, across), self.width))
        return Spot(place, None if self.even else self._below_count(linear))

    @property
    def _across(self) -> int:
        return self.shape[self.along] // self.width

    def _spot(self, thread: Any, number: int) -> Spot:
        across = self._across
        linear = indexing.add(thread, number * self.threads)
        full = (number + 1) * self.threads <= self.count
        inside = None if full else self._below_count(linear)
        if self.patches:
            row, column = self._in_patch(thread)
            row = indexing.add(row, number * (self.threads // across))
        elif self.threads % across == 0:  # the column is the same in all rounds, the row moves by a constant
            row = indexing.add(indexing.div(thread, across), number * (self.threads // across))
            column = indexing.rem(thread, across)
        else:
            row, column = indexing.div(linear, across), indexing.rem(linear, across)
        return Spot(self._place(row, indexing.mul(column, self.width)), inside)

    def _in_patch(self, thread: Any) -> tuple[Any, Any]:
        """Row and column of a thread's element in the first round."""
        near, rows = PATCH
        patch, wide = indexing.div(thread, near * rows), self._across // near
        row = indexing.rem(indexing.div(thread, near), rows)
        column = indexing.add(indexing.rem(thread, near), indexing.mul(indexing.rem(patch, wide), near))
        return indexing.add(row, indexing.mul(indexing.div(patch, wide), rows)), column

    def _below_count(self, linear: Any) -> Any:
        return guards.less(linear, self.count)

    def _place(self, row: Any, column: Any) -> tuple[Any, ...]:
        """The index in each dimension of the tile; `row` counts through those that the vectors do not run along."""
        others = [dim for dim in range(len(self.shape)) if dim != self.along]
        found = {self.along: column}
        for dim in reversed(others[1:]):
            found[dim] = indexing.rem(row, self.shape[dim])
            row = indexing.div(row, self.shape[dim])
        if others:
            found[others[0]] = row
        return tuple(found[dim] for dim in range(len(self.shape)))
