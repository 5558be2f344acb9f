"""expand-open-parts: what reads or writes a part of a size known at run time only becomes reads at computed positions.

Expects a module as `name-sizes` takes it. tensor.concat and tensor.pad along a dimension of an open size, slices of a
part of one or at a place that such a size says (`x[:, 1:]`, `x[:, -1]`), tensor.insert_slice of these, and operands
that are indexed by sums of loops along one (convolutions and poolings of images whose rows and columns are open) become
linalg.generic operations that read with tensor.extract at places computed from positions (linalg.index) and from sizes;
padding and slices in front of them included, so that windows of a padded image are copied once. A place that is outside
of the tensor is read too, and not used: `elementwise-loops` guards such reads. Sizes that are sums, differences or
quotients of others are understood (`name-sizes`). Refuses padding that is not one number, and what `name-sizes`
refuses. A module without such parts is left alone; a second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.computed_reads import at_least, both, loops_in, padding_of, where
from mlir_gemm.dialect.linalg.named_sizes import NamedSizes
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.name_sizes import prepared
from mlir_gemm.spec.attributes import STAND_INS


@dataclass(frozen=True)
class ExpandOpenParts(Pass):
    """Read parts of open sizes by position."""

    name: ClassVar[str] = "expand-open-parts"

    def run(self, module: Any) -> None:
        function = None if STAND_INS in module.operation.attributes else prepared(module)
        if function is None:
            return
        for op in reversed(NamedSizes(function).parts):  # what reads a part, before that part
            if op.name == "linalg.generic":
                _windows(op)
                continue
            if any(list(result.uses) for result in op.results):
                _expand(op)
        for operation in reversed(in_block(function.regions[0].blocks[0])):
            op = operation.operation
            parts = ("tensor.pad", "tensor.concat", "tensor.extract_slice", "tensor.insert_slice")
            if op.name in parts and not list(op.results[0].uses):
                op.erase()


def _expand(op: Any) -> None:
    """Replaces an operation by one that computes each element of its result."""
    type_ = op.results[0].type
    with ir.InsertionPoint(op), op.location:
        sizes = [_Size.of_result(op, axis) for axis in range(type_.rank)]

        def element(at: list[Any]) -> Any:
            return _element_of(op, at)

        made = _copy(type_, [size.build() for size in sizes], element)
    op.results[0].replace_all_uses_with(made)


def _windows(op: Any) -> None:
    """Replaces operands that are indexed by sums of loops by copies of what they read, a dimension for each loop."""
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
    plain = {
        each.position: (operand, axis)
        for operand, map_ in zip(op.operands, maps, strict=True)
        for axis, each in enumerate(map_.results) if isinstance(each, ir.AffineDimExpr)
    }  # fmt: skip
    for number in range(count):
        source, map_ = op.operands[number], maps[number]
        if all(isinstance(each, ir.AffineDimExpr | ir.AffineConstantExpr) for each in map_.results):
            continue
        loops = sorted(_loops(op, map_), key=lambda loop: (reductions[loop], loop))
        missing = [loop for loop in loops if loop not in plain]
        if missing:
            raise input_error(op, f"no operand of '{op.name}' has a dimension of the size of d{missing[0]} alone")
        with ir.InsertionPoint(op), op.location:
            marker = ir.ShapedType.get_dynamic_size()
            sizes = [_Size(*plain[loop]).build() for loop in loops]
            numbers = [constants.integer_of(size) for size in sizes]
            shape = [marker if size is None else size for size in numbers]
            type_ = ir.RankedTensorType.get(shape, source.type.element_type)

            def element(at: list[Any], map_: Any = map_, source: Any = source, loops: Any = loops) -> Any:
                here = dict(zip(loops, at, strict=True))
                return _element(source, [_value(each, here) for each in map_.results])

            op.operands[number] = _copy(type_, sizes, element)
        maps[number] = ir.AffineMap.get(len(reductions), 0, [ir.AffineDimExpr.get(loop) for loop in loops])
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])


@dataclass(frozen=True)
class _Size:
    """The size of a dimension of a tensor, computed from what tensors before it have."""

    value: Any
    axis: int
    more: tuple[Any, ...] = ()
    """What is added: numbers and index values."""

    @staticmethod
    def of_result(op: Any, axis: int) -> _Size:
        """That of what an operation makes, told without it."""
        if op.name == "tensor.concat":
            along = ir.IntegerAttr(op.attributes["dim"]).value
            others = list(op.operands)[1:] if axis == along else []
            return _Size(op.operands[0], axis, tuple(_Size(each, axis).build() for each in others))
        if op.name == "tensor.pad":
            return _Size(op.operands[0], axis, tuple(_given(op, side, "operand")[axis] for side in ("low", "high")))
        if op.name == "tensor.insert_slice":
            return _Size(op.operands[1], axis)
        kept = _kept(op)
        return _Size(None, axis, (_given(op, "sizes", "slice")[kept.index(axis)],))

    def build(self) -> Any:
        """The size at the insertion point."""
        found = 0 if self.value is None else _dim(self.value, self.axis)
        for each in self.more:
            found = _sum(found, each)
        return constants.index(found) if isinstance(found, int) else found


def _dim(value: Any, axis: int) -> Any:
    if not value.type.is_dynamic_dim(axis):
        return constants.index(value.type.shape[axis])
    return dialect("tensor").DimOp(value, constants.index(axis)).result


def _copy(type_: Any, sizes: Sequence[Any], element: Callable[[list[Any]], Any]) -> Any:
    """A tensor, each of whose elements a body computes from its indices."""
    moving = [size for axis, size in enumerate(sizes) if type_.is_dynamic_dim(axis)]
    start = ir.Operation.create("tensor.empty", [type_], moving).results[0]
    rank = type_.rank
    made, block = structured.make([], [start], [ir.AffineMap.get_identity(rank)], [True] * rank)
    with ir.InsertionPoint(block):
        index = [dialect("linalg").IndexOp(axis).result for axis in range(rank)]
        structured.yield_([element(index)])
    return made.results[0]


def _element_of(op: Any, at: list[Any]) -> Any:
    """The element of an operation's result at a place, at the insertion point."""
    if op.name == "tensor.concat":
        return _concatenated(op, at)
    if op.name == "tensor.insert_slice":
        return _inserted(op, at)
    return _element(op.results[0], at)


