"""tensorize-rows: a kernel of rows becomes what a block does with a tile of some rows.

Expects functions marked `tile.kind = "rows"`: linalg.generics on memrefs in the same loops, those of the rows and
then those along a row (`normalise-kernels`, `share-sizes`), and fills and copies of what reductions start from.
Leaves an scf.forall over blocks, mapped to `#gpu.block<x>`, on tiles of `tile=H,W`: tile.load, arithmetic on vectors,
tile.reduce, vector.broadcast of what a row has in common, tile.store. Rows run down the tile and their elements along
it, or, `transposed`, the other way round. Where a tile holds whole rows, each input is loaded once; else loops go
over the rows, once for reductions that do not need one another and once for the results. Beyond the ends of rows
tile.clip puts the neutral element. With `cluster=N`, N blocks share the same rows: each has a tile of its part, by its
tile.rank, and each tile.reduce is one of the whole cluster. With `grid=N` they are any N blocks of the grid, which run
at the same time (`tile.cooperative`) and combine by tile.grid_reduce what each has reduced; `front=K` tiles of each
block's part stay in registers, and shared memory keeps those after them (`staged`). `groups=G` are rows at a time: the
loop is over G groups of N blocks then, each of which goes over every G-th row. With `paired` blocks exchange at once
what two reductions find of which the second is around the first's result: a maximum and then a sum of exponentials, or
a mean and then squares. Temporaries of the kernel's own vanish. A second run changes nothing.

Refuses operations in other loops, other reductions than combinations by one associative operation, and a result that
the kernel also reads elsewhere; with `grid` and no `groups`, a number of rows that is known at run time only; with
`front`, rows that have no such tiles; with `paired`, other reductions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.grid_exchange import Meeting, meet
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining.row_kernels import is_rows
from mlir_gemm.dialect.paired_reductions import Pair, pair_of
from mlir_gemm.dialect.paired_rows import PairedRows
from mlir_gemm.dialect.row_loops import (
    RowLoops,
    TileShape,
    block_position,
    loops_of,
    of_results,
    statements_of,
)
from mlir_gemm.dialect.row_reductions import reduce_rows
from mlir_gemm.dialect.row_tiles import RowTiles
from mlir_gemm.dialect.stream_k import scratch_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import CLUSTER, COOPERATIVE
from mlir_gemm.spec.rows import MOST_TOGETHER


@dataclass(frozen=True)
class TensorizeRows(Pass):
    """Turn kernels of rows into operations on tiles."""

    name: ClassVar[str] = "tensorize-rows"
    tile: tuple[int, ...] = (1, 1024)
    """The tile of a block, down and along."""
    transposed: bool = False
    """Whether the elements of a row run down the tile."""
    shift: int = 0
    """If not 0, tiles of one row start at a multiple of this many elements in memory, where rows do not."""
    staged: bool = False
    """Whether rows that a tile does not hold are kept in shared memory from the first pass over them to the last."""
    unroll: int = 1
    """Tiles that an iteration takes where loops go over the rows; it carries what it reduces for one of them."""
    cluster: int = 1
    """Blocks of a cluster, which share the rows of a tile; a power of two."""
    prefetch: bool = False
    """Whether tiles that hold whole rows load what is needed after the reductions before them."""
    evict_first: bool = False
    """Whether what is read of rows is the first that L2 gives up."""
    flat: int = 0
    """If not 0, the rows of a tile, which holds whole ones, are copied to shared memory and back as they lie in memory,
    so many elements in all."""
    part: int = 0
    """If not 0, the reductions are along parts of rows that others have reduced, and their results are for longer rows:
    each block reduces, and computes so many elements of a row of the results."""

    grid: int = 0
    """If not 0, blocks of the grid that share the rows of a tile."""
    groups: int = 0
    """With `grid`, rows at a time, which groups of blocks take one after another; 0 for all at once."""
    front: int = 0
    """Tiles of a block's part of a row that stay in registers from the first pass to the last."""
    paired: bool = False
    """Whether blocks that share a row exchange at once what two reductions find of which the second is around the
    first's result, each around a pivot of its own part until then."""

    def run(self, module: Any) -> None:
        shared = not (self.cluster > 1 or self.transposed or self.flat or self.part)
        if self.grid and (self.grid < 2 or self.groups < 0 or not shared):
            raise PassError(f"pass '{self}': expected 0 blocks of the grid, or 2 and more without cluster, transposed, "
                            "flat and part")  # fmt: skip
        if self.front and (self.front < 0 or not self.staged or self.shift):
            raise PassError(f"pass '{self}': expected front=0, or tiles with staged=true and shift=0")
        if self.paired and not (self.grid or self.cluster > 1):
            raise PassError(f"pass '{self}': expected paired=false for rows that no blocks share")
        if self.cluster < 1 or self.cluster & (self.cluster - 1) or (self.cluster > 1 and self.transposed):
            wanted = "a power of two, and 1 for transposed tiles"
            raise PassError(f"pass 'tensorize-rows': cluster={self.cluster}; expected {wanted}")
        if len(self.tile) != 2 or min(self.tile) < 1:
            raise PassError(f"pass 'tensorize-rows': tile={','.join(map(str, self.tile))}; expected two sizes")
        if self.unroll < 1:
            raise PassError(f"pass 'tensorize-rows': unroll={self.unroll}; expected 1 or more")
        for function in named(module, "func.func"):
            if is_rows(function) and statements_of(function):
                down, along = self.tile
                if ((self.shift or self.staged) and self.transposed) or (self.shift and down != 1):
                    raise PassError(
                        f"pass '{self}': tiles of one row along it can be shifted, and staged those along rows"
                    )
                _convert(function, TileShape((down, along), self.transposed), self)


