"""Sums over windows that share nothing: a depthwise convolution as elementwise work that reads its image where it lies.

A product whose M or N is (nearly) 1 reads each window for few elements of its result, so tiles have nothing to share.
Each element of the result is then computed by itself: its window is unrolled, and read at computed places.
"""

from __future__ import annotations

from itertools import product as all_of
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone, clone_slice
from mlir_gemm.dialect.linalg import computed_reads as reads
from mlir_gemm.dialect.linalg.computed_reads import At
from mlir_gemm.dialect.linalg.generics import Map, build, composed, empty, one_use, producer, scalar_of, writes_once
from mlir_gemm.dialect.linalg.images import Move, beneath, laid_out, linear, trial_of
from mlir_gemm.dialect.linalg.products import Product, product_of
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.spec.element_types import TYPES

MOST_TAPS = 128
"""Elements of a window that are unrolled: the code of larger ones is too long."""
MOST_SHARED = 4
"""Elements of the result that a window is for, at most: a depthwise convolution has one."""


def sum_windows(op: Any, number: int, maps: list[Any], sizes: list[int]) -> bool:
    """Replaces a product that reads operand `number` by windows, each for few elements of its result, by a generic that
    adds up each window at once; says whether it did. Narrow floats are summed in f32, narrow integers in i32."""
    moves = [linear(each) for each in maps[number].results]
    kinds = ["parallel" in str(kind) for kind in op.attributes["iterator_types"]]
    summed = [loop for loop, parallel in enumerate(kinds) if not parallel]
    if len(op.operands) != 3 or prod(sizes[loop] for loop in summed) > MOST_TAPS:
        return False
    if not all(isinstance(each, ir.AffineDimExpr) for map_ in (maps[1 - number], maps[2]) for each in map_.results):
        return False
    written = [each.position for each in maps[2].results]
    known = [each for each in moves if each is not None]
    if len(known) < len(moves) or sorted(written) != [loop for loop, parallel in enumerate(kinds) if parallel]:
        return False
    if str(op.operands[number].type.element_type) not in TYPES or not op.operands[number].type.has_static_shape:
        return False
    with trial_of(op, number, maps, sizes) as trial:
        found = product_of(trial)
        if found is None or found.algebra is not None or not _is_narrow(found, sizes):
            return False
        with ir.InsertionPoint(op), op.location:
            result, order = turned(op.results[0])
            lying = [written[place] for place in order]
            weights = _lying_along(op, number, maps, known, lying[-1])
            new = _sum(op, found, number, (known, weights), lying, summed, sizes)
    result.replace_all_uses_with(new)
    return True


def turned(result: Any) -> tuple[Any, list[int]]:
    """The transpose of a result, where nothing else uses it, and the result's dimension for each of its."""
    order = list(range(len(result.type.shape)))
    while one_use(result) and (user := next(iter(result.uses)).owner.operation).name == "linalg.generic":
        turned = reads.permutation(user)
        if turned is None or user.operands[0] != result:
            break
        result, order = user.results[0], [order[turned.index(place)] for place in range(len(order))]
    return result, order


def _is_narrow(product: Product, sizes: list[int]) -> bool:
    m, n = (prod(sizes[loop] for loop in loops) for loops in (product.m, product.n))
    return min(m, n) <= MOST_SHARED


def _lying_along(op: Any, number: int, maps: list[Any], moves: list[Move], last: int) -> tuple[Any, list[Move]]:
    """The weights and how they are read: copied where neighbours of the result read neighbours of the image, but not of
    the weights."""
    weights = op.operands[1 - number]
    loops = [each.position for each in maps[1 - number].results]
    image, lies = beneath(op.operands[number]), beneath(weights)
    in_a_row = moves[image.order[-1]] == ({last: 1}, 0)
    if in_a_row and last in loops and loops[lies.order[-1]] != last:
        order = [*(place for place in lies.order if loops[place] != last), loops.index(last)]
        weights = laid_out(weights, order, [weights.type.shape[place] for place in order])
        loops = [loops[place] for place in order]
    return weights, [({loop: 1}, 0) for loop in loops]


