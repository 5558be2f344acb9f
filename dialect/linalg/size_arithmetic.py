"""Computing with sizes that are known at run time only, and what a function says of sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.size_sums import SizeSums
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.dialect.walk import body, in_block, operations


def is_shaped(value: Any) -> bool:
    """Whether a value is a tensor or memref."""
    return isinstance(value.type, (ir.RankedTensorType, ir.MemRefType))


def check_layout(function: Any, argument: Any) -> None:
    """Refuses memory of sizes known at run time only that is not dense."""
    type_ = argument.type
    if not isinstance(type_, ir.MemRefType) or type_.has_static_shape:
        return
    plain = ir.MemRefType.get(list(type_.shape), type_.element_type, memory_space=type_.memory_space)
    if type_ != plain:
        raise input_error(
            function, f"argument {argument.arg_number} has dynamic sizes and a layout ({type_}); expected dense memory"
        )


def given_sizes(type_: Any) -> list[Size | None]:
    """The constant sizes of a type, None for each dynamic one."""
    return [None if type_.is_dynamic_dim(axis) else Size(size) for axis, size in enumerate(type_.shape)]


def groups_of(reshape: Any) -> list[list[int]]:
    """The dimensions that a collapse makes one of, or an expansion divides."""
    groups = ir.ArrayAttr(reshape.attributes["reassociation"])
    return [[ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in groups]


def flattens(op: Any) -> bool:
    """Whether an operation makes one dimension of two open ones."""
    if op.name != "tensor.collapse_shape":
        return False
    type_ = op.operands[0].type
    return any(sum(type_.is_dynamic_dim(axis) for axis in group) > 1 for group in groups_of(op))


def evaluated(sums: SizeSums, expression: Any, dims: Sequence[Size], symbols_: Sequence[Size]) -> Size | None:
    """An affine expression of sizes, where it is known."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Size(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        position: int = expression.position
        return dims[position]
    if isinstance(expression, ir.AffineSymbolExpr):
        place: int = expression.position
        return symbols_[place]
    left, right = (evaluated(sums, side, dims, symbols_) for side in (expression.lhs, expression.rhs))
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineMulExpr):
        return sums.product(left, right)
    if isinstance(expression, ir.AffineFloorDivExpr | ir.AffineCeilDivExpr):
        return sums.quotient(left, right, up=isinstance(expression, ir.AffineCeilDivExpr))
    return sums.sum(left, right) if isinstance(expression, ir.AffineAddExpr) else None


def product(sizes: Sequence[Size]) -> Size:
    found = Size()
    for size in sizes:
        found = found.times(size)
    return found


def numbers_in(function: Any) -> list[int]:
    """Every number in the types and attributes of a function, of which no prime that stands for a symbol may be a
    factor."""
    found: set[int] = set()
    values = [*body(function).arguments, *(value for op in operations(function) for value in op.operation.results)]
    for value in values:
        if is_shaped(value):
            shape = [size for size in value.type.shape if size > 0]
            found |= {*shape, prod(shape)}
            if isinstance(value.type, ir.MemRefType):
                strides, offset = value.type.get_strides_and_offset()
                found |= {abs(number) for number in (*strides, offset)}
        elif isinstance(value.type, (ir.IndexType, ir.IntegerType)):
            found.add(abs(constants.integer_of(value) or 0))
    for op in operations(function):
        for name in ("static_offsets", "static_sizes", "static_strides", "static_output_shape"):
            if name in op.operation.attributes:
                found |= {abs(number) for number in ir.DenseI64ArrayAttr(op.operation.attributes[name])}
    return sorted(found - {0})


def broadcasts(generic: Any, number: Callable[[Any], Size | None]) -> list[tuple[Size, int, Any]]:
    """Where a body broadcasts (index 0 if a size is 1, else a loop's position): the size, which must then be the
    loop's, the loop, and the arith.select."""
    found: list[tuple[Size, int, Any]] = []
    for inner in in_block(body(generic)):
        op = inner.operation
        if op.name != "arith.select" or constants.integer_of(op.operands[1]) != 0:
            continue
        test, _, position = (value.owner for value in op.operands)
        if getattr(test, "name", "") != "arith.cmpi" or getattr(position, "name", "") != "linalg.index":
            continue
        equal = ir.IntegerAttr(test.operation.attributes["predicate"]).value == 0
        size = number(test.operation.operands[0])
        if equal and size is not None and constants.integer_of(test.operation.operands[1]) == 1:
            found.append((size, ir.IntegerAttr(position.operation.attributes["dim"]).value, op))
    return found
