"""fold-subviews: accesses through a subview become accesses of what it is a view of.

Expects memref.subview with unit steps (that drops no dimensions but leading ones), used by vector.load, vector.store,
gpu.subgroup_mma_load_matrix, gpu.subgroup_mma_store_matrix or further subviews. Leaves those accesses on the source,
with the offsets added to their indices, and no subview that is not used by something else. Unlike upstream's
fold-memref-alias-ops it keeps the accesses' alignment, without which LLVM splits a 128-bit access into scalars.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass

INDEXED = {
    "vector.load": 0,
    "vector.store": 1,
    "gpu.subgroup_mma_load_matrix": 0,
    "gpu.subgroup_mma_store_matrix": 1,
}
"""Accesses that can be folded, with the position of the memref among their operands; the indices follow it."""


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
        if user.name in INDEXED:
            _move(user, view, kept)
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


def _move(access: Any, view: Any, kept: list[int]) -> None:
    position = INDEXED[access.name]
    operands = list(access.operands)
    own = dict(zip(kept, operands[position + 1 :], strict=True))
    with ir.InsertionPoint(access), access.location:
        indices = [_sum(offset, own.get(axis)) for axis, offset in enumerate(_offsets(view))]
    attributes = attributes_of(access)
    new = ir.Operation.create(
        access.name,
        results=[result.type for result in access.results],
        operands=[*operands[:position], view.operation.operands[0], *indices],
        attributes=attributes,
        loc=access.location,
        ip=ir.InsertionPoint(access),
    )
    for old, result in zip(list(access.results), new.results, strict=True):
        old.replace_all_uses_with(result)
    access.erase()


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
