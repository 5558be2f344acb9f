"""tile-loops: affine loop nests become block loops around whole point nests.

Expects perfect affine.for nests with constant bounds from 0 in steps of 1: three deep (m, n, k) for a product, two deep
(m, n) for anything elementwise. Leaves, for each, loops over block tiles (`tile.loop = "block"`, and `"k"` for the
reduction) with `ceildiv` bounds, around a full nest over the points of one tile (`tile.loop = "point"`). Where the tile
does not divide the size, points beyond the bounds remain: reading them gives zero and writing them does nothing by
definition of the operations that `tensorize` turns them into. Labelled loops are left alone, so a second run changes
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class TileLoops(Pass):
    """Tile affine nests into block loops and point loops."""

    name: ClassVar[str] = "tile-loops"
    block: tuple[int, int, int] = (128, 128, 64)
    """Block tile (M, N, K)."""

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            outermost = [op for op in in_block(body(function)) if op.operation.name == "affine.for"]
            for loop in outermost:
                if affine.level_of(loop) is None:
                    _tile(loop, self.block)


def _tile(outer: Any, block: tuple[int, int, int]) -> None:
    nest = affine.perfect_nest(outer)
    trips = [_trips(loop) for loop in nest]
    if len(nest) not in (2, 3):
        raise pass_error(outer, f"a nest of {len(nest)} loops; expected 2 (elementwise) or 3 (a product)")
    if any(op.operation.name == "affine.for" for op in operations(nest[-1])):
        raise pass_error(outer, "loops that are not perfectly nested cannot be tiled")
    sizes = block[: len(nest)]
    with ir.InsertionPoint(outer), outer.location:
        levels = ["block", "block", "k"][: len(nest)]
        tiled = [(level, -(-trip // size)) for level, trip, size in zip(levels, trips, sizes, strict=True)]
        loops = _make_nest([*tiled, *(("point", size) for size in sizes)])
    tile_ivs = [affine.induction_variable(loop) for loop in loops[: len(nest)]]
    point_ivs = [affine.induction_variable(loop) for loop in loops[len(nest) :]]
    replacement = {
        affine.induction_variable(loop): affine.Linear({tile: size, point: 1})
        for loop, tile, point, size in zip(nest, tile_ivs, point_ivs, sizes, strict=True)
    }
    _move_body(nest[-1], loops[-1], replacement)
    outer.operation.erase()


def _trips(loop: Any) -> int:
    trips = affine.trip_count(loop)
    if trips is None or not affine.starts_at_zero_by_one(loop):
        raise pass_error(loop, "a loop whose bounds are not constants from 0 in steps of 1 cannot be tiled")
    return trips


def _make_nest(levels: list[tuple[str, int]]) -> list[Any]:
    """Perfectly nested loops, outermost first; all but the innermost have their terminator."""
    loops: list[Any] = []
    for level, trips in levels:
        if not loops:
            loops.append(affine.make_for(trips, level))
            continue
        with ir.InsertionPoint(body(loops[-1])):
            loops.append(affine.make_for(trips, level))
            affine.yield_()
    return loops


def _move_body(source: Any, target: Any, replacement: dict[Any, affine.Linear]) -> None:
    """Moves what `source` repeats into `target`, with its accesses rewritten from old to new induction variables."""
    block = body(target)
    for operation in in_block(body(source)):
        block.append(operation)
    for operation in in_block(block):
        if operation.operation.name in ("affine.load", "affine.store"):
            _rewrite_access(operation, replacement)


def _rewrite_access(operation: Any, replacement: dict[Any, affine.Linear]) -> None:
    memory, indices = affine.access(operation)
    if indices is None:
        raise pass_error(operation, "an access whose indices are not linear in the loops cannot be tiled")
    rewritten = [affine.substitute(index, replacement) for index in indices]
    affine.rebuild_access(operation, memory, rewritten)
