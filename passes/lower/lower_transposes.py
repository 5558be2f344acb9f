"""lower-transposes: a tile that is transposed in shared memory becomes loads, byte permutes and stores of each warp.

Expects kernel functions of whole warpgroups, after `mma-to-wgmma` has taken the addresses of what products read. Leaves
ldmatrix, `prmt` and stmatrix on the tile where it lies, a fence that makes it known to wgmma, and a barrier of the
warps that transpose. A second run changes nothing. Refuses tiles that are no squares of bytes of the layout
`swizzle128`, and a tile that something else reads than products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import transposes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.lowering import tile_transpose
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class LowerTransposes(Pass):
    """Lower tile.transpose to ldmatrix and stmatrix."""

    name: ClassVar[str] = "lower-transposes"

    def run(self, module: Any) -> None:
        for op in named(module, transposes.NAME):
            transpose = op.operation
            for view in users(transpose.results[0]):
                if view.operation.name != "memref.subview" or users(view.operation.results[0]):
                    raise pass_error(view, f"'{view.operation.name}' reads what was transposed; expected products only")
                view.operation.erase()
            with ir.InsertionPoint(transpose), transpose.location:
                tile_transpose.emit(transpose)
            transpose.erase()
