"""separate-zero-points: a product of bytes less their zero points becomes one of the bytes, for tensor cores.

Expects linalg.generic on tensors (after raise-to-tensors). By
`sum (a - za) (b - zb) = sum a b - za sum b - zb sum (a - za)`, where integers wrap alike on both sides, a sum of
products of integers of at most 8 bits, extended and less a number each, becomes the sum of their products, from which
the sums along k of either operand, times the other one's zero point, are taken by an elementwise generic. A zero point
of 0 takes nothing. Sums along k and the taking away are kernels in front, and an epilogue, like any others. In a
convolution the channels of the image are added up first, then the windows of what is left.

Leaves alone a product of other types, and one that reads each element of an operand fewer than 16 times: that is as
fast as memory either way. A second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.generics import empty, generics, zero
from mlir_gemm.dialect.linalg.images import linear
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.linalg.zero_points import LEAST_READS
from mlir_gemm.passes.base import Pass

_EXTENSIONS = ("arith.extsi", "arith.extui")


@dataclass(frozen=True)
class _Side:
    """A factor: operand number `operand`, extended by `extension`, less `zero_point` (None: less nothing)."""

    operand: int
    extension: Any
    zero_point: Any

    def extended(self, element: Any) -> Any:
        """The element as what multiplies it extends it."""
        op = self.extension.operation
        return ir.Operation.create(op.name, results=[op.results[0].type], operands=[element]).results[0]


@dataclass(frozen=True)
class SeparateZeroPoints(Pass):
    """Multiply quantised bytes as they are, and take what their zero points add away afterwards."""

    name: ClassVar[str] = "separate-zero-points"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            generic = structured.read(operation)
            sides = _sides(generic)
            if sides is not None and _pays(generic, sides):
                _rewrite(generic, sides)


def _sides(generic: Generic) -> tuple[_Side, _Side] | None:
    """The two factors of a sum of products, of which at least one has a zero point; None for anything else."""
    if generic.elementwise or len(generic.outputs) != 1 or structured.is_free(generic.op):
        return None
    total = generic.body.arguments[len(generic.inputs)]
    addition = generic.yielded[0].owner
    terms = [value for value in getattr(addition, "operands", ()) if value != total]
    if getattr(addition, "name", "") != "arith.addi" or len(terms) != 1:
        return None
    multiplication = terms[0].owner
    if getattr(multiplication, "name", "") != "arith.muli":
        return None
    left, right = (_side(generic, value) for value in multiplication.operands)
    if left is None or right is None or left.operand == right.operand:
        return None
    return (left, right) if left.zero_point is not None or right.zero_point is not None else None


def _side(generic: Generic, value: Any) -> _Side | None:
    owner, zero_point = value.owner, None
    if getattr(owner, "name", "") == "arith.subi":
        value, zero_point = owner.operands
        owner = value.owner
        if not _is_one_number(generic, zero_point):
            return None
    if getattr(owner, "name", "") not in _EXTENSIONS:
        return None
    element = owner.operands[0]
    if not isinstance(element, ir.BlockArgument) or element.owner != generic.body or element.type.width > 8:
        return None
    is_nothing = zero_point is not None and constants.integer_of(_outside(generic, zero_point)) == 0
    return _Side(element.arg_number, owner, None if is_nothing else zero_point) if element.type.width > 1 else None


def _outside(generic: Generic, value: Any) -> Any:
    """What a body sees as `value`, where that is an operand that is one number."""
    is_argument = isinstance(value, ir.BlockArgument) and value.owner == generic.body
    return generic.operands[value.arg_number] if is_argument else value


def _is_one_number(generic: Generic, value: Any) -> bool:
    if isinstance(value, ir.BlockArgument) and value.owner == generic.body:
        number: int = value.arg_number
        return number < len(generic.inputs) and not len(generic.maps[number].results)
    is_inside = not isinstance(value, ir.BlockArgument) and value.owner.operation.block == generic.body
    return not is_inside or constants.integer_of(value) is not None


def _loops(expression: Any) -> set[int]:
    """The loops that an index is a sum of."""
    move = linear(expression)
    return set(move[0]) if move is not None else set()


def _loops_of(map_: Any) -> set[int]:
    return set[int]().union(*(_loops(each) for each in map_.results))


def _sizes(generic: Generic) -> dict[int, int]:
    """The loops' sizes that a dimension of an operand has alone."""
    found: dict[int, int] = {}
    for operand, map_ in zip(generic.operands, generic.maps, strict=True):
        for expression, size in zip(map_.results, getattr(operand.type, "shape", ()), strict=False):
            if isinstance(expression, ir.AffineDimExpr):
                found[expression.position] = size
    return found


