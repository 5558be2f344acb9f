"""Images that a product reads by windows where they lie: a convolution without a copy of its windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import computed_reads as reads
from mlir_gemm.dialect.linalg.computed_reads import At
from mlir_gemm.dialect.linalg.generics import empty
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.outlining.tensors import place_of_tensor
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.errors import Error

ALIGNED = 16
"""Bytes that each pixel's channels must be a multiple of: else elements are read one by one, many times each."""


def see_windows(op: Any, number: int, maps: list[Any], sizes: list[int]) -> bool:
    """Lets a product take an operand as a view by windows (`tile.windows`), a dimension for each loop, and changes
    `maps`; says whether it did.

    It does where channels are the image's last dimension, beneath transposes, and the product sums over them. What is
    padded with zeros is read where it lies too; what is padded otherwise, or lies with gaps, is copied once.
    """
    moves = [_linear(each) for each in maps[number].results]
    source = op.operands[number]
    if len(op.operands) != 3 or any(each is None for each in moves) or not source.type.has_static_shape:
        return False
    lies = _beneath(source)
    channels = moves[lies.order[-1]]
    item = getattr(source.type.element_type, "width", 8) // 8
    reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
    if channels is None or channels[1] or list(channels[0].values()) != [1]:
        return False
    (along,) = channels[0]
    if not reductions[along] or sizes[along] * item % ALIGNED or sizes[along] != source.type.shape[lies.order[-1]]:
        return False
    loops = sorted({loop for each in moves if each for loop in each[0]})
    plain = ir.AffineMap.get(len(sizes), 0, [ir.AffineDimExpr.get(loop) for loop in loops])
    if not _is_product(op, number, [*maps[:number], plain, *maps[number + 1 :]], loops, sizes):
        return False
    with ir.InsertionPoint(op), op.location:
        image, order, seen = _image(source, lies)
        steps = [prod(seen.padded[axis + 1 :]) for axis in range(len(order))]
        strides, offset = dict.fromkeys(loops, 0), 0
        for step, place in zip(steps, order, strict=True):
            factors, distance = moves[place] or ({}, 0)
            offset += step * distance
            for loop, factor in factors.items():
                strides[loop] += step * factor
        type_ = ir.RankedTensorType.get([sizes[loop] for loop in loops], source.type.element_type)
        op.operands[number] = windows.make(
            image, type_, seen, [((sizes[loop], strides[loop]),) for loop in loops], offset
        )
        maps[number] = plain
        _order_weights(op, 1 - number, maps, [loop for loop in loops if reductions[loop] and loop != along], along)
    return True


def _linear(expression: Any) -> tuple[dict[int, int], int] | None:
    """An index as loops with their factors, and a distance; None where it is no such sum, or one that falls."""
    if isinstance(expression, ir.AffineConstantExpr):
        return {}, expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position: 1}, 0
    if not isinstance(expression, ir.AffineAddExpr | ir.AffineMulExpr):
        return None
    left, right = _linear(expression.lhs), _linear(expression.rhs)
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        loops = {*left[0], *right[0]}
        return {loop: left[0].get(loop, 0) + right[0].get(loop, 0) for loop in loops}, left[1] + right[1]
    factor = right[1] if not right[0] else left[1]
    one = left if not right[0] else right
    return ({loop: each * factor for loop, each in one[0].items()}, one[1] * factor) if factor >= 0 else None


@dataclass
class _Beneath:
    """What a tensor is a transpose of, perhaps with zeros around it."""

    value: Any
    order: list[int]
    """For each dimension of that the tensor's own."""
    low: list[int]
    high: list[int]
    copied: bool = False
    """Whether it must be copied: it is padded with something else, or lies with gaps."""


