"""sign-products: products of cooperative matrices of integers say which of their matrices are signed.

Expects modules in SPIR-V that upstream's convert-gpu-to-spirv made, which leaves that out. Leaves `matrix_operands` on
each product: A and B by their elements' types; sums are signed where a factor is. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class SignProducts(Pass):
    """Say which cooperative matrices are signed."""

    name: ClassVar[str] = "sign-products"

    def run(self, module: Any) -> None:
        for product in named(module, "spirv.KHR.CooperativeMatrixMulAdd"):
            operation = product.operation
            types = [str(each.type) for each in operation.operands]
            signs = [f"{name}Signed" for name, type_ in zip("AB", types, strict=False)
                     if "xsi" in type_]  # fmt: skip
            if signs:
                signs += ["CSigned", "ResultSigned"]
                operation.attributes["matrix_operands"] = ir.Attribute.parse(
                    f"#spirv.cooperative_matrix_operands_khr<{'|'.join(signs)}>"
                )
