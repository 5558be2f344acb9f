"""accumulate: the accumulator stays in registers across the k loop, and temporary buffers vanish.

Expects tile.load and tile.store around tile.mma. Leaves
- accumulators as iter_args of the k loop: the loads and the stores of their tiles, at offsets that do not change in the
  loop, move before it and after it (option `registers=false` leaves them, and C is read and written in each
  step). Left alone are loops that touch the accumulator's memref in another way or do not count from 0 in steps of 1;
- no load of a tile that was stored just before: the stored value is used;
- no store that is overwritten before it is read, and no buffer that is written but never read.
Assumes what linalg assumes: different memrefs do not overlap, except views of the same one. A second run changes
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.walk import body, defined_within, in_block, named, operations, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile.tile_loops import trips_of


@dataclass(frozen=True)
class Accumulate(Pass):
    """Keep accumulators in registers and remove temporaries."""

    name: ClassVar[str] = "accumulate"
    registers: bool = True
    """Carry the accumulator through the k loop in registers."""

    def run(self, module: Any) -> None:
        if self.registers:
            for loop in named(module, "affine.for"):
                if affine.level_of(loop) == "k":
                    _carry(loop)
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "block":
                _forward(body(loop))
        _drop_unread_buffers(module)


@dataclass(frozen=True)
class Region:
    """The part of a memref that a tile.load or tile.store touches."""

    memory: Any
    offsets: tuple[affine.Linear, ...]
    dims: tuple[int, ...]
    shape: tuple[int, ...]


def region_of(operation: Any) -> Region:
    """The region that a tile.load or tile.store touches."""
    operation_ = operation.operation
    place = tile.place_of(operation)
    value = operation_.results[0] if operation_.name == "tile.load" else operation_.operands[0]
    offsets = tuple(affine.linear_of(offset) for offset in place.offsets)
    return Region(tile.memory_of(operation), offsets, place.dims, tuple(value.type.shape))


def base_of(memory: Any) -> Any:
    """The memref that a view is a part of; `memory` itself if it is none."""
    while getattr(memory.owner, "name", "") in ("memref.subview", "memref.cast"):
        memory = memory.owner.operands[0]
    return memory


def _carry(loop: Any) -> None:
    """Moves loads and stores of accumulator tiles out of a k loop, and their values into iter_args: all or none."""
    trips = trips_of(loop)
    inside = in_block(body(loop))
    loads = [op for op in inside if op.operation.name == "tile.load"]
    stores = [op for op in inside if op.operation.name == "tile.store"]
    pairs = [(load, store) for load in loads for store in stores if region_of(load) == region_of(store)]
    if trips is None or not pairs or not all(_stays(loop, *pair) for pair in pairs):
        return
    places: list[tuple[Any, list[Any]]] = []
    with ir.InsertionPoint(loop), loop.location:
        for load, _ in pairs:
            indices = [offset.build() for offset in region_of(load).offsets]
            places.append((_like(load, [load.operands[0], *indices], [load.results[0].type]), indices))
        carried = affine.make_for(trips, "k", [before.results[0] for before, _ in places])
        for (load, store), (_, indices), result in zip(pairs, places, list(carried.results), strict=True):
            _like(store, [result, region_of(load).memory, *indices], [])
    _move_into(loop, carried, pairs)
    loop.operation.erase()


def _stays(loop: Any, load: Any, store: Any) -> bool:
    """Whether a k loop touches the memref of an accumulator by these two only, at offsets that do not change in it."""
    memory, offsets = region_of(load).memory, region_of(load).offsets
    touching = [op for op in operations(loop) if base_of(memory) in map(base_of, op.operation.operands)]
    moving = [value for offset in offsets for value in [memory, *offset.terms] if defined_within(value, loop)]
    return touching == [load, store] and not moving


def _like(operation: Any, operands: list[Any], results: list[Any]) -> Any:
    """A tile.load or tile.store like `operation`, on other operands, at the insertion point."""
    old = operation.operation
    return ir.Operation.create(
        old.name, results=results, operands=operands, attributes=attributes_of(old), loc=old.location
    )


def _move_into(loop: Any, carried: Any, pairs: list[tuple[Any, Any]]) -> None:
    target = body(carried)
    results = [store.operands[0] for _, store in pairs]
    for operation in in_block(body(loop))[:-1]:
        target.append(operation)
    affine.induction_variable(loop).replace_all_uses_with(affine.induction_variable(carried))
    for (load, store), argument in zip(pairs, list(target.arguments)[1:], strict=True):
        load.operation.results[0].replace_all_uses_with(argument)
        store.operation.erase()
        load.operation.erase()
    with ir.InsertionPoint(target), loop.location:
        affine.yield_(results)


def _forward(block: Any) -> None:
    """Within one block: loads of a tile stored before become the stored value; stores that are overwritten before they
    are read are erased."""
    latest: dict[Any, Any] = {}  # memref, no view -> the last store to it that nothing has read or overlapped since
    for operation in in_block(block):
        name = operation.operation.name
        if name == "tile.store":
            region = region_of(operation)
            previous = latest.get(base_of(region.memory))
            if previous is not None and region_of(previous) == region:
                previous.operation.erase()
            latest[base_of(region.memory)] = operation
        elif name == "tile.load":
            region = region_of(operation)
            previous = latest.get(base_of(region.memory))
            if previous is not None and region_of(previous) == region:
                operation.operation.results[0].replace_all_uses_with(previous.operands[0])
                operation.operation.erase()
            else:
                latest.pop(base_of(region.memory), None)
        else:
            touched = {base_of(value) for op in [operation, *operations(operation)] for value in op.operation.operands}
            for memory in [memory for memory in latest if memory in touched]:
                del latest[memory]


def _drop_unread_buffers(module: Any) -> None:
    """Erases allocations in global memory that are only stored to, with their stores."""
    for alloc in named(module, "memref.alloc"):
        buffer = alloc.operation.results[0]
        using = users(buffer)
        if buffer.type.memory_space is None and all(op.name == "tile.store" for op in using):
            for operation in using:
                operation.erase()
            alloc.operation.erase()
