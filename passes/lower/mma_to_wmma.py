"""mma-to-wmma: products of warp tiles become WMMA operations on fragments, of the shape `instruction`.

Expects a kernel function in which the accumulator is a warp tile (after `distribute-warps`, and `wmma-epilogue` if
there is arithmetic on it). Leaves gpu.subgroup_mma operations: the accumulator as one fragment for each m x n part,
carried by the loops; the fragments of A (m x k) and B (k x n) loaded just before they are used, transposed where they
are stored as km or nk. Reads the operands through whatever memref they are in. Refuses anything else that touches the
accumulator, and types, shapes, sizes and row strides that WMMA does not have; also loads and stores that would need a
guard for each lane (without `in_bounds`), or that broadcast or transpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.accumulator_flow import flow_of, separate_constants
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.opaque_fragments import Fragments, Rewriter, Shape, shown
from mlir_gemm.lowering.products import check_warp_product
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.distribute.distribute_warps import with_fills

SHAPES: tuple[Shape, ...] = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
"""M, N and K of the operations on f16 (PTX ISA, "wmma.mma")."""
ROW_BITS = 128
"""Rows in memory start at multiples of this (PTX: `wmma.load` and `wmma.store`)."""


@dataclass(frozen=True)
class MmaToWmma(Pass):
    """Lower tile.mma to WMMA."""

    name: ClassVar[str] = "mma-to-wmma"
    instruction: Shape = SHAPES[0]
    """M, N and K of wmma.mma."""

    def run(self, module: Any) -> None:
        if self.instruction not in SHAPES:
            every = ", ".join(map(shown, SHAPES))
            raise PassError(f"pass 'mma-to-wmma': instruction={shown(self.instruction)}; WMMA has {every}")
        kind = Fragments("WMMA", self.instruction, SHAPES, ROW_BITS)
        for kernel in named(module, "gpu.func"):
            products = named(kernel, "tile.mma")
            if products:
                _check(products, kind)
                shape = tuple(products[0].operation.results[0].type.shape)
                separate_constants([product.operation.results[0] for product in products])
                rewriter = Rewriter(kind, with_fills(kernel, flow_of(products), shape))
                for operation in in_block(body(kernel)):
                    rewriter.rewrite(operation)
                rewriter.erase_old()


def _check(products: list[Any], kind: Fragments) -> None:
    for product in products:
        check_warp_product(product)
        types = [str(value.type.element_type) for value in product.operation.operands]
        if types != ["f16", "f16", "f32"]:
            raise pass_error(
                product,
                f"WMMA has no product of {types[0]} and {types[1]} into {types[2]}; supported: f16, f16 into f32",
            )
        kind.check(product)
