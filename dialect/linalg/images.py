"""Images that a product reads by windows where they lie: a convolution without a copy of its windows."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import computed_reads as reads
from mlir_gemm.dialect.linalg.computed_reads import At
from mlir_gemm.dialect.linalg.generics import ONE, Generic, empty, owner_of, read
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.outlining.tensors import place_of_tensor
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.errors import Error

ALIGNED = 8
"""Bytes, of which each run of elements that windows have in common with the image takes a multiple, and begins at one:
else elements would be read one by one, many times each. The engines that copy take 4, 8 or 16 at a time."""


def see_windows(op: Any, number: int, maps: list[Any], sizes: list[int]) -> bool:
    """Lets a product take an operand as a view by windows (`tile.windows`), a dimension for each loop, and changes
    `maps` and `sizes`; says whether it did.

    It does where the product sums over channels, under transposes and where groups of them are seen. What is padded
    with zeros is read where it lies too, where the channels are the image's last dimension. What is padded otherwise,
    lies with gaps or has its channels elsewhere is copied once, and so is an image of few channels: with zeros behind
    the channels, so that each pixel is a multiple of `ALIGNED` bytes.
    """
    moves = [linear(each) for each in maps[number].results]
    source = op.operands[number]
    if len(op.operands) != 3 or any(each is None for each in moves) or not source.type.has_static_shape:
        return False
    reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
    along = _channels(source, moves, reductions, sizes)
    if along is None:
        return False
    loops = sorted({loop for each in moves if each for loop in each[0]})
    plain = ir.AffineMap.get(len(sizes), 0, [ir.AffineDimExpr.get(loop) for loop in loops])
    if not _is_product(op, number, maps, sizes):
        return False
    window = [loop for loop in loops if reductions[loop] and loop != along]
    with ir.InsertionPoint(op), op.location:
        lies = beneath(source, next(place for place, each in enumerate(moves) if each and along in each[0]))
        strides, offset = _strides(lies, moves, loops)
        item = source.type.element_type.width // 8
        if ALIGNED % item == 0 and not _is_aligned(lies, strides, offset, [*window, along], sizes, ALIGNED // item):
            lies = _copied(lies.order, source, _widened(sizes[along], ALIGNED // item))
            sizes[along] = lies.image.shape[-1]
            strides, offset = _strides(lies, moves, loops)
        type_ = ir.RankedTensorType.get([sizes[loop] for loop in loops], source.type.element_type)
        op.operands[number] = windows.make(
            lies.value, type_, lies.image, [((sizes[loop], strides[loop]),) for loop in loops], offset
        )
        maps[number] = plain
        _order_weights(op, 1 - number, maps, window, along, sizes[along])
    return True


def _channels(source: Any, moves: list[Any], reductions: list[bool], sizes: list[int]) -> int | None:
    """The loop that runs along the channels: of the dimensions that one reduction walks from end to end and nothing
    else does, the one whose elements lie closest. None where there is no such dimension."""
    order = beneath(source).order
    for place in reversed(order):
        factors, distance = moves[place]
        if len(factors) != 1 or distance or list(factors.values()) != [1]:
            continue
        (along,) = factors
        alone = sum(along in each[0] for each in moves) == 1
        if reductions[along] and alone and sizes[along] == source.type.shape[place]:
            return along
    return None


def _strides(lies: Beneath, moves: list[Any], loops: list[int]) -> tuple[dict[int, int], int]:
    """How far each loop moves in the image with the zeros around it, and where its first element is."""
    padded = lies.image.padded
    strides, offset = dict.fromkeys(loops, 0), 0
    for axis, place in enumerate(lies.order):
        step = prod(padded[axis + 1 :])
        factors, distance = moves[place]
        offset += step * distance
        for loop, factor in factors.items():
            strides[loop] += step * factor
    return strides, offset


def _is_aligned(
    lies: Beneath, strides: dict[int, int], offset: int, summed: list[int], sizes: list[int], wanted: int
) -> bool:
    """Whether runs of neighbours within a window are multiples of `wanted` elements, and start at such. A run is the
    channels of a pixel, and where nothing is around the image the pixels of a row of the window too."""
    run, inner = 1, len(summed)
    while inner and strides[summed[inner - 1]] == run and (run == 1 or not lies.image.has_zeros):
        inner -= 1
        run *= sizes[summed[inner]]
    joined = summed[inner:]
    steps = [stride for loop, stride in strides.items() if loop not in joined and sizes[loop] > 1]
    pixel = lies.image.shape[-1] if lies.image.has_zeros else 0
    return gcd(run, offset, pixel, *steps) % wanted == 0


def _widened(channels: int, wanted: int) -> int:
    """How many channels a copy has: a multiple of `wanted`, or of twice as many where that takes fewer accesses."""
    return min((-(-channels // each) * each for each in (wanted, 2 * wanted)),
               key=lambda count: (count // (2 * wanted if count % (2 * wanted) == 0 else wanted), count))  # fmt: skip


Move = tuple[dict[int, int], int]
"""An index as loops with their factors, and a distance."""


def linear(expression: Any) -> Move | None:
    """An index as loops with their factors, and a distance; None where it is no such sum, or one that falls."""
    if isinstance(expression, ir.AffineConstantExpr):
        return {}, expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position: 1}, 0
    if not isinstance(expression, ir.AffineAddExpr | ir.AffineMulExpr):
        return None
    left, right = linear(expression.lhs), linear(expression.rhs)
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        loops = {*left[0], *right[0]}
        return {loop: left[0].get(loop, 0) + right[0].get(loop, 0) for loop in loops}, left[1] + right[1]
    factor = right[1] if not right[0] else left[1]
    one = left if not right[0] else right
    return ({loop: each * factor for loop, each in one[0].items()}, one[1] * factor) if factor >= 0 else None


@dataclass
class Beneath:
    """What a tensor is a transpose of, perhaps with dimensions taken apart, and with zeros around it."""

    value: Any
    order: list[int]
    """The tensor's own dimensions in the order in which they lie."""
    image: windows.Image
    """What lies there, by these dimensions."""
    copied: bool = False
    """Whether it must be copied: it is padded with something else, or lies with gaps."""


