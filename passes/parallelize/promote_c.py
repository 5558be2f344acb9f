"""promote-c: the matrix that the accumulator starts from is read through shared memory, a block tile at a time.

Expects an scf.forall over blocks (after the raster) with a tile.load of a block tile of global memory that products
are added to, perhaps after arithmetic. Leaves a buffer in shared memory in the order in which the matrix lies in memory
(`memref.alloc` with `tile.layout`), tile.copy of the tile to it, in whole vectors of its rows, a barrier, tile.load of
the tile from it, and a barrier after which the memory may hold operands, or the next tile. Where copies of operands
have a role of their own, the consumers do all that, and meet at their barriers. Of several such loads the first goes
this way; what is read in the epilogue stays as it is. A second run changes nothing. Refuses blocks whose tiles were
divided among warps already, and consumers that take tiles alternately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.accumulator_flow import is_elementwise
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared, shared_buffer
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.parallelize.promote_result import in_order, order_of, whole
from mlir_gemm.spec.attributes import PING_PONG, SCOPE, TILES
from mlir_gemm.spec.block_tiles import pad_of


@dataclass(frozen=True)
class PromoteC(Pass):
    """Read C through shared memory."""

    name: ClassVar[str] = "promote-c"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            _promote(forall)


def _promote(forall: Any) -> None:
    products = [op.operation for op in named(forall, "tile.mma")]
    if not products:
        return
    roles = named(forall, "tile.warp_specialize")
    around = roles[0].operation.regions[1].blocks[0] if roles else body(forall)
    loads = [op.operation for op in named(around.owner, "tile.load") if not _is_in_step(op.operation, products)]
    starting = [load for load in loads if _starts_a_sum(load, products)]
    if any(in_shared(load.operands[0]) for load in starting):
        return
    for load in starting:
        order = order_of(load)
        if order is None:
            continue
        if SCOPE in load.attributes:
            raise pass_error(load, "a tile that was divided among warps; expected whole block tiles")
        if PING_PONG in forall.operation.attributes:
            raise pass_error(load, "consumers that take tiles alternately have no buffer together")
        _stage(forall, load, order)
        return


def _is_in_step(load: Any, products: list[Any]) -> bool:
    """Whether a load stands in a loop over k, beside products."""
    loop = load.block.owner.operation
    return (
        loop.name == "scf.for" and TILES not in loop.attributes and any(each.block == load.block for each in products)
    )


def _starts_a_sum(load: Any, products: list[Any]) -> bool:
    """Whether products are added to what a load takes."""
    block = load.block
    ends = {ancestor_in(block, product) for product in products}
    pending, seen = list(users(load.results[0])), set[Any]()
    while pending:
        user = pending.pop()
        if user in ends:
            return True
        if user not in seen and is_elementwise(user):
            seen.add(user)
            pending += [each for result in user.results for each in users(result)]
    return False


def _stage(forall: Any, load: Any, order: tuple[int, int]) -> None:
    type_ = load.results[0].type
    shape = [type_.shape[dim] for dim in order]
    with ir.InsertionPoint(in_block(body(forall))[0]), load.location:
        buffer = shared_buffer(shape, type_.element_type, f"pad{pad_of(type_.element_type.width // 8)}")
    with ir.InsertionPoint(load), load.location:
        tile.copy(buffer, load.operands[0], in_order(tile.place_of(load)))
        dialect("gpu").BarrierOp()
        staged = tile.load(buffer, whole(order), type_)
        dialect("gpu").BarrierOp()
    load.results[0].replace_all_uses_with(staged)
    load.erase()
