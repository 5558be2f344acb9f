"""Blocks that take tiles of rows in turn: what all rows share is loaded once, and the next tile's rows before a tile is
computed, so that memory is busy while a block reduces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.row_loops import block_position
from mlir_gemm.dialect.row_tiles import RowTiles

Read = tuple[Any, Any]
"""A buffer and its map."""


def in_turn(tiles: RowTiles, read: Sequence[Read], block: Any, blocks: int, build: Callable[[], None]) -> None:
    """Builds a loop over the tiles of block `block` of so many. `read` is what is read of memory that nobody writes;
    `build` does the work of a tile. All rows are of one loop of a constant size, and tiles hold whole rows."""
    loops, arith = tiles.loops, dialect("arith")
    count = -(-loops.sizes[0] // tiles.tile.rows)
    moving = [each for each in read if tiles.has_rows(each[1])]

    def enter(number: Any) -> None:
        tiles.place.update(block_position(loops, tiles.tile, number))

    def loaded() -> list[Any]:
        return [tiles.load(memory, map_, True) for memory, map_ in moving]

    enter(block)
    for memory, map_ in read:
        if (memory, map_) not in moving:
            tiles.operand(memory, map_)
    common = dict(tiles.held)
    first = loaded()
    keys = [key for key in tiles.held if key not in common]
    scf = dialect("scf")
    loop = scf.ForOp(block, constants.index(count), constants.index(blocks), first)
    with ir.InsertionPoint(loop.body):
        number = loop.body.arguments[0]
        enter(arith.MinUIOp(indexing.add(number, blocks), constants.index(count - 1)).result)
        tiles.held = dict(common)
        following = loaded()
        enter(number)
        tiles.held = common | dict(zip(keys, list(loop.body.arguments)[1:], strict=True))
        build()
        scf.YieldOp(following)


def read_only(generics: Sequence[Generic], arguments: Sequence[Any]) -> list[Read]:
    """What operations read of a kernel's arguments that none of them writes, each once."""
    written = {output for generic in generics for output in generic.outputs}
    found = {
        (buffer, str(map_)): (buffer, map_)
        for generic in generics
        for number, (buffer, map_) in enumerate(zip(generic.inputs, generic.maps, strict=False))
        if buffer in arguments and buffer not in written and generic.reads(number)
    }
    return list(found.values())