def _beneath(source: Any) -> _Beneath:
    rank = len(source.type.shape)
    found = _Beneath(source, list(range(rank)), [0] * rank, [0] * rank)
    while True:
        op = found.value.owner
        name = getattr(op, "name", "")
        if name == "tensor.pad":
            low, high = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{end}"])) for end in ("low", "high"))
            if len(op.operands) > 1 or not _is_zero(op) or not op.operands[0].type.has_static_shape:
                found.copied = True
            for own, given in ((found.low, low), (found.high, high)):
                own[:] = map(sum, zip(own, given, strict=True))
        elif name == "linalg.generic" and (turned := reads.permutation(op.operation)) is not None:
            found.order = [found.order[place] for place in turned]
            found.low, found.high = ([own[place] for place in turned] for own in (found.low, found.high))
        else:
            found.copied = found.copied or not _is_dense(found.value)
            return found
        found.value = op.operands[0]


def _is_zero(pad: Any) -> bool:
    """Whether a tensor.pad puts zeros around."""
    value = in_block(body(pad))[-1].operation.operands[0]
    if getattr(value.owner, "name", "") != "arith.constant":
        return False
    attribute = value.owner.attributes["value"]
    number = attribute.value if isinstance(attribute, ir.FloatAttr | ir.IntegerAttr) else None
    return number == 0 and math.copysign(1, number) > 0


def _is_dense(value: Any) -> bool:
    try:
        return place_of_tensor(value)[1].is_dense
    except Error:
        return False


def _image(source: Any, lies: _Beneath) -> tuple[Any, list[int], windows.Image]:
    """The tensor that windows are taken of, its dimensions in this order of the source's, and what it is."""
    if not lies.copied:
        return lies.value, lies.order, windows.Image(tuple(lies.value.type.shape), tuple(lies.low), tuple(lies.high))
    shape = tuple(source.type.shape[place] for place in lies.order)
    type_ = ir.RankedTensorType.get(list(shape), source.type.element_type)

    def element(at: list[Any]) -> Any:
        return reads.element(source, [At.of(at[lies.order.index(place)]) for place in range(len(lies.order))])

    zeros = (0,) * len(shape)
    return reads.copy(type_, element), lies.order, windows.Image(shape, zeros, zeros)


def _is_product(op: Any, number: int, maps: list[Any], loops: list[int], sizes: list[int]) -> bool:
    """Whether this would be a product with an m, an n and a k, of the windows as they are, if it had these maps."""
    if any(not map_.is_projected_permutation for map_ in maps):
        return False
    with ir.InsertionPoint(op), op.location:
        stand_in = empty([sizes[loop] for loop in loops], op.operands[number].type.element_type)
        trial = op.clone()
    trial.operands[number] = stand_in
    trial.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
    product = product_of(trial)
    found = (
        product is not None
        and product.algebra is None
        and all(any(sizes[loop] > 1 for loop in part) for part in (product.m, product.n, product.k))
        and any(side.plain and side.operands == (number,) for side in (product.a, product.b))
    )
    trial.erase()
    stand_in.owner.erase()
    return found


def _order_weights(op: Any, number: int, maps: list[Any], window: list[int], along: int) -> None:
    """Copies weights whose channels are not innermost of what is summed over, so that k runs through both evenly."""
    weights, map_ = op.operands[number], maps[number]
    lies = _beneath(weights)
    loops = [each.position for each in map_.results]
    lying = [loops[place] for place in lies.order]
    summed = [loop for loop in lying if loop in (*window, along)]
    first = lying.index(summed[0])
    copied = lies.copied or any((*lies.low, *lies.high))
    if not copied and summed == [*window, along] and lying[first : first + len(summed)] == summed:
        return
    others = [loop for loop in lying if loop not in summed]
    wanted = [*others, *window, along]
    generic_shape = [weights.type.shape[loops.index(loop)] for loop in wanted]
    type_ = ir.RankedTensorType.get(generic_shape, weights.type.element_type)

    def element(at: list[Any]) -> Any:
        return reads.element(weights, [At.of(at[wanted.index(loop)]) for loop in loops])

    op.operands[number] = reads.copy(type_, element)
    maps[number] = ir.AffineMap.get(map_.n_dims, 0, [ir.AffineDimExpr.get(loop) for loop in wanted])
