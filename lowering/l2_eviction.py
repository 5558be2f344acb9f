"""What the copy engine tells L2 about the lines that it reads: keep them, or evict them first.

NVVM has no operation that makes such a policy, so that is PTX (`createpolicy`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.rings import i32_constant
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.lowering import assembly
from mlir_gemm.spec.l2_policy import PARTS

STAY = "createpolicy.fractional.L2::evict_normal.b64 $0, 1.0;"
LEAVE = "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;"
POLICIES = STAY, LEAVE
"""PTX that makes the two policies, each an i64."""


def hint(entry: Any, kept: int, coordinates: Sequence[Any], sizes: Sequence[int]) -> Any:
    """The policy of a box at these coordinates (i32), an i64 at the insertion point. `entry` is the kernel's block, at
    whose start the policies are made, once.

    Boxes are numbered by the sum of their places along each dimension, in boxes, so that the k steps of a tile have
    numbers in a row, and blocks beside each other are at different ones: the box of number u stays where u * kept mod
    PARTS < kept, which is so for `kept` of any PARTS numbers in a row, evenly spread. A box has the same number in each
    run."""
    leave = _policy(entry, LEAVE)
    if kept == 0:
        return leave
    arith = dialect("arith")
    number = None
    for coordinate, size in zip(coordinates, sizes, strict=True):
        place = arith.ShRUIOp(coordinate, i32_constant(size.bit_length() - 1)).result if size > 1 else coordinate
        number = place if number is None else arith.AddIOp(number, place).result
    turn = arith.AndIOp(arith.MulIOp(number, i32_constant(kept)).result, i32_constant(PARTS - 1)).result
    stays = arith.CmpIOp(arith.CmpIPredicate.ult, turn, i32_constant(kept)).result
    return arith.SelectOp(stays, _policy(entry, STAY), leave).result


def leaving(entry: Any) -> Any:
    """The policy of what L2 gives up first, an i64 that is made at the start of a kernel's block."""
    return _policy(entry, LEAVE)


def _policy(entry: Any, text: str) -> Any:
    for op in in_block(entry):
        if op.operation.name == "llvm.inline_asm" and ir.StringAttr(op.attributes["asm_string"]).value == text:
            return op.operation.results[0]
    with ir.InsertionPoint.at_block_begin(entry):
        return assembly.inline(text, ["=l"], [], ir.IntegerType.get_signless(64), effects=False)
