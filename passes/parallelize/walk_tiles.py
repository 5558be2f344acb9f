"""walk-tiles: each thread block computes several tiles of the result, one after another.

Expects an scf.forall over tiles, mapped to `#gpu.block<x>`, whose threads copy and multiply alike. Leaves one over
blocks, a `tiles`-th of them, with the buffers of shared memory, and in it an scf.for (`tile.tiles`) over the tiles of a
block: neighbours in the order of the raster with `sequential`, else as far apart as there are blocks. A barrier ends a
tile: the buffers are filled again then. The last blocks may have fewer tiles. Loops that are walked already, and blocks
that specialize their warps, which `persistent-tile-scheduler` is for, stay as they are, so a second run changes
nothing. Refuses blocks in clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.tile_walks import blocks_for, range_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.parallelize.persistent_tile_scheduler import is_walked, tiles_of
from mlir_gemm.spec.attributes import CLUSTER, TILES


@dataclass(frozen=True)
class WalkTiles(Pass):
    """Let each block compute several tiles."""

    name: ClassVar[str] = "walk-tiles"
    tiles: int = 2
    """Tiles of a block."""
    sequential: bool = True
    """Whether these are neighbours."""

    def run(self, module: Any) -> None:
        if self.tiles < 1:
            raise PassError(f"pass '{self}': expected at least 1 tile")
        for forall in named(module, "scf.forall"):
            if self.tiles == 1 or named(forall, "tile.warp_specialize") or is_walked(forall):
                continue
            if CLUSTER in forall.operation.attributes:
                raise pass_error(forall, "blocks of a cluster share copies, and walk no tiles of their own")
            _walk(forall, self)


def _walk(forall: Any, options: WalkTiles) -> None:
    tiles = tiles_of(forall)
    with ir.InsertionPoint(forall), forall.location:
        blocks = blocks_for(tiles, options.tiles)
        new = dialect("scf").ForallOp([0], [blocks], [1], mapping=forall.operation.attributes["mapping"])
        for name, attribute in attributes_of(forall).items():
            if name.startswith("tile."):
                new.operation.attributes[name] = attribute
    with ir.InsertionPoint(body(new)), forall.location:
        loop = dialect("scf").ForOp(*_bounds(body(new).arguments[0], tiles, blocks, options))
        loop.operation.attributes[TILES] = ir.UnitAttr.get()
        dialect("scf").InParallelOp()
    for operation in [each.operation for each in in_block(body(forall))][:-1]:
        if operation.name == "memref.alloc":
            operation.move_before(loop)
        else:
            loop.body.append(operation)
    body(forall).arguments[0].replace_all_uses_with(loop.induction_variable)
    with ir.InsertionPoint(loop.body), forall.location:
        end_tile()
        dialect("scf").YieldOp([])
    forall.operation.erase()


def end_tile() -> None:
    """Waits until nobody reads the buffers of a tile any more."""
    dialect("gpu").BarrierOp()


def _bounds(block: Any, tiles: Any, blocks: Any, options: WalkTiles) -> list[Any]:
    """The first tile of a block, where they end, and how far one is from the next."""
    found = range_of(block, tiles, blocks, options.tiles, options.sequential)
    return [constants.index(each) if isinstance(each, int) else each for each in (found.first, found.end, found.step)]
