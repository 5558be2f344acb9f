"""fuse-computed-reads: what reads at computed places is computed by the elementwise operations that read it.

Expects linalg.generic on tensors (after fuse-elementwise). A slice, a padding, a concatenation or a gather at places
known at run time only is an elementwise generic with tensor.extract operations, and a kernel of its own, whose result
others read again. It is computed in the body of each elementwise generic that reads it, if all that read it are such,
and if none of them can become a part of another kernel, which reads no computed places: none reads, or leads to, the
result of a reduction, but of one that is read at these places too (a rotary embedding adds what it turns to what it has
turned, both of a product's result). Bodies that check something stay, and those that compute more than reading takes:
with functions (`math`), or with reductions behind their operands.

The other way round, what is read at a computed place and is the result of an elementwise generic, which has no other
readers, is computed at that place, if that is at most 8 operations and not done more than 4 times for an element; and
what is read of a tensor filled with one number is that number. A second run changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.computed_reads import At, Slice, is_by_ones, past_ones, permutation
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    behind,
    erase_dead,
    fused,
    generics,
    inline,
    owner_of,
    read,
    replace,
    scalar_of,
    writes_once,
)
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.reshapes import reshape
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class FuseComputedReads(Pass):
    """Compute what is read at computed places where it is used."""

    name: ClassVar[str] = "fuse-computed-reads"

    def run(self, module: Any) -> None:
        changed = True
        while changed:
            changed = any(_compute_at_places(operation.operation) for operation in generics(module))
            changed |= any(_fuse(operation.operation) for operation in generics(module))  # readers are made anew
            erase_dead(module)


_VIEWS = ("tensor.extract_slice", "tensor.collapse_shape", "tensor.expand_shape", "tensor.cast")
MOST, AGAIN = 8, 4
"""Operations that are done where a result is read, and how often for an element."""


def _compute_at_places(operation: Any) -> bool:
    """Whether a body now computes something that it read at a computed place."""
    found = False
    for inner in in_block(operation.regions[0].blocks[0]):
        op = inner.operation
        if op.name != "tensor.extract":
            continue
        with ir.InsertionPoint(op), op.location:
            value = scalar_of(op.operands[0])
            value = _computed_at(operation, op) if value is None else value
        if value is not None:
            op.results[0].replace_all_uses_with(value)
            op.erase()
            found = True
    return found


def _computed_at(reader: Any, extract: Any) -> Any | None:
    """An element of an elementwise result, computed where it is read; None where that is not worth it."""
    tensor, *places = extract.operands
    owner = owner_of(tensor)
    if owner is not None and owner.name == "tensor.expand_shape" and is_by_ones(owner):
        at = past_ones(owner, [At.of(place) for place in places])
        owner, places = owner_of(owner.operands[0]), [each.build() for each in at]
    source = read(owner, free=True) if owner is not None else None
    generic = read(reader, free=True)
    if source is None or generic is None or not _is_cheap(source, generic):
        return None
    at = dict(zip(source.output_maps[0], places, strict=True))
    return inline(source, [*(_element(value, [
        constants.index(0) if loop == ONE else at[loop] for loop in map_
    ]) for value, map_ in zip(source.inputs, source.maps, strict=False)), None])[0]  # fmt: skip


def _is_cheap(source: Generic, reader: Generic) -> bool:
    """Whether a result is computed by a few operations, of operands that are in memory, for one that reads it."""
    inside = [each.operation.name for each in in_block(source.block)]
    if not source.parallel or not writes_once(source) or len(inside) > MOST + 1 or "cf.assert" in inside:
        return False
    if any(name.startswith("math.") for name in inside) or any(behind(value) for value in source.inputs):
        return False
    users = [use.owner.operation for use in source.results[0].uses]
    if len(users) == 1 and users[0].name == "tensor.expand_shape":
        users = [use.owner.operation for use in users[0].results[0].uses]
    if len(users) > 1 or users[0].name != "tensor.extract" or _has_open_position(source):
        return False
    return math.prod(reader.sizes) <= AGAIN * math.prod(source.sizes)


def _has_open_position(source: Generic) -> bool:
    """Whether an operand is the size of a loop, which no position says."""
    makers = [owner_of(value) for value in source.inputs if isinstance(value.type, ir.RankedTensorType)]
    return any(each is not None and each.name == "tile.position" and each.results[0].type.rank != 1 for each in makers)


def _element(value: Any, places: list[Any]) -> Any:
    """An element of an operand at a place, at the insertion point."""
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    owner = owner_of(value)
    if owner is not None and owner.name == "tile.position":
        return dialect("arith").IndexCastOp(value.type.element_type, places[0]).result
    source, at = _unmoved(value, [At.of(place) for place in places]) or (value, None)
    return dialect("tensor").ExtractOp(source, places if at is None else [each.build() for each in at]).result


def _unmoved(value: Any, at: list[At]) -> tuple[Any, list[At]] | None:
    """What a transpose copies, of which a tensor is a slice, or which it is with dimensions joined, and a place of the
    tensor there; None for other tensors. So nothing need be copied for what is read at computed places."""
    owner = owner_of(value)
    if owner is None or not value.type.has_static_shape:
        return None
    if owner.name in ("tensor.expand_shape", "tensor.collapse_shape") and is_by_ones(owner):
        return _unmoved(owner.operands[0], past_ones(owner, at))
    if owner.name == "tensor.extract_slice":
        return _unmoved(owner.operands[0], Slice(owner, value.type).after(at))
    if owner.name == "linalg.generic" and (order := permutation(owner)) is not None:
        return owner.operands[0], [at[dim] for dim in order]
    return _joined_first(owner, at) if owner.name == "tensor.collapse_shape" else None


def _joined_first(collapse: Any, at: list[At]) -> tuple[Any, list[At]] | None:
    """The same of dimensions that are joined after a transpose, and could be joined before it."""
    moved = owner_of(collapse.operands[0])
    order = permutation(moved) if moved is not None and moved.name == "linalg.generic" else None
    if moved is None or order is None:
        return None
    groups = [[order.index(int(dim)) for dim in group] for group in collapse.attributes["reassociation"]]
    if any(list(range(group[0], group[0] + len(group))) != group for group in groups):
        return None
    source, before = moved.operands[0], sorted(groups)
    shape = [math.prod(source.type.shape[dim] for dim in group) for group in before]
    with ir.InsertionPoint(collapse), collapse.location:
        joined = reshape(source, shape)
    return joined, [at[groups.index(group)] for group in before]


def _fuse(operation: Any) -> bool:
    """Whether what reads a generic computes it now."""
    generic = read(operation, free=True)
    if generic is None or not _only_reads(generic):
        return False
    result = generic.results[0]
    readers = [read(use.owner, free=True) for use in result.uses]
    from_places = _behind_places(generic)
    if not readers or not all(each is not None and _may_compute(each, from_places) for each in readers):
        return False
    while uses := list(result.uses):
        reader = read(uses[0].owner, free=True)
        assert reader is not None  # it was read above
        new = fused(reader, next(n for n, value in enumerate(reader.inputs) if value == result), generic)
        if new is None:
            return False
        replace(reader, new)
    return True


def _only_reads(generic: Generic) -> bool:
    """Whether a generic does little more than reading at computed places."""
    names = [each.operation.name for each in in_block(generic.block)]
    if not generic.parallel or not writes_once(generic) or "tensor.extract" not in names:
        return False
    if "cf.assert" in names or any(name.startswith("math.") for name in names):
        return False
    return not any(behind(value) for value in generic.inputs)


def _behind_places(generic: Generic) -> set[Any]:
    """The reductions behind what a generic reads at computed places: what depends on all of it is no epilogue of
    theirs."""
    found = set[Any]()
    for each in in_block(generic.block):
        if each.operation.name == "tensor.extract":
            value = each.operation.operands[0]
            while (owner := owner_of(value)) is not None and owner.name in _VIEWS:
                value = owner.operands[0]
            found.update(behind(value))
    return found


def _may_compute(reader: Generic, from_places: set[Any]) -> bool:
    """Whether a generic is elementwise, and will be a kernel of elements whatever it reads."""
    names = [each.operation.name for each in in_block(reader.block)]
    if not reader.parallel or not writes_once(reader) or "cf.assert" in names:
        return False
    reached = {each for value in reader.inputs for each in behind(value)}
    return reached <= from_places and _stays_elementwise(reader)


def _stays_elementwise(generic: Generic) -> bool:
    """Whether no kernel of rows takes a generic in: what leads to a reduction along rows, or reads one beside it."""
    for use in generic.results[0].uses:
        reader = read(use.owner, free=True)
        if reader is None:
            continue  # it leaves the function, or is reshaped for that
        if not reader.parallel:
            if product_of(reader.operation) is None:
                return False
        elif any(behind(value) for value in reader.inputs) or not _stays_elementwise(reader):
            return False
    return True
