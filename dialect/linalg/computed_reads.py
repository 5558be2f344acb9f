"""Reads of tensors at places that a body computes: building them, with padding, slices and transposes in front.

Sizes, offsets and steps are numbers or index values: those of a size known at run time only. Along such a size a place
outside of the tensor may be read, and what is read there is not used; `elementwise-loops` guards such reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.generics import build, empty
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block

DIVISIONS = (ir.AffineModExpr, ir.AffineFloorDivExpr)
"""Remainders and quotients in indexing maps."""


@dataclass(frozen=True)
class At:
    """An index value with a constant factor and distance: `value * factor + distance`; no value for a number."""

    value: Any
    factor: int
    distance: int

    @staticmethod
    def of(value: Any) -> At:
        """An index value."""
        number = constants.integer_of(value)
        return At(value, 1, 0) if number is None else At(None, 0, number)

    @staticmethod
    def number(number: int) -> At:
        """A constant."""
        return At(None, 0, number)

    def is_number(self, number: int) -> bool:
        """Whether it is this constant."""
        return self.value is None and self.distance == number

    def build(self) -> Any:
        """The index value at the insertion point."""
        if self.value is None:
            return constants.index(self.distance)
        arith, found = dialect("arith"), self.value
        if self.factor != 1:
            found = arith.MulIOp(found, constants.index(self.factor)).result
        return arith.AddIOp(found, constants.index(self.distance)).result if self.distance else found

    def __add__(self, other: At) -> At:
        if self.value is None:
            return At(other.value, other.factor, other.distance + self.distance)
        if other.value is None:
            return At(self.value, self.factor, self.distance + other.distance)
        return At(dialect("arith").AddIOp(self.build(), other.build()).result, 1, 0)

    def __sub__(self, other: At) -> At:
        if other.value is None:
            return self + At(None, 0, -other.distance)
        return At(dialect("arith").SubIOp(self.build(), other.build()).result, 1, 0)

    def __mul__(self, other: At) -> At:
        if self.value is not None and other.value is not None:
            return At(dialect("arith").MulIOp(self.build(), other.build()).result, 1, 0)
        one, number = (other, self.distance) if self.value is None else (self, other.distance)
        return At(one.value, one.factor * number, one.distance * number)

    def within(self, tensor: Any, axis: int) -> At:
        """The nearest index of a dimension of a tensor whose size is a number; of another the same."""
        if tensor.type.is_dynamic_dim(axis):
            return self
        arith = dialect("arith")
        low = arith.MaxSIOp(self.build(), constants.index(0)).result
        return At(arith.MinSIOp(low, constants.index(max(tensor.type.shape[axis] - 1, 0))).result, 1, 0)


def size_of(tensor: Any, axis: int) -> At:
    """A size of a tensor, at the insertion point where it is known at run time only."""
    if not tensor.type.is_dynamic_dim(axis):
        return At.number(tensor.type.shape[axis])
    return At.of(dialect("tensor").DimOp(tensor, constants.index(axis)).result)


def given(op: Any, names: Sequence[str]) -> list[list[At]]:
    """The numbers and index values of an operation: `offsets`, `sizes` and `strides` of a slice, or `low` and `high` of
    padding."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-len(names) :]
    operands = iter(list(op.operands)[len(op.operands) - sum(segments) :])
    marker = ir.ShapedType.get_dynamic_size()
    return [
        [At.of(next(operands)) if number == marker else At.number(number)
         for number in ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])]
        for name in names
    ]  # fmt: skip


def loops_in(map_: Any, *, divided: bool = False) -> set[int] | None:
    """The loops in the results of an indexing map, which are sums of loops times numbers, or, where `divided` allows
    them, remainders and quotients of these by positive numbers. None where the map has anything else."""
    found: set[int] = set()

    def is_read(each: Any) -> bool:
        if isinstance(each, ir.AffineDimExpr):
            found.add(each.position)
            return True
        if isinstance(each, ir.AffineAddExpr | ir.AffineMulExpr):
            return is_read(each.lhs) and is_read(each.rhs)
        if divided and isinstance(each, DIVISIONS):
            return isinstance(each.rhs, ir.AffineConstantExpr) and each.rhs.value > 0 and is_read(each.lhs)
        return isinstance(each, ir.AffineConstantExpr)

    return found if all(is_read(each) for each in map_.results) else None


def copy(type_: Any, element: Callable[[list[Any]], Any]) -> Any:
    """A tensor at the insertion point, each of whose elements a body computes from its indices."""
    rank = len(type_.shape)

    def emit(_: list[Any]) -> list[Any]:
        index = [dialect("linalg").IndexOp(axis).result for axis in range(rank)]
        return [element(index)]

    output = empty(type_.shape, type_.element_type)
    return build([], [output], [tuple(range(rank))], [False] * rank, emit).results[0]


