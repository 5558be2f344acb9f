"""From accesses in point nests to places of whole tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import affine, tile
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import known_size


@dataclass(frozen=True)
class Access:
    """What an affine.load or affine.store in a point nest touches as the nest runs: a tile along some of its points."""

    memory: Any
    starts: tuple[affine.Linear, ...]
    """Where the tile starts, for each dimension of the memory."""
    runs: dict[int, Any]
    """The dimensions of the memory that run along a point loop, with its induction variable."""
    in_bounds: tuple[bool, ...]
    """Whether no index of a dimension ever passes its end."""

    def along(self, points: Sequence[Any]) -> tile.Place:
        """The place of a tile whose dimensions are `points`, with its offsets built at the insertion point."""
        dims = tuple(
            list(points).index(self.runs[axis]) if axis in self.runs else -1 for axis in range(len(self.starts))
        )
        return tile.Place(tuple(start.build() for start in self.starts), dims, self.in_bounds)


def access_of(operation: Any, points: Sequence[Any]) -> Access:
    """The access of an affine.load or affine.store along `points`, in any order, none of them twice.

    Raises PassError for an access that is strided along a point loop, or runs along two of them at once.
    """
    memory, indices = affine.access(operation)
    runs: dict[int, Any] = {}
    for axis, index in enumerate(indices or []):
        inner = [value for value in index.terms if affine.is_point(value)]
        if len(inner) > 1 or any(index.coefficient(point) != 1 or point not in points for point in inner):
            raise pass_error(
                operation, "an access that does not run along one loop of the tile, in steps of 1, in each dimension"
            )
        if inner:
            runs[axis] = inner[0]
    if indices is None or len(runs) > len(set(runs.values())):
        raise pass_error(
            operation, "an access whose indices are not linear in the loops, or that runs along a diagonal"
        )
    starts = tuple(index.without(list(runs.values())) for index in indices)
    known = tuple(_stays_in(index, known_size(memory, axis)) for axis, index in enumerate(indices))
    return Access(memory, starts, runs, known)


def _stays_in(index: affine.Linear, size: Any) -> bool:
    if not isinstance(size, int):  # one step of a loop for each index, as for a batch
        return size is not None and any(
            index == affine.Linear({value: 1}) and affine.limit_of(value) == size for value in index.terms
        )
    most = affine.furthest(index)
    return most is not None and most < size


def memory_order(access: Access, points: Sequence[Any]) -> list[Any]:
    """`points` in the order in which they lie in memory: the one with neighbouring elements last."""
    strides, _ = access.memory.type.get_strides_and_offset()
    axis_of = {point: axis for axis, point in access.runs.items()}
    order = sorted(points, key=lambda point: axis_of.get(point, -1))
    neighbours = [point for point in order if point in axis_of and strides[axis_of[point]] == 1]
    return [point for point in order if point not in neighbours[-1:]] + neighbours[-1:]
