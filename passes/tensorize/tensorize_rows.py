"""tensorize-rows: a kernel of rows becomes what a block does with a tile of some rows.

Expects functions marked `tile.kind = "rows"`: linalg.generics on memrefs in the same loops, those of the rows and then
those along a row (`normalise-kernels`, `share-sizes`), and fills and copies of what reductions start from. Leaves an scf.forall over blocks, mapped to `#gpu.block<x>`, on tiles of `tile=H,W`: tile.load,
arithmetic on vectors, tile.reduce, vector.broadcast of what a row has in common, tile.store. Rows run down the tile and
their elements along it, or, `transposed`, the other way round. Where a tile holds whole rows, each input is loaded once;
else loops go over the rows, once for reductions that do not need one another and once for the results. Beyond the ends
of rows tile.clip puts the element that is neutral. Temporaries of the kernel's own vanish. A second run changes nothing.

Refuses operations in other loops, other reductions than combinations by one associative operation, and a result that
the kernel also reads elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining.row_kernels import is_rows
from mlir_gemm.dialect.row_tiles import RowTiles, TileShape, block_position, loops_of, read, statements_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class TensorizeRows(Pass):
    """Turn kernels of rows into operations on tiles."""

    name: ClassVar[str] = "tensorize-rows"
    tile: tuple[int, ...] = (1, 1024)
    """The tile of a block, down and along."""
    transposed: bool = False
    """Whether the elements of a row run down the tile."""

    def run(self, module: Any) -> None:
        if len(self.tile) != 2 or min(self.tile) < 1:
            raise PassError(f"pass 'tensorize-rows': tile={','.join(map(str, self.tile))}; expected two sizes")
        for function in named(module, "func.func"):
            if is_rows(function) and statements_of(function):
                down, along = self.tile
                _convert(function, TileShape((down, along), self.transposed))


def _convert(function: Any, shape: TileShape) -> None:
    work = statements_of(function)
    generics = [read(op) for op in work if op.name != "linalg.fill"]
    if not any(not generic.elementwise for generic in generics):
        raise pass_error(function, "a kernel of rows without a reduction")
    loops = loops_of(generics)
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
        forall = dialect("scf").ForallOp([0], [indexing.product(count)], [1], mapping=mapping)
    with ir.InsertionPoint(forall.body), work[0].location:
        tiles = RowTiles(loops, shape, block_position(loops, shape, forall.body.arguments[0]))
        _build(tiles, work)
        tiles.store([(buffer, map_) for buffer, map_ in maps.items() if buffer in arguments])
        dialect("scf").InParallelOp()
    for op in reversed(work):
        op.erase()
    for op in reversed(in_block(body(function))):
        if op.operation.name in ("memref.dealloc", "memref.alloc"):
            op.operation.erase()


def _build(tiles: RowTiles, work: list[Any]) -> None:
    starts: dict[Any, Any] = {}
    waiting: list[Generic] = []
    needs: dict[Any, set[Any]] = {}
    """For each buffer that the kernel computes, the results of reductions that it is computed from."""

    def finish() -> None:
        if waiting:
            with waiting[0].op.location:
                tiles.reductions(waiting, starts)
            waiting.clear()

    for op in work:
        if op.name == "linalg.fill":
            filled = op.operands[0].owner
            if getattr(filled, "name", "") != "arith.constant":
                raise pass_error(op, "a reduction that starts from a value known at run time only")
            starts[op.operands[1]] = filled.attributes["value"]
            continue
        generic = read(op)
        used = [buffer for number, buffer in enumerate(generic.inputs) if generic.reads(number)]
        from_ = {each for buffer in used for each in needs.get(buffer, ())} | {b for b in used if b in _results(waiting)}
        if from_ & _results(waiting) and (not generic.elementwise or len(generic.parallel) == tiles.loops.outer):
            finish()
        if generic.elementwise:
            tiles.elementwise(generic)
        else:
            waiting.append(generic)
        for output in generic.outputs:
            needs[output] = from_ | ({output} if not generic.elementwise else set())
    finish()


def _results(generics: list[Generic]) -> set[Any]:
    return {output for generic in generics for output in generic.outputs}


