"""mma-to-coop-matrix: products of warp tiles become operations on cooperative matrices (VK_KHR_cooperative_matrix).

Expects a kernel function in which the accumulator is a warp tile, after `coop-matrix-epilogue`. Leaves
gpu.subgroup_mma operations of the shape `instruction`, which upstream converts to SPIR-V: the accumulator as one
matrix for each m x n part, carried by the loops; the matrices of A (m x k) and B (k x n) loaded just before they are
used, by columns where they are stored as km or nk; sums, products and conversions of whole matrices as such, with
what they load moved down to them. Bytes are signed or not, as the product says. Where subgroups have fewer lanes than a
warp (`subgroup`), those of 32 lanes divide the warp tile among them, along N.

Refuses types without cooperative matrices, sizes that are not multiples, rows in memory that do not begin at multiples
of 128 bits, tiles stored where another of the same memory may overlap them, and anything else that touches the
accumulator. Which shapes a device has, it says itself when the code is to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.accumulator_flow import flow_of, separate_constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.memory_order import check_order, sink_starts
from mlir_gemm.lowering.opaque_fragments import Fragments, Rewriter, Shape
from mlir_gemm.lowering.products import check_warp_product
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCOPE
from mlir_gemm.spec.threads import LANES

TYPES = (("f16", "f16", "f32"), ("f16", "f16", "f16"), ("i8", "i8", "i32"))
"""Elements of A, B and the accumulator."""


@dataclass(frozen=True)
class MmaToCoopMatrix(Pass):
    """Lower tile.mma to cooperative matrices."""

    name: ClassVar[str] = "mma-to-coop-matrix"
    instruction: Shape = (16, 16, 16)
    """M, N and K of a product of matrices."""
    subgroup: int = LANES
    """Lanes of a subgroup: 32, or a part of that."""

    def __post_init__(self) -> None:
        if self.subgroup < 1 or LANES % self.subgroup:
            raise PassError(f"pass '{self}': subgroup={self.subgroup}; expected a divisor of {LANES}")
        if min(self.instruction) < 1:
            raise PassError(f"pass '{self}': expected an instruction of at least 1x1x1")

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            products = named(kernel, "tile.mma")
            if products:
                self._lower(kernel, products)

    def _lower(self, kernel: Any, products: list[Any]) -> None:
        parts, part = LANES // self.subgroup, None
        if parts > 1:
            with ir.InsertionPoint(in_block(body(kernel))[0]), kernel.location:
                part = indexing.div(indexing.rem(indexing.thread(), LANES), self.subgroup)
        kind = Fragments("coop_matrix", self.instruction, (self.instruction,), parts=parts, part=part, elementwise=True)
        for product in products:
            check_warp_product(product)
            types = tuple(str(value.type.element_type) for value in product.operation.operands)
            if types not in TYPES:
                known = "; ".join(f"{a}, {b} into {c}" for a, b, c in TYPES)
                raise pass_error(
                    product,
                    f"cooperative matrices have no product of {types[0]} and {types[1]} into {types[2]}; supported: "
                    f"{known}",
                )
            kind.check(product)
        separate_constants([product.operation.results[0] for product in products])
        check_order([each for each in named(kernel, "tile.load", "tile.store") if SCOPE in each.operation.attributes])
        flow = flow_of(products)
        sink_starts(kernel, flow)
        rewriter = Rewriter(kind, flow)
        for operation in in_block(body(kernel)):
            rewriter.rewrite(operation)
        rewriter.erase_old()
