"""Slices that start where a size known at run time only says: the second of three parts of `3x?x8`.

No view can begin there. Where the tensor is a transpose, such as the queries, keys and values of
`qkv.view(b, t, 3, h, d).permute(2, 0, 3, 1, 4)`, the slice of what is transposed begins at a constant place, and is
transposed in its turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.generics import ONE, owner_of, read


def starts_open(slice_: Any, stand_ins: Mapping[str, int]) -> bool:
    """Whether a tensor.extract_slice at constant offsets, in dense memory, starts at a place that depends on a size
    known at run time only."""
    shape = slice_.operands[0].type.shape
    moved = [offset * prod(shape[axis + 1 :]) for axis, offset in enumerate(_offsets(slice_)) if offset]
    return any(_is_open(each, stand_ins) for each in moved)


def is_aligned_view(slice_: Any, stand_ins: Mapping[str, int]) -> bool:
    """Whether a slice that starts at such a place is at an aligned address there, for all sizes, and of sizes that are
    known at run time only, as a view's strides are."""
    shape = slice_.operands[0].type.shape
    places = [symbols.taken_apart(offset * prod(shape[axis + 1 :]), stand_ins)
              for axis, offset in enumerate(_offsets(slice_)) if offset]  # fmt: skip
    type_ = slice_.results[0].type
    aligned = len(places) == 1 and symbols.is_aligned(places[0], type_.element_type)
    return aligned and any(_is_open(size, stand_ins) for size in type_.shape)


def before_transpose(slice_: Any, stand_ins: Mapping[str, int]) -> Any | None:
    """The same slice as the transpose of a slice that starts at a constant place, at the insertion point; None where
    there is no such one."""
    owner = owner_of(slice_.operands[0])
    generic = read(owner) if owner is not None and owner.name == "linalg.generic" else None
    if generic is None or len(generic.inputs) != 1 or len(generic.outputs) != 1 or not generic.parallel:
        return None
    through, order = generic.maps
    rank = slice_.operands[0].type.rank
    moves = generic.yielded[0] == generic.argument(0) and ONE not in (*through, *order) and len(through) == rank
    if not moves or slice_.results[0].type.rank != rank:
        return None
    places = [order.index(loop) for loop in through]  # for each dimension before, where it is after
    source, result = generic.inputs[0], slice_.results[0].type
    attributes: dict[str, Any] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0])}
    for name in ("static_offsets", "static_sizes", "static_strides"):
        given = list(ir.DenseI64ArrayAttr(slice_.attributes[name]))
        attributes[name] = ir.DenseI64ArrayAttr.get([given[place] for place in places])
    shape = [result.shape[place] for place in places]
    type_ = ir.RankedTensorType.get(shape, result.element_type)
    part = ir.Operation.create("tensor.extract_slice", results=[type_], operands=[source], attributes=attributes)
    if starts_open(part, stand_ins):
        part.erase()
        return None
    empty = ir.Operation.create("tensor.empty", results=[result]).results[0]
    maps = [ir.AffineMap.get_permutation(places), ir.AffineMap.get_identity(rank)]
    made, block = structured.make(list(part.results), [empty], maps, [True] * rank)
    with ir.InsertionPoint(block):
        structured.yield_([block.arguments[0]])
    return made.results[0]


def _offsets(slice_: Any) -> list[int]:
    return list(ir.DenseI64ArrayAttr(slice_.attributes["static_offsets"]))


def _is_open(number: int, stand_ins: Mapping[str, int]) -> bool:
    return not symbols.taken_apart(number, stand_ins).is_number