def _concatenated(op: Any, at: list[Any]) -> Any:
    axis: int = ir.IntegerAttr(op.attributes["dim"]).value
    found, start = None, constants.index(0)
    for operand in op.operands:
        place = [*at[:axis], _within(operand, axis, _difference(at[axis], start)), *at[axis + 1 :]]
        value = _element(operand, place)
        found = value if found is None else where(_not_below(at[axis], start), value, found)
        start = _sum(start, _dim(operand, axis))
    return found


def _inserted(op: Any, at: list[Any]) -> Any:
    """The new element where the slice has one, else the old."""
    inside: Any = None
    kept, place = _kept(op), list[Any]()
    given = [_given(op, name, "insert") for name in ("offsets", "sizes", "strides")]
    for axis, (index, offset, size, step) in enumerate(zip(at, *given, strict=True)):
        distance = _difference(index, offset)
        arith = dialect("arith")
        if step != 1:
            rest = arith.RemSIOp(distance, _index(step)).result
            inside = both(inside, arith.CmpIOp(arith.CmpIPredicate.eq, rest, constants.index(0)).result)
        number = distance if step == 1 else arith.DivSIOp(distance, _index(step)).result
        inside = both(inside, both(at_least(distance, 0), _is_below(number, size)))
        own = kept[axis]
        if own is not None:
            place.append(_within(op.operands[0], own, number))
    new = _element(op.operands[0], place)
    return where(inside, new, _element(op.operands[1], at))


def _element(tensor: Any, at: Sequence[Any]) -> Any:
    """The element of a tensor at a place; padding and slices are looked through."""
    owner = tensor.owner
    name = getattr(owner, "name", "")
    if name == "tensor.pad":
        return _padded(owner.operation, at)
    if name == "tensor.extract_slice":
        op, own = owner.operation, iter(at)
        place: list[Any] = []
        for axis, kept in enumerate(_kept(op)):
            offset, step = (_given(op, each, "slice")[axis] for each in ("offsets", "strides"))
            place.append(_sum(offset, _times(next(own), step)) if kept is not None else offset)
        return _element(op.operands[0], place)
    return dialect("tensor").ExtractOp(tensor, [_index(each) for each in at]).result


