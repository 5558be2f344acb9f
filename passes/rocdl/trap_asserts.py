"""trap-asserts: assertions of kernels become traps.

Expects gpu.func kernels with cf.assert. Leaves a branch around llvm.intr.trap, which ends the kernel on AMD's chips;
the message is lost, as nothing prints there. Refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class TrapAsserts(Pass):
    """Turn assertions into traps."""

    name: ClassVar[str] = "trap-asserts"

    def run(self, module: Any) -> None:
        arith, scf = dialect("arith"), dialect("scf")
        for kernel in named(module, "gpu.func"):
            for check in named(kernel, "cf.assert"):
                with ir.InsertionPoint(check), check.location:
                    one = arith.ConstantOp(ir.IntegerType.get_signless(1), 1).result
                    branch = scf.IfOp(arith.XOrIOp(check.operation.operands[0], one).result)
                    with ir.InsertionPoint(branch.then_block):
                        ir.Operation.create("llvm.intr.trap")
                        scf.YieldOp([])
                check.operation.erase()