def beneath(source: Any, last: int | None = None) -> Beneath:
    """What a tensor is a transpose of; copied into that order where the dimension `last` is not its last one, or where
    it must be."""
    rank = len(source.type.shape)
    value, lying, copied = source, [[place] for place in range(rank)], False
    low, high = [0] * rank, [0] * rank
    while (op := owner_of(value)) is not None:
        if op.name == "tensor.pad":
            copied = copied or len(op.operands) > 1 or not _is_zero(op) or not op.operands[0].type.has_static_shape
            for name, zeros in (("static_low", low), ("static_high", high)):
                for own, count in zip(lying, ir.DenseI64ArrayAttr(op.attributes[name]), strict=True):
                    zeros[own[0]] += count
                    copied = copied or bool(count and len(own) > 1)
        elif op.name == "linalg.generic" and (turned := reads.permutation(op)) is not None:
            lying = [lying[place] for place in turned]
        elif op.name == "tensor.expand_shape" and op.operands[0].type.has_static_shape:
            parts = [[int(place) for place in part] for part in op.attributes["reassociation"]]
            taken_apart = [own for part in parts if len(part) > 1 for place in part for own in lying[place]]
            if any(low[own] or high[own] for own in taken_apart):
                break
            lying = [[own for place in part for own in lying[place]] for part in parts]
        else:
            break
        value = op.operands[0]
    order = [own for each in lying for own in each]
    copied = copied or not _is_dense(value)
    shape = tuple(source.type.shape[own] - low[own] - high[own] for own in order)
    image = windows.Image(shape, tuple(low[own] for own in order), tuple(high[own] for own in order))
    if last is None or (not copied and order[-1] == last):
        return Beneath(value, order, image, copied)
    if order[-1] != last:
        order = [*(place for place in order if place != last), last]
    return _copied(order, source, source.type.shape[last])


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


def _copied(order: list[int], source: Any, channels: int) -> Beneath:
    """A copy of a tensor in this order of its dimensions, with zeros behind its last ones up to so many."""
    shape = (*(source.type.shape[place] for place in order[:-1]), channels)
    zeros = (0,) * len(shape)
    return Beneath(laid_out(source, order, list(shape)), order, windows.Image(shape, zeros, zeros))


