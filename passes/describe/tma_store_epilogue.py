"""tma-store-epilogue: results are stored by the copy engine (TMA), through shared memory.

Expects tile.store of tiles divided among warpgroups, in the consumer of a tile.warp_specialize. Leaves tile.tma_store
for the first that writes memory that the copy engine can write, with a buffer: two panels of 64 rows and 128 bytes for
each warpgroup, so that one is filled while the other is read, or of 64 bytes, or two times two of 32 where only these
divide the tile's rows; and at the end of the consumer tile.tma_store_wait. Where the memory's rows run down the tile,
as they do once A and B have been swapped, a panel holds 64 rows of up to 64 columns of it, transposed.
A tile that is stored once more, transposed, goes through the same buffer where its panels have the same shape, and so
do the results of several matrices B (`join-products`). Other stores stay as they are: of elements other than 16 or 32
bits (transposed: 16, or both where A comes through registers),
of tiles whose width is not a multiple of a panel, and of memory whose last dimension runs along neither side of the
tile, or whose rows do not start or end aligned. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import stores, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.rings import PANELS, SWIZZLE, swizzle_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.lowering.tma_store import BUFFERS
from mlir_gemm.lowering.wgmma import through_registers
from mlir_gemm.passes.accumulate.accumulate import base_of
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe.create_tensor_maps import ALIGNED, cannot_describe
from mlir_gemm.spec.attributes import SCOPE, WARPS
from mlir_gemm.spec.threads import UNITS

ROWS = 64
"""Rows of a panel."""
MATRIX = 8
"""Columns of the matrices that are stored at a time."""
WIDTHS, LEAST = (16, 32), 64
"""Bits of the elements that are stored so, and bytes of the shortest rows: for less the way is too long."""
TRANSPOSED = (16,)
"""Bits of those that can be transposed on the way; all, where threads do not have the rows of matrices."""


@dataclass(frozen=True)
class TmaStoreEpilogue(Pass):
    """Store results by the copy engine."""

    name: ClassVar[str] = "tma-store-epilogue"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            for roles in named(forall, "tile.warp_specialize"):
                _stage(forall, roles.operation)


def _stage(forall: Any, roles: Any) -> None:
    consumer = roles.regions[1].blocks[0]
    by_registers = any(through_registers(product) for product in named(roles, "tile.mma"))
    transposed = WIDTHS if by_registers else TRANSPOSED
    found = [op.operation for op in named(roles, "tile.store") if _can_stage(op.operation, transposed)]
    if not found or named(roles, "tile.tma_store"):
        return
    units = ir.IntegerAttr(forall.operation.attributes[WARPS]).value // UNITS["warpgroup"] - 1
    store = found[0]
    with ir.InsertionPoint(in_block(body(forall))[0]), store.location:
        staging = _buffer(units * BUFFERS, store.operands[0].type, stores.is_transposed(store))
    mirrors = [other for other in found[1:] if tile.is_apart(other) and stores.mirrors(store, other)]
    turned = [columns_of_panel(store.operands[0].type.shape[1]), ROWS]
    alike = [other for other in found[1:] if _matrices(roles) > 1 and _leaves_alike(store, other)]
    for each in (store, *alike):
        stores.staged(each, stores.tma_store, staging)
    if mirrors and list(staging.type.shape[1:]) == turned:
        stores.staged(mirrors[0], stores.tma_store, staging)
    with ir.InsertionPoint(consumer), roles.location:
        stores.tma_store_wait()


def _leaves_alike(store: Any, other: Any) -> bool:
    """Whether another store is of such a tile, and neither is transposed."""
    transposed = stores.is_transposed(store) or stores.is_transposed(other)
    return other.operands[0].type == store.operands[0].type and not transposed


def _matrices(roles: Any) -> int:
    """How many matrices B are multiplied."""
    return len({base_of(product.operands[1]) for product in named(roles, "tile.mma")})


def _can_stage(store: Any, transposed: tuple[int, ...]) -> bool:
    value, memory = list(store.operands)[:2]
    element, place = value.type.element_type, tile.place_of(store)
    return (
        SCOPE in store.attributes
        and ir.StringAttr(store.attributes[SCOPE]).value == "warpgroup"
        and memory.type.element_type == element
        and element.width in WIDTHS
        and sorted(dim for dim in place.dims if dim >= 0) == [0, 1]
        and place.dims[-1] >= 0
        and (element.width in transposed if stores.is_transposed(store) else _panel(value.type) > 0)
        and not cannot_describe(memory)
        and ends_aligned(memory)
    )


def ends_aligned(memory: Any) -> bool:
    """Whether rows end at multiples of what they start at, as far as that is known: what the model counts on."""
    type_ = memory.type
    last = len(type_.shape) - 1
    return type_.is_dynamic_dim(last) or type_.shape[last] * type_.element_type.width % (8 * ALIGNED) == 0


def _panel(value: Any) -> int:
    """Bytes of a row of the panels that a tile leaves in; 0 where its rows are too short, or no panels divide them."""
    row = value.shape[1] * value.element_type.width // 8
    layout = swizzle_of(row)
    return PANELS[layout] if layout and row >= LEAST else 0


def columns_of_panel(columns: int, width: int = 16) -> int:
    """Columns of a tile that a buffer holds transposed: the most, up to 64 (32 of elements of 32 bits), that divide it
    into equal parts of whole matrices."""
    return next(part for part in range(ROWS * 16 // width, 0, -MATRIX) if columns % part == 0)


def _buffer(count: int, value: Any, transposed: bool) -> Any:
    element = value.element_type
    if transposed:
        return shared_buffer([count, columns_of_panel(value.shape[1], element.width), ROWS], element, SWIZZLE)
    panel = _panel(value)
    layout = next(layout for layout, width in PANELS.items() if width == panel)
    return shared_buffer([count, ROWS, max(panel, LEAST) * 8 // element.width], element, layout)
