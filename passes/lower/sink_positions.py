"""sink-positions: the addresses of a tile's results are computed after its products, not before.

Expects kernel functions, lowered. Moves integer arithmetic that is needed only after the last wait for products
(nvvm.wgmma.wait.group 0) from before it to directly after it. Otherwise LLVM moves it between the loop over k and the
wait, and with such code there ptxas finds that accumulators are read while products are in flight, and serializes them
(C7514). A second run changes nothing. Refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import ancestor_in, in_block, named, users
from mlir_gemm.passes.base import Pass

WAIT = "nvvm.wgmma.wait.group.sync.aligned"


@dataclass(frozen=True)
class SinkPositions(Pass):
    """Compute the addresses of results after the last wait for products."""

    name: ClassVar[str] = "sink-positions"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for wait in [op.operation for op in named(kernel, WAIT)]:
                if ir.IntegerAttr(wait.attributes["group"]).value == 0:
                    _sink(wait)


def _sink(wait: Any) -> None:
    ops = [op.operation for op in in_block(wait.block)]
    place = ops.index(wait)
    behind = set(ops[place + 1 :])
    for op in reversed(ops[:place]):
        using = users(op.results[0]) if _is_position(op) else []
        if using and all(ancestor_in(wait.block, user) in behind for user in using):
            op.move_after(wait)
            behind.add(op)


def _is_position(op: Any) -> bool:
    """Whether an operation computes one whole number from others."""
    if op.name == "arith.constant" or not op.name.startswith(("arith.", "affine.")) or len(op.regions):
        return False
    return len(op.results) == 1 and isinstance(op.results[0].type, ir.IndexType | ir.IntegerType)
