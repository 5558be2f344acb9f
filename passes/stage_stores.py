"""stage-stores: results leave by the copy engine, through shared memory.

Expects tile.store of tiles divided among warpgroups, in the consumer of a tile.specialize. Leaves tile.store_bulk for
the first that writes memory that the copy engine can write, with a buffer: two panels of 64 rows and 128 bytes for
each warpgroup (64 bytes where the tile's rows are no multiple of 128), so that one is filled while the other is read;
and at the end of the consumer tile.store_wait. Other stores stay as they are: of elements other than 16 or 32 bits, of
tiles that are no whole panels wide, of memory whose last dimension does not run along the tile's columns, or whose rows
do not start or do not end aligned. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import rings, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.rings import PANELS, swizzle_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.operators.bulk_store import BUFFERS
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe_copies import ALIGNED, cannot_describe
from mlir_gemm.passes.distribute_warps import SCOPE, UNITS, WARPS

ROWS = 64
"""Rows of a panel."""
WIDTHS, LEAST = (16, 32), 64
"""Bits of the elements that are stored so, and bytes of the narrowest panel: for less the way is too long."""


@dataclass(frozen=True)
class StageStores(Pass):
    """Store results by the copy engine."""

    name: ClassVar[str] = "stage-stores"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            for roles in named(forall, "tile.specialize"):
                _stage(forall, roles.operation)


def _stage(forall: Any, roles: Any) -> None:
    consumer = roles.regions[1].blocks[0]
    stores = [op.operation for op in named(roles, "tile.store") if _can_stage(op.operation)]
    if not stores or named(roles, "tile.store_bulk"):
        return
    units = ir.IntegerAttr(forall.operation.attributes[WARPS]).value // UNITS["warpgroup"] - 1
    store = stores[0]
    value, memory, *_ = store.operands
    with ir.InsertionPoint(in_block(body(forall))[0]), store.location:
        staging = _buffer(units * BUFFERS, value.type)
    with ir.InsertionPoint(store), store.location:
        new = rings.store_bulk(value, memory, staging, tile.place_of(store))
        for name, attribute in attributes_of(store).items():
            if name != "operandSegmentSizes":
                new.attributes[name] = attribute
    store.erase()
    with ir.InsertionPoint(consumer), roles.location:
        rings.store_wait()


def _can_stage(store: Any) -> bool:
    value, memory = list(store.operands)[:2]
    element, place = value.type.element_type, tile.place_of(store)
    return (
        SCOPE in store.attributes
        and ir.StringAttr(store.attributes[SCOPE]).value == "warpgroup"
        and memory.type.element_type == element
        and element.width in WIDTHS
        and value.type.shape[1] * element.width % (8 * LEAST) == 0
        and [dim for dim in place.dims if dim >= 0] == [0, 1]
        and place.dims[-1] == 1
        and not cannot_describe(memory)
        and _ends_aligned(memory)
    )


def _ends_aligned(memory: Any) -> bool:
    """Whether rows end at multiples of what they start at, as far as that is known: what the model counts on."""
    type_ = memory.type
    last = len(type_.shape) - 1
    return type_.is_dynamic_dim(last) or type_.shape[last] * type_.element_type.width % (8 * ALIGNED) == 0


def _buffer(count: int, value: Any) -> Any:
    element = value.element_type
    layout = swizzle_of(value.shape[1] * element.width // 8)
    assert layout is not None
    return shared_buffer([count, ROWS, PANELS[layout] * 8 // element.width], element, layout)
