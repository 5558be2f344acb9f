"""cooperative-blocks: all blocks of a kernel run at the same time, because some wait for each other.

Expects kernel functions. Leaves on each `tile.cooperative`: that `blocks` of the grid, one after another, wait for each
other. The grid must be a multiple of it, and is launched cooperatively: the driver refuses one that does not fit on the
GPU at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import COOPERATIVE
from mlir_gemm.spec.rows import MOST_GRID


@dataclass(frozen=True)
class CooperativeBlocks(Pass):
    """Launch all blocks at the same time."""

    name: ClassVar[str] = "cooperative-blocks"
    blocks: int = 2
    """Blocks of the grid that wait for each other."""

    def run(self, module: Any) -> None:
        if not 2 <= self.blocks <= MOST_GRID:
            raise PassError(f"pass '{self}': expected 2 to {MOST_GRID} blocks that wait for each other")
        for kernel in named(module, "gpu.func"):
            kernel.attributes[COOPERATIVE] = constants.integer(self.blocks)
