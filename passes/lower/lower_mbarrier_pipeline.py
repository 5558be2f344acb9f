"""lower-mbarrier-pipeline: the barriers of a ring become mbarriers, and copies by the copy engine become TMA
instructions.

Expects tile.ring, acquire, tma_load (through tensor maps), filled and release in kernel functions, the producer's side
run by one thread and the consumer's by whole warps. Leaves
- at tile.ring: one thread fetches the tensor maps into their cache and initialises the barriers, all wait for it; of
  rings that follow each other, after the last one;
- tile.producer_acquire: a wait for the phase before the position's on the empty barrier (which a fresh barrier
  passes), and the announcement of the bytes on the full one; tile.tma_load: one tensor copy for each panel of the
  buffer; with `multicast` it goes to all blocks of the cluster, of the `group`, or of those whose numbers are `stride`
  apart; with `keep` it says which lines may leave L2 first;
- tile.consumer_wait: a wait for the position's phase on the full barrier; tile.consumer_release: one lane of each warp
  arrives at the empty one, of a stage that lanes have `loaded` from once what they loaded is in registers. Where a ring
  is one of several blocks it arrives in all of them, which meet then before the first copy and before they end:
  consumers say so once they have released all, and wait at the end, so that what they do in between takes place
  meanwhile;
- tile.tma_store_wait: the first thread of each warpgroup, which issues its stores, waits for them;
- tile.enter: slot 0, phase 0; tile.advance: arithmetic on slot and phase; tile.leave: nothing.
Refuses copies that have no tensor map, and tiles whose rows the copy engine cannot move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, im2col, indexing, rings, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import i32, i32_constant
from mlir_gemm.dialect.walk import body, in_block, named, parents
from mlir_gemm.lowering import l2_eviction, shared_address
from mlir_gemm.lowering.release_after_loads import after_loads
from mlir_gemm.lowering.ring_positions import advance
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe.create_tensor_maps import box_rows
from mlir_gemm.passes.launch.launch_blocks import threads_of
from mlir_gemm.spec.attributes import MAPS
from mlir_gemm.spec.l2_policy import KEEP
from mlir_gemm.spec.threads import LANES, WARPGROUP

_TICKS = 10_000_000
"""Nanoseconds that one try of a wait may take; it is tried again."""


@dataclass(frozen=True)
class LowerMbarrierPipeline(Pass):
    """Lower rings to mbarriers and TMA."""

    name: ClassVar[str] = "lower-mbarrier-pipeline"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            _number_maps(kernel)
            found = [(op.operation.name, op) for op in named(kernel, *_LOWERINGS)]  # none holds, or makes, another
            for name, lower in _LOWERINGS.items():
                for op in (op for its, op in found if its == name):
                    with ir.InsertionPoint(op), op.location:
                        lower(op.operation)
                    op.operation.erase()


def _number_maps(kernel: Any) -> None:
    """Records which parameters are tensor maps: once memrefs are pointers too, nothing else tells them apart."""
    arguments = body(kernel).arguments
    numbers = [n for n, argument in enumerate(arguments) if str(argument.type) == "!llvm.ptr"]
    if numbers:
        kernel.attributes[MAPS] = ir.DenseI64ArrayAttr.get(numbers)


def _ring(op: Any) -> None:
    kernel = _kernel_of(op)
    barriers, blocks = op.operands[0], _blocks(op)
    stages = barriers.type.shape[1]
    nvvm, arith, scf = dialect("nvvm"), dialect("arith"), dialect("scf")
    first = arith.CmpIOp(arith.CmpIPredicate.eq, indexing.thread(), constants.index(0)).result
    branch, another = scf.IfOp(first), _is_followed(op)
    with ir.InsertionPoint(branch.then_block):
        for number in (
            ir.DenseI64ArrayAttr(kernel.attributes[MAPS]) if MAPS in kernel.attributes and not another else ()
        ):
            nvvm.PrefetchOp(body(kernel).arguments[number], tensormap=True)
        for row, count in ((0, 1), (1, ir.IntegerAttr(op.attributes["consumers"]).value * blocks)):
            for slot in range(stages):
                pointer = shared_address.barrier(barriers, row, constants.index(slot))
                nvvm.MBarrierInitOp(pointer, i32_constant(count))
        nvvm.FenceMbarrierInitOp()
        scf.YieldOp([])
    if another:
        return
    dialect("gpu").BarrierOp()
    if blocks > 1:
        _meet_at_end(kernel)
        _meet()


def _is_followed(op: Any) -> bool:
    """Whether another ring follows one."""
    inside = [each.operation for each in in_block(op.block)]
    return inside[inside.index(op) + 1].name == "tile.ring"


def _meet_at_end(kernel: Any) -> None:
    """The meeting at the kernel's end. The last warpgroup is the producer."""
    end = ir.InsertionPoint(in_block(body(kernel))[-1])
    last = next((_last_release(roles.operation) for roles in named(kernel, "tile.warp_specialize")), None)
    if last is None:
        with end:
            _meet()
        return
    with ir.InsertionPoint.after(last), last.location:
        dialect("nvvm").ClusterArriveOp()
    with end, kernel.location:
        arith, scf = dialect("arith"), dialect("scf")
        thread, consumers = indexing.thread(), constants.index(threads_of(kernel) - WARPGROUP)
        branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.uge, thread, consumers).result)
        with ir.InsertionPoint(branch.then_block):
            dialect("nvvm").ClusterArriveOp()
            scf.YieldOp([])
        dialect("nvvm").ClusterWaitOp()