def _convert(function: Any, shape: TileShape, options: TensorizeRows) -> None:
    shift, cluster = options.shift, max(options.grid, options.cluster)
    work = statements_of(function)
    generics = [structured.read(op) for op in work if op.name != "linalg.fill"]
    if not any(not generic.elementwise for generic in generics):
        raise pass_error(function, "a kernel of rows without a reduction")
    wide = of_results(generics) if options.part else []
    loops = loops_of([generic for generic in generics if generic not in wide])
    sizes: tuple[int, ...] = structured.sizes_of(wide[0]) if wide else loops.sizes
    parts = -(-sizes[-1] // options.part) if wide else 1
    pair = _pair_of(function, work) if options.paired else None
    if wide and (cluster > 1 or shift or options.flat or shape.rows > 1):
        raise pass_error(function, f"part={options.part} with shift, flat, cluster or tiles of several rows")
    maps = {
        output: map_
        for generic in generics
        for output, map_ in zip(generic.outputs, generic.maps[len(generic.inputs) :], strict=True)
    }
    arguments = list(body(function).arguments)
    with ir.InsertionPoint(in_block(body(function))[-1]), work[0].location:
        count = [loops.sizes[loop] for loop in range(loops.outer)]
        count[-1] = indexing.ceildiv(count[-1], shape.rows)
        mapping = ir.ArrayAttr.get([ir.Attribute.parse("#gpu.block<x>")])
        rows, groups = _rows_of(function, options, shape, count) if options.grid else (0, 0)
        shared = [cluster * parts] if cluster * parts > 1 else []
        blocks = groups * cluster if options.grid else indexing.product([*count, *shared])
        forall = dialect("scf").ForallOp([0], [blocks], [1], mapping=mapping)
    if options.grid:
        forall.operation.attributes[COOPERATIVE] = constants.integer(cluster)
    elif cluster > 1:
        forall.operation.attributes[CLUSTER] = constants.integer(cluster)
    staged = options.staged and loops.element == loops.outer
    stored = [(buffer, map_) for buffer, map_ in maps.items() if buffer in arguments]

    def build(number: Any, meeting: Meeting | None) -> None:
        tiles = RowTiles(loops, shape, block_position(loops, shape, number), shift=shift, cluster=cluster,
                         unroll=options.unroll, staged=staged, first=forall.body, flat=options.flat,
                         evict_first=options.evict_first, meeting=meeting, front=options.front)  # fmt: skip
        _check_front(function, tiles)
        if options.flat and not (tiles.whole and loops.outer == 1):
            raise pass_error(function, f"flat={options.flat} for tiles that do not hold whole rows of one loop")
        tiles.enter_cluster()
        if shift:
            tiles.align(*_aligned_operand(function, generics, loops, shift))
        if options.prefetch and tiles.whole:
            _load_all(tiles, generics, arguments)
        if wide:
            at = indexing.mul(indexing.rem(forall.body.arguments[0], parts), options.part)
            along = RowLoops(sizes, loops.outer)
            tile = TileShape((1, options.part), transposed=False)
            results = RowTiles(along, tile, dict(tiles.place), part=at, first=forall.body)
            _load_all(results, wide, arguments)
            _build(tiles, [op for op in work if op not in [generic.op for generic in wide]])
            results.narrow = tiles.narrow
            for generic in wide:
                results.elementwise(generic)
            results.store(stored)
        else:
            _build(tiles, work, PairedRows(tiles, pair) if pair is not None else None)
            tiles.store(stored)

    with ir.InsertionPoint(forall.body), work[0].location:
        every = cluster * parts
        number = indexing.div(forall.body.arguments[0], every) if every > 1 else forall.body.arguments[0]
        if options.grid:
            meet(forall, number, (rows, groups, cluster), build)
        else:
            build(number, None)
        dialect("scf").InParallelOp()
    for op in reversed(work):
        op.erase()
    for op in reversed(in_block(body(function))):
        if op.operation.name in ("memref.dealloc", "memref.alloc") and not scratch_of(op):
            op.operation.erase()


def _pair_of(function: Any, work: list[Any]) -> Pair:
    """The reductions whose results blocks exchange at once."""
    pair = pair_of(work)
    if pair is None:
        raise pass_error(function, "paired=true for other reductions than a maximum and a sum of exp(x - maximum), or "
                         "a sum and one of squares of x - mean, along a dimension of constant size")  # fmt: skip
    return pair


def _rows_of(function: Any, options: TensorizeRows, shape: TileShape, count: list[Any]) -> tuple[Any, int]:
    """How many tiles of rows there are, each of which blocks of the grid share, and how many at a time."""
    tiles = indexing.product(count)
    if shape.rows <= MOST_TOGETHER and (isinstance(tiles, int) or options.groups):
        return tiles, min(options.groups or tiles, tiles) if isinstance(tiles, int) else options.groups
    many = f"tiles of {shape.rows} rows" if isinstance(tiles, int) else "rows whose number is known at run time only"
    wanted = f"up to {MOST_TOGETHER}" if isinstance(tiles, int) else "groups"
    raise pass_error(function, f"grid={options.grid} for {many}; expected {wanted} for so many blocks, all of which "
                     "run at the same time")  # fmt: skip


def _check_front(function: Any, tiles: RowTiles) -> None:
    """Refuses tiles that are to stay in registers of rows that are not longer, or that hold whole rows anyway."""
    loops, front = tiles.loops, tiles.front
    if not front:
        return
    size = loops.sizes[loops.element]
    if tiles.whole or loops.element != loops.outer or not isinstance(size, int) or size < front * tiles.step:
        raise pass_error(function, f"front={front} of {tiles.step} elements by all blocks; expected rows of one "
                         "dimension and a constant length, of more than so many")  # fmt: skip


def _aligned_operand(function: Any, generics: list[Generic], loops: RowLoops, shift: int) -> tuple[Any, Any]:
    """An operand along rows, and its map, whose rows lie as those of all others do."""
    found: list[tuple[Any, Any]] = []
    ways: set[tuple[int, ...]] = set()
    for generic in generics:
        for operand, map_ in zip(generic.operands, generic.maps, strict=True):
            places = {e.position: axis for axis, e in enumerate(map_.results) if isinstance(e, ir.AffineDimExpr)}
            if operand in list(body(function).arguments) and {loops.row, loops.element} <= set(places):
                strides, offset = operand.type.get_strides_and_offset()
                ways.add(tuple(strides[places[loop]] % shift if loop in places else 0 for loop in range(loops.outer)))
                found.append((operand, map_))
                if strides[places[loops.element]] != 1 or offset % shift:
                    ways.add(())
    if len(ways) != 1:
        raise pass_error(function, f"rows that do not all lie in the same way among multiples of {shift} elements")
    return found[0]


def _load_all(tiles: RowTiles, generics: list[Generic], arguments: list[Any]) -> None:
    """Loads what the kernel reads of memory and does not write, each once."""
    written = {output for generic in generics for output in generic.outputs}
    for generic in generics:
        for number, (buffer, map_) in enumerate(zip(generic.inputs, generic.maps, strict=False)):
            if buffer in arguments and buffer not in written and generic.reads(number):
                tiles.operand(buffer, map_)


def _build(tiles: RowTiles, work: list[Any], paired: PairedRows | None = None) -> None:
    starts: dict[Any, Any] = {}
    waiting: list[Generic] = []
    needs: dict[Any, set[Any]] = {}
    """For each buffer that the kernel computes, the results of reductions that it is computed from."""

    def finish() -> None:
        if waiting:
            with waiting[0].op.location:
                reduce_rows(tiles, waiting, starts, paired)
                if paired is not None and paired.done:
                    first = paired.pair.results[0]
                    paired.compute_again([buffer for buffer, results in needs.items() if first in results])
            waiting.clear()

    for op in work:
        if op.name == "linalg.fill":
            filled = op.operands[0].owner
            if getattr(filled, "name", "") != "arith.constant":
                raise pass_error(op, "a reduction that starts from a value known at run time only")
            starts[op.operands[1]] = filled.attributes["value"]
            continue
        generic = structured.read(op)
        used = [buffer for number, buffer in enumerate(generic.inputs) if generic.reads(number)]
        from_ = {each for buffer in used for each in needs.get(buffer, ())} | {
            b for b in used if b in _results(waiting)
        }
        if from_ & _results(waiting) and (not generic.elementwise or len(generic.parallel) == tiles.loops.outer):
            finish()
        if generic.elementwise:
            tiles.elementwise(generic)
            if paired is not None and paired.is_open() and len(generic.parallel) == tiles.loops.outer:
                paired.between.append(generic)
        else:
            waiting.append(generic)
        for output in generic.outputs:
            needs[output] = from_ | ({output} if not generic.elementwise else set())
    finish()


def _results(generics: list[Generic]) -> set[Any]:
    return {output for generic in generics for output in generic.outputs}
