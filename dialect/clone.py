"""Cloning operations with some of their values replaced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlir_gemm.dialect.walk import operations


def clone(operation: Any, values: dict[Any, Any]) -> Any:
    """A clone at the insertion point, with operands replaced by `values`, to which its results are added."""
    old = operation.operation
    new = old.clone()
    for inner in [new, *operations(new)]:
        for position, operand in enumerate(inner.operation.operands):
            if operand in values:
                inner.operation.operands[position] = values[operand]
    values.update(zip(old.results, new.results, strict=True))
    return new


def clone_slice(operands: Iterable[Any], block: Any, values: dict[Any, Any]) -> list[Any]:
    """Clones what `operands` are computed from in `block`, with `values` replaced; the operands of the clones."""
    result: list[Any] = []
    for value in operands:
        owner = value.owner
        if value not in values and not hasattr(owner, "operations") and owner.operation.block == block:
            clone_slice(owner.operation.operands, block, values)
            clone(owner, values)
        result.append(values.get(value, value))
    return result


def attributes_of(operation: Any) -> dict[str, Any]:
    """The attributes of an operation by name, to make another operation with."""
    attributes = operation.operation.attributes
    return {attributes[i].name: attributes[i].attr for i in range(len(attributes))}
