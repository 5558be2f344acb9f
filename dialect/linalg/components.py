"""Tensors whose last dimensions are components of elements: slices of one component, sums of them, and operations that
compute such tensors element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import generics, structured
from mlir_gemm.spec.bilinear import Number


def component(tensor: Any, places: dict[int, int]) -> Any:
    """The part of a tensor at some numbers along some of its dimensions, without these."""
    type_ = tensor.type
    shape = list(type_.shape)
    rest = [size for axis, size in enumerate(shape) if axis not in places]
    return ir.Operation.create(
        "tensor.extract_slice", results=[ir.RankedTensorType.get(rest, type_.element_type)], operands=[tensor],
        attributes={
            "static_offsets": ir.DenseI64ArrayAttr.get([places.get(axis, 0) for axis in range(type_.rank)]),
            "static_sizes": ir.DenseI64ArrayAttr.get([1 if axis in places else size
                                                      for axis, size in enumerate(shape)]),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * type_.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        },
    ).results[0]  # fmt: skip


def part(tensor: Any, axis: int, start: int, size: int) -> Any:
    """A part of a tensor along one of its dimensions."""
    type_ = tensor.type
    shape = list(type_.shape)
    if size == shape[axis]:
        return tensor
    sizes = [size if each == axis else length for each, length in enumerate(shape)]
    return ir.Operation.create(
        "tensor.extract_slice", results=[ir.RankedTensorType.get(sizes, type_.element_type)], operands=[tensor],
        attributes={
            "static_offsets": ir.DenseI64ArrayAttr.get([start if each == axis else 0 for each in range(len(shape))]),
            "static_sizes": ir.DenseI64ArrayAttr.get(sizes),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        },
    ).results[0]  # fmt: skip


def is_scattered(value: Any) -> bool:
    """Whether a tensor is every nth element of another one, of which a product could not copy rows."""
    owner = generics.owner_of(value)
    if owner is None or owner.name != "tensor.extract_slice":
        return False
    last = list(owner.operands[0].type.shape)[-1:], list(ir.DenseI64ArrayAttr(owner.attributes["static_sizes"]))[-1:]
    return len(owner.operands[0].type.shape) > 1 and last[0] > [1] == last[1]


def at(loop: int, values: Sequence[Any]) -> Any:
    """That of some values which has the number of the step that a loop is at."""
    arith = dialect("arith")
    if len(values) == 1 or all(each == values[0] for each in values):
        return values[0]
    index = dialect("linalg").IndexOp(loop).result
    found = values[-1]
    for number in reversed(range(len(values) - 1)):
        constant = arith.ConstantOp(ir.IndexType.get(), number).result
        here = arith.CmpIOp(arith.CmpIPredicate.eq, index, constant).result
        found = arith.SelectOp(here, values[number], found).result
    return found


def weighted(terms: Sequence[tuple[Any, Number]], type_: Any) -> Any:
    """The sum of some values times numbers; zero where there are none."""
    arith, real = dialect("arith"), _is_float(type_)
    total: Any = None
    for value, number in sorted(terms, key=lambda term: term[1] <= 0):  # a sum does not begin with a negation
        if abs(number) == 1:
            term = value
        else:
            by = arith.ConstantOp(type_, float(abs(number)) if real else int(abs(number))).result
            term = (arith.MulFOp if real else arith.MulIOp)(value, by).result
        if total is None:
            total = term if number > 0 else _negated(term)
        else:
            make = (arith.AddFOp if real else arith.AddIOp) if number > 0 else (arith.SubFOp if real else arith.SubIOp)
            total = make(total, term).result
    return total if total is not None else arith.ConstantOp(type_, 0.0 if real else 0).result


def _negated(value: Any) -> Any:
    arith = dialect("arith")
    if _is_float(value.type):
        return arith.NegFOp(value).result
    return arith.SubIOp(arith.ConstantOp(value.type, 0).result, value).result


def _is_float(type_: Any) -> bool:
    return isinstance(type_, ir.FloatType)


def multiplied(left: Any, right: Any, total: Any) -> Any:
    """`total` and a product, in the body of an operation; factors are extended to its type."""
    arith, type_ = dialect("arith"), total.type
    real = _is_float(type_)
    extend = arith.ExtFOp if real else arith.ExtSIOp
    x, y = (each if each.type == type_ else extend(type_, each).result for each in (left, right))
    product = (arith.MulFOp if real else arith.MulIOp)(x, y).result
    return (arith.AddFOp if real else arith.AddIOp)(total, product).result


def computed(
    inputs: Sequence[tuple[Any, Sequence[int]]], shape: Sequence[int], element: Any, build: Callable[[list[Any]], Any]
) -> Any:
    """A new tensor, element by element: each input with the loop along each of its dimensions, the sizes of the loops,
    and what `build` makes of the inputs' elements."""
    rank = len(shape)
    output = dialect("tensor").EmptyOp(list(shape), element).result
    maps = [loops_map(axes, rank) for _, axes in inputs]
    made, block = structured.make(
        [value for value, _ in inputs], [output], [*maps, ir.AffineMap.get_identity(rank)], [True] * rank
    )
    with ir.InsertionPoint(block):
        structured.yield_([build(list(block.arguments)[:-1])])
    return made.results[0]


def loops_map(axes: Sequence[int], loops: int) -> Any:
    """The indexing map of an operand, from the loop along each of its dimensions."""
    return ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(loop) for loop in axes])


def product(
    left: tuple[Any, Sequence[int]], right: tuple[Any, Sequence[int]], start: tuple[Any, Sequence[int]],
    parallel: Sequence[bool],
) -> Any:  # fmt: skip
    """A product of two tensors, added to a third: each with the loop along each of its dimensions."""
    maps = [loops_map(axes, len(parallel)) for _, axes in (left, right, start)]
    made, block = structured.make([left[0], right[0]], [start[0]], maps, parallel)
    with ir.InsertionPoint(block):
        structured.yield_([multiplied(*block.arguments)])
    return made.results[0]
