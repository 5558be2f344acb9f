"""rasterize-blocks: parallel block loops become one grid dimension, walked in a chosen order.

Expects an scf.parallel over (batch ..., tile rows, tile columns), of constant bounds or others (what lower-affine makes
of the affine.parallel that `parallelize-blocks` leaves). Leaves an scf.forall over the linear block number, mapped to
`#gpu.block<x>`, whose body computes the batch and the tile's row and column: one batch after another, and in each the
raster decides. With clusters (`cluster_m` by `cluster_n` blocks) the raster places clusters, whose blocks go by
tile.rank, column by column, and the loop carries `tile.cluster`, and `tile.cluster_rows` where they are neither a row
nor a column. Where tiles are not whole clusters, the last row or column of clusters has blocks whose tiles lie outside
the result: they copy for the others what they share. With `split_k_cluster` there is such a group of blocks for each
part of a tile's steps (`tile.split_k_cluster`). Refuses any other scf.parallel, clusters over tiles whose number is not
known, and such tiles where an access is not tested against the edge.

The raster walks `raster_group` tile rows at a time, column by column inside the group, so that blocks that run together
share tiles of both A and B in L2: 1 goes row by row, 0, for all rows, column by column. With `snake` every other group
goes backwards: it begins with the columns of B that the group before ended with. An order of one's own is a pass
derived from this one with another `tile_at`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.guards import less
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, computed_from, in_block, named, operations, parents
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import CLUSTER, CLUSTER_ROWS, MASKED, SPLIT_K_CLUSTER, ZEROS
from mlir_gemm.spec.tile_space import ALL, HALVES, K_RANGE, SPACES, UPPER, folded, square_of, unfolded
from mlir_gemm.spec.zeros import growing

MOST_BLOCKS = 8
"""Of a cluster, for which every chip with clusters has room (CUDA programming guide)."""

INVERSE_BITS, MOST_TILES = 32, 1 << 30
"""Of an inverse that divides by a product, and tiles of a group for which that fits in 64 bits."""


@dataclass(frozen=True)
class RasterizeBlocks(Pass):
    """Map block loops to the grid."""

    name: ClassVar[str] = "rasterize-blocks"
    raster_group: int = 8
    """Tile rows that are walked at a time; 0 for all."""
    snake: bool = False
    """Whether every other group is walked backwards."""
    cluster_m: int = 1
    """Blocks of a cluster below each other."""
    cluster_n: int = 1
    """Blocks of a cluster beside each other."""
    split_k_cluster: int = 1
    """Blocks of a cluster that share the k steps of one tile."""
    space: str = ALL
    """Which tiles have blocks: `all`, or of a square of tiles the `triangle` on and below the diagonal, which is
    `lower` too, or the `upper` one, on and above it. `k_range`: all,
    those with the longest range of k first, by `tile.zeros` of the function."""
    index_bits: int = 64
    """How wide indices will be: with less than 64 there are no products in the place of divisions."""

    def run(self, module: Any) -> None:
        if self.raster_group < 0:
            raise PassError(
                f"pass '{self.name}': raster_group={self.raster_group}; expected at least 1, or 0 for all tile rows"
            )
        sides = self.cluster_m, self.cluster_n
        if (
            min(*sides, self.split_k_cluster) < 1
            or self.cluster_m * self.cluster_n * self.split_k_cluster > MOST_BLOCKS
        ):
            raise PassError(f"pass '{self}': a cluster has 1 to {MOST_BLOCKS} blocks")
        if self.space not in SPACES:
            raise PassError(f"pass '{self}': expected space={', '.join(SPACES[:-1])} or {SPACES[-1]}")
        for parallel in named(module, "scf.parallel"):
            _map(parallel, self)

    @property
    def sides(self) -> tuple[int, int]:
        """What the numbers of rows and of columns of tiles are multiples of."""
        if self.space not in HALVES:
            return self.cluster_m, self.cluster_n
        side = square_of(self.cluster_m, self.cluster_n)
        return side, side

    def tile_at(self, number: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
        """The row and the column of a tile by its number, at the insertion point; with clusters, those of a cluster.
        How many rows and columns there are are integers, or index values where they are known at run time only."""
        group = max(1, self.raster_group // self.cluster_m) if self.raster_group else 0
        return (_snake if self.snake else _grouped)(number, rows, columns, group, self.index_bits)


def _map(parallel: Any, options: RasterizeBlocks) -> None:
    *batches, rows, columns = _bounds(parallel)
    mapping = ir.ArrayAttr.get([ir.Attribute.parse("#gpu.block<x>")])
    with ir.InsertionPoint(parallel), parallel.location:
        rows = _whole_clusters(parallel, -2, rows, options.sides[0])
        columns = _whole_clusters(parallel, -1, columns, options.sides[1])
        of, long = None, (None, None)
        if options.space == K_RANGE:
            long = _longest_last(parallel, rows, columns)
        if options.space in HALVES:
            of, rows, columns = _triangle(parallel, rows, columns, options.sides[0])
        blocks = indexing.product([*batches, rows, columns, options.split_k_cluster])
        forall = dialect("scf").ForallOp([0], [blocks], [1], mapping=mapping)
    target = body(forall)
    with ir.InsertionPoint(target), parallel.location:
        place = _place(target.arguments[0], batches, rows, columns, of, options)
        ends = zip(long, place[-2:], strict=True)
        place[-2:] = [each if most is None else indexing.sub(_last(most), each) for most, each in ends]
        for old, new in zip(body(parallel).arguments, place, strict=True):
            old.replace_all_uses_with(new)
        dialect("scf").InParallelOp()
    anchor = in_block(target)[-1]
    for operation in in_block(body(parallel))[:-1]:
        operation.operation.move_before(anchor)
    size = options.cluster_m * options.cluster_n * options.split_k_cluster
    if options.split_k_cluster > 1:
        forall.operation.attributes[SPLIT_K_CLUSTER] = constants.integer(options.split_k_cluster)
    if size > 1:
        forall.operation.attributes[CLUSTER] = constants.integer(size)
    if min(options.cluster_m, options.cluster_n) > 1:
        forall.operation.attributes[CLUSTER_ROWS] = constants.integer(options.cluster_m)
    parallel.operation.erase()


def _triangle(parallel: Any, rows: Any, columns: Any, side: int) -> tuple[Any, Any, Any]:
    """Squares along a side of a triangle of squares of `side` by `side` tiles, and rows and columns of tiles of the
    rectangle that it is folded into, at the insertion point."""
    if isinstance(rows, int) != isinstance(columns, int) or rows != columns:
        shown = " by ".join(str(each) if isinstance(each, int) else "?" for each in (rows, columns))
        raise pass_error(parallel, f"a triangle of {shown} tiles; expected as many rows as columns")
    if isinstance(rows, int):
        high, wide = folded(rows // side)
        return rows // side, high * side, wide * side
    more = indexing.add(rows, 1)
    return rows, indexing.div(more, 2), indexing.sub(more, indexing.rem(rows, 2))


def _longest_last(parallel: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """The number of rows where the last of them have most steps, and of columns where these do; else None."""
    function = next(each.operation for each in parents(parallel) if each.operation.name == "func.func")
    if ZEROS not in function.attributes and MASKED not in function.attributes:
        why = f"'{ZEROS}' and '{MASKED}', which say where an operand is zero, or a result is masked"
        raise pass_error(parallel, f"a range of k of a function without {why}")
    sides = growing(ir.StringAttr(function.attributes[ZEROS]).value) if ZEROS in function.attributes else ()
    return (rows if "m" in sides else None), (columns if "n" in sides else None)


def _last(count: Any) -> Any:
    """The last of so many, an integer or an index value."""
    return count - 1 if isinstance(count, int) else indexing.sub(count, 1)


class _Values:
    """Arithmetic on index values, of which none that is used is negative."""

    @staticmethod
    def less(left: Any, right: Any) -> Any:
        return less(left, right)

    @staticmethod
    def add(left: Any, right: Any) -> Any:
        return indexing.add(left, right)

    @staticmethod
    def sub(left: Any, right: Any) -> Any:
        """A difference that may be negative where nobody uses it."""
        left, right = (constants.index(each) if isinstance(each, int) else each for each in (left, right))
        return dialect("arith").SubIOp(left, right).result

    @staticmethod
    def is_even(number: Any) -> Any:
        arith = dialect("arith")
        return arith.CmpIOp(arith.CmpIPredicate.eq, indexing.rem(number, 2), constants.index(0)).result

    @staticmethod
    def select(condition: Any, then: Any, otherwise: Any) -> Any:
        return indexing.select(condition, then, otherwise)


def _whole_clusters(parallel: Any, axis: int, tiles: Any, part: int) -> Any:
    """Tiles along rows (-2) or columns (-1), and those outside the result that fill its last cluster."""
    what = "rows" if axis == -2 else "columns"
    if part == 1 or (isinstance(tiles, int) and tiles % part == 0):
        return tiles
    if not isinstance(tiles, int):
        why = f"tile {what} of a number known at run time only do not divide into clusters of {part}"
        raise pass_error(parallel, why)
    variable = list(body(parallel).arguments)[axis]
    for access in operations(parallel):
        if _is_untested(access.operation, variable):
            why = f"is not tested against an edge, and {tiles} tile {what} do not divide into clusters of {part}"
            raise pass_error(access, f"'{access.operation.name}' {why}")
    return -(-tiles // part) * part


def _is_untested(op: Any, variable: Any) -> bool:
    """Whether an access of global memory would reach outside it in a tile that lies outside along a loop's variable."""
    if op.name in ("vector.store", "memref.store", "vector.load", "memref.load"):
        memref = op.operands[1 if op.name.endswith("store") else 0]
        return memref.type.memory_space is None and any(computed_from(value, variable) for value in op.operands)
    if op.name not in ("tile.load", "tile.store", "tile.copy", "tile.copy_async"):
        return False
    known = tile.place_of(op).known
    return tile.memory_of(op).type.memory_space is None and any(computed_from(each, variable) for each in known)