def _pays(generic: Generic, sides: tuple[_Side, _Side]) -> bool:
    sizes, loops = _sizes(generic), [_loops_of(generic.maps[side.operand]) for side in sides]
    summed = {loop for loop, parallel in enumerate(generic.parallel) if not parallel}
    if len(sizes) < len(generic.parallel) or any(summed - own for own in loops):
        return False
    return all(prod(sizes[loop] for loop in range(len(generic.parallel)) if loop not in own) >= LEAST_READS
               for own in loops)  # fmt: skip


def _rewrite(generic: Generic, sides: tuple[_Side, _Side]) -> None:
    op, sizes = generic.op, _sizes(generic)

    def multiply(a: Any, b: Any, total: Any) -> Any:
        return _add(total, _times(sides[0].extended(a), sides[1].extended(b)))

    with ir.InsertionPoint(op), op.location:
        whole = ir.AffineMap.get(len(generic.parallel), 0, generic.maps[len(generic.inputs)].results)
        inputs = [generic.inputs[side.operand] for side in sides]
        product = _made(
            inputs, generic.outputs[0], [*(generic.maps[side.operand] for side in sides), whole], generic.parallel,
            multiply,
        )  # fmt: skip
        taken = [
            (side, *_sum(generic, other, sizes, bare=number == 0))
            for number, (side, other) in enumerate((sides, sides[::-1]))
            if side.zero_point is not None
        ]
        result = _taken(generic, product, taken)
    op.results[0].replace_all_uses_with(result)
    op.erase()


def _sum(generic: Generic, side: _Side, sizes: dict[int, int], bare: bool) -> tuple[Any, list[int]]:
    """The sum along k of one operand, less its own zero point unless `bare`; and the parallel loops that its dimensions
    run along. Loops that run along a dimension by themselves are added up first."""
    tensor, map_ = generic.inputs[side.operand], generic.maps[side.operand]
    element = generic.outputs[0].type.element_type
    alone = [next(iter(_loops(each))) if isinstance(each, ir.AffineDimExpr) else -1 for each in map_.results]
    windows = [loops for each in map_.results if len(loops := _loops(each)) > 1]
    first = [
        place for place, loop in enumerate(alone)
        if loop >= 0 and not generic.parallel[loop] and alone.count(loop) == 1
        and not any(loop in each for each in windows)
    ]  # fmt: skip
    kept = [place for place in range(len(alone)) if place not in first]

    point = None if bare else side.zero_point

    def value(given: Any, *rest: Any) -> Any:
        found = side.extended(given)
        if point is not None:
            found = dialect("arith").SubIOp(found, _inside(generic, point, rest)).result
        return _add(rest[-1], found)

    rank = len(alone)
    if first:
        shape = [tensor.type.shape[place] for place in kept]
        dims = [ir.AffineDimExpr.get(place) for place in range(rank)]
        tensor = _made(
            [tensor, *_operands(generic, point)], zero(shape, element),
            [ir.AffineMap.get_identity(rank), *_no_loops(generic, point, rank),
             ir.AffineMap.get(rank, 0, [dims[place] for place in kept])],
            [place in kept for place in range(rank)], value,
        )  # fmt: skip
    results = [map_.results[place] for place in kept]
    own = sorted(set[int]().union(*(_loops(each) for each in results)))
    parallel = [loop for loop in own if generic.parallel[loop]]
    if own == parallel and not any(len(_loops(each)) > 1 for each in results):
        return tensor, [next(iter(_loops(each))) for each in results]
    number = {loop: place for place, loop in enumerate(own)}
    replaced = [ir.AffineDimExpr.get(number.get(loop, 0)) for loop in range(len(generic.parallel))]
    moved = [each.compose(ir.AffineMap.get(len(own), 0, replaced)) for each in results]
    summed = [loop for loop in own if not generic.parallel[loop]]
    window = empty([sizes[loop] for loop in summed], element)
    added = None if first else point
    maps = [
        ir.AffineMap.get(len(own), 0, moved),
        *_no_loops(generic, added, len(own)),
        ir.AffineMap.get(len(own), 0, [ir.AffineDimExpr.get(number[loop]) for loop in summed]),
        ir.AffineMap.get(len(own), 0, [ir.AffineDimExpr.get(number[loop]) for loop in parallel]),
    ]

    def again(given: Any, *rest: Any) -> Any:
        return _add(rest[-1], given) if first else value(given, *rest)

    found = _made(
        [tensor, *_operands(generic, added), window], zero([sizes[loop] for loop in parallel], element), maps,
        [generic.parallel[loop] for loop in own], again,
    )  # fmt: skip
    return found, parallel