def laid_out(source: Any, order: list[int], shape: list[int]) -> Any:
    """A copy of a tensor's elements in this order of its dimensions, with zeros behind the last one."""
    type_ = ir.RankedTensorType.get(shape, source.type.element_type)
    size = source.type.shape[order[-1]]

    def element(at: list[Any]) -> Any:
        place = [At.of(each) for each in at]
        if shape[-1] == size:
            return reads.element(source, [place[order.index(each)] for each in range(len(order))])
        inside = reads.below(at[-1], size)
        place[-1] = place[-1].within(source, order[-1])
        found = reads.element(source, [place[order.index(each)] for each in range(len(order))])
        return reads.where(inside, found, _zero(source.type.element_type))

    return reads.copy(type_, element)


def _zero(type_: Any) -> Any:
    attribute = ir.IntegerAttr.get(type_, 0) if isinstance(type_, ir.IntegerType) else ir.FloatAttr.get(type_, 0.0)
    return dialect("arith").ConstantOp(type_, attribute).result


def _is_product(op: Any, number: int, maps: list[Any], sizes: list[int]) -> bool:
    """Whether this would be a product with an m, an n and a k, of the windows as they are."""
    if any(not map_.is_projected_permutation for place, map_ in enumerate(maps) if place != number):
        return False
    with trial_of(op, number, maps, sizes) as trial:
        product = product_of(trial)
        return (
            product is not None
            and product.algebra is None
            and all(any(sizes[loop] > 1 for loop in part) for part in (product.m, product.n, product.k))
            and any(side.plain and side.operands == (number,) for side in (product.a, product.b))
        )


@contextmanager
def trial_of(op: Any, number: int, maps: list[Any], sizes: list[int]) -> Generator[Any]:
    """The operation as it would be with a tensor of windows, a dimension for each loop, as operand `number`."""
    moves = [linear(each) for each in maps[number].results]
    loops = sorted({loop for each in moves if each for loop in each[0]})
    plain = ir.AffineMap.get(len(sizes), 0, [ir.AffineDimExpr.get(loop) for loop in loops])
    with ir.InsertionPoint(op), op.location:
        stand_in = empty([sizes[loop] for loop in loops], op.operands[number].type.element_type)
        trial = op.clone()
    trial.operands[number] = stand_in
    trial.attributes["indexing_maps"] = ir.ArrayAttr.get(
        [ir.AffineMapAttr.get(plain if place == number else map_) for place, map_ in enumerate(maps)]
    )
    try:
        yield trial
    finally:
        trial.erase()
        stand_in.owner.erase()


def _order_weights(op: Any, number: int, maps: list[Any], window: list[int], along: int, channels: int) -> None:
    """Copies weights whose channels are not innermost of what is summed over, or fewer than the image's, so that k runs
    through both evenly."""
    weights, map_ = op.operands[number], maps[number]
    lies = beneath(weights)
    loops = [each.position for each in map_.results]
    lying = [loops[place] for place in lies.order]
    summed = [loop for loop in lying if loop in (*window, along)]
    first = lying.index(summed[0])
    copied = lies.copied or lies.image.has_zeros or weights.type.shape[loops.index(along)] != channels
    if not copied and summed == [*window, along] and lying[first : first + len(summed)] == summed:
        return
    wanted = [*(loop for loop in lying if loop not in summed), *window, along]
    order = [loops.index(loop) for loop in wanted]
    shape = [*(weights.type.shape[place] for place in order[:-1]), channels]
    op.operands[number] = laid_out(weights, order, shape)
    maps[number] = ir.AffineMap.get(map_.n_dims, 0, [ir.AffineDimExpr.get(loop) for loop in wanted])


def runs_as_windows(generic: Generic, new: Any, position: int) -> bool:
    """Whether a factor that is read from before a movement still has its reductions as windows lie in their image, if
    they are the other factor: else neighbours in k lie apart there."""
    other = next((number for number, value in enumerate(generic.inputs) if windows.is_windows(value)), position)
    folded = read(new)
    if other == position or folded is None:
        return True
    steps = [part[0][1] if part else 0 for part in windows.parts_of(generic.inputs[other])]
    stride = dict(zip(generic.maps[other], steps, strict=True))
    orders = [[loop for loop in map_ if loop != ONE and generic.reductions[loop] and loop in stride]
              for map_ in (generic.maps[position], folded.maps[position])]  # fmt: skip
    lying = sorted(orders[0], key=lambda loop: -stride[loop])
    return orders[1] == lying or orders[0] != lying
