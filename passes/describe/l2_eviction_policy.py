"""l2-eviction-policy: L2 keeps a part of an operand that does not fit as a whole, and evicts the rest first.

Expects tile.tma_load into buffers that tile.mma multiplies. With `a` below 32, leaves `keep` on the copies into buffers
of left operands: `a` of every 32 boxes keep their lines in L2 like any other data, and the others are marked
evict-first, which lower-mbarrier-pipeline tells the copy engine. So lines of an operand that is read once evict neither
each other nor the data of other kernels, and a kernel that runs again finds some of the operand. `b` says the same of
right operands. 32 marks nothing, and a second run changes nothing. Refuses other numbers of parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.memory_order import root_of
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.l2_policy import KEEP, PARTS


@dataclass(frozen=True)
class L2EvictionPolicy(Pass):
    """Mark what L2 may evict first."""

    name: ClassVar[str] = "l2-eviction-policy"
    a: int = PARTS
    """Of 32 parts of A, how many L2 keeps like any other data."""
    b: int = PARTS

    def run(self, module: Any) -> None:
        for operand, kept in (("a", self.a), ("b", self.b)):
            if not 0 <= kept <= PARTS:
                raise PassError(f"pass 'l2-eviction-policy': {operand}={kept}; expected 0 to {PARTS}")
        buffers: dict[Any, int] = {}
        for product in named(module, "tile.mma"):
            for memory, kept in zip(product.operation.operands, (self.a, self.b), strict=False):
                buffers[root_of(memory)] = kept
        for copy in named(module, "tile.tma_load"):
            kept = buffers.get(root_of(copy.operation.operands[0]), PARTS)
            if kept < PARTS:
                copy.operation.attributes[KEEP] = constants.integer(kept)
