"""Branches between elements: both sides are computed, and one of their values is selected."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import in_block, named

_LOADS = ("memref.load", "affine.load")
_TRAPPING = (
    "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildivsi", "arith.ceildivui",
    "arith.floordivsi",
)  # fmt: skip
"""What may not be computed where the branch would not: of a division by zero LLVM concludes that there is none."""


def select_branches(function: Any) -> None:
    """Puts arith.select in the place of each scf.if that results in numbers, whose sides only load and compute. Loads
    must then lie within their memory in every iteration, as all others must."""
    for branch in reversed(named(function, "scf.if")):  # those inside others first
        op = branch.operation
        sides = [region.blocks[0] for region in op.regions if len(region.blocks)]
        if not len(op.results) or len(sides) != 2 or not all(_is_pure(side) for side in sides):
            continue
        if any(isinstance(result.type, ir.ShapedType) for result in op.results):
            continue
        given: list[list[Any]] = []
        for side in sides:
            *inside, end = in_block(side)
            given.append(list(end.operation.operands))
            for each in inside:
                each.operation.move_before(op)
        with ir.InsertionPoint(op), op.location:
            for result, then, otherwise in zip(op.results, *given, strict=True):
                chosen = dialect("arith").SelectOp(op.operands[0], then, otherwise).result
                result.replace_all_uses_with(chosen)
        op.erase()


def _is_pure(side: Any) -> bool:
    names = [each.operation.name for each in in_block(side)[:-1]]
    computing = ("arith.", "math.", "affine.apply")
    return all(name in _LOADS or (name.startswith(computing) and name not in _TRAPPING) for name in names)