def _within(tensor: Any, axis: int, index: Any) -> Any:
    """An index, in a dimension of a constant size the nearest that there is; reads are guarded along others."""
    if tensor.type.is_dynamic_dim(axis):
        return index
    arith, index = dialect("arith"), _index(index)
    low = arith.MaxSIOp(index, constants.index(0)).result
    return arith.MinSIOp(low, constants.index(max(tensor.type.shape[axis] - 1, 0))).result


def _padded(op: Any, at: Sequence[Any]) -> Any:
    inside: Any = None
    place: list[Any] = []
    low, high = (_given(op, side, "operand") for side in ("low", "high"))
    for axis, index in enumerate(at):
        moved = _difference(index, low[axis])
        if low[axis] != 0:
            inside = both(inside, at_least(moved, 0))
        if high[axis] != 0 or low[axis] != 0:
            inside = both(inside, _is_below(moved, _dim_before(op, axis)))
            moved = _within(op.operands[0], axis, moved)
        place.append(moved)
    value = padding_of(op)
    return where(inside, _element(op.operands[0], place), value)


def _dim_before(op: Any, axis: int) -> Any:
    """A size of an operation's operand, in front of the body that is being written."""
    source = op.operands[0]
    if not source.type.is_dynamic_dim(axis):
        return source.type.shape[axis]
    return _dim(source, axis)


def _given(op: Any, name: str, kind: str) -> list[Any]:
    """The numbers and index values of an operation: offsets, sizes and strides of a slice, `low` and `high` padding."""
    first = 2 if kind == "insert" else 1
    names = ("low", "high") if kind == "operand" else ("offsets", "sizes", "strides")
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[first:]
    place = names.index(name)
    start = first + sum(segments[:place])
    values = iter(list(op.operands)[start : start + segments[place]])
    marker = ir.ShapedType.get_dynamic_size()
    return [
        next(values) if number == marker else number for number in ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])
    ]


def _kept(op: Any) -> list[int | None]:
    """For each dimension of the whole which one of the part it is; None for one of size 1 that the part has not."""
    part = (op.operands[0] if op.name == "tensor.insert_slice" else op.results[0]).type
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    marker, own, found = ir.ShapedType.get_dynamic_size(), 0, list[int | None]()
    for place, size in enumerate(static):
        fits = own < part.rank and (part.is_dynamic_dim(own) if size == marker else part.shape[own] == size)
        spare = len(static) - place > part.rank - own
        found.append(
            own if fits and not (size == 1 and spare and not _needed(static[place + 1 :], part, own)) else None
        )
        own += found[-1] is not None
    return found


def _needed(rest: Sequence[int], part: Any, own: int) -> bool:
    """Whether a dimension of size 1 must be kept, as those after it are too few or others."""
    return sum(size == 1 for size in rest) < sum(size == 1 for size in list(part.shape)[own:])


def _loops(op: Any, map_: Any) -> set[int]:
    found = loops_in(map_)
    if found is None:
        raise input_error(op, f"'{op.name}' with indexing map {map_} along a size known at run time only; expected "
                          "sums of loops times numbers")  # fmt: skip
    return found


def _value(expression: Any, here: dict[int, Any]) -> Any:
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return here[expression.position]
    left, right = (_value(side, here) for side in (expression.lhs, expression.rhs))
    return _sum(left, right) if isinstance(expression, ir.AffineAddExpr) else _times(left, right)


def _index(value: Any) -> Any:
    return constants.index(value) if isinstance(value, int) else value


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else constants.integer_of(value)


def _sum(left: Any, right: Any) -> Any:
    if 0 in (_number(left), _number(right)):
        return right if _number(left) == 0 else left
    return dialect("arith").AddIOp(_index(left), _index(right)).result


def _difference(left: Any, right: Any) -> Any:
    return left if _number(right) == 0 else dialect("arith").SubIOp(_index(left), _index(right)).result


def _times(left: Any, right: Any) -> Any:
    if 1 in (_number(left), _number(right)):
        return right if _number(left) == 1 else left
    return dialect("arith").MulIOp(_index(left), _index(right)).result


def _not_below(index: Any, start: Any) -> Any:
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.sge, index, _index(start)).result


def _is_below(index: Any, size: Any) -> Any:
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.slt, _index(index), _index(size)).result
