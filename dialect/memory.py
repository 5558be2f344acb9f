"""Views of memory."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir


def subview(memory: Any, offsets: list[Any], shape: list[int]) -> Any:
    """A memref.subview of `shape` at `offsets` (index values) of a memref, with unit steps, at the insertion point."""
    strides, _ = memory.type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get(dynamic, strides)
    type_ = ir.MemRefType.get(shape, memory.type.element_type, layout, memory.type.memory_space)
    marker = [ir.ShapedType.get_dynamic_size()] * len(shape)
    ones = [1] * len(shape)
    return dialect("_memref_ops_gen").SubViewOp(type_, memory, offsets, [], [], marker, shape, ones).result


def has_rows(type_: Any, bits: int) -> bool:
    """Whether a memref is a matrix of rows of consecutive elements, a constant multiple of `bits` bits apart."""
    strides, _ = type_.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    return (
        len(strides) == 2
        and strides[1] == 1
        and dynamic != strides[0]
        and strides[0] * type_.element_type.width % bits == 0
    )


def vector_bytes(type_: Any) -> int:
    """The alignment in bytes of an access of a vector type: its size, at most 16."""
    return min(16, type_.element_type.width * type_.shape[0] // 8)
