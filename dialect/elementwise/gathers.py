"""Reads at computed places by several neighbouring points at once: which values of a body are one for all of them.

A point of an elementwise kernel may read memory at places that it computes. Where these places are neighbours too, a
thread that takes several points reads them as one vector: an image's channels at some pixel, a row of an embedding.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.elementwise.pointwise import Pointwise, body_of, known_steps, mentions
from mlir_gemm.dialect.positions import is_position


class Spread(Enum):
    """How a value differs from one of a thread's points to the next."""

    SAME = "one for all points"
    ROW = "one more at each point: the first is at hand"
    VECTOR = "another at each point"


Spreads = dict[Any, Spread]

LOAD = "memref.load"


def has_loads(points: Pointwise) -> bool:
    """Whether a point reads at places that it computes."""
    return any(operation.operation.name == LOAD for operation in body_of(points))


WIDEST = 128
"""Bits of a load."""


def spreads(points: Pointwise, loop: int, width: int) -> Spreads | None:
    """How each value of a body differs among `width` points along a loop, if each load is one vector or one number for
    all; None where some are neither. Operands of the operation are not checked."""
    block = points.operation.operation.regions[0].blocks[0]
    found: Spreads = {}
    for argument, operand, map_ in zip(block.arguments, [*points.inputs, *points.outputs], points.maps, strict=True):
        if not isinstance(operand.type, ir.MemRefType) or not mentions(map_, loop):
            found[argument] = Spread.SAME
        elif is_position(operand):
            if not _counts(operand, map_, loop):
                return None
            found[argument] = Spread.ROW
        else:
            found[argument] = Spread.VECTOR
    for operation in body_of(points):
        op = operation.operation
        spread = _of_operation(op, [found.get(operand, Spread.SAME) for operand in op.operands], loop, width)
        if spread is None:
            return None
        found.update((result, spread) for result in op.results)
    return found


def _counts(position: Any, map_: Any, loop: int) -> bool:
    """Whether positions grow by one from point to point, from a multiple of the thread's points on."""
    strides, offset = position.type.get_strides_and_offset()
    along = [axis for axis, each in enumerate(map_.results) if getattr(each, "position", None) == loop]
    others = [stride for axis, stride in enumerate(strides) if axis not in along and position.type.shape[axis] != 1]
    return len(along) == 1 and strides[along[0]] == 1 and not others and not offset


def _of_operation(op: Any, operands: list[Spread], loop: int, width: int) -> Spread | None:
    if op.name == LOAD:
        return _of_load(op, operands, width)
    if op.name == "linalg.index":
        return Spread.ROW if ir.IntegerAttr(op.attributes["dim"]).value == loop else Spread.SAME
    if op.name == "arith.index_cast":
        return operands[0]
    if not op.name.startswith(("arith.", "math.", "linalg.yield")) or Spread.ROW in operands:
        return None
    return Spread.VECTOR if Spread.VECTOR in operands else Spread.SAME


def _of_load(op: Any, operands: list[Spread], width: int) -> Spread | None:
    """A vector where only the last index counts through the points, in rows of whole vectors."""
    _, *indices = operands
    if all(each is Spread.SAME for each in indices):
        return Spread.SAME
    type_ = op.operands[0].type
    if indices[-1] is not Spread.ROW or any(each is not Spread.SAME for each in indices[:-1]):
        return None
    strides, offset = type_.get_strides_and_offset()
    others = [step for step, size in zip(known_steps(type_)[:-1], type_.shape[:-1], strict=True) if size != 1]
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    item = getattr(type_.element_type, "width", 0)
    whole = dynamic not in [*others, offset] and all(each % width == 0 for each in [*others, offset])
    return Spread.VECTOR if strides[-1] == 1 and whole and 8 <= item <= WIDEST // width else None
