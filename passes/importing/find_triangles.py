"""find-triangles: a product with a triangular, banded or block-wise operand says where that is zero.

Expects kernels as `import` leaves them. Marks the function of a kernel with `tile.zeros`: conditions on the positions m
and k of A, and n and k of B, such as `k>m` where A is zero above its diagonal (`spec/zeros.py`). They are read from an
operand that is computed by comparisons of its positions (tril and triu, bands, equal quotients of blocks), or from an
argument that says `tile.triangular`, `tile.banded`, `tile.block_diagonal` or `tile.blocks`: a promise that its other
elements are zeros. Where k is known at run time only, nothing is said. A second run changes nothing. Refuses these
marks on what is no matrix.
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
from mlir_gemm.dialect.zero_marks import promised_zeros
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ZEROS

_OPEN = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class FindTriangles(Pass):
    """Find where operands are zero."""

    name: ClassVar[str] = "find-triangles"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _mark(function)


def _mark(function: Any) -> None:
    arguments = zip(body(function).arguments, argument_attributes(function), strict=True)
    promised = {argument: promised_zeros(function, argument, each) for argument, each in arguments}
    inside = [op.operation for op in in_block(body(function)) if structured.is_generic(op)]
    products = [product for product in map(product_of, inside) if product is not None]
    if len(products) != 1 or any(structured.sizes_of(products[0].generic)[loop] == _OPEN for loop in products[0].k):
        return
    zeros = zeros_of(products[0], promised)
    if zeros:
        function.attributes[ZEROS] = ir.StringAttr.get(zeros)