def element(tensor: Any, at: Sequence[At]) -> Any:
    """The element of a tensor at a place, at the insertion point; padding, slices and transposes are looked through."""
    owner = tensor.owner
    name = getattr(owner, "name", "")
    if name == "tensor.pad":
        return _padded(owner.operation, at)
    if name == "tensor.extract_slice":
        return element(owner.operation.operands[0], Slice(owner.operation, tensor.type).after(at))
    if name == "linalg.generic" and (order := permutation(owner.operation)) is not None:
        return element(owner.operation.operands[0], [at[place] for place in order])
    if name == "tensor.expand_shape" and _is_moved(owner.operation.operands[0]) and tensor.type.has_static_shape:
        return element(owner.operation.operands[0], _together(owner.operation, at))
    indices = [each.build() for each in at]
    return dialect("tensor").ExtractOp(tensor, indices).result


def _is_moved(tensor: Any) -> bool:
    """Whether a tensor is padded, or a transpose, which would have to be computed first."""
    owner = tensor.owner
    name = getattr(owner, "name", "")
    return name == "tensor.pad" or (name == "linalg.generic" and permutation(owner.operation) is not None)


def _together(expand: Any, at: Sequence[At]) -> list[At]:
    """The place in a tensor of a place in it with dimensions taken apart."""
    shape, found = expand.results[0].type.shape, list[At]()
    for part in expand.attributes["reassociation"]:
        place = At.number(0)
        for dim in (int(each) for each in part):
            place = place * At.number(shape[dim]) + at[dim]
        found.append(place)
    return found


def is_by_ones(reshape: Any) -> bool:
    """Whether a reshape only adds dimensions of size 1, or takes them away."""
    shapes = [[size for size in value.type.shape if size != 1] for value in (reshape.operands[0], reshape.results[0])]
    return shapes[0] == shapes[1] and reshape.results[0].type.has_static_shape


def past_ones(reshape: Any, at: Sequence[At]) -> list[At]:
    """The place before such a reshape of a place after it."""
    source, result = reshape.operands[0].type.shape, reshape.results[0].type.shape
    kept = iter([each for each, size in zip(at, result, strict=True) if size != 1])
    return [At.number(0) if size == 1 else next(kept) for size in source]


def permutation(op: Any) -> list[int] | None:
    """For each dimension of what a generic transposes, that of its result; None for anything else."""
    inside, maps = in_block(body(op)), [each.value for each in op.attributes["indexing_maps"]]
    if len(inside) != 1 or len(maps) != 2 or inside[0].operation.operands[0] != body(op).arguments[0]:
        return None
    if not all(map_.is_permutation for map_ in maps):
        return None
    written = [each.position for each in maps[1].results]
    return [written.index(each.position) for each in maps[0].results]


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """One of two elements; a condition of None always holds."""
    return then if condition is None else dialect("arith").SelectOp(condition, then, otherwise).result


def at_least(index: Any, number: int) -> Any:
    """Whether an index is not smaller than a number."""
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.sge, index, constants.index(number)).result


def below(index: Any, size: int | At) -> Any:
    """Whether an index is smaller than a number, or a size."""
    arith, size = dialect("arith"), At.number(size) if isinstance(size, int) else size
    return arith.CmpIOp(arith.CmpIPredicate.slt, index, size.build()).result


def remainder(index: At, by: int) -> At:
    """The remainder of an index, which is at least 0, and a number."""
    return At.of(dialect("arith").RemSIOp(index.build(), constants.index(by)).result)


def divided(index: At, by: int, *, remainder: bool) -> At:
    """The quotient of an index, which may be below 0, and a number, rounded down; or its remainder, at least 0."""
    arith, value = dialect("arith"), index.build()
    rest = arith.RemSIOp(value, constants.index(by)).result
    above = arith.AddIOp(rest, constants.index(by)).result
    rest = arith.SelectOp(at_least(rest, 0), rest, above).result
    return At.of(rest if remainder else arith.DivSIOp(arith.SubIOp(value, rest).result, constants.index(by)).result)


def both(left: Any, right: Any) -> Any:
    """Whether two conditions hold, of which None always does."""
    if left is None or right is None:
        return right if left is None else left
    return dialect("arith").AndIOp(left, right).result


def _padded(op: Any, at: Sequence[At]) -> Any:
    value = padding_of(op)
    source = op.operands[0]
    low, high = given(op, ("low", "high"))
    inside: Any = None
    place: list[At] = []
    for axis, (each, before, after) in enumerate(zip(at, low, high, strict=True)):
        moved = each - before
        first, last = (one.value is not None or one.distance > 0 for one in (before, after))
        if first or last:
            index = moved.build()
            inside = both(inside, at_least(index, 0) if first else None)
            inside = both(inside, below(index, size_of(source, axis)) if last else None)
            moved = At.of(index).within(source, axis)
        place.append(moved)
    return value if 0 in source.type.shape else where(inside, element(source, place), value)


