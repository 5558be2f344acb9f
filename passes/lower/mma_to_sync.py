"""mma-to-sync: products of warp tiles become ldmatrix and mma.sync, and everything done to the accumulator becomes code
of each lane.

Expects a kernel function in which the accumulator is a warp tile (after `distribute-warps`). Leaves vectors of a lane,
carried by the loops: the fragments of mma.sync, and for arithmetic on the accumulator, and its loads and stores, their
rows. What is not known to lie within the memory (`in_bounds`) is guarded. Fragments of A and B come by nvgpu.ldmatrix
from shared memory whose rows start at multiples of 16 bytes, else by loads of each lane; with `double_buffer` those of
a step are loaded before the products of the step before it. f32 operands are rounded to tf32, to nearest. Products
of bytes and of f64 are nvvm.mma.sync (bytes wrap around, as in arith), those of a 2:4 sparse A (tile.sparse) pairs of
mma.sp (`instruction=16,8,64`: lanes have a word of metadata for that), the others nvgpu.mma.sync. Refuses types without
an instruction, an `instruction` that the types do not have, warp tiles that are not multiples of it, other operations
on the accumulator, and tiles stored where another tile of the same memory may overlap them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.lowering.accumulator_lowering import lower_products
from mlir_gemm.lowering.mma_sync import SyncProducts, check
from mlir_gemm.lowering.products import kernels_by_kind
from mlir_gemm.lowering.wgmma_sparse import drop_views
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class MmaToSync(Pass):
    """Lower tile.mma to ldmatrix and mma.sync."""

    name: ClassVar[str] = "mma-to-sync"
    instruction: tuple[int, int, int] = (16, 8, 16)
    """M, N and K of mma.sync."""
    double_buffer: bool = True
    """Load the fragments of the next step before the products of a step."""

    ordered: bool = False
    """Say of metadata that it is in order, as that of a 2:4 sparse A is."""

    def run(self, module: Any) -> None:
        for kernel, instruction in kernels_by_kind(module, lambda product: check(product, self.instruction), "type"):
            lower_products(kernel, instruction.layout, SyncProducts(instruction, self.double_buffer, self.ordered).emit)
            drop_views(kernel)