def _last_release(roles: Any) -> Any | None:
    """The operation of the consumers' part that holds the last release."""
    consumer = reversed(in_block(roles.regions[1].blocks[0]))
    return next(
        (op for op in consumer if op.operation.name == "tile.consumer_release" or named(op, "tile.consumer_release")),
        None,
    )


def _order_barrier(op: Any) -> None:
    """The ring's own barrier follows."""
    nvvm, arith, scf = dialect("nvvm"), dialect("arith"), dialect("scf")
    first = arith.CmpIOp(arith.CmpIPredicate.eq, indexing.thread(), constants.index(0)).result
    branch = scf.IfOp(first)
    with ir.InsertionPoint(branch.then_block):
        count = LANES * ir.IntegerAttr(op.attributes["consumers"]).value
        for consumer in range(2):
            barrier = shared_address.barrier(op.operands[0], 0, constants.index(consumer))
            nvvm.MBarrierInitOp(barrier, i32_constant(count))
        nvvm.FenceMbarrierInitOp()
        scf.YieldOp([])


def _order_wait(op: Any) -> None:
    """The first consumer waits for the phase before its own, which a fresh barrier passes."""
    arith = dialect("arith")
    barriers, consumer, phase = op.operands
    first = arith.CmpIOp(arith.CmpIPredicate.eq, consumer, constants.index(0)).result
    ahead = arith.XOrIOp(phase, i32_constant(1)).result
    _wait(shared_address.barrier(barriers, 0, consumer), arith.SelectOp(first, ahead, phase).result)


def _order_arrive(op: Any) -> None:
    """Every thread arrives: a branch here, between products and the wait for them, makes the assembler do them one by
    one (C7514)."""
    barriers, consumer = op.operands
    other = indexing.sub(constants.index(1), consumer)
    arrived = [ir.IntegerType.get_signless(64)]
    dialect("nvvm").MBarrierArriveOp(shared_address.barrier(barriers, 0, other), results=arrived)


def _meet() -> None:
    """All threads of the cluster wait for each other: before anything arrives from another block its barriers must be
    ready, and until everything has, no block may end."""
    dialect("nvvm").ClusterArriveOp()
    dialect("nvvm").ClusterWaitOp()


def _blocks(op: Any) -> int:
    return constants.number_of(op, "blocks", 1)


def _enter(op: Any) -> None:
    op.results[0].replace_all_uses_with(constants.index(0))
    op.results[1].replace_all_uses_with(i32_constant(0))


def _advance(op: Any) -> None:
    for old, new in zip(op.results, advance(op), strict=True):
        old.replace_all_uses_with(new)


def _leave(_: Any) -> None:
    return


def _producer_acquire(op: Any) -> None:
    barriers, slot, phase = op.operands
    other = dialect("arith").XOrIOp(phase, i32_constant(1)).result
    _wait(shared_address.barrier(barriers, 1, slot), other)
    bytes_ = ir.IntegerAttr(op.attributes["bytes"]).value
    full = shared_address.barrier(barriers, 0, slot)
    i64 = ir.IntegerType.get_signless(64)
    dialect("nvvm").MBarrierArriveExpectTxOp(full, i32_constant(bytes_), results=[i64])


def _wait(pointer: Any, phase: Any) -> None:
    dialect("nvvm").MBarrierTryWaitParityOp(pointer, phase, i32_constant(_TICKS))


def _consumer_wait(op: Any) -> None:
    barriers, slot, phase = op.operands
    _wait(shared_address.barrier(barriers, 0, slot), phase)


def _consumer_release(op: Any) -> None:
    nvvm, arith, scf = dialect("nvvm"), dialect("arith"), dialect("scf")
    barriers, slot = op.operands
    place = shared_address.place_of_barrier(barriers, 1, slot)
    if rings.LOADED in op.attributes:
        place = after_loads(op, place)
    lane, blocks = indexing.rem(indexing.thread(), LANES), _blocks(op)
    branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.ult, lane, constants.index(blocks)).result)
    with ir.InsertionPoint(branch.then_block):
        pointer = shared_address.pointer(place)
        if blocks == 1:
            nvvm.MBarrierArriveOp(pointer, results=[ir.IntegerType.get_signless(64)])
        else:  # each of the first lanes arrives in one of the blocks
            block = lane if rings.cluster_group_of(op) == 1 else indexing.add(lane, _first_of_cluster_group(op))
            there = nvvm.MapaOp(ir.Type.parse("!llvm.ptr<7>"), pointer, _coordinate(block)).operation.results[0]
            nvvm.MBarrierArriveOp(there)
        scf.YieldOp([])


