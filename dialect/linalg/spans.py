"""Spans: which part of each dimension of a tensor is read, with slices and reshapes told as spans.

A slice may start at a number, or at a place that a size known at run time only says: it is then a linalg.generic that
reads with tensor.extract, as `expand-open-parts` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.computed_reads import Slice
from mlir_gemm.dialect.linalg.generics import build, empty, fill, owner_of, read, scalar_of
from mlir_gemm.dialect.walk import in_block


@dataclass(frozen=True)
class Span:
    """Every `step`-th index of a dimension from `start` on, `size` of them. `start` is a number, or a tensor of one
    i64 that holds it."""

    start: Any
    size: int
    step: int = 1

    def is_all(self, size: int) -> bool:
        """Whether it is a whole dimension."""
        return self == Span(0, size)

    @property
    def is_number(self) -> bool:
        return isinstance(self.start, int)


Spans = tuple[Span, ...]


def whole(shape: Sequence[int]) -> Spans:
    """All of a tensor."""
    return tuple(Span(0, size) for size in shape)


def slice_of(op: Any) -> tuple[Any, Spans] | None:
    """The tensor that an operation reads a part of, and which part; None for what is no such operation. Dimensions of
    which one index is read may be left out of its result."""
    if op.name == "tensor.extract_slice" and len(op.operands) == 1:
        part = Slice(op, op.results[0].type)
        spans = zip(part.offsets, part.sizes, part.steps, strict=True)
        return op.operands[0], tuple(Span(at.distance, size.distance, step.distance) for at, size, step in spans)
    return _read_by_position(op) if op.name == "linalg.generic" else None


def _read_by_position(op: Any) -> tuple[Any, Spans] | None:
    """The same of a generic whose body does nothing but read a tensor, with the loops in order."""
    inside = [each.operation for each in in_block(op.regions[0].blocks[0])]
    if len(op.results) != 1 or len(inside) < 2 or inside[-2].name != "tensor.extract":
        return None
    generic, (tensor, *places) = read(op, free=True), inside[-2].operands
    reads_alone = inside[-1].operands[0] == inside[-2].results[0] and tensor.type.has_static_shape
    if generic is None or not reads_alone or generic.output_maps[0] != tuple(range(len(generic.sizes))):
        return None
    spans, loops = list[Span](), list[int]()
    for place in places:
        found = _place(place, generic)
        if found is None:
            return None
        start, loop = found
        loops += [] if loop is None else [loop]
        spans.append(Span(start, 1 if loop is None else generic.sizes[loop]))
    return (tensor, tuple(spans)) if loops == list(range(len(generic.sizes))) else None


def _place(index: Any, generic: Any) -> tuple[Any, int | None] | None:
    """The start of an index in a body and the loop that it steps along; None for another index."""
    number = constants.integer_of(index)
    if number is not None:
        return number, None
    owner = owner_of(index)
    if owner is None:
        return None
    if owner.name == "linalg.index":
        return 0, ir.IntegerAttr(owner.attributes["dim"]).value
    if owner.name == "arith.index_cast":
        inputs = zip(generic.block.arguments, generic.inputs, strict=False)
        made = [value for argument, value in inputs if argument == owner.operands[0]]
        is_one = bool(made) and isinstance(made[0].type, ir.RankedTensorType) and made[0].type.rank == 0
        return (made[0], None) if is_one else None
    if owner.name != "arith.addi":
        return None
    sides = [_place(side, generic) for side in owner.operands]
    for one, other in (sides, sides[::-1]):
        if one is not None and other is not None and one[0] == 0 and one[1] is not None and other[1] is None:
            return other[0], one[1]
    return None


def before(reshape: Any, spans: Spans, *, exact: bool) -> Spans | None:
    """Which part of what is reshaped is read where some part of the result is; None where that is no part. Sizes are
    numbers where `exact`; else some may stand for sizes known at run time only, and only products of them are right."""
    shapes = [list(value.type.shape) for value in (reshape.operands[0], reshape.results[0])]
    if not all(value.type.has_static_shape for value in (reshape.operands[0], reshape.results[0])):
        return None
    groups = [[int(dim) for dim in group] for group in reshape.attributes["reassociation"]]
    found = list[Span]()
    if reshape.name == "tensor.expand_shape":
        for group in groups:
            joined = _joined([shapes[1][dim] for dim in group], [spans[dim] for dim in group], exact)
            if joined is None:
                return None
            found.append(joined)
        return tuple(found)
    for group, span in zip(groups, spans, strict=True):
        parts = _divided([shapes[0][dim] for dim in group], span, exact)
        if parts is None:
            return None
        found += parts
    return tuple(found)


def _joined(sizes: Sequence[int], spans: Sequence[Span], exact: bool) -> Span | None:
    """Spans of dimensions as one of them all as one dimension."""
    wide = [span for span, size in zip(spans, sizes, strict=True) if size != 1]
    if len(wide) <= 1:
        return wide[0] if wide else Span(0, 1)
    if not all(span.is_number and (exact or span.start == 0) for span in spans):
        return None
    inner = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    start = sum(span.start * below for span, below in zip(spans, inner, strict=True))
    moving = [axis for axis, span in enumerate(spans) if span.size != 1]
    if not moving:
        return Span(start, 1)
    first = moving[0]
    if len(moving) == 1:
        return Span(start, spans[first].size, spans[first].step * inner[first])
    below = zip(spans[first + 1 :], sizes[first + 1 :], strict=True)
    if spans[first].step != 1 or not all(span.is_all(size) for span, size in below):
        return None
    return Span(start, spans[first].size * inner[first])


def _divided(sizes: Sequence[int], span: Span, exact: bool) -> list[Span] | None:
    """A span of a dimension as those of dimensions that it is divided into."""
    if span.is_all(math.prod(sizes)):
        return list(whole(sizes))
    if sum(size != 1 for size in sizes) == 1:
        return [Span(0, 1) if size == 1 else span for size in sizes]
    if not span.is_number or not sizes or not (exact or span.start == 0):
        return None
    below = math.prod(sizes[1:])
    outer, rest = divmod(span.start, below)
    if span.size > 1 and span.step % below == 0:
        inner = _divided(sizes[1:], Span(rest, 1), exact)
        return None if inner is None else [Span(outer, span.size, span.step // below), *inner]
    if span.step == 1 and rest == 0 and span.size % below == 0:
        return [Span(outer, span.size // below), *whole(sizes[1:])]
    ends_elsewhere = (span.start + (span.size - 1) * span.step) // below != outer
    if ends_elsewhere or (span.size > 1 and not exact):
        return None
    inner = _divided(sizes[1:], Span(rest, span.size, span.step), exact)
    return None if inner is None else [Span(outer, 1), *inner]


def filled_with(value: Any) -> Any | None:
    """The number that is everywhere in a tensor, as `scalar_of` says it, also of a fill that is a linalg.generic; None
    for other tensors."""
    owner = owner_of(value)
    generic = read(owner) if owner is not None and isinstance(value.type, ir.RankedTensorType) else None
    if generic is None or len(in_block(generic.block)) > 1 or len(generic.inputs) != 1:
        return scalar_of(value)
    is_number = not isinstance(generic.inputs[0].type, ir.RankedTensorType)
    return generic.inputs[0] if is_number and generic.yielded[0] == generic.argument(0) else None


def cut(value: Any, spans: Spans, *, by_position: bool) -> Any:
    """A part of a tensor, with all its dimensions, at the insertion point: what is not computed is made anew, the rest
    a slice or, where it is no view, read by position."""
    sizes, element = [span.size for span in spans], value.type.element_type
    if spans == whole(value.type.shape):
        return value
    owner, scalar = owner_of(value), filled_with(value)
    if owner is not None and owner.name == "tensor.empty":
        return empty(sizes, element)
    if scalar is not None:
        return fill(sizes, element, scalar)
    if by_position:
        return _read(value, spans)
    attributes: dict[str, Any] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0])}
    numbers = {"offsets": [each.start for each in spans], "sizes": sizes, "strides": [each.step for each in spans]}
    attributes |= {f"static_{name}": ir.DenseI64ArrayAttr.get(given) for name, given in numbers.items()}
    type_ = ir.RankedTensorType.get(sizes, element)
    return ir.Operation.create("tensor.extract_slice", [type_], [value], attributes).results[0]


def _read(value: Any, spans: Spans) -> Any:
    """The same as a generic that does nothing else."""
    starts = [span.start for span in spans if not span.is_number]

    def emit(arguments: list[Any]) -> list[Any]:
        arith, given, places = dialect("arith"), iter(arguments), list[Any]()
        for axis, span in enumerate(spans):
            start = constants.index(span.start) if span.is_number else None
            if start is None:
                start = arith.IndexCastOp(ir.IndexType.get(), next(given)).result
            if span.size != 1:
                step = arith.MulIOp(dialect("linalg").IndexOp(axis).result, constants.index(span.step)).result
                start = arith.AddIOp(start, step).result
            places.append(start)
        return [dialect("tensor").ExtractOp(value, places).result]

    output = empty([span.size for span in spans], value.type.element_type)
    maps = [*[() for _ in starts], tuple(range(len(spans)))]
    return build(starts, [output], maps, [False] * len(spans), emit).results[0]


def shift_positions(generic: Any, spans: Sequence[Span]) -> None:
    """Makes linalg.index of a body that now runs over spans of its loops say what it said before."""
    for each in in_block(generic.regions[0].blocks[0]):
        op = each.operation
        if op.name != "linalg.index":
            continue
        loop: int = ir.IntegerAttr(op.attributes["dim"]).value
        span = spans[loop]
        if (span.start, span.step) == (0, 1):
            continue
        arith, index = dialect("arith"), op.results[0]
        users = [(use.owner.operation, use.operand_number) for use in index.uses]
        with ir.InsertionPoint.after(op), op.location:
            moved = arith.MulIOp(index, constants.index(span.step)).result
            moved = arith.AddIOp(moved, constants.index(span.start)).result
        for user, number in users:
            user.operands[number] = moved
