"""Sizes that a program computes in floating point: `floor(t * 2.0)` of an upsampling, `t + 1.0 >= 1.0` of a variance.

All are whole numbers that floating point holds exactly, as long as sizes stay below 2^24.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.size_sums import SizeSums
from mlir_gemm.dialect.symbols import Size

TO_FLOAT = ("arith.sitofp", "arith.uitofp")
TO_NUMBER = ("arith.fptosi", "arith.fptoui")
COMPARED = "arith.cmpf"
_SAME = ("arith.extf", "arith.truncf", "math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven")
_SUMS = {"arith.addf": 1, "arith.subf": -1}
_PRODUCT = "arith.mulf"
_PREDICATES = {1: 0, 2: 4, 3: 5, 4: 2, 5: 3, 6: 1, 8: 0, 9: 4, 10: 5, 11: 2, 12: 3, 13: 1}
"""Of arith.cmpf, with what they are of arith.cmpi: no size is NaN."""
HANDLED = (*TO_FLOAT, *_SAME, *_SUMS, _PRODUCT)


class FloatSizes:
    """The floating-point values of a function that are sizes."""

    def __init__(self, sums: SizeSums) -> None:
        self.sums = sums
        self.known: dict[Any, Size] = {}

    def visit(self, op: Any, numbers: Mapping[Any, Size]) -> None:
        """Notes what an operation of `HANDLED` computes, where that is a size; `numbers` are whole ones."""
        if op.name in TO_FLOAT:
            found = numbers.get(op.operands[0])
        else:
            given = [self.of(operand) for operand in op.operands]
            if None in given:
                return
            values = [size for size in given if size is not None]
            if op.name in _SUMS:
                found = self.sums.sum(values[0], values[1], _SUMS[op.name])
            else:
                found = values[0] if op.name in _SAME else self.sums.product(values[0], values[1])
        if found is not None:
            self.known[op.results[0]] = found

    def of(self, value: Any) -> Size | None:
        """The size that a value is, whole constants among them."""
        owner = value.owner
        if getattr(owner, "name", "") == "arith.constant" and isinstance(value.type, ir.FloatType):
            number: float = ir.FloatAttr(owner.attributes["value"]).value
            return Size(int(number)) if abs(number) < 1 << 24 and number == int(number) else None
        return self.known.get(value)

    def compared(self, op: Any) -> bool | None:
        """What an arith.cmpf gives, where that is the same for all sizes."""
        left, right = (self.of(operand) for operand in op.operands)
        predicate = _PREDICATES.get(ir.IntegerAttr(op.attributes["predicate"]).value)
        if left is None or right is None or predicate is None:
            return None
        return self.sums.compared(predicate, left, right)
