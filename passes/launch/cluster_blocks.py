"""cluster-blocks: kernels are launched in clusters of blocks, which run on SMs of one GPC and reach each other's shared
memory.

Expects kernel functions. Leaves on each the attribute nvvm.cluster_dim, `size` blocks along x. The grid must be a
multiple of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.parallelize.rasterize_blocks import MOST_BLOCKS
from mlir_gemm.spec.attributes import CLUSTER_DIM


@dataclass(frozen=True)
class ClusterBlocks(Pass):
    """Launch blocks in clusters."""

    name: ClassVar[str] = "cluster-blocks"
    size: int = 1
    """Blocks of a cluster."""

    def run(self, module: Any) -> None:
        if not 1 <= self.size <= MOST_BLOCKS:
            raise PassError(f"pass '{self}': expected 1 to {MOST_BLOCKS} blocks in a cluster")
        for kernel in named(module, "gpu.func"):
            kernel.attributes[CLUSTER_DIM] = ir.DenseI32ArrayAttr.get([self.size, 1, 1])
