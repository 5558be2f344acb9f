"""free-accumulators: sums that a loop of multiply-adds carries get other registers than they are stored from.

A vector that is stored lies in registers one after another, of the banks 0, 1, 0, 1. The assembler keeps sums in the
same registers throughout the loop, where a factor that was loaded as a vector lies in the same bank as the sum: each
bank gives one operand in a clock, so that such multiply-adds take two.

Expects kernel functions after `mma-to-fma`. Leaves the f32 vectors that a loop with vector.fma results in XORed with a
word that is 0, which the assembler does not know, before they are used. Loops inside others, whose results are carried
on, stay as they are. A second run changes nothing. Refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.lowering import assembly
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class FreeAccumulators(Pass):
    """Let the assembler choose registers for sums."""

    name: ClassVar[str] = "free-accumulators"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for loop in named(kernel, "scf.for"):
                if named(loop, "vector.fma"):
                    _free([result for result in loop.operation.results if _is_kept(result)], loop)


def _is_kept(result: Any) -> bool:
    """Whether a result is a vector of f32 that something other than a loop around uses, and not as bits."""
    type_ = result.type
    if not isinstance(type_, ir.VectorType) or not isinstance(type_.element_type, ir.F32Type):
        return False
    names = [user.name for user in users(result)]
    return bool(names) and "scf.yield" not in names and "arith.bitcast" not in names


def _free(sums: list[Any], loop: Any) -> None:
    if not sums:
        return
    arith, vector = dialect("arith"), dialect("vector")
    i32 = ir.IntegerType.get_signless(32)
    anchor = loop.operation
    with ir.InsertionPoint.after(loop), anchor.location:
        first = vector.ExtractOp(sums[0], [], [0] * len(sums[0].type.shape)).result
        word = assembly.no_bits(arith.BitcastOp(i32, first).result)
        for value in sums:
            type_ = ir.VectorType.get(list(value.type.shape), i32)
            bits = arith.BitcastOp(type_, value)
            mixed = arith.XOrIOp(bits.result, vector.BroadcastOp(type_, word).result).result
            freed = arith.BitcastOp(value.type, mixed).result
            _replace(value, freed, (bits.operation, first.owner))


def _replace(value: Any, freed: Any, but: tuple[Any, ...]) -> None:
    """Lets all users of a value but some use another."""
    for use in list(value.uses):
        if use.owner.operation not in [each.operation for each in but]:
            use.owner.operation.operands[use.operand_number] = freed
