"""affine.apply, affine.min and affine.max."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Decoder, Step, handles
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.warps import Warp


def affine_expression(expression: Any, operation: Any) -> Callable[[list[Any], list[Any]], Any]:
    """An affine expression as a function of its dimensions and symbols, numbers or arrays."""
    if ir.AffineConstantExpr.isinstance(expression):
        number = ir.AffineConstantExpr(expression).value
        return lambda dims, symbols: number
    if ir.AffineDimExpr.isinstance(expression):
        place = ir.AffineDimExpr(expression).position
        return lambda dims, symbols: dims[place]
    if ir.AffineSymbolExpr.isinstance(expression):
        place = ir.AffineSymbolExpr(expression).position
        return lambda dims, symbols: symbols[place]
    for kind, function in _AFFINE:
        if kind.isinstance(expression):
            parts = kind(expression)
            left, right = affine_expression(parts.lhs, operation), affine_expression(parts.rhs, operation)
            return lambda dims, symbols: function(left(dims, symbols), right(dims, symbols))
    raise unsupported(operation, f"the affine expression {expression} is not simulated")


_AFFINE: tuple[tuple[Any, Callable[[Any, Any], Any]], ...] = (
    (ir.AffineAddExpr, lambda a, b: a + b),
    (ir.AffineMulExpr, lambda a, b: a * b),
    (ir.AffineModExpr, lambda a, b: a % b),
    (ir.AffineFloorDivExpr, lambda a, b: a // b),
    (ir.AffineCeilDivExpr, lambda a, b: -(-a // b)),
)


@handles("affine.apply", "affine.min", "affine.max")
def _affine(decoder: Decoder, operation: Any) -> Step:
    map_ = ir.AffineMapAttr(operation.operation.attributes["map"]).value
    functions = [affine_expression(expression, operation) for expression in map_.results]
    slots, out = decoder.all_slots(operation.operation.operands), decoder.slot(operation.operation.results[0])
    pick: Any = np.maximum if operation.operation.name == "affine.max" else np.minimum
    dims = map_.n_dims

    def step(warp: Warp) -> None:
        operands = [warp.slots[slot] for slot in slots]
        results = [function(operands[:dims], operands[dims:]) for function in functions]
        result = results[0]
        for other in results[1:]:
            result = pick(result, other)
        warp.slots[out] = result if np.ndim(result) else int(result)

    return step
