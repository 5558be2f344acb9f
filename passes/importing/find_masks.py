"""find-masks: a result that is one number at places that its positions tell says so.

Expects kernels as `import` leaves them. Marks the function of a kernel with `tile.masked`: conditions on the positions
m and n, such as `n>m` where the result is the same number in all columns after that of its row (`spec/zeros.py`), as
what follows the product selects a constant where positions compare so (tril and triu, causal masks, windows, blocks
along the diagonal), and after that computes with constants only. The result must be of known sizes, and the only one,
and the kernel must not read it. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.triangles import mask_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import MASKED


@dataclass(frozen=True)
class FindMasks(Pass):
    """Find results that are constant at some places."""

    name: ClassVar[str] = "find-masks"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                masked = _masked(function)
                if masked:
                    function.attributes[MASKED] = ir.StringAttr.get(masked)


def _masked(function: Any) -> str:
    generics = [structured.read(op) for op in in_block(body(function)) if structured.is_generic(op)]
    products = [product for product in (product_of(each.op) for each in generics) if product is not None]
    arguments = list(body(function).arguments)
    written = [value for each in generics for value in each.outputs if value in arguments]
    if len(products) != 1 or len(written) != 1 or len(products[0].m) != 1 or len(products[0].n) != 1:
        return ""
    last, (result,) = generics[-1], written
    shape = list(result.type.shape)
    read = any(result in each.inputs for each in generics) or any(
        last.reads(len(last.inputs) + number) for number in range(len(last.outputs))
    )
    if read or len(shape) < 2:
        return ""
    if last.outputs != (result,) or not last.elementwise or last.maps[-1] != ir.AffineMap.get_identity(len(shape)):
        return ""
    return mask_of(last)
