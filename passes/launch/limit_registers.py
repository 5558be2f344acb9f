"""limit-registers: ptxas keeps registers low enough for several blocks on one SM.

Expects kernel functions (gpu.func). Leaves the attribute `nvvm.minctasm`, which becomes `.minnctapersm` in PTX.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class LimitRegisters(Pass):
    """Ask for several resident blocks on an SM."""

    name: ClassVar[str] = "limit-registers"
    blocks: int = 1
    """Blocks that should fit on one SM at a time."""

    def run(self, module: Any) -> None:
        if not 1 <= self.blocks <= 32:
            raise PassError(f"pass 'limit-registers': blocks={self.blocks}; expected 1 to 32")
        for kernel in named(module, "gpu.func"):
            kernel.attributes["nvvm.minctasm"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), self.blocks)
