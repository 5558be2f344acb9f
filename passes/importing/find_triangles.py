"""find-triangles: a product with a triangular operand says where that is zero.

Expects kernels as `import` leaves them. Marks the function of a kernel with `tile.zeros`: `k>m` where A, at row m and
column k, is zero above its diagonal, `k<m` where it is below, `k>n` and `k<n` for B; of the first operand of which that
is known. It is read from an operand that is computed by a comparison of its positions, as torch.tril and triu have it
with diagonal=0, or from an argument that says `tile.triangular = "lower"` or `"upper"`: a promise that the other half
holds zeros. Sizes known at run time only are left alone. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.triangles import zeros_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import TRIANGULAR, ZEROS


@dataclass(frozen=True)
class FindTriangles(Pass):
    """Find triangular operands."""

    name: ClassVar[str] = "find-triangles"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _mark(function)


def _mark(function: Any) -> None:
    inside = [op.operation for op in in_block(body(function)) if structured.is_generic(op)]
    products = [product for product in map(product_of, inside) if product is not None]
    if len(products) != 1 or not all(value.type.has_static_shape for value in products[0].generic.operands):
        return
    arguments = zip(body(function).arguments, argument_attributes(function), strict=True)
    promised = {argument: ir.StringAttr(each[TRIANGULAR]).value for argument, each in arguments if TRIANGULAR in each}
    zeros = zeros_of(products[0], promised)
    if zeros:
        function.attributes[ZEROS] = ir.StringAttr.get(zeros)