def _sum(
    op: Any,
    product: Product,
    number: int,
    read: tuple[list[Move], tuple[Any, list[Move]]],
    lying: list[int],
    summed: list[int],
    sizes: list[int],
) -> Any:
    """The result: elementwise, its dimensions run along the loops `lying`."""
    image, (weights, weight_moves) = (op.operands[number], read[0]), read[1]
    arguments, block = list(product.generic.body.arguments), product.generic.body
    written = [each.position for each in op.attributes["indexing_maps"][2].value.results]
    element = op.operands[2].type.element_type
    start, start_map = start_of(op.operands[2], tuple(lying.index(loop) for loop in written))
    scalar = None if isinstance(start.type, ir.RankedTensorType) else start
    wide = wide_of(element)
    taps = [dict(zip(summed, tap, strict=True)) for tap in all_of(*(range(sizes[loop]) for loop in summed))]

    def emit(given: list[Any]) -> list[Any]:
        at = {loop: At.of(dialect("linalg").IndexOp(axis).result) for axis, loop in enumerate(lying)}
        total = extended(given[0] if scalar is None else cloned(scalar), wide)
        for tap in taps:
            here = {**at, **{loop: At.number(place) for loop, place in tap.items()}}
            values: dict[Any, Any] = {}
            for argument, (tensor, moves) in ((number, image), (1 - number, (weights, weight_moves))):
                values[arguments[argument]] = reads.element(tensor, [place_of(move, here) for move in moves])
            left, right = clone_slice([product.a.value, product.b.value], block, values)
            total = _added(extended(left, wide), extended(right, wide), total)
        return [rounded(total, element)]

    inputs, maps = ([start], [start_map]) if scalar is None else ([], [])
    output = empty([sizes[loop] for loop in lying], element)
    loops = tuple(range(len(lying)))
    return build(inputs, [output], [*maps, loops], [False] * len(loops), emit).results[0]


def start_of(value: Any, loops: Map) -> tuple[Any, Map]:
    """What a sum starts from, and how it is read: a number, or what is spread over the tensor, such as a bias. `loops`
    run along its dimensions."""
    scalar, spread = scalar_of(value), producer(value)
    if scalar is not None:
        return scalar, ()
    if spread is None or not writes_once(spread) or len(in_block(spread.block)) != 1:
        return value, loops
    (given,) = spread.yielded
    if given not in list(spread.block.arguments):
        return given, ()
    number = list(spread.block.arguments).index(given)
    return spread.inputs[number], composed(spread.maps[number], spread.output_maps[0], loops)


def place_of(move: Move, here: dict[int, At]) -> At:
    found = At.number(move[1])
    for loop, factor in move[0].items():
        found = found + here[loop] * At.number(factor)
    return found


def cloned(scalar: Any) -> Any:
    """A number from outside a body in it: a constant is cloned, so that it is known there."""
    is_constant = getattr(scalar.owner, "name", "") == "arith.constant"
    return clone(scalar.owner, {}).results[0] if is_constant else scalar


def wide_of(element: Any) -> Any:
    """The type that sums into a result of some type are kept in."""
    if not TYPES[str(element)].is_narrow:
        return element
    return ir.IntegerType.get_signless(32) if isinstance(element, ir.IntegerType) else ir.F32Type.get()


def extended(value: Any, wide: Any) -> Any:
    if value.type == wide:
        return value
    arith = dialect("arith")
    return (arith.ExtSIOp if isinstance(wide, ir.IntegerType) else arith.ExtFOp)(wide, value).result


def rounded(value: Any, element: Any) -> Any:
    if value.type == element:
        return value
    arith = dialect("arith")
    return (arith.TruncIOp if isinstance(element, ir.IntegerType) else arith.TruncFOp)(element, value).result


def _added(left: Any, right: Any, total: Any) -> Any:
    if isinstance(total.type, ir.IntegerType):
        arith = dialect("arith")
        return arith.AddIOp(total, arith.MulIOp(left, right).result).result
    return dialect("math").FmaOp(left, right, total).result
