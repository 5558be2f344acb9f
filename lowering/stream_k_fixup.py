"""Parts of a sum that blocks hand over through global memory: left by one, added by another.

Every thread leaves its own registers, four at a time, where the thread of the same number finds them: a row of a place
has four of each thread of a warpgroup, so that accesses are coalesced. A warp raises a flag of its own once all its
lanes have stored, and the warp of the same number waits for that one: no more threads need to meet. The warp that has
added a part lowers the flag, so that flags are zero when the kernel ends.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.stream_k import QUADS, WARPGROUP
from mlir_gemm.lowering import assembly
from mlir_gemm.lowering.layouts import Layout
from mlir_gemm.lowering.named_barriers import sync_warp
from mlir_gemm.spec.threads import LANES

SCOPE = "device"
"""Among whose threads flags order accesses to memory: PTX's `.gpu`."""
_ALIGNED, _FLAG_BYTES, _BYTE = 16, 4, 8
AT_ONCE = 16
"""Loads of a thread that LLVM may put before what uses them: with all of them there, tiles of 128 rows for each
warpgroup spill."""


def store_partials(op: Any, pieces: list[Any], layout: Layout, thread: Any) -> None:
    """The code of a tile.store_partials, from the pieces of its tile, at the insertion point. `thread` is the number of
    the thread in its warpgroup."""
    _, partials, flags, place = op.operands
    rows = _rows(op, pieces, layout)
    first, column = _corner(len(rows), thread)
    for number, row in enumerate(rows):
        value = _joined(row)
        at = [place, indexing.add(first, number), column]
        dialect("vector").StoreOp(value, partials, at, alignment=_alignment(value.type))
    sync_warp()
    _set(_flag(flags, place), 1, "release")


def fix_up(op: Any, pieces: list[Any], layout: Layout, thread: Any) -> list[Any]:
    """The pieces of a tile.fix_up, from those of its tile, at the insertion point."""
    scf, vector = dialect("scf"), dialect("vector")
    _, partials, flags, start, count = op.operands
    rows = _rows(op, pieces, layout)
    first, column = _corner(len(rows), thread)
    element, each = partials.type.element_type, len(rows[0])
    add = dialect("arith").AddIOp if isinstance(element, ir.IntegerType) else dialect("arith").AddFOp
    loop = scf.ForOp(start, indexing.add(start, count), constants.index(1), list(pieces))
    with ir.InsertionPoint(loop.body):
        place, *sums = list(loop.body.arguments)
        flag = _flag(flags, place)
        _await(flag)
        type_ = ir.VectorType.get([QUADS], element)
        for start_row in range(0, len(rows), AT_ONCE):
            numbers = range(start_row * each, min(start_row + AT_ONCE, len(rows)) * each)
            for number in range(numbers.start // each, numbers.stop // each):
                at = [place, indexing.add(first, number), column]
                part = vector.LoadOp(type_, partials, at, alignment=_alignment(type_)).result
                for piece in range(each):
                    mine = number * each + piece
                    sums[mine] = add(sums[mine], _taken(part, piece, layout.width)).result
            sums[numbers.start : numbers.stop] = _tied(sums[numbers.start : numbers.stop])
        sync_warp()
        _set(flag, 0, "monotonic")
        scf.YieldOp(sums)
    return list(loop.results)


def _rows(op: Any, pieces: list[Any], layout: Layout) -> list[list[Any]]:
    """The pieces that a thread moves at a time."""
    each = QUADS // layout.width
    if layout.lanes != WARPGROUP or len(pieces) % each:
        raise pass_error(op, "parts of a sum are those of the threads of a warpgroup, four elements each at a time")
    return [pieces[first : first + each] for first in range(0, len(pieces), each)]


def _corner(rows: int, thread: Any) -> tuple[Any, Any]:
    """The first row of the thread's warpgroup in a place, and the thread's column."""
    unit = indexing.div(indexing.thread(), WARPGROUP)
    return indexing.mul(unit, rows), indexing.mul(thread, QUADS)


def _joined(pieces: list[Any]) -> Any:
    """Pieces as one vector."""
    vector = dialect("vector")
    numbers = [vector.ExtractOp(piece, [], [n]).result for piece in pieces for n in range(piece.type.shape[0])]
    type_ = ir.VectorType.get([len(numbers)], pieces[0].type.element_type)
    return vector.FromElementsOp(type_, numbers).result


def _taken(whole: Any, piece: int, width: int) -> Any:
    """A piece of a joined vector."""
    vector = dialect("vector")
    numbers = [vector.ExtractOp(whole, [], [piece * width + n]).result for n in range(width)]
    return vector.FromElementsOp(ir.VectorType.get([width], whole.type.element_type), numbers).result


def _tied(pieces: list[Any]) -> list[Any]:
    """The same pieces, computed here and not later."""
    vector, width, element = dialect("vector"), pieces[0].type.shape[0], pieces[0].type.element_type
    numbers = [vector.ExtractOp(piece, [], [n]).result for piece in pieces for n in range(width)]
    struct = ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * len(numbers))})>")
    numbers = assembly.members_of(assembly.tied(numbers, struct))
    type_ = pieces[0].type
    return [
        vector.FromElementsOp(type_, numbers[first : first + width]).result for first in range(0, len(numbers), width)
    ]


def _alignment(type_: Any) -> int:
    return min(_ALIGNED, type_.shape[0] * type_.element_type.width // _BYTE)


def _flag(flags: Any, place: Any) -> Any:
    """A pointer to the running warp's flag of a place."""
    warp = indexing.div(indexing.thread(), LANES)
    number = indexing.add(indexing.mul(place, flags.type.shape[1]), warp)
    bytes_ = flags.type.element_type.width // _BYTE
    base = dialect("memref").ExtractAlignedPointerAsIndexOp(flags).result
    at = indexing.add(base, indexing.mul(number, bytes_))
    number = dialect("arith").IndexCastUIOp(ir.IntegerType.get_signless(64), at).result
    return dialect("llvm").IntToPtrOp(ir.Type.parse("!llvm.ptr<1>"), number).operation.results[0]


def _await(flag: Any) -> None:
    """Loads a flag until it is raised. What is loaded after that was stored before."""
    arith, llvm, scf, i32 = dialect("arith"), dialect("llvm"), dialect("scf"), ir.IntegerType.get_signless(32)
    loop = scf.WhileOp([], [])
    with ir.InsertionPoint(loop.before.blocks.append()):
        acquire = llvm.AtomicOrdering.acquire
        load = llvm.LoadOp(i32, flag, alignment=_FLAG_BYTES, ordering=acquire, syncscope=SCOPE)
        zero = arith.ConstantOp(i32, 0).result
        scf.ConditionOp(arith.CmpIOp(arith.CmpIPredicate.eq, load.operation.results[0], zero).result, [])
    with ir.InsertionPoint(loop.after.blocks.append()):
        scf.YieldOp([])


def _set(flag: Any, value: int, ordering: str) -> None:
    """Stores a flag, by the warp's first lane."""
    arith, llvm, scf = dialect("arith"), dialect("llvm"), dialect("scf")
    lane = indexing.rem(indexing.thread(), LANES)
    branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.eq, lane, constants.index(0)).result)
    with ir.InsertionPoint(branch.then_block):
        number = arith.ConstantOp(ir.IntegerType.get_signless(32), value).result
        order = llvm.AtomicOrdering[ordering]
        llvm.StoreOp(number, flag, alignment=_FLAG_BYTES, ordering=order, syncscope=SCOPE)
        scf.YieldOp([])
