"""Affine maps and accesses: evaluated on integers, or on arrays of the points of a whole nest at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.tile_memory import gather, scatter
from mlir_gemm.simulator.tile_program import Function, Maker

Evaluate = Callable[[Sequence[Any]], Any]


def evaluator(expression: Any, dimensions: int) -> Evaluate:
    """A function from a map's operands (dimensions, then symbols) to the value of one of its expressions."""
    if isinstance(expression, ir.AffineConstantExpr):
        value = expression.value
        return lambda _: value
    if isinstance(expression, ir.AffineDimExpr):
        place = expression.position
        return lambda operands: operands[place]
    if isinstance(expression, ir.AffineSymbolExpr):
        symbol = dimensions + expression.position
        return lambda operands: operands[symbol]
    left, right = evaluator(expression.lhs, dimensions), evaluator(expression.rhs, dimensions)
    if isinstance(expression, ir.AffineAddExpr):
        return lambda operands: left(operands) + right(operands)
    if isinstance(expression, ir.AffineMulExpr):
        return lambda operands: left(operands) * right(operands)
    if isinstance(expression, ir.AffineModExpr):
        return lambda operands: left(operands) % right(operands)
    if isinstance(expression, ir.AffineFloorDivExpr):
        return lambda operands: left(operands) // right(operands)
    if isinstance(expression, ir.AffineCeilDivExpr):
        return lambda operands: -(-left(operands) // right(operands))
    raise SimulationError(f"an affine expression that is not known: {expression}")


def map_evaluators(map_: Any) -> list[Evaluate]:
    """One function for each result of an affine map."""
    return [evaluator(expression, map_.n_dims) for expression in map_.results]


def _apply(operation: Any) -> Function:
    (evaluate,) = map_evaluators(operation.operation.attributes["map"].value)
    return lambda *operands: evaluate(operands)


def _extreme(choose: Any) -> Maker:
    def make(operation: Any) -> Function:
        evaluators = map_evaluators(operation.operation.attributes["map"].value)
        return lambda *operands: choose(evaluate(operands) for evaluate in evaluators)

    return make


def _load(operation: Any) -> Function:
    evaluators = map_evaluators(operation.operation.attributes["map"].value)

    def load(memory: Any, *operands: Any) -> Any:
        return gather(memory, [evaluate(operands) for evaluate in evaluators])

    return load


def _store(operation: Any) -> Function:
    evaluators = map_evaluators(operation.operation.attributes["map"].value)

    def store(value: Any, memory: Any, *operands: Any) -> None:
        scatter(memory, [evaluate(operands) for evaluate in evaluators], value)

    return store


FUNCTIONS: dict[str, Maker] = {
    "affine.apply": _apply, "affine.min": _extreme(min), "affine.max": _extreme(max),
    "affine.load": _load, "affine.store": _store,
}  # fmt: skip
