"""promote-result: the result leaves through shared memory, a block tile at a time, in whole vectors of its rows.

Expects an scf.forall over blocks (after the raster) that stores one block tile to global memory after its products.
Leaves a buffer in shared memory in the order in which the result lies in memory (`memref.alloc` with `tile.layout`, a
pad against bank conflicts), tile.store of the tile to it, a barrier, and block-wide tile.load and tile.store of bands
of its rows, which `distribute-copies` divides among threads: neighbours take neighbouring vectors. A barrier after the
products, and the waits for copies, lets the buffer lie in the memory of operands. Where copies of operands have a role
of their own, the consumers do all that, and meet again once they have read the buffer. Other blocks stay as they are:
those that store several tiles, or one twice, or in a loop over k; elements of parts of bytes. A second run changes
nothing. Refuses blocks whose tiles were divided among warps already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared, shared_buffer
from mlir_gemm.dialect.walk import body, in_block, is_within, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe.unaligned_store_epilogue import meet_after_products
from mlir_gemm.spec.attributes import SCOPE
from mlir_gemm.spec.block_tiles import band_of, pad_of


@dataclass(frozen=True)
class PromoteResult(Pass):
    """Store results through shared memory."""

    name: ClassVar[str] = "promote-result"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            _promote(forall)


def _promote(forall: Any) -> None:
    found = [op.operation for op in named(forall, "tile.store") if not in_shared(op.operands[1])]
    if len(found) != 1 or not named(forall, "tile.mma"):
        return
    store = found[0]
    if getattr(store.operands[0].owner, "name", "") == "tile.load" and in_shared(store.operands[0].owner.operands[0]):
        return
    if SCOPE in store.attributes:
        raise pass_error(store, "a tile that was divided among warps; expected whole block tiles")
    loops = [loop for loop in named(forall, "scf.for") if is_within(store, loop)]
    order = order_of(store)
    if order is None or any(is_within(product, loop) for loop in loops for product in named(forall, "tile.mma")):
        return
    value, memory = list(store.operands)[:2]
    element, shape = value.type.element_type, [value.type.shape[dim] for dim in order]
    with ir.InsertionPoint(in_block(body(forall))[0]), store.location:
        buffer = shared_buffer(shape, element, f"pad{pad_of(element.width // 8)}")
    roles = named(forall, "tile.warp_specialize")
    if not roles:
        meet_after_products(forall)
    with ir.InsertionPoint(store), store.location:
        tile.store(value, buffer, whole(order))
        dialect("gpu").BarrierOp()
        rows = band_of(shape, element.width // 8)
        for first in range(0, shape[0], rows):
            part = ir.VectorType.get([rows, shape[1]], element)
            start = tile.Place((constants.index(first), constants.index(0)), (0, 1), (True, True))
            tile.store(tile.load(buffer, start, part), memory, in_order(tile.place_of(store), first))
        if roles:
            dialect("gpu").BarrierOp()
    store.erase()


def order_of(access: Any) -> tuple[int, int] | None:
    """The dimensions of a tile in the order in which they lie in the memory that is accessed; None where a tile of it
    cannot be staged: parts of bytes, or memory that does not run along both dimensions."""
    value = access.results[0] if access.name == "tile.load" else access.operands[0]
    dims = tuple(dim for dim in tile.place_of(access).dims if dim >= 0)
    whole_bytes = value.type.element_type.width % 8 == 0
    return (dims[0], dims[1]) if sorted(dims) == [0, 1] and whole_bytes else None


def whole(order: tuple[int, int]) -> tile.Place:
    """The place of a tile that fills a buffer in this order, at the insertion point."""
    return tile.Place((constants.index(0), constants.index(0)), order, (True, True))


def in_order(place: tile.Place, first: int = 0) -> tile.Place:
    """The place of a tile whose dimensions are in the memory's order, `first` rows further on."""
    numbers, outer = iter(range(2)), next(axis for axis, dim in enumerate(place.dims) if dim >= 0)
    dims = tuple(dim if dim < 0 else next(numbers) for dim in place.dims)
    offsets = tuple(
        indexing.add(offset, first) if axis == outer and first else offset for axis, offset in enumerate(place.offsets)
    )
    return tile.Place(offsets, dims, place.in_bounds)