def _tma_load(op: Any) -> None:
    target, source, barriers, slot, *_ = op.operands
    if isinstance(source.type, ir.MemRefType):
        raise pass_error(op, "a copy by the copy engine without a tensor map; create-tensor-maps makes it")
    place = tile.place_of(op)
    runs = [axis for axis, dim in enumerate(place.dims) if dim >= 0]
    if [place.dims[axis] for axis in runs] != [0, 1] or place.dims[-1] != 1:
        raise pass_error(op, f"a tile along the dimensions {place.dims} of the memory; expected rows, then columns")
    rows, columns = target.type.shape
    width, whole = shared_address.panel_bytes(target), shared_address.rows_of(target)
    panel = width * 8 // target.type.element_type.width
    if columns % panel or not box_rows(rows):
        raise pass_error(
            op,
            f"a tile of {rows} x {columns} elements; expected whole panels of {panel} columns, and at most 256 rows or "
            "a multiple of 8",
        )
    mask = None
    if "multicast" in op.attributes:
        mask = _mask(op)
    start = shared_address.address(target)
    full = shared_address.barrier(barriers, 0, slot)
    height = box_rows(rows)
    sizes = [{0: height, 1: panel}.get(dim, 1) for dim in reversed(place.dims)]
    for across in range(0, columns, panel):
        for down in range(0, rows, height):
            at = indexing.add(start, across // panel * whole * width + down * width)
            offsets = list(place.offsets)
            offsets[runs[0]] = indexing.add(offsets[runs[0]], down)
            offsets[runs[1]] = indexing.add(offsets[runs[1]], across)
            corner = [_coordinate(offset) for offset in reversed(offsets)]
            hint = _hint(op, corner, sizes)
            shifted, mode = list[Any](), None
            if "pixels" in op.attributes:
                first, window = im2col.coordinates(op, *offsets)
                corner, shifted = ([_number(each) for each in reversed(given)] for given in (first, window))
                shifted = [dialect("arith").TruncIOp(ir.IntegerType.get_signless(16), each).result for each in shifted]
                mode = ir.Attribute.parse("#nvvm.tma_load_mode<im2col>")
            dialect("nvvm").CpAsyncBulkTensorGlobalToSharedClusterOp(
                shared_address.pointer(at, 7), source, corner, full, shifted, multicastMask=mask, l2CacheHint=hint,
                mode=mode,
            )  # fmt: skip


def _hint(op: Any, corner: list[Any], sizes: list[int]) -> Any | None:
    """What a copy tells L2 of a box of these sizes, if it tells anything."""
    if KEEP not in op.attributes:
        return None
    return l2_eviction.hint(body(_kernel_of(op)), constants.number_of(op, KEEP), corner, sizes)


def _kernel_of(op: Any) -> Any:
    return next(parent for parent in parents(op) if parent.operation.name == "gpu.func")


def _mask(op: Any) -> Any:
    """The blocks of the cluster that a copy goes to, as bits: all, or those of the block's cluster group."""
    arith, i16 = dialect("arith"), ir.IntegerType.get_signless(16)
    size, stride = ir.IntegerAttr(op.attributes["multicast"]).value, rings.Axis.of(op).stride
    bits = arith.ConstantOp(i16, sum(1 << stride * number for number in range(size))).result
    if rings.cluster_group_of(op) == 1:
        return bits
    if stride == 1:
        first = _first_of_cluster_group(op)
    else:
        first = indexing.sub(rings.rank(), indexing.mul(rings.rank(rings.Axis(stride, size)), stride))
    return arith.ShLIOp(bits, arith.IndexCastUIOp(i16, first).result).result


def _first_of_cluster_group(op: Any) -> Any:
    """The number in the cluster of the first block of this one's cluster group."""
    group = rings.cluster_group_of(op)
    return indexing.mul(rings.part(group), group)


def _tma_store_wait(_: Any) -> None:
    arith, scf = dialect("arith"), dialect("scf")
    number = indexing.rem(indexing.thread(), WARPGROUP)
    branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.eq, number, constants.index(0)).result)
    with ir.InsertionPoint(branch.then_block):
        dialect("nvvm").CpAsyncBulkWaitGroupOp(0, read=True)
        scf.YieldOp([])


def _number(offset: Any) -> Any:
    return i32_constant(offset) if isinstance(offset, int) else _coordinate(offset)


def _coordinate(offset: Any) -> Any:
    return dialect("arith").IndexCastOp(i32(), offset).result


_LOWERINGS = {
    "tile.order_barrier": _order_barrier,
    "tile.order_wait": _order_wait,
    "tile.order_arrive": _order_arrive,
    "tile.ring": _ring,
    "tile.enter": _enter,
    "tile.leave": _leave,
    "tile.advance": _advance,
    "tile.producer_acquire": _producer_acquire,
    "tile.tma_load": _tma_load,
    "tile.consumer_wait": _consumer_wait,
    "tile.consumer_release": _consumer_release,
    "tile.tma_store_wait": _tma_store_wait,
}
