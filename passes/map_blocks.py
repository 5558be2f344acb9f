"""map-blocks: parallel block loops become one grid dimension, walked in a chosen order.

Expects a two-dimensional scf.parallel over block tiles with constant bounds (what lower-affine makes of the
affine.parallel that `parallelize-blocks` leaves). Leaves an scf.forall over the linear block number, mapped to
`#gpu.block<x>`, whose body computes the tile's row and column. Refuses any other scf.parallel. Rasters:
- `row`: row by row; `column`: column by column;
- `grouped`: `group` tile rows at a time, column by column inside the group, so that blocks that run together share
  tiles of both A and B in L2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, parents
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class MapBlocks(Pass):
    """Map block loops to the grid."""

    name: ClassVar[str] = "map-blocks"
    raster: str = "grouped"
    """`row`, `column` or `grouped`."""
    group: int = 8
    """Tile rows in a group of the grouped raster."""

    def run(self, module: Any) -> None:
        if self.raster not in RASTERS:
            raise PassError(f"pass 'map-blocks': raster '{self.raster}'; expected one of {', '.join(RASTERS)}")
        if self.group < 1:
            raise PassError(f"pass 'map-blocks': group={self.group}; expected at least 1")
        for parallel in named(module, "scf.parallel"):
            _map(parallel, self)


def _map(parallel: Any, options: MapBlocks) -> None:
    rows, columns = _bounds(parallel)
    mapping = ir.ArrayAttr.get([ir.Attribute.parse("#gpu.block<x>")])
    with ir.InsertionPoint(parallel), parallel.location:
        forall = dialect("scf").ForallOp([0], [rows * columns], [1], mapping=mapping)
    target = body(forall)
    with ir.InsertionPoint(target), parallel.location:
        tile = RASTERS[options.raster](target.arguments[0], rows, columns, options.group)
        for old, new in zip(body(parallel).arguments, tile, strict=True):
            old.replace_all_uses_with(new)
        dialect("scf").InParallelOp()
    anchor = in_block(target)[-1]
    for operation in in_block(body(parallel))[:-1]:
        operation.operation.move_before(anchor)
    parallel.operation.erase()


def _bounds(parallel: Any) -> tuple[int, int]:
    if any(parent.operation.name in ("scf.parallel", "scf.forall") for parent in parents(parallel)):
        raise pass_error(parallel, "a parallel loop inside another cannot be mapped to the grid")
    found = [constants.integer_of(value) for value in parallel.operation.operands]
    numbers = [number for number in found if number is not None]
    dimensions, results = len(body(parallel).arguments), len(parallel.operation.results)
    if (dimensions, results) != (2, 0) or len(numbers) < len(found):
        raise pass_error(parallel, "only a two-dimensional scf.parallel with constant bounds can be mapped to the grid")
    if numbers[:2] != [0, 0] or numbers[4:] != [1, 1]:
        raise pass_error(parallel, "only a scf.parallel from 0 in steps of 1 can be mapped to the grid")
    if min(numbers[2:4]) < 1:
        raise pass_error(parallel, f"a grid of {numbers[2]} by {numbers[3]} blocks; expected at least one block")
    return numbers[2], numbers[3]


def _row(block: Any, _rows: int, columns: int, _group: int) -> tuple[Any, Any]:
    return indexing.div(block, columns), indexing.rem(block, columns)


def _column(block: Any, rows: int, _columns: int, _group: int) -> tuple[Any, Any]:
    return indexing.rem(block, rows), indexing.div(block, rows)


def _grouped(block: Any, rows: int, columns: int, group: int) -> tuple[Any, Any]:
    """Groups of `group` rows; the last one may be lower, so its height is computed unless it always fits."""
    group = min(group, rows)
    first = indexing.mul(indexing.div(block, group * columns), group)
    inside = indexing.rem(block, group * columns)
    if rows % group == 0:
        return indexing.add(first, indexing.rem(inside, group)), indexing.div(inside, group)
    left = indexing.sub(rows, first)
    height = dialect("arith").MinUIOp(left, constants.index(group)).result
    row = indexing.add(first, indexing.rem(inside, height))
    return row, indexing.div(inside, height)


RASTERS: dict[str, Callable[[Any, int, int, int], tuple[Any, Any]]] = {
    "row": _row,
    "column": _column,
    "grouped": _grouped,
}