def padding_of(op: Any) -> Any:
    """The padding value of a tensor.pad: from outside its body, or a constant in it."""
    value = in_block(body(op))[-1].operation.operands[0]
    maker = value.owner
    if getattr(maker, "name", "") != "arith.constant":
        raise input_error(op, "'tensor.pad' whose padding value is not one constant; expected a constant")
    return maker.operation.clone().results[0]


class Slice:
    """The offsets, sizes and steps of a slice, of a part of some type."""

    def __init__(self, op: Any, part: Any) -> None:
        self.op = op
        self.offsets, self.sizes, self.steps = given(op, ("offsets", "sizes", "strides"))
        open_axes = [part.is_dynamic_dim(axis) for axis in range(part.rank)]
        sizes = [size.distance if size.value is None else None for size in self.sizes]
        self.kept = _kept(
            sizes, [None if is_open else size for is_open, size in zip(open_axes, part.shape, strict=True)]
        )

    def after(self, at: Sequence[At]) -> list[At]:
        """The place in the whole of a place in the part."""
        own = iter(at)
        steps = [next(own) * step if keep else At.number(0) for keep, step in zip(self.kept, self.steps, strict=True)]
        return [offset + step for offset, step in zip(self.offsets, steps, strict=True)]

    def before(self, at: Sequence[At]) -> tuple[Any, list[At]]:
        """Whether a place of the whole lies in the part, and where, or some place of it."""
        arith, inside = dialect("arith"), None
        part, whole = self.op.operands[0], self.op.operands[1].type
        place: list[At] = []
        for axis, (index, offset, size, step) in enumerate(zip(at, self.offsets, self.sizes, self.steps, strict=True)):
            distance = (index - offset).build()
            number = distance
            if not step.is_number(1):
                rest = arith.RemSIOp(distance, step.build()).result
                number = arith.DivSIOp(distance, step.build()).result
                inside = both(inside, arith.CmpIOp(arith.CmpIPredicate.eq, rest, constants.index(0)).result)
            is_all = offset.is_number(0) and step.is_number(1) and size.is_number(whole.shape[axis])
            if not is_all:
                inside = both(inside, both(at_least(distance, 0), below(number, size)))
            if self.kept[axis]:
                place.append(At.of(number) if is_all else At.of(number).within(part, len(place)))
        return inside, place


def _kept(sizes: Sequence[int | None], shape: list[int | None]) -> list[bool]:
    """Which dimensions of a slice its part keeps: others are of size 1. None is a size known at run time only."""
    kept: list[bool] = []
    for place, size in enumerate(sizes):
        left = len(sizes) - place
        fits = bool(shape) and shape[0] == size
        keep = fits and (size != 1 or left == len(shape) or _fits(sizes[place + 1 :], shape[1:]))
        kept.append(keep)
        if keep:
            shape.pop(0)
    return kept


def _fits(sizes: Sequence[int | None], shape: Sequence[int | None]) -> bool:
    """Whether a part with these sizes may be what is left of a slice's, without some of size 1."""
    rest = list(sizes)
    for size in shape:
        while rest and rest[0] != size:
            if rest.pop(0) != 1:
                return False
        if not rest:
            return False
        rest.pop(0)
    return all(size == 1 for size in rest)


def part_element(op: Any, at: Sequence[At]) -> Any:
    """The element at a place of what a concatenation, an inserted slice, or what `element` looks through computes."""
    if op.name == "tensor.concat":
        return _concatenated(op, at)
    if op.name == "tensor.insert_slice":
        return _inserted(op, at)
    return element(op.results[0], at)


def _concatenated(op: Any, at: Sequence[At]) -> Any:
    axis: int = ir.IntegerAttr(op.attributes["dim"]).value
    found, start = None, At.number(0)
    for operand in op.operands:
        place = [*at[:axis], (at[axis] - start).within(operand, axis), *at[axis + 1 :]]
        value = element(operand, place)
        found = value if found is None else where(_not_below(at[axis], start), value, found)
        start = start + size_of(operand, axis)
    return found


def _not_below(index: At, start: At) -> Any:
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.sge, index.build(), start.build()).result


def _inserted(op: Any, at: Sequence[At]) -> Any:
    """The new element where the slice has one, else the old."""
    inside, place = Slice(op, op.operands[0].type).before(at)
    new = element(op.operands[0], place)
    return where(inside, new, element(op.operands[1], at))


def at_loops(expression: Any, here: Mapping[int, At]) -> At:
    """What a result of an indexing map says, with its loops at a place."""
    if isinstance(expression, ir.AffineConstantExpr):
        return At.number(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return here[expression.position]
    left, right = (at_loops(side, here) for side in (expression.lhs, expression.rhs))
    if isinstance(expression, DIVISIONS):
        return divided(left, right.distance, remainder=isinstance(expression, ir.AffineModExpr))
    return left + right if isinstance(expression, ir.AffineAddExpr) else left * right
