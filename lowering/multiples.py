"""What an index, or the address of a memref, is known to be a multiple of."""

from __future__ import annotations

from math import gcd
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.sizes import cast_values

_BUFFERS = ("memref.alloc", "memref.get_global")
"""Operations whose memory starts at an aligned address: a multiple of 16 bytes, what the widest access asks for."""
_PLANES = "tile.planes"
_SAME_START = ("memref.cast", "memref.collapse_shape", "memref.expand_shape")
"""Views that start where their source does."""


def multiple_of(value: Any, depth: int = 16) -> int:
    """A number that divides an index value always; 0 for the constant 0, 1 when nothing is known."""
    owner = value.owner
    if not depth:
        return 1
    if hasattr(owner, "operations"):
        return _of_argument(value, owner, depth)
    number = constants.integer_of(value) if owner.name == "arith.constant" else None
    if number is not None:
        return abs(number)
    if owner.name not in ("arith.addi", "arith.subi", "arith.muli", "arith.select"):
        return 1
    left, right = (multiple_of(operand, depth - 1) for operand in list(owner.operands)[-2:])
    return left * right if owner.name == "arith.muli" else gcd(left, right)


def _of_argument(value: Any, block: Any, depth: int) -> int:
    """For the induction variable of a loop, what its start and its step have in common."""
    loop = block.owner.operation
    if loop.name != "scf.for" or value.arg_number != 0:
        return 1
    lower, _, step = list(loop.operands)[:3]
    return gcd(multiple_of(lower, depth - 1), multiple_of(step, depth - 1))


def base_multiple(memory: Any) -> int:
    """A number of elements that divides the distance of a memref's first element from an aligned address; 0 for none.

    Arguments and buffers start where their types say, from an aligned address; views are seen through.
    """
    owner = memory.owner
    name = "" if hasattr(owner, "operations") else owner.name
    if name == "memref.subview":
        return _of_view(owner.operation)
    if name == _PLANES:
        return base_multiple(owner.operation.operands[0]) * len(owner.operation.operands)
    if name in _SAME_START:
        return base_multiple(owner.operation.operands[0])
    if name == "memref.reinterpret_cast" and not hasattr(owner.operation.operands[0].owner, "operations"):
        return 1
    if name and name not in (*_BUFFERS, "memref.reinterpret_cast"):
        return 1
    _, offset = memory.type.get_strides_and_offset()
    if offset == ir.ShapedType.get_dynamic_stride_or_offset():
        return multiple_of(cast_values(owner.operation, "offsets")[0]) if name == "memref.reinterpret_cast" else 1
    return offset


def _of_view(view: Any) -> int:
    source, *offsets = view.operands
    strides, _ = source.type.get_strides_and_offset()
    marker, moving = ir.ShapedType.get_dynamic_size(), iter(offsets)
    found = base_multiple(source)
    for fixed, stride in zip(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]), strides, strict=True):
        along = multiple_of(next(moving)) if fixed == marker else fixed
        known = stride != ir.ShapedType.get_dynamic_stride_or_offset()
        found = gcd(found, along * stride if known else (0 if along == 0 else 1))
    return found
