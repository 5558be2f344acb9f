"""order-copies: barriers between copying a k tile and computing with it.

Expects a k loop with tile.copy into shared memory and reads of it, in program order. Leaves a gpu.barrier behind the
copies, so that every thread sees them, and one at the end of the step, so that nothing is overwritten while it is still
read. The second one is left out when the next step copies into another stage. Refuses a step that reads a buffer before
its last copy. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, defined_within, in_block, named, operations
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
    """Whether a copy's target changes from step to step: a stage of a larger buffer, at an offset made in the loop."""
    owner = copy.operands[0].owner
    if getattr(owner, "name", "") != "memref.subview":
        return False
    _, *offsets = owner.operands
    return any(defined_within(offset, loop) for offset in offsets)


def check_copies_first(loop: Any, copies: list[Any]) -> None:
    """Raises PassError if something in the loop uses the target of a copy before all copies of the step are made."""
    targets = {copy.operands[0] for copy in copies}
    inside = in_block(body(loop))
    for operation in inside[: inside.index(copies[-1])]:
        used = {value for each in [operation, *operations(operation)] for value in each.operation.operands}
        if operation not in copies and used & targets:
            raise pass_error(operation, "this uses a staging buffer before the last tile.copy of the step")


def _order(loop: Any) -> None:
    inside = in_block(body(loop))
    copies = copies_of(loop)
    if not copies or any(op.operation.name == "gpu.barrier" for op in inside):
        return
    check_copies_first(loop, copies)
    gpu = dialect("gpu")
    with loop.location:
        with ir.InsertionPoint.after(copies[-1]):
            gpu.BarrierOp()
        if not all(rotates(copy, loop) for copy in copies):
            with ir.InsertionPoint(inside[-1]):
                gpu.BarrierOp()
