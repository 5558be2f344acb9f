"""unaligned-store-epilogue: results with unaligned rows in memory are stored through shared memory, in whole vectors.

Expects a tile.store of tiles divided among warps or warpgroups. Leaves tile.unaligned_store for a store to memory whose
rows do not all start and end at multiples of 16 bytes, with a buffer for each warpgroup, or warp: 64 rows, or 16, of up
to 256 bytes and a vector more. Where the memory's rows run down the tile, a row of the buffer is a column of it. Where
no roles keep the operands' buffers in use (tile.warp_specialize), a barrier after the products lets it lie in the same
memory. Other stores stay as they are: of memory with aligned rows, where the copy engine may store or lanes reach as
far as vectors; of tiles in which rows have less than 64 bytes, of elements other than 8, 16 or 32 bits, of memory whose
last dimension runs along neither side of the tile; inside a loop over k; where several results are stored, and the
second where one tile is stored at two places; and of warps beside a role that copies, for which lanes' accesses to
shared memory would need a fence in each step. A second run changes nothing. Refuses a loop over blocks that does not
say among how many warps its tiles are divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import stores, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import shared_buffer, stride_divisors
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe.tma_store_epilogue import ends_aligned
from mlir_gemm.spec.attributes import SCOPE, WARPS
from mlir_gemm.spec.shared_rows import VECTOR, columns_of_buffer, shape_of_buffer
from mlir_gemm.spec.threads import UNITS


@dataclass(frozen=True)
class UnalignedStoreEpilogue(Pass):
    """Store rows in whole vectors."""

    name: ClassVar[str] = "unaligned-store-epilogue"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            _stage(forall)


def _stage(forall: Any) -> None:
    found = [op.operation for op in named(forall, *stores.STORES)]
    twice = len(found) == 2 and tile.is_apart(found[1])
    if not (len(found) == 1 or twice) or found[0].name != "tile.store" or not _can_stage(found[0]):
        return
    store = found[0]
    unit, roles = _unit(store), named(forall, "tile.warp_specialize")
    if (unit == "warp") == bool(roles) or (not roles and store.block != body(forall)):
        return
    if WARPS not in forall.operation.attributes:
        raise pass_error(forall, f"blocks without '{WARPS}', by which distribute-warps says how many warps there are")
    warps = ir.IntegerAttr(forall.operation.attributes[WARPS]).value - (UNITS["warpgroup"] if roles else 0)
    with ir.InsertionPoint(in_block(body(forall))[0]), store.location:
        shape = shape_of_buffer(_columns(store), _width(store), unit, stores.is_transposed(store))
        staging = shared_buffer([warps // UNITS[unit], *shape], store.operands[0].type.element_type)
    if not roles:
        meet_after_products(forall)
    stores.staged(store, stores.unaligned_store, staging)


def meet_after_products(forall: Any) -> None:
    """A barrier after the last product, and waits for copies, where there is none: the buffer may reuse the memory of
    operands."""
    block = body(forall)
    inside = [op.operation for op in in_block(block)]
    ends = [inside.index(ancestor_in(block, product)) for product in named(forall, "tile.mma")]
    behind = max(ends, default=-1) + 1
    while inside[behind].name == "tile.await":
        behind += 1
    if inside[behind].name == "gpu.barrier":
        return
    with ir.InsertionPoint(inside[behind]), inside[behind].location:
        dialect("gpu").BarrierOp()


def _can_stage(store: Any) -> bool:
    value, memory = list(store.operands)[:2]
    place = tile.place_of(store)
    return (
        SCOPE in store.attributes
        and memory.type.element_type == value.type.element_type
        and sorted(dim for dim in place.dims if dim >= 0) == [0, 1]
        and place.dims[-1] >= 0
        and _is_between_vectors(memory)
        and _columns(store) > 0
    )


def _unit(store: Any) -> str:
    return ir.StringAttr(store.attributes[SCOPE]).value


def _width(store: Any) -> int:
    """Bytes of an element, 0 for parts of one."""
    bits = store.operands[0].type.element_type.width
    return 0 if bits % 8 else bits // 8


def _columns(store: Any) -> int:
    return columns_of_buffer(store.operands[0].type.shape[1], _width(store), _unit(store), stores.is_transposed(store))


def _is_between_vectors(memory: Any) -> bool:
    """Whether the elements of a row are neighbours, and some rows do not start, or end, at multiples of 16 bytes."""
    strides, offset = memory.type.get_strides_and_offset()
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    if strides[-1] != 1 or offset == unknown:
        return False
    bits = memory.type.element_type.width
    starts = (offset, *stride_divisors(memory)[:-1])
    return not ends_aligned(memory) or any(number * bits % (8 * VECTOR) for number in starts)
