"""transpose-operand: B of 8-bit elements that runs along N is transposed where it lies in shared memory.

Expects products of block tiles in a loop over k, before its copies and its products are given to different warps. B
has the layout `swizzle128` and a k of 128 bytes. Leaves a tile.transpose of B's tile before the product, which takes
the result, with K along the rows (`nk`): wgmma takes bytes in no other way. A second run changes nothing: then B runs
along K. Products whose elements have other sizes, and those whose B runs along K, are left alone.
Refuses tiles of B that are no squares of 128 bytes one beside the other, since only these can be transposed in place,
and a tile that several products share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import tile, transposes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.rings import PANEL_BYTES
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class TransposeOperand(Pass):
    """Transpose B of bytes in shared memory."""

    name: ClassVar[str] = "transpose-operand"

    def run(self, module: Any) -> None:
        for product in named(module, "tile.mma"):
            memory = product.operation.operands[1]
            if tile.order_of(product, "b") != "kn" or memory.type.element_type.width != 8 or not in_shared(memory):
                continue
            k, n = memory.type.shape
            if k != PANEL_BYTES or n % PANEL_BYTES:
                raise pass_error(
                    product, f"B of {k}x{n} bytes that run along n, which is transposed where it lies; expected a k of "
                    f"{PANEL_BYTES}, and an n that {PANEL_BYTES} divides"
                )  # fmt: skip
            others = [user for user in users(memory) if user.operation.name not in ("tile.copy", "tile.mma")]
            if others or sum(user.operation.name == "tile.mma" for user in users(memory)) > 1:
                raise pass_error(
                    product, "B that runs along n, and that something else reads too; expected one product"
                )
            with ir.InsertionPoint(product), product.location:
                product.operation.operands[1] = transposes.transpose(memory)
            product.operation.attributes["b"] = ir.StringAttr.get("nk")
