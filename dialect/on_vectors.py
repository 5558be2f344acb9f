"""Operations on numbers, built again on vectors of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of


def build_on(operation: Any, known: dict[Any, Any]) -> None:
    """Builds an elementwise operation on what `known` says its operands are, numbers or vectors of one shape, and adds
    its results. Constants become those of the same shape where they are used."""
    op = operation.operation
    if op.name == "arith.constant":
        known[op.results[0]] = op.attributes["value"]
        return
    operands = [known.get(value, value) for value in op.operands]
    shape = next((list(v.type.shape) for v in operands if not isinstance(v, ir.Attribute)
                  and isinstance(v.type, ir.VectorType)), None)  # fmt: skip
    given = [_shaped(value, shape) for value in operands]
    types = [result.type if shape is None else ir.VectorType.get(shape, result.type) for result in op.results]
    made = ir.Operation.create(op.name, results=types, operands=given, attributes=attributes_of(op))
    known.update(zip(op.results, made.results, strict=True))


def _shaped(value: Any, shape: list[int] | None) -> Any:
    """An operand as a number, or as a vector of a shape, to which a number is broadcast."""
    if isinstance(value, ir.Attribute):
        type_ = value.type
        if shape is None:
            return ir.Operation.create("arith.constant", results=[type_], attributes={"value": value}).result
        return constants.splat(ir.VectorType.get(shape, type_), value)
    if shape is None or isinstance(value.type, ir.VectorType):
        return value
    return dialect("vector").BroadcastOp(ir.VectorType.get(shape, value.type), value).result


def one_type(types: Sequence[Any]) -> int:
    """How many of some types, from the first on, are the same."""
    return next((number for number, type_ in enumerate(types) if type_ != types[0]), len(types))
