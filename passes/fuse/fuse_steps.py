"""fuse-steps: products of the same tiles walk k together.

Expects the nests that `fuse-blocks` leaves: block loops with the k loops of several products in them, such as those of
`join-products`. Leaves one k loop with the point nests of all, one after another, where k loops of the same number of
steps stand in one block with nothing between them that touches memory, and none touches a buffer that another writes.
So an operand that they share is staged once in a step. Other loops are left alone; a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile.tile_loops import trips_of


@dataclass(frozen=True)
class FuseSteps(Pass):
    """Fuse k loops of the same tiles."""

    name: ClassVar[str] = "fuse-steps"

    def run(self, module: Any) -> None:
        for block in [body(loop) for loop in named(module, "affine.for") if affine.level_of(loop) == "block"]:
            before = None
            for operation in in_block(block):
                if affine.level_of(operation) == "k":
                    if before is not None and _go_together(before, operation):
                        _fuse(before, operation)
                    before = operation
                elif any(isinstance(value.type, ir.MemRefType) for value in _operands_within(operation)):
                    before = None


def _go_together(first: Any, second: Any) -> bool:
    trips = trips_of(first)
    if trips is None or trips != trips_of(second):
        return False
    touched, written = zip(*(_memory_of(loop) for loop in (first, second)), strict=True)
    return not (written[0] & touched[1] or written[1] & touched[0])


def _memory_of(loop: Any) -> tuple[set[Any], set[Any]]:
    """The memrefs that a loop touches, and those that it writes, or may."""
    touched, written = set[Any](), set[Any]()
    for operation in operations(loop):
        memory = {value for value in operation.operation.operands if isinstance(value.type, ir.MemRefType)}
        touched |= memory
        if operation.operation.name != "affine.load":
            written |= memory
    return touched, written


def _operands_within(operation: Any) -> list[Any]:
    return [operand for each in [operation, *operations(operation)] for operand in each.operation.operands]


def _fuse(first: Any, second: Any) -> None:
    """Moves the body of `first` to the head of the body of `second`."""
    affine.induction_variable(first).replace_all_uses_with(affine.induction_variable(second))
    anchor = in_block(body(second))[0]
    for operation in in_block(body(first))[:-1]:
        operation.operation.move_before(anchor)
    first.operation.erase()
