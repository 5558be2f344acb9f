"""Positions: tensors and memory in which each element is its own linear index (`tile.position`), and what reads them.

A linalg.index is an operand like any other in this form: whatever moves, reshapes, fuses or reorders operands needs to
know nothing of it, as the place of an element follows from strides alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.position_ops import Position

NAME = "tile.position"
SIZE = "size"


def is_position(value: Any) -> bool:
    """Whether a tensor or memref holds positions, which are not in memory."""
    return getattr(value.owner, "name", "") == NAME


def make(type_: Any, sizes: Sequence[Any] = (), size: str = "") -> Any:
    """Positions of a tensor or memref type, at the insertion point; with `size` that one number."""
    made = Position(list(sizes), type_).operation
    if size:
        made.attributes[SIZE] = ir.StringAttr.get(size)
    return made.results[0]


def again(value: Any, type_: Any) -> Any:
    """The positions of a value as another type, at the insertion point."""
    return make(type_, (), size_in(value))


def size_in(value: Any) -> str:
    """The size that positions are; empty for others."""
    attributes = value.owner.attributes
    return ir.StringAttr(attributes[SIZE]).value if SIZE in attributes else ""


def number() -> Any:
    """The type of a position."""
    return ir.IntegerType.get_signless(64)


def at(memory: Any, indices: Sequence[Any]) -> Any:
    """The element of positions at some indices, as an i64 at the insertion point."""
    if size_in(memory):
        return dialect("arith").IndexCastOp(number(), next(iter(memory.owner.operands))).result
    strides, offset = memory.type.get_strides_and_offset()
    if ir.ShapedType.get_dynamic_stride_or_offset() in (*strides, offset):
        raise pass_error(memory.owner, f"positions of {memory.type}, whose strides are known at run time only")
    found: Any = None
    for index, stride in zip(indices, strides, strict=True):
        if constants.integer_of(index) == 0 or not stride:
            continue
        step = index if stride == 1 else dialect("arith").MulIOp(index, constants.index(stride)).result
        found = step if found is None else dialect("arith").AddIOp(found, step).result
    if found is None:
        return dialect("arith").ConstantOp(number(), offset).result
    found = dialect("arith").AddIOp(found, constants.index(offset)).result if offset else found
    return dialect("arith").IndexCastOp(number(), found).result


def in_a_row(memory: Any, indices: Sequence[Any], axis: int, count: int) -> Any:
    """The elements at `count` neighbouring indices along a dimension, as a vector."""
    first = at(memory, indices)
    type_ = ir.VectorType.get([count], number())
    stride = memory.type.get_strides_and_offset()[0][axis]
    steps = [ir.IntegerAttr.get(number(), stride * place) for place in range(count)]
    distances = dialect("arith").ConstantOp(type_, ir.DenseElementsAttr.get(steps, type_)).result
    spread = dialect("vector").BroadcastOp(type_, first).result
    return dialect("arith").AddIOp(spread, distances).result
