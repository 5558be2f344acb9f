"""The body of a point nest as operations on whole tiles, held in vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.point_nests.places import access_of


def of_points(operations: Sequence[Any], points: Sequence[Any], result: Any | None = None) -> Any | None:
    """Builds, at the insertion point, what `operations` of a point nest do to all points of the tile along `points`.

    Loads become tile.load (broadcast along the points that do not index them), arith and math operations the same on
    vectors, stores tile.store. Returns the vector that stands for `result`. Raises PassError for anything else.
    """
    values: dict[Any, Any] = {}
    shape = [affine.extent_of(point) for point in points]
    for operation in operations:
        with operation.location:
            _on_tile(operation, points, shape, values)
    return values[result] if result is not None else None


def _on_tile(operation: Any, points: Sequence[Any], shape: list[int], values: dict[Any, Any]) -> None:
    op = operation.operation
    if op.name == "affine.load":
        access = access_of(operation, points)
        type_ = ir.VectorType.get(shape, op.results[0].type)
        values[op.results[0]] = tile.load(access.memory, access.along(points), type_)
    elif op.name == "affine.store":
        value = op.operands[0]
        access = access_of(operation, points)
        vector = values[value] if value in values else spread(value, shape)
        tile.store(vector, access.memory, access.along(points))
    elif op.name.startswith(("arith.", "math.")):
        _arithmetic(op, shape, values)
    else:
        raise pass_error(operation, f"'{op.name}' inside an elementwise operation is not supported")


def _arithmetic(op: Any, shape: list[int], values: dict[Any, Any]) -> None:
    types = [ir.VectorType.get(shape, result.type) for result in op.results]
    attributes = attributes_of(op)
    if op.name == "arith.constant":
        values[op.results[0]] = constants.splat(types[0], attributes["value"])
        return
    operands = [values[value] if value in values else spread(value, shape) for value in op.operands]
    new = ir.Operation.create(op.name, results=types, operands=operands, attributes=attributes)
    values.update(zip(op.results, new.results, strict=True))


def spread(value: Any, shape: list[int]) -> Any:
    """A scalar from outside the nest as a vector: a constant where it is one, a broadcast otherwise."""
    if affine.is_point(value):
        raise pass_error(value.owner.owner, "a point loop whose induction variable is computed with is not supported")
    type_ = ir.VectorType.get(shape, value.type)
    owner = value.owner
    if getattr(owner, "name", "") == "arith.constant":
        return constants.splat(type_, owner.attributes["value"])
    return dialect("vector").BroadcastOp(type_, value).result
