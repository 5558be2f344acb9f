"""order-copies: barriers between copying a k tile and computing with it.

Expects a k loop with tile.copy into shared memory and reads of it, in program order. Leaves a gpu.barrier behind the
copies, so that every thread sees them, and one at the end of the step, so that nothing is overwritten while it is still
read. The second one is left out when the next step copies into another stage. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import dialect, ir
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


def copies_of(loop: Any) -> list[Any]:
    """The tile.copy operations directly in a loop."""
    return [op for op in in_block(body(loop)) if op.operation.name == "tile.copy"]


def rotates(copy: Any, loop: Any) -> bool:
    """Whether a copy's target changes from step to step: it is a stage of a larger buffer, made inside the loop."""
    owner = copy.operands[0].owner
    return owner.operation.block == body(loop)


def _order(loop: Any) -> None:
    inside = in_block(body(loop))
    copies = copies_of(loop)
    if not copies or any(op.operation.name == "gpu.barrier" for op in inside):
        return
    gpu = dialect("gpu")
    with loop.location:
        with ir.InsertionPoint.after(copies[-1]):
            gpu.BarrierOp()
        if not all(rotates(copy, loop) for copy in copies):
            with ir.InsertionPoint(inside[-1]):
                gpu.BarrierOp()
