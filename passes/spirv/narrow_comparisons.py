"""narrow-comparisons: what had 32 bits before it was made longer is compared in 32 bits.

Expects kernels after `scalarize-registers`, in which an index has 32 bits. Leaves comparisons of i32 or index in the
place of those of i64 whose operands are extended from it with their signs, or constants that fit: GPUs compute 64 bits
in several instructions, and Mesa 22.3's drivers for the CPU compare such numbers with a constant wrongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

_LONGER = ("arith.extsi", "arith.index_cast")
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class NarrowComparisons(Pass):
    """Compare numbers of 32 bits as such."""

    name: ClassVar[str] = "narrow-comparisons"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for view in named(kernel, "arith.cmpi"):
                _narrow(view.operation)


def _narrow(comparison: Any) -> None:
    sources = [_source(operand) for operand in comparison.operands]
    types = {str(each.type): each.type for each in sources if each is not None and not isinstance(each, int)}
    if str(comparison.operands[0].type) != "i64" or any(each is None for each in sources) or len(types) != 1:
        return
    (type_,) = types.values()
    with ir.InsertionPoint(comparison), comparison.location:
        first, second = (
            dialect("arith").ConstantOp(type_, each).result if isinstance(each, int) else each for each in sources
        )
        made = ir.Operation.create(
            "arith.cmpi",
            [comparison.results[0].type],
            [first, second],
            {"predicate": comparison.attributes["predicate"]},
        )
    comparison.results[0].replace_all_uses_with(made.results[0])
    comparison.erase()


def _source(value: Any) -> Any:
    """What an i64 was extended from, if that has 32 bits; a constant as a number, if it fits; else None."""
    owner = value.owner
    name = getattr(owner, "name", "")
    if name == "arith.constant":
        number = ir.IntegerAttr(owner.attributes["value"]).value
        return number if _LEAST <= number <= _MOST else None
    if name in _LONGER and str(owner.operands[0].type) in ("i32", "index"):
        return owner.operands[0]
    return None
