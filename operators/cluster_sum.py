"""The sum of warpgroup tiles over the blocks of a cluster, through each other's shared memory.

Every thread hands each block the columns that its rank numbers, where threads of the same number find them; all blocks
meet, and each adds up what it was handed, in the order of the ranks: the same sum in every run. The blocks tell each
other that they have started when they do, and hear of it only here, so that nobody waits.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, indexing, rings
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.operators import shared_address
from mlir_gemm.operators.layouts import Layout

GROUP = 128
"""Threads of a warpgroup."""


def announce() -> None:
    """At the start of a kernel: this block has started, and its memory may be written."""
    dialect("nvvm").ClusterArriveOp()


def emit(op: Any, pieces: list[Any], layout: Layout, thread: Any, met: bool) -> list[Any]:
    """The pieces of a tile.cluster_sum, from those of its operand, at the insertion point. `thread` is the number of
    the thread in its warpgroup, `met` whether the blocks have met at the kernel's start."""
    nvvm = dialect("nvvm")
    value, scratch = op.operands
    parts = value.type.shape[1] // op.results[0].type.shape[1]
    rows, columns = value.type.shape
    blocks = rows // layout.shape[0]
    each, part = (layout.count((layout.shape[0], width)) for width in (columns, columns // parts))
    unit = indexing.div(_thread(), GROUP)
    count = blocks * part
    bytes_ = layout.width * value.type.element_type.width // 8
    slot = scratch.type.shape[0] * count * GROUP * bytes_
    first = indexing.add(indexing.mul(indexing.mul(unit, count), GROUP), thread)
    base = indexing.add(shared_address.base(scratch), indexing.mul(first, bytes_))
    group = rings.group_of(op)
    if not met:
        nvvm.ClusterWaitOp()
    mine = shared_address.pointer(indexing.add(base, indexing.mul(rings.part(group), slot)))
    for rank in range(parts):
        block = constants.index(rank) if group == 1 else indexing.add(rings.rank(group), rank * group)
        there = nvvm.MapaOp(ir.Type.parse("!llvm.ptr<7>"), mine, _i32(block)).operation.results[0]
        for number in range(count):
            block, inside = divmod(number, part)
            piece = pieces[block * each + rank * part + inside]
            dialect("llvm").StoreOp(piece, _moved(there, number * GROUP * bytes_), alignment=bytes_)
    nvvm.ClusterArriveOp()
    nvvm.ClusterWaitOp()
    type_ = layout.piece_type(value.type.element_type)
    is_integer = isinstance(value.type.element_type, ir.IntegerType)
    add = dialect("arith").AddIOp if is_integer else dialect("arith").AddFOp
    here = shared_address.pointer(base)
    sums: list[Any] = []
    for rank in range(parts):
        for number in range(count):
            pointer = _moved(here, rank * slot + number * GROUP * bytes_)
            loaded = dialect("llvm").LoadOp(type_, pointer, alignment=bytes_).operation.results[0]
            if rank == 0:
                sums.append(loaded)
            else:
                sums[number] = add(sums[number], loaded).result
    return sums


def _thread() -> Any:
    gpu = dialect("gpu")
    return gpu.thread_id(gpu.Dimension.x)


def _i32(value: Any) -> Any:
    return dialect("arith").IndexCastOp(ir.IntegerType.get_signless(32), value).result


def _moved(pointer: Any, bytes_: int) -> Any:
    byte = ir.IntegerType.get_signless(8)
    return dialect("llvm").GEPOp(pointer.type, pointer, [], [bytes_], byte, None).operation.results[0]
