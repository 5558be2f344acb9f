"""The sum of warpgroup tiles over the blocks of a cluster, through each other's shared memory.

Every thread keeps the columns of its block's rank, and sends the columns of each other rank to that block, where the
thread of the same number finds them. It adds what it received to what it kept, in the order of the ranks after its own:
the same sum in every run. The blocks synchronise twice: before, since the parts may be received where operands were,
and after all parts are sent.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, indexing, rings
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.lowering import shared_address
from mlir_gemm.lowering.layouts import Layout
from mlir_gemm.spec.threads import WARPGROUP


def emit(op: Any, pieces: list[Any], layout: Layout, thread: Any) -> list[Any]:
    """The pieces of a tile.dsmem_reduce, from those of its operand, at the insertion point. `thread` is the number of
    the thread in its warpgroup."""
    nvvm = dialect("nvvm")
    value, scratch = op.operands
    parts = value.type.shape[1] // op.results[0].type.shape[1]
    rows, columns = value.type.shape
    count = layout.count((rows, columns // parts))
    unit = indexing.div(indexing.thread(), WARPGROUP)
    bytes_ = layout.width * value.type.element_type.width // 8
    slot = scratch.type.shape[0] * count * WARPGROUP * bytes_
    first = indexing.add(indexing.mul(indexing.mul(unit, count), WARPGROUP), thread)
    base = indexing.add(shared_address.base(scratch), indexing.mul(first, bytes_))
    group = rings.cluster_group_of(op)
    own = rings.part(group)
    handed = _rotated(_by_rank(pieces, rows // layout.shape[0], parts), own)
    mine = shared_address.pointer(base)
    nvvm.ClusterArriveOp()
    nvvm.ClusterWaitOp()
    for distance in range(1, parts):
        rank = _modulo(indexing.add(own, distance), parts)
        block = rank if group == 1 else indexing.add(rings.rank(group), indexing.mul(rank, group))
        there = nvvm.MapaOp(ir.Type.parse("!llvm.ptr<7>"), mine, indexing.as_i32(block)).operation.results[0]
        for number in range(count):
            place = (parts - 1 - distance) * slot + number * WARPGROUP * bytes_
            dialect("llvm").StoreOp(handed[distance][number], _moved(there, place), alignment=bytes_)
    nvvm.ClusterArriveOp()
    nvvm.ClusterWaitOp()
    type_ = layout.piece_type(value.type.element_type)
    is_integer = isinstance(value.type.element_type, ir.IntegerType)
    add = dialect("arith").AddIOp if is_integer else dialect("arith").AddFOp
    sums = handed[0]
    for sender in range(parts - 1):
        for number in range(count):
            pointer = _moved(mine, sender * slot + number * WARPGROUP * bytes_)
            loaded = dialect("llvm").LoadOp(type_, pointer, alignment=bytes_).operation.results[0]
            sums[number] = add(sums[number], loaded).result
    return sums


def _by_rank(pieces: list[Any], blocks: int, parts: int) -> list[list[Any]]:
    """The pieces of a tile of this many rows of blocks, by the rank of the block that gets their columns."""
    each = len(pieces) // blocks
    part = each // parts
    return [
        [pieces[block * each + rank * part + inside] for block in range(blocks) for inside in range(part)]
        for rank in range(parts)
    ]


def _rotated(pieces: list[list[Any]], rank: Any) -> list[list[Any]]:
    """The lists of pieces, from that with the number `rank` on: moved by 1, 2, 4 ... where the bit of `rank` is set,
    since registers have no addresses."""
    arith = dialect("arith")
    shift = 1
    while shift < len(pieces):
        bit = arith.AndIOp(rank, constants.index(shift)).result
        is_set = arith.CmpIOp(arith.CmpIPredicate.ne, bit, constants.index(0)).result
        moved = [*pieces[shift:], *pieces[:shift]]
        pieces = [
            [arith.SelectOp(is_set, there, here).result for here, there in zip(*both, strict=True)]
            for both in zip(pieces, moved, strict=True)
        ]
        shift *= 2
    return pieces


def _modulo(value: Any, parts: int) -> Any:
    """`value` modulo `parts`, which it is less than twice of."""
    arith, limit = dialect("arith"), constants.index(parts)
    if parts & (parts - 1) == 0:
        return arith.AndIOp(value, constants.index(parts - 1)).result
    over = arith.CmpIOp(arith.CmpIPredicate.uge, value, limit).result
    return arith.SelectOp(over, arith.SubIOp(value, limit).result, value).result


def _moved(pointer: Any, bytes_: int) -> Any:
    byte = ir.IntegerType.get_signless(8)
    return dialect("llvm").GEPOp(pointer.type, pointer, [], [bytes_], byte, None).operation.results[0]
