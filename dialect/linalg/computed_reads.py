"""Reads of tensors at places that a body computes: building them, with padding, slices and transposes in front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    @property
    def is_zero(self) -> bool:
        """Whether it is the constant 0."""
        return self.value is None and not self.distance

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

    def __mul__(self, other: At) -> At:
        if self.value is not None and other.value is not None:
            return At(dialect("arith").MulIOp(self.build(), other.build()).result, 1, 0)
        one, number = (other, self.distance) if self.value is None else (self, other.distance)
        return At(one.value, one.factor * number, one.distance * number)

    def within(self, size: int) -> At:
        """The nearest index of a dimension of this size."""
        arith = dialect("arith")
        low = arith.MaxSIOp(self.build(), constants.index(0)).result
        return At(arith.MinSIOp(low, constants.index(max(size - 1, 0))).result, 1, 0)


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
    if name == "tensor.expand_shape" and _is_moved(owner.operation.operands[0]):
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


def below(index: Any, number: int) -> Any:
    """Whether an index is smaller than a number."""
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.slt, index, constants.index(number)).result


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
    low = list(ir.DenseI64ArrayAttr(op.attributes["static_low"]))
    high = list(ir.DenseI64ArrayAttr(op.attributes["static_high"]))
    if len(op.operands) > 1 or not source.type.has_static_shape:
        raise input_error(op, "'tensor.pad' by numbers known at run time only; expected constants")
    inside: Any = None
    place: list[At] = []
    for each, before, after, size in zip(at, low, high, source.type.shape, strict=True):
        moved = each + At.number(-before)
        if before > 0 or after > 0:
            index = moved.build()
            inside = both(inside, at_least(index, 0) if before > 0 else None)
            inside = both(inside, below(index, size) if after > 0 else None)
            moved = At.of(index).within(size)
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
    """The offsets, sizes and steps of a slice, constant or computed, of a part of some type."""

    def __init__(self, op: Any, part: Any) -> None:
        self.op = op
        first = 2 if op.name == "tensor.insert_slice" else 1
        segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        counts = segments[first:]
        given = list(op.operands)[first:]
        marker = ir.ShapedType.get_dynamic_size()
        found: list[list[Any]] = []
        for name, count in zip(("offsets", "sizes", "strides"), counts, strict=True):
            values, given = iter(given[:count]), given[count:]
            static = list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
            found.append([next(values) if number == marker else number for number in static])
        self.offsets, self.sizes, self.steps = found
        if not all(isinstance(each, int) for each in (*self.sizes, *self.steps)):
            raise input_error(op, f"'{op.name}' of a size, or with steps, known at run time only; expected constants")
        self.kept = self._kept(list(part.shape))

    def _kept(self, shape: list[int]) -> list[bool]:
        """Which dimensions the part keeps: others are of size 1."""
        kept: list[bool] = []
        for place, size in enumerate(self.sizes):
            left = len(self.sizes) - place
            keep = bool(shape) and shape[0] == size and (size != 1 or left == len(shape) or self._fits(shape, place))
            kept.append(keep)
            if keep:
                shape.pop(0)
        return kept

    def _fits(self, shape: list[int], place: int) -> bool:
        """Whether keeping this dimension leaves a way to keep the rest."""
        rest = list(self.sizes[place + 1 :])
        for size in shape[1:]:
            while rest and rest[0] != size:
                if rest.pop(0) != 1:
                    return False
            if not rest:
                return False
            rest.pop(0)
        return all(size == 1 for size in rest)

    def _offset(self, axis: int) -> At:
        offset = self.offsets[axis]
        return At.number(offset) if isinstance(offset, int) else At.of(offset)

    def after(self, at: Sequence[At]) -> list[At]:
        """The place in the whole of a place in the part."""
        own = iter(at)
        steps = [next(own) * At.number(step) if keep else At.number(0)
                 for keep, step in zip(self.kept, self.steps, strict=True)]  # fmt: skip
        return [self._offset(axis) + step for axis, step in enumerate(steps)]

    def before(self, at: Sequence[Any]) -> tuple[Any, list[At]]:
        """Whether a place of the whole lies in the part, and where, or some place of it."""
        arith, inside = dialect("arith"), None
        place: list[At] = []
        for axis, index in enumerate(at):
            size, step, keep = self.sizes[axis], self.steps[axis], self.kept[axis]
            offset = self._offset(axis)
            distance = (At.of(index) + (offset * At.number(-1))).build() if not offset.is_zero else index
            number = distance
            if step != 1:
                rest = arith.RemSIOp(distance, constants.index(step)).result
                number = arith.DivSIOp(distance, constants.index(step)).result
                inside = both(inside, arith.CmpIOp(arith.CmpIPredicate.eq, rest, constants.index(0)).result)
            whole = offset.is_zero and step == 1 and size == self.op.operands[1].type.shape[axis]
            if not whole:
                inside = both(inside, both(at_least(distance, 0), below(number, size)))
            if keep:
                place.append(At.of(number) if whole else At.of(number).within(size))
        return inside, place
