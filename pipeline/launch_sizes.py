"""Sizes, strides and index values of a host function as a launch has them: numbers, or expressions of sizes."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, sizes
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.sizes import argument_sizes, cast_values, offset_of, sizes_of, strides_of
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.pipeline.program import is_argument
from mlir_gemm.spec.sizes import parsed, product
from mlir_gemm.spec.sizes import value as _computed

TENSOR_MAP = "tile.tensor_map"
_ARITHMETIC = {
    "arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul", "arith.divui": "floordiv", "arith.remui": "mod",
    "arith.minui": "min", "arith.maxui": "max",
}  # fmt: skip
"""What index arithmetic on the host is in a launch."""


def attributes_of(operation: Any, value: Any) -> Any:
    """The attributes of a function's argument, or of the operation that makes a buffer."""
    position: int = value.arg_number if is_argument(value) else -1
    attributes: Any = operation.attributes if position < 0 else argument_attributes(operation)[position]
    return attributes


def size_of(size: Size) -> Any:
    """A size as a launch has it."""
    return product([*map(parsed, size.symbols), size.number])


def expression(launch: Any, value: Any) -> Any:
    """An index value of the host function as a size: a number, or an expression of its arguments' sizes."""
    number = constants.integer_of(value)
    if number is not None:
        return number
    op = None if is_argument(value) else value.owner.operation
    if op is not None and op.name == "memref.dim" and is_argument(op.operands[0]):
        argument, axis = op.operands[0], constants.integer_of(op.operands[1])
        own = {(value, at): size for value, at, size in argument_sizes(argument.owner.owner)}
        return size_of(own[argument, axis or 0])
    if op is not None and op.name == sizes.NAME:
        return size_of(sizes.told(op))
    if op is None or op.name not in _ARITHMETIC:
        raise input_error(launch, "a launch whose sizes are neither constants nor computed from the arguments' sizes")
    left, right = (expression(launch, operand) for operand in op.operands)
    name = _ARITHMETIC[op.name]
    if isinstance(left, int) and isinstance(right, int):
        return _computed((name, left, right), {})
    if name == "mul":
        return product([left, right])
    if name == "floordiv" and isinstance(left, tuple) and left[0] == "add" and left[2] == right - 1:
        return "ceildiv", left[1], right
    return name, left, right


def extents(launch: Any, memory: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    """Sizes, strides and offset of a memref, in elements: numbers, or expressions of the arguments' sizes."""
    type_ = memory.type
    owner = None if is_argument(memory) else memory.owner.operation
    if owner is not None and owner.name == "memref.cast":  # what it came from tells at least as much
        return extents(launch, owner.operands[0])
    strides, offset = type_.get_strides_and_offset()
    open_offset = offset == ir.ShapedType.get_dynamic_stride_or_offset()
    if open_offset and owner is not None:
        raise input_error(launch, f"{TENSOR_MAP} of {type_}: its offset must be static, or an argument's")
    if type_.has_static_shape and ir.ShapedType.get_dynamic_stride_or_offset() not in strides:
        return tuple(type_.shape), tuple(strides), offset
    if owner is None:
        function: Any = memory.owner.owner
        attributes = attributes_of(function, memory)
        return (
            tuple(map(size_of, sizes_of(function, type_, attributes))),
            tuple(map(size_of, strides_of(function, type_, attributes))),
            size_of(offset_of(function, type_, attributes)) if open_offset else offset,
        )
    if owner.name != "memref.reinterpret_cast":
        raise input_error(launch, f"{TENSOR_MAP} of what '{owner.name}' gives; expected an argument or a view of one")
    given_sizes, given_strides = (
        tuple(each if isinstance(each, int) else expression(launch, each) for each in cast_values(owner, kind))
        for kind in ("sizes", "strides")
    )
    return given_sizes, given_strides, offset