def _taken(generic: Generic, product: Any, taken: list[tuple[_Side, Any, list[int]]]) -> Any:
    """The product less each sum times its zero point."""
    written = [each.position for each in generic.maps[len(generic.inputs)].results]
    rank = len(written)

    def along(loops: list[int]) -> Any:
        return ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(written.index(loop)) for loop in loops])

    def body(value: Any, *rest: Any) -> Any:
        place = 0
        for side, _, _ in taken:
            point = _inside(generic, side.zero_point, rest[place + 1 :])
            value = dialect("arith").SubIOp(value, _times(rest[place], point)).result
            place += 1 + len(_operands(generic, side.zero_point))
        return value

    inputs, maps = [product], [ir.AffineMap.get_identity(rank)]
    for side, tensor, loops in taken:
        inputs += [tensor, *_operands(generic, side.zero_point)]
        maps += [along(loops), *_no_loops(generic, side.zero_point, rank)]
    output = empty(list(product.type.shape), product.type.element_type)
    return _made(inputs, output, [*maps, maps[0]], [True] * rank, body)


def _operands(generic: Generic, point: Any) -> list[Any]:
    """The operand that a zero point is to another generic: none where it is a constant."""
    if point is None or constants.integer_of(_outside(generic, point)) is not None:
        return []
    return [_outside(generic, point)]


def _no_loops(generic: Generic, point: Any, rank: int) -> list[Any]:
    """The maps of `_operands`."""
    return [ir.AffineMap.get(rank, 0, [])] * len(_operands(generic, point))


def _inside(generic: Generic, point: Any, given: Any) -> Any:
    """A zero point in another body, whose arguments from that of `_operands` on are `given`."""
    value = constants.integer_of(_outside(generic, point))
    return given[0] if value is None else dialect("arith").ConstantOp(point.type, value).result


def _made(inputs: list[Any], output: Any, maps: list[Any], parallel: Any, emit: Callable[..., Any]) -> Any:
    """A linalg.generic with the body that `emit` writes from its arguments."""
    made, block = structured.make(inputs, [output], maps, tuple(parallel))
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[emit(*block.arguments)])
    return made.results[0]


def _add(left: Any, right: Any) -> Any:
    return dialect("arith").AddIOp(left, right).result


def _times(left: Any, right: Any) -> Any:
    return dialect("arith").MulIOp(left, right).result
