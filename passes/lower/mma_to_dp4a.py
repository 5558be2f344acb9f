"""mma-to-dp4a: products of warp tiles of bytes become dp4a of lanes, and everything done to the accumulator becomes
code of each lane.

Expects a kernel function in which the accumulator is a warp tile of i32 (after `distribute-warps`), and operands of i8.
Leaves vectors of a lane, carried by the loops, as `mma-to-fma` does, and nvvm.dot.accumulate.4way on four neighbours in
k of a row of A and of a column of B. Where K does not run along an operand's rows, these are picked from four rows.
Refuses other types, products of a K that is not a multiple of 4, and what `mma-to-fma` refuses of the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.lowering import dp4a
from mlir_gemm.lowering.accumulator_lowering import lower_products
from mlir_gemm.lowering.fma import layout_for
from mlir_gemm.lowering.layouts import Layout
from mlir_gemm.lowering.products import kernels_by_kind
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class MmaToDp4a(Pass):
    """Lower tile.mma of bytes to dp4a."""

    name: ClassVar[str] = "mma-to-dp4a"

    def run(self, module: Any) -> None:
        for kernel, layout in kernels_by_kind(module, _layout, "shape"):
            lower_products(kernel, layout, dp4a.emit)


def _layout(product: Any) -> Layout:
    dp4a.check(product)
    return layout_for(product)
