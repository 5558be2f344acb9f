"""split-fma: a product's multiplications and additions stand apart, for the driver to fuse where its device can.

Expects kernels before `scalarize-registers`. Leaves arith.mulf and arith.addf in the place of vector.fma, by which
products add up. math.fma stays: whoever writes it needs its one rounding. An fma that a device lacks costs hundreds of
instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class SplitFma(Pass):
    """Take the vector.fma of products apart."""

    name: ClassVar[str] = "split-fma"

    def run(self, module: Any) -> None:
        arith = dialect("arith")
        for view in named(module, "vector.fma"):
            operation = view.operation
            left, right, sum_ = operation.operands
            with ir.InsertionPoint(operation), operation.location:
                made = arith.AddFOp(arith.MulFOp(left, right).result, sum_).result
            operation.results[0].replace_all_uses_with(made)
            operation.erase()
