"""Making an arrival at a barrier wait for loads from shared memory that were issued before.

PTX orders a thread's loads before an arrival that releases, but ptxas lets a warp arrive while its ldmatrix are in
flight, which is safe within an SM, where both take the same path. The copy engine takes another one: it may overwrite a
released stage before the loads from it have read it (seen on an H200, where the stores of other warps delayed loads). A
fence of the asynchronous proxy orders them, after a membar that costs 4 to 7 % of products of mma.sync. An address that
needs what was loaded costs nothing: the warp waits for its registers.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.lowering import assembly
from mlir_gemm.lowering.access import register_of
from mlir_gemm.lowering.named_barriers import sync_warp

AFTER_LOADS = "{ .reg .b32 t; popc.b32 t, $2; shr.u32 t, t, 6; cvt.u64.u32 $0, t; add.u64 $0, $0, $1; }"
"""$1, an address, once $2 is known: plus what `assembly.NO_BITS` makes of it."""


def after_loads(before: Any, address: Any) -> Any:
    """The address at the insertion point, known only once the last fragments that ldmatrix loads before `before`,
    in its block, are there: a warp's come in order. Where there are none, such as with loops that are not unrolled, or
    where lanes load elements as well, a fence stands before it."""
    loads = _last_loads(before)
    if not loads or _has_other_loads(before):
        nvvm = dialect("nvvm")
        nvvm.FenceProxyOp(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)
        sync_warp()
        return address
    arith = dialect("arith")
    extract = dialect("vector").ExtractOp
    words = [register_of(extract(load.results[0], [], [0]).result) for load in loads]
    word = words[0]
    for other in words[1:]:
        word = arith.OrIOp(word, other).result
    i64 = ir.IntegerType.get_signless(64)
    number = arith.IndexCastUIOp(i64, address).result
    known = assembly.inline(AFTER_LOADS, ["=l", "l", "r"], [number, word], i64, effects=False)
    return arith.IndexCastUIOp(ir.IndexType.get(), known).result


def _last_loads(before: Any) -> list[Any]:
    """The last ldmatrix of the block between which no product stands."""
    inside = [each.operation for each in in_block(before.block)]
    found: list[Any] = []
    for op in reversed(inside[: inside.index(before.operation)]):
        if op.name == "nvgpu.ldmatrix":
            found.append(op)
        elif found and op.name.endswith("mma.sync"):
            break
    return found


def _has_other_loads(before: Any) -> bool:
    """Whether lanes load from shared memory by themselves in the block."""
    loads = [each.operation for each in in_block(before.block) if each.operation.name in ("vector.load", "memref.load")]
    return any(in_shared(op.operands[0]) for op in loads)
