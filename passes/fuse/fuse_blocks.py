"""fuse-blocks: sibling nests over the same block loops become one.

Expects the nests that `tile-loops` leaves, one after another. Leaves one pair of block loops whose body holds what the
nests did, in order. Two nests are fused when nothing between them touches a buffer, their block loops have the same
trip counts and every buffer that one writes and the other touches is touched in the same tile: at the same offsets
from the block loops, which differ from iteration to iteration, and nowhere else. Refuses (PassError) when neighbours
have the same loops but such a buffer is touched elsewhere. Other nests are left alone; a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile.tile_loops import trips_of


@dataclass(frozen=True)
class FuseBlocks(Pass):
    """Fuse nests that walk the same block tiles."""

    name: ClassVar[str] = "fuse-blocks"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if not len(function.regions[0].blocks):
                continue
            before = None
            for operation in in_block(body(function)):
                if affine.level_of(operation) == "block":
                    if before is not None and _same_loops(before, operation):
                        _check_dependences(before, operation)
                        _fuse(before, operation)
                    before = operation
                elif any(isinstance(operand.type, ir.MemRefType) for operand in _operands_within(operation)):
                    before = None


def _block_loops(outer: Any) -> list[Any]:
    return [loop for loop in affine.perfect_nest(outer) if affine.level_of(loop) == "block"]


def _same_loops(first: Any, second: Any) -> bool:
    trips = [[trips_of(loop) for loop in _block_loops(nest)] for nest in (first, second)]
    return trips[0] == trips[1] and not any(each is None for each in trips[0])


def _check_dependences(first: Any, second: Any) -> None:
    """Every buffer that either nest writes must be touched by both in the tile of the same block iteration only."""
    touched = [_tiles_touched(nest) for nest in (first, second)]
    for memory in touched[0].keys() & touched[1].keys():
        if not any(write for accesses in touched for _, write, _ in accesses[memory]):
            continue
        tiles = {tile for accesses in touched for tile, _, _ in accesses[memory]}
        if len(tiles) > 1 or not all(_moves_with_all(tile, len(_block_loops(first))) for tile in tiles):
            culprit = touched[1][memory][0][2]
            raise pass_error(
                culprit,
                "this reads or writes other parts of a buffer than the tile that the operation before it makes; "
                "only elementwise operations on the product's own tile can be fused",
            )


def _tiles_touched(nest: Any) -> dict[Any, list[tuple[Any, bool, Any]]]:
    """For each memref: (tile or None, whether written, operation), tiles written with the block loops numbered."""
    loops = _block_loops(nest)
    numbers = {affine.induction_variable(loop): position for position, loop in enumerate(loops)}
    touched: dict[Any, list[tuple[Any, bool, Any]]] = {}
    for operation in operations(nest):
        if operation.operation.name in ("affine.load", "affine.store"):
            memory, indices = affine.access(operation)
            tile = None if indices is None else tuple(_outer_part(index, numbers) for index in indices)
            touched.setdefault(memory, []).append((tile, operation.operation.name == "affine.store", operation))
            continue
        for operand in operation.operation.operands:
            if isinstance(operand.type, ir.MemRefType):  # by something else: anywhere, and perhaps written
                touched.setdefault(operand, []).append((None, True, operation))
    return touched


def _moves_with_all(tile: Any, loops: int) -> bool:
    """Whether a tile is known and is another one in each iteration of the block loops."""
    if tile is None:
        return False
    return {number for outer, _, _ in tile for number, _ in outer} == set(range(loops))


def _operands_within(operation: Any) -> list[Any]:
    return [operand for each in [operation, *operations(operation)] for operand in each.operation.operands]


def _outer_part(index: affine.Linear, numbers: dict[Any, int]) -> Any:
    outer = sorted((numbers[value], c) for value, c in index.terms.items() if value in numbers)
    inner = [value for value in index.terms if value not in numbers]
    extents = sorted((affine.extent_of(value), index.coefficient(value)) for value in inner)
    return tuple(outer), tuple(extents), index.constant


def _fuse(first: Any, second: Any) -> None:
    """Moves the body of `first` to the head of the body of `second`."""
    before, after = _block_loops(first), _block_loops(second)
    for old, new in zip(before, after, strict=True):
        affine.induction_variable(old).replace_all_uses_with(affine.induction_variable(new))
    moved = in_block(body(before[-1]))[:-1]
    anchor = in_block(body(after[-1]))[0]
    for operation in moved:
        operation.operation.move_before(anchor)
    first.operation.erase()
