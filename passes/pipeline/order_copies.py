"""order-copies: barriers between filling the staging buffers and computing with them.

Expects a k loop that fills shared memory by tile.copy, or by block-wide tile.store of computed tiles, and reads it, in
program order. Leaves a gpu.barrier after the last of these, so that every thread sees them, and one at the end of the
step, so that nothing is overwritten while it is still read. The second one is left out when the next step fills another
stage. Refuses a step that reads a buffer before all are filled. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.fills import check_filled_first, fills_of, rotates
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class OrderCopies(Pass):
    """Insert the barriers that plain copies need."""

    name: ClassVar[str] = "order-copies"

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k":
                _order(loop)


def _order(loop: Any) -> None:
    inside = in_block(body(loop))
    if any(op.operation.name == "gpu.barrier" for op in inside):
        return
    fills = fills_of(loop)
    if not fills:
        return
    check_filled_first(loop, fills)
    gpu = dialect("gpu")
    with loop.location:
        with ir.InsertionPoint.after(fills[-1].operation):
            gpu.BarrierOp()
        if not all(rotates(fill, loop) for fill in fills):
            with ir.InsertionPoint(inside[-1]):
                gpu.BarrierOp()
