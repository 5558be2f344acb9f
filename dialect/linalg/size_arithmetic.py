"""Comparing and computing with sizes that are known at run time only, and what a function says of sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.dialect.walk import body, operations

_LESS, _AT_MOST, _GREATER, _AT_LEAST = 2, 3, 4, 5
"""Predicates of arith.cmpi."""
_COMPARISONS: dict[int, Callable[[int, int], bool]] = {
    0: operator.eq, 1: operator.ne, 2: operator.lt, 3: operator.le, 4: operator.gt, 5: operator.ge,
    6: operator.lt, 7: operator.le, 8: operator.gt, 9: operator.ge,
}  # fmt: skip
_REFLEXIVE = (0, 3, 5, 7, 9)


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


def check_windows(op: Any, number: int, expression: Any, size: Size) -> None:
    """Refuses an operand that is read by windows, along a sum of loops, in a dimension of an open size."""
    if not size.is_number and not isinstance(expression, ir.AffineConstantExpr):
        raise input_error(
            op,
            f"'{op.name}' reads operand {number} along {expression}, by windows, where its size is known at run time "
            "only; expected a constant size there. How many images there are may be open",
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


def compared(predicate: int, left: Size, right: Size) -> bool | None:
    """The result of comparing two sizes, which are not negative, where it is the same for all values; else None."""
    if left == right:
        return predicate in _REFLEXIVE
    if left.is_number and right.is_number:
        return _COMPARISONS[predicate](left.number, right.number)
    if right == Size(0) and predicate in (_LESS, _AT_LEAST):
        return predicate == _AT_LEAST
    if left == Size(0) and predicate in (_GREATER, _AT_MOST):
        return predicate == _AT_MOST
    return None


def evaluated(expression: Any, dims: Sequence[Size], symbols_: Sequence[Size]) -> Size | None:
    """An affine expression of sizes, where it is a product."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Size(expression.value) if expression.value >= 0 else None
    if isinstance(expression, ir.AffineDimExpr):
        position: int = expression.position
        return dims[position]
    if isinstance(expression, ir.AffineSymbolExpr):
        place: int = expression.position
        return symbols_[place]
    left, right = (evaluated(side, dims, symbols_) for side in (expression.lhs, expression.rhs))
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineMulExpr):
        return left.times(right)
    if isinstance(expression, ir.AffineFloorDivExpr | ir.AffineCeilDivExpr):
        return left.over(right)
    if isinstance(expression, ir.AffineAddExpr) and left.is_number and right.is_number:
        return Size(left.number + right.number)
    return None


def without_shared(left: Size, right: Size) -> tuple[Size, Size]:
    """Two sizes that are to be equal, without the factors of both: n * s0 == m * s0 says n == m for any size that is
    not empty."""
    for symbol in [symbol for symbol in left.symbols if symbol in right.symbols]:
        left, right = (size.over(Size(1, (symbol,))) or size for size in (left, right))
    factor = Size(gcd(left.number, right.number) or 1)
    left, right = (size.over(factor) or size for size in (left, right))
    return left, right


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
