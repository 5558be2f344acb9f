"""What index values are in each of many cases, such as for each tile of a result, where some values are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import parents

_ARITHMETIC: Mapping[str, Any] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.divui": np.floor_divide,
    "arith.remui": np.remainder, "arith.minui": np.minimum, "arith.minsi": np.minimum, "arith.maxui": np.maximum,
    "arith.maxsi": np.maximum, "arith.shrui": np.right_shift, "arith.select": np.where, "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or, "arith.index_cast": np.asarray,
}  # fmt: skip
_COMPARED: tuple[Any, ...] = (
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.less, np.less_equal, np.greater,
    np.greater_equal,
)  # fmt: skip
"""By the number of arith's predicate; numbers are not negative, so that those without a sign are the same."""


def numbers_of(value: Any, known: Mapping[Any, Any]) -> Any | None:
    """The numbers of a value, where some values have numbers that are known: an array of one for each case, or one for
    all. None where an operation is neither arithmetic nor reads a constant from memory."""
    return _numbers(value, dict(known))


def _numbers(value: Any, known: dict[Any, Any]) -> Any | None:
    if value not in known:
        known[value] = None if hasattr(value.owner, "operations") else _computed(value.owner.operation, known)
    return known[value]


def _computed(op: Any, known: dict[Any, Any]) -> Any | None:
    if op.name == "arith.constant":
        return np.int64(ir.IntegerAttr(op.attributes["value"]).value)
    if op.name == "memref.load":
        return _loaded(op, known)
    compute = _ARITHMETIC.get(op.name)
    if op.name == "arith.cmpi":
        compute = _COMPARED[ir.IntegerAttr(op.attributes["predicate"]).value]
    if compute is None:
        return None
    operands = [_numbers(operand, known) for operand in op.operands]
    return None if any(each is None for each in operands) else compute(*operands)


def _loaded(op: Any, known: dict[Any, Any]) -> Any | None:
    """What a constant in memory has at places that are known."""
    got = op.operands[0].owner
    if hasattr(got, "operations") or got.operation.name != "memref.get_global" or len(op.operands) != 2:
        return None
    places = _numbers(op.operands[1], known)
    name = ir.FlatSymbolRefAttr(got.operation.attributes["name"]).value
    module = [each.operation for each in parents(op)][-1]
    globals_ = (each.operation for each in module.regions[0].blocks[0] if each.operation.name == "memref.global")
    declared = next((each for each in globals_ if ir.StringAttr(each.attributes["sym_name"]).value == name), None)
    if places is None or declared is None or "initial_value" not in declared.attributes:
        return None
    return np.array(ir.DenseIntElementsAttr(declared.attributes["initial_value"]), np.int64).ravel()[places]
