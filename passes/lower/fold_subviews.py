"""fold-subviews: accesses through a subview become accesses of what it is a view of.

Expects memref.subview with unit steps (that drops no dimensions but leading ones), used by vector.load and store,
memref.load and store, gpu.subgroup_mma_load_matrix and store_matrix, nvgpu.ldmatrix, nvgpu.device_async_copy or further
subviews. Leaves those accesses on the source, with the offsets added to their indices, and no subview that is not used
by something else. Unlike upstream's fold-memref-alias-ops it keeps the accesses' alignment, without which LLVM splits a
128-bit access into scalars.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass

_INDEXED = {
    "vector.load": 0,
    "vector.store": 1,
    "memref.load": 0,
    "memref.store": 1,
    "gpu.subgroup_mma_load_matrix": 0,
    "gpu.subgroup_mma_store_matrix": 1,
    "nvgpu.ldmatrix": 0,
}
"""Accesses that can be folded, with the position of the memref among their operands; the indices follow it."""
_COPY = "nvgpu.device_async_copy"


@dataclass(frozen=True)
class FoldSubviews(Pass):
    """Fold subviews into accesses."""

    name: ClassVar[str] = "fold-subviews"

    def run(self, module: Any) -> None:
        for view in reversed(named(module, "memref.subview")):
            _fold(view)


def _fold(view: Any) -> None:
    """Folds one subview; views of it were folded before, so that what is left are accesses."""
    kept = kept_dimensions(view)
    if kept is None:
        return
    for user in users(view.operation.results[0]):
        for place, indices in places_of(user):
            if user.operands[place] == view.operation.results[0]:
                user = _move(user, view, kept, place, indices)
    if not users(view.operation.results[0]):
        view.operation.erase()


def kept_dimensions(view: Any) -> list[int] | None:
    """Which dimensions of the source a subview still has; None when dropped ones are not simply leading units, or when
    it does not go in steps of 1."""
    sizes = list(ir.DenseI64ArrayAttr(view.attributes["static_sizes"]))
    shape = list(view.operation.results[0].type.shape)
    dropped = len(sizes) - len(shape)
    steps = list(ir.DenseI64ArrayAttr(view.attributes["static_strides"]))
    simple = (
        all(step == 1 for step in steps) and all(size == 1 for size in sizes[:dropped]) and sizes[dropped:] == shape
    )
    return list(range(dropped, len(sizes))) if simple else None


def places_of(access: Any) -> list[tuple[int, list[int]]]:
    """The memrefs that an operation accesses and their indices, by position among its operands, the last one first;
    nothing for an operation that is not an access."""
    op = access.operation
    if op.name == _COPY:
        _, to, _, whence, _ = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
        return [(1 + to, list(range(2 + to, 2 + to + whence))), (0, list(range(1, 1 + to)))]
    if op.name not in _INDEXED:
        return []
    place = _INDEXED[op.name]
    return [(place, list(range(place + 1, len(op.operands))))]


def _move(access: Any, view: Any, kept: list[int], place: int, positions: list[int]) -> Any:
    """Replaces an access of a view by one of its source; returns the new operation."""
    operands = list(access.operands)
    own = dict(zip(kept, [operands[position] for position in positions], strict=True))
    with ir.InsertionPoint(access), access.location:
        indices = [_sum(offset, own.get(axis)) for axis, offset in enumerate(_offsets(view))]
    return on_memory(access, view.operation.operands[0], place, positions, indices)


def on_memory(access: Any, memory: Any, place: int, positions: list[int], indices: list[Any]) -> Any:
    """Replaces an access, at positions that `places_of` gives, by one of another memref; returns the new operation."""
    operands, attributes = list(access.operands), attributes_of(access)
    if access.name == _COPY:
        sizes = list(ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"]))
        sizes[1 if place == 0 else 3] = len(indices)
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
    new = ir.Operation.create(
        access.name,
        results=[result.type for result in access.results],
        operands=[*operands[:place], memory, *indices, *operands[place + 1 + len(positions) :]],
        attributes=attributes,
        loc=access.location,
        ip=ir.InsertionPoint(access),
    )
    for old, result in zip(list(access.results), new.results, strict=True):
        old.replace_all_uses_with(result)
    access.erase()
    return new.operation


def _offsets(view: Any) -> list[Any]:
    """The view's offsets, as integers or index values."""
    dynamic = iter(list(view.operation.operands)[1:])
    marker = ir.ShapedType.get_dynamic_size()
    return [next(dynamic) if o == marker else o for o in ir.DenseI64ArrayAttr(view.attributes["static_offsets"])]


def _sum(offset: Any, index: Any | None) -> Any:
    if isinstance(offset, int):
        if index is None:
            return constants.index(offset)
        return indexing.add(index, offset)
    return offset if index is None else indexing.add(offset, index)