def _place(block: Any, batches: list[Any], rows: Any, columns: Any, of: Any, options: RasterizeBlocks) -> list[Any]:
    """Batch, tile row and tile column of a block. Clusters are placed as blocks would be; in one, blocks go by rank. In
    a triangle of `of` squares along a side it is clusters that are unfolded, so that nothing depends on the rank but
    where a block lies in its cluster."""
    down, along = options.cluster_m, options.cluster_n
    if down * along == 1:
        block = block if options.split_k_cluster == 1 else indexing.div(block, options.split_k_cluster)
        block, batch = _split_batches(block, batches, rows, columns)
        return [*batch, *_unfolded(*options.tile_at(block, rows, columns), of, options)]
    below, beside = _ranks(options)
    cluster = indexing.div(block, down * along * options.split_k_cluster)
    rows, columns = (rows // down if down > 1 else rows), (columns // along if along > 1 else columns)
    cluster, batch = _split_batches(cluster, batches, rows, columns)
    row, column = _unfolded(*options.tile_at(cluster, rows, columns), of, options)
    row = indexing.add(indexing.mul(row, down), below) if down > 1 else row
    column = indexing.add(indexing.mul(column, along), beside) if along > 1 else column
    return [*batch, row, column]


def _unfolded(row: Any, column: Any, of: Any, options: RasterizeBlocks) -> tuple[Any, Any]:
    """Row and column of a tile, or a cluster, in the result, from those in the rectangle that is walked."""
    if of is None:
        return row, column
    parts = options.sides[0] // options.cluster_m, options.sides[1] // options.cluster_n
    down, along = (_divided(place, part) for place, part in zip((row, column), parts, strict=True))
    down, along = unfolded(down, along, of, _Values)
    if options.space == UPPER:
        down, along = along, down
    return _inside(down, row, parts[0]), _inside(along, column, parts[1])


def _divided(place: Any, part: int) -> Any:
    """In which square something lies, of so many places along a side."""
    return place if part == 1 else indexing.div(place, part)


def _inside(square: Any, place: Any, part: int) -> Any:
    """The same place in a square as `place` in its own."""
    return square if part == 1 else indexing.add(indexing.mul(square, part), indexing.rem(place, part))


def _ranks(options: RasterizeBlocks) -> tuple[Any, Any]:
    """Where a block lies in its cluster: its row and its column, as far as there are several."""
    down, along = options.cluster_m, options.cluster_n
    if min(down, along) > 1:
        return rings.rank(down), rings.rank(rings.Axis(down, along if options.split_k_cluster > 1 else 0))
    rank = rings.rank(down * along if options.split_k_cluster > 1 else 1)
    return rank, rank


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


def _grouped(block: Any, rows: Any, columns: Any, group: int, bits: int) -> tuple[Any, Any]:
    """Groups of `group` rows; the last one may be lower, so its height is computed unless it always fits."""
    if group == 1:
        return indexing.div(block, columns), indexing.rem(block, columns)
    if group == 0:
        return indexing.rem(block, rows), indexing.div(block, rows)
    group = min(group, rows) if isinstance(rows, int) else group
    tiles = indexing.product([group, columns])
    first = indexing.mul(indexing.div(block, tiles), group)
    inside = indexing.rem(block, tiles)
    if isinstance(rows, int) and rows % group == 0:
        return indexing.add(first, indexing.rem(inside, group)), indexing.div(inside, group)
    column = _column_in_group(block, inside, rows, columns, group) if bits > INVERSE_BITS else None
    height = dialect("arith").MinUIOp(indexing.sub(rows, first), constants.index(group)).result
    if column is None:
        return indexing.add(first, indexing.rem(inside, height)), indexing.div(inside, height)
    return indexing.add(first, indexing.sub(inside, indexing.mul(column, height))), column


def _column_in_group(block: Any, inside: Any, rows: Any, columns: Any, group: int) -> Any | None:
    """The column of a tile by its number in a group: its quotient by one of two known heights, as a product with 2^32
    over that height, rounded up. A division by what is known at run time only is a call, and took 1.5 % of a product
    of 4096 with an epilogue. None where sizes are not known, or the product would not be exact."""
    if not isinstance(rows, int) or not isinstance(columns, int):
        return None
    heights = (rows % group, group)
    inverses = [-(-(1 << INVERSE_BITS) // height) for height in heights]
    excess = max(inverse * height - (1 << INVERSE_BITS) for inverse, height in zip(inverses, heights, strict=True))
    if group * columns > MOST_TILES or excess * group * columns >= 1 << INVERSE_BITS:
        return None
    last = indexing.at_least(block, (rows - heights[0]) * columns)
    number = indexing.mul(inside, indexing.select(last, *inverses))
    return dialect("arith").ShRUIOp(number, constants.index(INVERSE_BITS)).result


def _snake(block: Any, rows: Any, columns: Any, group: int, bits: int) -> tuple[Any, Any]:
    row, column = _grouped(block, rows, columns, group, bits)
    if group == 0 or (isinstance(rows, int) and rows <= group):
        return row, column
    arith = dialect("arith")
    number = indexing.div(block, indexing.product([group, columns]))
    turned = arith.CmpIOp(arith.CmpIPredicate.ne, indexing.rem(number, 2), constants.index(0)).result
    back = indexing.sub(indexing.sub(columns, 1), column)
    return row, arith.SelectOp(turned, back, column).result
