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
    """The address at the insertion point, known only once the fragments that ldmatrix loads before `before`, in its
    block, are there. Where there are none, such as with loops that are not unrolled, or where lanes load elements as
    well, a fence stands before it."""
    inside = [each.operation for each in in_block(before.block)]
    place = inside.index(before.operation)
    # Fragments of the next step are loaded ahead: products follow the arrival.
    ahead = any(_is_product(op) for op in inside[place:])
    loads = _last_loads(inside[:place], of_a_product=not ahead)
    if not loads or _has_other_loads(before):
        nvvm = dialect("nvvm")
        nvvm.FenceProxyOp(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)
        sync_warp()
        return address
    arith = dialect("arith")
    word = _word_beside(loads, inside) if ahead else _word(loads)
    i64 = ir.IntegerType.get_signless(64)
    number = arith.IndexCastUIOp(i64, address).result
    known = assembly.inline(AFTER_LOADS, ["=l", "l", "r"], [number, word], i64, effects=False)
    return arith.IndexCastUIOp(ir.IndexType.get(), known).result


def _last_loads(inside: list[Any], of_a_product: bool) -> list[Any]:
    """The loads of fragments that an arrival after some operations waits for, the last one first: the last ldmatrix
    between which no product stands, since those of a step come in the order of its products. Where products follow the
    arrival, those of the whole step: ptxas moves products behind the arrival with the loads that they need, and loads
    for later ones in front of these (wrong results on an H100, 2026-11-28-h100-parameters.json.xz)."""
    found: list[Any] = []
    for op in reversed(inside):
        if op.name == "nvgpu.ldmatrix":
            found.append(op)
        elif op.name == "scf.for" or (of_a_product and found and _is_product(op)):
            break
    return found


def _is_product(op: Any) -> bool:
    return op.name.endswith("mma.sync")


def _word(loads: list[Any]) -> Any:
    """A word that needs all that was loaded, at the insertion point."""
    first, *others = map(_loaded, loads)
    for other in others:
        first = dialect("arith").OrIOp(first, other).result
    return first


def _word_beside(loads: list[Any], inside: list[Any]) -> Any:
    """The same, computed load by load where they stand, so that no register waits for the last of them."""
    word: Any = None
    for load in reversed(loads):
        with ir.InsertionPoint(inside[inside.index(load) + 1]):
            other = _loaded(load)
            word = other if word is None else dialect("arith").OrIOp(word, other).result
    return word


def _loaded(load: Any) -> Any:
    """A word of what was loaded, in a register."""
    return register_of(dialect("vector").ExtractOp(load.results[0], [], [0]).result)


def _has_other_loads(before: Any) -> bool:
    """Whether lanes load from shared memory by themselves in the block."""
    loads = [each.operation for each in in_block(before.block) if each.operation.name in ("vector.load", "memref.load")]
    return any(in_shared(op.operands[0]) for op in loads)
