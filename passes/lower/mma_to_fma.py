"""mma-to-fma: products of warp tiles become multiply-adds of lanes, and everything done to the accumulator becomes code
of each lane.

Expects a kernel function in which the accumulator is a warp tile (after `distribute-warps`). Leaves vectors of a lane,
carried by the loops: up to 4 rows of up to 4 neighbours of each part of the tile that 4 x 8 lanes share. Operands are
extended to the accumulator's type, exactly, and multiplied with vector.fma, or muli and addi, or go through the
operations of the product's `algebra`. With `singly` there is a multiply-add for each number, in an order in which two
that follow each other share a factor; else one for each vector. What is not known to lie within the memory
(`in_bounds`) is guarded. Refuses types that the accumulator's cannot hold, warp tiles that are no multiples of 4 x 8,
other operations on the accumulator, and tiles stored where another tile of the same memory may overlap them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.lowering import fma
from mlir_gemm.lowering.accumulator_lowering import lower_products
from mlir_gemm.lowering.layouts import Layout
from mlir_gemm.lowering.products import kernels_by_kind
from mlir_gemm.lowering.wgmma_sparse import drop_views
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class MmaToFma(Pass):
    """Lower tile.mma to multiply-adds."""

    name: ClassVar[str] = "mma-to-fma"
    singly: bool = False
    """Multiply number by number, where an instruction takes one, and not vector by vector."""

    def run(self, module: Any) -> None:
        for kernel, layout in kernels_by_kind(module, _layout, "shape", any_algebra=True):
            lower_products(kernel, layout, fma.LaneProducts(self.singly).emit)
            drop_views(kernel)


def _layout(product: Any) -> Layout:
    fma.check(product)
    return fma.layout_for(product)
