"""reduce-through-dsmem: blocks that share the k steps of a tile add up their partial sums through distributed shared
memory, and each finishes a part of the tile.

Expects an scf.forall with `tile.split_k_cluster`, in which tiles are divided among warpgroups and `split-k-in-cluster`
has divided the steps. Leaves after the last tile.mma_wait a tile.dsmem_reduce, which adds in the order of the ranks and
gives each block the columns of its rank; what follows (arithmetic, loads and stores of the accumulator) shrinks to
these columns, and so do stores of constants, which fill what is masked. The parts from the other blocks arrive in a
buffer of shared memory, which may reuse that of the operands (`tile.from_reduction` and `tile.until_reduction`). A
second run changes nothing. Refuses tiles whose columns do not divide into parts of 8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings, tile
from mlir_gemm.dialect.accumulator_flow import flow_from
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.lowering.memory_order import root_of
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.distribute.distribute_warps import with_fills
from mlir_gemm.passes.distribute.split_k_in_cluster import blocks_of_cluster_group
from mlir_gemm.spec.attributes import FROM_REDUCTION, SPLIT_K_CLUSTER, UNTIL_REDUCTION, WARPS
from mlir_gemm.spec.threads import UNITS, WARPGROUP

COLUMNS = 8
"""Columns of a fragment."""
PAIR = 2
"""Neighbours that a thread holds."""


@dataclass(frozen=True)
class ReduceThroughDsmem(Pass):
    """Add up the parts of a sum over k."""

    name: ClassVar[str] = "reduce-through-dsmem"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            if SPLIT_K_CLUSTER in forall.operation.attributes and not named(forall, "tile.dsmem_reduce"):
                parts = ir.IntegerAttr(forall.operation.attributes[SPLIT_K_CLUSTER]).value
                for wait in named(forall, "tile.mma_wait"):
                    if ir.IntegerAttr(wait.operation.attributes["pending"]).value == 0:
                        _sum(forall, wait.operation, parts)


def _sum(forall: Any, wait: Any, parts: int) -> None:
    value = wait.results[0]
    rows, columns = value.type.shape
    if columns % (COLUMNS * parts):
        raise pass_error(wait, f"a tile of {columns} columns does not divide into {parts} parts of whole {COLUMNS}")
    units = ir.IntegerAttr(forall.operation.attributes[WARPS]).value // UNITS["warpgroup"] - 1
    with ir.InsertionPoint(in_block(body(forall))[0]), wait.location:
        pieces = rows * columns // (WARPGROUP * PAIR * parts)
        scratch = shared_buffer([units, (parts - 1) * pieces, WARPGROUP, PAIR], value.type.element_type)
    scratch.owner.attributes[FROM_REDUCTION] = ir.UnitAttr.get()
    for copy in named(forall, "tile.tma_load"):
        root_of(copy.operation.operands[0]).owner.attributes[UNTIL_REDUCTION] = ir.UnitAttr.get()
    part = columns // parts
    with ir.InsertionPoint.after(wait), wait.location:
        group = blocks_of_cluster_group(forall)
        total = rings.dsmem_reduce(value, scratch, part, group)
        column = indexing.mul(rings.part(group), part)
    uses = [use for use in value.uses if use.owner.operation != total.owner.operation]
    for use in uses:
        use.owner.operation.operands[use.operand_number] = total
    flow = with_fills(forall, dict.fromkeys(flow_from([total], shared=False)), (rows, columns))
    stores = [store.operation for store in named(forall, "tile.store") if store.operands[0] in flow]
    for each in flow:
        _narrow(each, column, part)
    for store in stores:
        _move(store, column)


def _narrow(value: Any, column: Any, part: int) -> None:
    """Shrinks a tile to the block's columns."""
    owner = value.owner.operation
    rows, _ = value.type.shape
    if owner.name == "tile.dsmem_reduce":
        return
    type_ = ir.VectorType.get([rows, part], value.type.element_type)
    if owner.name == "arith.constant":
        element = constants.splat_of(value)
        if element is None:
            raise pass_error(owner, "a constant matrix that is not the same everywhere is not supported here")
        with ir.InsertionPoint(owner), owner.location:
            smaller = constants.splat(type_, element)
        for use in list(value.uses):
            user = use.owner.operation
            vectors = [each for each in [*user.operands, *user.results] if isinstance(each.type, ir.VectorType)]
            if any(list(each.type.shape) == [rows, part] for each in vectors) or user.name.startswith(
                ("arith.", "math.", "tile.store")
            ):
                user.operands[use.operand_number] = smaller
        return
    if owner.name == "tile.load":
        _move(owner, column)
    value.set_type(type_)


def _move(access: Any, column: Any) -> None:
    """Moves an access to the block's columns."""
    place = tile.place_of(access)
    first = len(access.operands) - len(place.offsets)
    with ir.InsertionPoint(access), access.location:
        for position, dim in enumerate(place.dims, first):
            if dim == 1:
                access.operands[position] = indexing.add(access.operands[position], column)
