"""mma-to-wgmma: products of warpgroup tiles become wgmma instructions, and the epilogue becomes code of each thread.

Expects a kernel function in which the accumulator is a warpgroup's tile (after `distribute-warps{unit=warpgroup}`),
with operands in shared memory of the layouts `swizzle128`, `swizzle64` or `swizzle32`, products that are asynchronous
(`async`), and a tile.mma_wait before every other use of their results. Leaves accumulators as structs of registers,
which the loops carry; nvvm.wgmma.mma_async on descriptors, one group for each tile.mma; and arithmetic, loads and
stores of the accumulator on the vectors of a thread. Where A runs along M and its elements have not 16 bits, its words
are loaded to registers, and wgmma is assembly, in two groups for each tile.mma; so it is, with the metadata in
registers, where A is a tile.sparse. What is not known to lie within the
memory (`in_bounds`) is guarded. Refuses types without an instruction, tiles that no instruction has, and what
`mma-to-sync` refuses of the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import users
from mlir_gemm.lowering.accumulator_lowering import lower_products
from mlir_gemm.lowering.products import kernels_by_kind
from mlir_gemm.lowering.wgmma import GroupProducts, check
from mlir_gemm.lowering.wgmma_sparse import drop_views
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.pipeline.warp_specialize import ASYNC


@dataclass(frozen=True)
class MmaToWgmma(Pass):
    """Lower tile.mma to wgmma."""

    name: ClassVar[str] = "mma-to-wgmma"

    def run(self, module: Any) -> None:
        for kernel, products in kernels_by_kind(module, _products_of, "type"):
            lower_products(kernel, products.layout, products.emit, products.wait)
            drop_views(kernel)


def _products_of(product: Any) -> GroupProducts:
    _check_waited(product)
    return check(product)


def _check_waited(product: Any) -> None:
    """Refuses a product that is not asynchronous, or whose result is used while it may be in flight."""
    if ASYNC not in product.operation.attributes:
        raise pass_error(product, "a product that is not asynchronous; warp-specialize makes it so")
    for user in users(product.operation.results[0]):
        if user.name not in ("tile.mma", "tile.mma_wait", "scf.for", "scf.yield"):
            raise pass_error(user, f"'{user.name}' uses a product that may be in flight; expected tile.mma_wait first")
