"""map-blocks: parallel block loops become one grid dimension, walked in a chosen order.

Expects an scf.parallel over (batch ..., tile rows, tile columns), of constant bounds or others (what lower-affine makes
of the affine.parallel that `parallelize-blocks` leaves). Leaves an scf.forall over the linear block number, mapped to
`#gpu.block<x>`, whose body computes the batch and the tile's row and column: one batch after another, and in each the
raster decides. Refuses any other scf.parallel. Rasters:
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
    *batches, rows, columns = _bounds(parallel)
    mapping = ir.ArrayAttr.get([ir.Attribute.parse("#gpu.block<x>")])
    with ir.InsertionPoint(parallel), parallel.location:
        blocks = indexing.product([*batches, rows, columns])
        forall = dialect("scf").ForallOp([0], [blocks], [1], mapping=mapping)
    target = body(forall)
    with ir.InsertionPoint(target), parallel.location:
        block, batch = _split_batches(target.arguments[0], batches, rows, columns)
        place = [*batch, *RASTERS[options.raster](block, rows, columns, options.group)]
        for old, new in zip(body(parallel).arguments, place, strict=True):
            old.replace_all_uses_with(new)
        dialect("scf").InParallelOp()
    anchor = in_block(target)[-1]
    for operation in in_block(body(parallel))[:-1]:
        operation.operation.move_before(anchor)
    parallel.operation.erase()


def _split_batches(block: Any, batches: list[Any], rows: Any, columns: Any) -> tuple[Any, list[Any]]:
    """The block's number inside its batch, and the batch's index in each batch dimension; the last one runs fastest."""
    if all(isinstance(size, int) and size == 1 for size in batches):
        return block, [constants.index(0) for _ in batches]
    tiles = indexing.product([rows, columns])
    left, indices = indexing.div(block, tiles), list[Any]()
    for size in reversed(batches):
        single = isinstance(size, int) and size == 1
        indices.insert(0, constants.index(0) if single else indexing.rem(left, size))
        left = left if single else indexing.div(left, size)
    return indexing.rem(block, tiles), indices


def _bounds(parallel: Any) -> list[Any]:
    """The upper bounds: integers, or index values where they are known at run time only."""
    if any(parent.operation.name in ("scf.parallel", "scf.forall") for parent in parents(parallel)):
        raise pass_error(parallel, "a parallel loop inside another cannot be mapped to the grid")
    operands = list(parallel.operation.operands)
    dimensions, results = len(body(parallel).arguments), len(parallel.operation.results)
    if dimensions < 2 or results:
        raise pass_error(
            parallel, "only an scf.parallel of two or more dimensions without results can be mapped to the grid"
        )
    numbers = [constants.integer_of(value) for value in operands]
    lower, known, step = (numbers[first : first + dimensions] for first in range(0, 3 * dimensions, dimensions))
    if any(number != 0 for number in lower) or any(number != 1 for number in step):
        raise pass_error(parallel, "only a scf.parallel from 0 in steps of 1 can be mapped to the grid")
    upper = [
        value if number is None else number
        for value, number in zip(operands[dimensions : 2 * dimensions], known, strict=True)
    ]
    if any(isinstance(size, int) and size < 1 for size in upper):
        shown = " by ".join(str(size) if isinstance(size, int) else "?" for size in upper)
        raise pass_error(parallel, f"a grid of {shown} blocks; expected at least one block")
    return upper


def _row(block: Any, _rows: Any, columns: Any, _group: int) -> tuple[Any, Any]:
    return indexing.div(block, columns), indexing.rem(block, columns)


def _column(block: Any, rows: Any, _columns: Any, _group: int) -> tuple[Any, Any]:
    return indexing.rem(block, rows), indexing.div(block, rows)


def _grouped(block: Any, rows: Any, columns: Any, group: int) -> tuple[Any, Any]:
    """Groups of `group` rows; the last one may be lower, so its height is computed unless it always fits."""
    group = min(group, rows) if isinstance(rows, int) else group
    tiles = indexing.product([group, columns])
    first = indexing.mul(indexing.div(block, tiles), group)
    inside = indexing.rem(block, tiles)
    if isinstance(rows, int) and rows % group == 0:
        return indexing.add(first, indexing.rem(inside, group)), indexing.div(inside, group)
    left = indexing.sub(rows, first)
    height = dialect("arith").MinUIOp(left, constants.index(group)).result
    row = indexing.add(first, indexing.rem(inside, height))
    return row, indexing.div(inside, height)


RASTERS: dict[str, Callable[[Any, Any, Any, int], tuple[Any, Any]]] = {
    "row": _row,
    "column": _column,
    "grouped": _grouped,
}
