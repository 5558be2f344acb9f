"""tile-loops: affine loop nests become block loops around whole point nests.

Expects perfect affine.for nests from 0 in steps of 1 to constants or to sizes (`share-sizes`), over (batch ..., m, n,
k) for a product and (batch ..., m, n) for anything elementwise; a product is told by its last loop, which moves no
store. Leaves, for each, loops over block tiles (`tile.loop = "block"`, and `"k"` for the reduction) with `ceildiv`
bounds, one batch at a time, around a full nest over the points of one tile (`tile.loop = "point"`). Bounds that are
known at run time only are computed in front, once for each size and tile. Where the tile does not divide the size,
points beyond the bounds remain: reading them gives zero and writing them does nothing by definition of the operations
that `tensorize` turns them into, and those beyond the end of k add nothing. Refuses nests that do anything with their
induction variables but index affine.load and affine.store, and, where points remain, accesses that would then stay in
bounds.
Labelled loops are left alone, so a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, indexing
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.positions import is_position
from mlir_gemm.dialect.sizes import known_size
from mlir_gemm.dialect.walk import body, in_block, named, operations, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass

LARGEST = 1 << 16
"""No size of a tile is larger: far beyond what a block can hold, and products of three still fit 64 bits."""


@dataclass(frozen=True)
class TileLoops(Pass):
    """Tile affine nests into block loops and point loops."""

    name: ClassVar[str] = "tile-loops"
    block: tuple[int, int, int] = (128, 128, 64)
    """Block tile (M, N, K)."""

    def __post_init__(self) -> None:
        if not all(1 <= size <= LARGEST for size in self.block):
            raise PassError(f"pass '{self}': each size of a tile must be from 1 to {LARGEST}")

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if not len(function.regions[0].blocks):
                continue
            tiles = _Tiles()
            outermost = [op for op in in_block(body(function)) if op.operation.name == "affine.for"]
            for loop in outermost:
                if affine.level_of(loop) is None:
                    _tile(loop, self.block, tiles)


def plain_trips(loop: Any) -> int | None:
    """Iterations of a loop from 0 in steps of 1 to a constant that carries no values; None for any other loop."""
    trips = trips_of(loop)
    return trips if isinstance(trips, int) else None


def trips_of(loop: Any) -> Any:
    """The same, or the index value that they are where they are known at run time only."""
    return None if len(loop.operation.results) else affine.bound_of(loop)


@dataclass
class _Tiles:
    """Numbers of tiles, each computed once in a function: equal loops have the same value as their bound."""

    known: dict[tuple[Any, int], Any] = field(default_factory=dict[tuple[Any, int], Any])

    def of(self, trips: Any, size: int) -> Any:
        """How many tiles of `size` cover a loop."""
        if isinstance(trips, int) or size == 1:
            return indexing.ceildiv(trips, size)
        if (trips, size) not in self.known:
            self.known[trips, size] = self._made(trips, size)
        return self.known[trips, size]

    def _made(self, trips: Any, size: int) -> Any:
        with ir.InsertionPoint.after(trips.owner.operation):
            return indexing.ceildiv(trips, size)


def _tile(outer: Any, block: tuple[int, int, int], made: _Tiles) -> None:
    nest = affine.perfect_nest(outer)
    trips = [_trips(loop) for loop in nest]
    if any(op.operation.name == "affine.for" for op in operations(nest[-1])):
        raise pass_error(outer, "loops that are not perfectly nested cannot be tiled")
    tiled = 3 if _reduces(nest[-1]) else 2
    if len(nest) < tiled:
        raise pass_error(outer, f"a nest of {len(nest)} loops; expected at least 2 (elementwise) or 3 (a product)")
    batches = len(nest) - tiled
    sizes = [1] * batches + list(block[:tiled])
    for loop, trip, size in zip(nest, trips, sizes, strict=True):
        _check_uses(loop, nest[-1], trip, size)
    levels = [*["block"] * (batches + 2), "k"][: len(nest)]
    with ir.InsertionPoint(outer), outer.location:
        tiles = [(level, made.of(trip, size)) for level, trip, size in zip(levels, trips, sizes, strict=True)]
        loops = _make_nest([*tiles, *(("point", size) for size in block[:tiled])])
    tile_ivs = [affine.induction_variable(loop) for loop in loops[: len(nest)]]
    point_ivs = [None] * batches + [affine.induction_variable(loop) for loop in loops[len(nest) :]]
    replacement = {
        affine.induction_variable(loop): affine.Linear({tile: size} if point is None else {tile: size, point: 1})
        for loop, tile, point, size in zip(nest, tile_ivs, point_ivs, sizes, strict=True)
    }
    _move_body(nest[-1], loops[-1], replacement)
    outer.operation.erase()


def _reduces(innermost: Any) -> bool:
    """Whether a nest's last loop is a reduction: it moves nothing that the nest stores."""
    iv = affine.induction_variable(innermost)
    stores = [op for op in in_block(body(innermost)) if op.operation.name == "affine.store"]
    return bool(stores) and not any(iv in list(store.operation.operands) for store in stores)


def _trips(loop: Any) -> Any:
    trips = trips_of(loop)
    if trips is None or not (isinstance(trips, int) or _is_size(trips)):
        raise pass_error(
            loop,
            "a loop that carries values, or whose bounds are not constants or sizes from 0 in steps of 1, cannot "
            "be tiled",
        )
    return trips


def _is_size(value: Any) -> bool:
    """Whether a value is a size that `share-sizes` has put before a function."""
    owner = value.owner
    return getattr(owner, "name", "") == "memref.dim" and owner.operation.parent.name == "func.func"


def _check_uses(loop: Any, innermost: Any, trips: Any, size: int) -> None:
    """An induction variable may only index accesses directly in the nest; beyond a ragged bound, those must miss."""
    iv = affine.induction_variable(loop)
    for user in users(iv):
        is_access = user.name in ("affine.load", "affine.store") and user.block == body(innermost)
        if user.operation != innermost.operation and (not is_access or user.operands[0] == iv):
            raise pass_error(
                user,
                f"'{user.name}' uses an induction variable; only the indices of an affine.load or affine.store "
                "directly in the nest may",
            )
        memory, indices = affine.access(user)
        along = [(index, axis) for axis, index in enumerate(indices or []) if index.coefficient(iv)]
        ragged = (not isinstance(trips, int) or trips % size != 0) and not is_position(memory)
        if ragged and any(i != affine.Linear({iv: 1}) or known_size(memory, axis) != trips for i, axis in along):
            shown = f"{trips} iterations" if isinstance(trips, int) else "iterations, whose number is not known,"
            raise pass_error(
                user,
                f"tiles of {size} do not divide the loop's {shown}, and beyond them this access would not be out of "
                "bounds",
            )


def _make_nest(levels: list[tuple[str, Any]]) -> list[Any]:
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
