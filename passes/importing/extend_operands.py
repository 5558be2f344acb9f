"""extend-operands: 8-bit floats that a product multiplies are extended through f16, the type that it then multiplies.

Expects linalg.generic. In the body of a product an arith.extf from an 8-bit float to f32 or f64 becomes one to f16,
which is exact for all of them, and one from there, so that tensor cores can multiply what the first one gives. A second
run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.walk import named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.element_types import FORMATS


@dataclass(frozen=True)
class ExtendOperands(Pass):
    """Extend 8-bit operands of products through f16."""

    name: ClassVar[str] = "extend-operands"

    def run(self, module: Any) -> None:
        for generic in named(module, "linalg.generic"):
            if product_of(generic) is None:
                continue
            for operation in [each.operation for each in operations(generic)]:
                if operation.name == "arith.extf" and _is_from_eight(operation):
                    with ir.InsertionPoint(operation), operation.location:
                        half = dialect("arith").ExtFOp(ir.F16Type.get(), operation.operands[0]).result
                    operation.operands[0] = half


def _is_from_eight(extension: Any) -> bool:
    wide = str(extension.results[0].type) in ("f32", "f64")
    return wide and str(extension.operands[0].type) in FORMATS
