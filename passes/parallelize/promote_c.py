"""promote-c: matrices of the result's shape are read through shared memory, a block tile at a time: what the
accumulator starts from, and what the epilogue adds.

Expects an scf.forall over blocks (after the raster) with tile.load of block tiles of global memory that flow into the
products' sums, or from them into the result, by arithmetic. Leaves a buffer in shared memory in the order in which the
matrix lies in memory (`memref.alloc` with `tile.layout`), tile.copy of the tile to it, in whole vectors of its rows, a
barrier, and tile.load of the tile from it. What products are added to is followed by a barrier, after which the memory
may hold operands: of several such loads the first goes this way. In the epilogue a barrier stands before the copy: the
buffer may lie where operands were, and its fragments are loaded as they are needed. Matrices of one type follow each
other in one buffer. Where copies of operands have a role of their own, the consumers do all that at their barriers, and
meet again at the end of a tile, once they have read the buffer. Vectors that are the same for all rows or columns,
parts of bytes and planes of components stay as they are. A second run changes nothing. Refuses blocks whose tiles were
divided among warps already, and consumers that take tiles alternately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import planes, tile
from mlir_gemm.dialect.accumulator_flow import flow_of, is_elementwise
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared, shared_buffer
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe.unaligned_store_epilogue import meet_after_products
from mlir_gemm.passes.parallelize.promote_result import in_order, order_of, whole
from mlir_gemm.spec.attributes import PING_PONG, SCOPE, TILES
from mlir_gemm.spec.block_tiles import pad_of


@dataclass(frozen=True)
class PromoteC(Pass):
    """Read C, and what the epilogue adds, through shared memory."""

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
    flow = flow_of(products)
    loads = [load for load in loads if load.results[0] in flow]
    starting = [load for load in loads if _starts_a_sum(load, products)]
    behind = [load for load in loads if load not in starting and _can_stage(load)]
    if not any(in_shared(load.operands[0]) for load in starting):
        for load in [each for each in starting if order_of(each) is not None][:1]:
            _check(forall, load)
            _stage_start(load, _buffer(forall, load))
    buffers = dict[tuple[Any, ...], Any]()
    for load in behind:
        _check(forall, load)
        _sink(load, products)
        key = (order_of(load), load.results[0].type.element_type)
        alone = not roles and load.block == body(forall)
        if not buffers and alone:
            meet_after_products(forall)
        elif not buffers and roles:
            _meet_at_the_end(load)
        met = not buffers and (alone or bool(roles))
        if key not in buffers:
            buffers[key] = _buffer(forall, load)
        _stage_behind(load, buffers[key], met)


def _sink(load: Any, products: list[Any]) -> None:
    """Moves a load that stands before the products of its block in front of its first use behind them, if all are."""
    inside = [op.operation for op in in_block(load.block)]
    last = max((inside.index(end) for each in products if (end := ancestor_in(load.block, each))), default=-1)
    first = min(inside.index(ancestor_in(load.block, user)) for user in users(load.results[0]))
    if inside.index(load) < last < first:
        load.move_before(inside[first])


def _meet_at_the_end(load: Any) -> None:
    """A barrier at the end of a load's block: the next tile's is copied to the buffer, and a stage that the engine
    fills is released, once all warps have read it."""
    end = in_block(load.block)[-1]
    point = ir.InsertionPoint(end) if end.operation.name == "scf.yield" else ir.InsertionPoint(load.block)
    with point, load.location:
        dialect("gpu").BarrierOp()


def _can_stage(load: Any) -> bool:
    """Whether a tile that the epilogue reads is one of rows in global memory."""
    memory = load.operands[0]
    return not in_shared(memory) and not planes.is_planes(memory) and order_of(load) is not None


def _check(forall: Any, load: Any) -> None:
    if SCOPE in load.attributes:
        raise pass_error(load, "a tile that was divided among warps; expected whole block tiles")
    if PING_PONG in forall.operation.attributes:
        raise pass_error(load, "consumers that take tiles alternately have no buffer together")


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


def _buffer(forall: Any, load: Any) -> Any:
    """A buffer for a load's tile, in the order of its memory."""
    type_ = load.results[0].type
    shape = [type_.shape[dim] for dim in order_of(load) or ()]
    with ir.InsertionPoint(in_block(body(forall))[0]), load.location:
        return shared_buffer(shape, type_.element_type, f"pad{pad_of(type_.element_type.width // 8)}")


def _stage_start(load: Any, buffer: Any) -> None:
    """Reads what the sums start from through a buffer, which is free again after it."""
    with ir.InsertionPoint(load), load.location:
        staged = _through(load, buffer)
        dialect("gpu").BarrierOp()
    load.results[0].replace_all_uses_with(staged)
    load.erase()


def _stage_behind(load: Any, buffer: Any, met: bool) -> None:
    """Reads what the epilogue takes through a buffer; unless all warps have `met`, they do before it is filled."""
    with ir.InsertionPoint(load), load.location:
        if not met:
            dialect("gpu").BarrierOp()
        staged = _through(load, buffer)
    load.results[0].replace_all_uses_with(staged)
    load.erase()


def _through(load: Any, buffer: Any) -> Any:
    tile.copy(buffer, load.operands[0], in_order(tile.place_of(load)))
    dialect("gpu").BarrierOp()
    return tile.load(buffer, whole(order_of(load) or (0, 1)), load.results[0].type)
