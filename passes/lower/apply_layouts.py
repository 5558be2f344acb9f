"""apply-layouts: the layout that a staging buffer asks for becomes its memref type.

Expects memref.alloc with `tile.layout = "padN"` or `"xor"`. Leaves a `padN` buffer with rows N elements further apart
(a strided memref type), and every subview of it with the strides that follow. An `xor` buffer keeps its type and its
attribute, for `swizzle-accesses`, which runs when all accesses are known. So do buffers of other layouts: panels
(`swizzle128`, `swizzle64`, `swizzle32`), the barriers of a ring, which only special instructions access, and registered
layouts, each of which has a pass of its own. Without a layout attribute nothing changes, nor in a second run. Refuses a
buffer that is not a dense one of constant sizes, `xor` for rows of other than whole chunks of 16 bytes, and views other
than subviews in steps of 1 that drop at most leading dimensions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import PAD
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.lower.fold_subviews import kept_dimensions
from mlir_gemm.passes.lower.swizzle_accesses import XOR, check_rows
from mlir_gemm.spec.attributes import LAYOUT


@dataclass(frozen=True)
class ApplyLayouts(Pass):
    """Turn layout attributes into memref types."""

    name: ClassVar[str] = "apply-layouts"

    def run(self, module: Any) -> None:
        for alloc in named(module, "memref.alloc"):
            if LAYOUT in alloc.operation.attributes:
                _apply(alloc)


def _apply(alloc: Any) -> None:
    layout = ir.StringAttr(alloc.operation.attributes[LAYOUT]).value
    if layout == XOR:
        check_rows(alloc)
        return
    padded = re.fullmatch(PAD, layout)
    if padded is None:
        return
    buffer = alloc.operation.results[0]
    shape = list(buffer.type.shape)
    if not buffer.type.has_static_shape or len(shape) < 2 or not isinstance(buffer.type.layout, ir.AffineMapAttr):
        raise pass_error(alloc, f"a layout for {buffer.type}; expected a dense buffer of constant sizes with rows")
    _retype(buffer, _strides(shape, int(padded[1])), 0)
    del alloc.operation.attributes[LAYOUT]


def _strides(shape: list[int], pad: int) -> list[int]:
    """Row-major strides of `shape` with `pad` elements after each row."""
    strides = [1]
    for axis in range(len(shape) - 1, 0, -1):
        strides.insert(0, strides[0] * shape[axis] + (pad if axis == len(shape) - 1 else 0))
    return strides


def _retype(memory: Any, strides: list[int], offset: int) -> None:
    old = memory.type
    layout = ir.StridedLayoutAttr.get(offset, strides)
    memory.set_type(ir.MemRefType.get(old.shape, old.element_type, layout, old.memory_space))
    for user in users(memory):
        if user.name == "memref.subview":
            kept = kept_dimensions(user)
            if kept is None:
                raise pass_error(user, "a view that does not keep whole rows in steps of 1 cannot get the layout")
            _retype(user.results[0], [strides[axis] for axis in kept], _offset(user, strides, offset))
        elif user.name in ("tile.sparse", "tile.composite"):
            continue  # which are dense however what they are made of lies
        elif user.regions or any(isinstance(result.type, ir.MemRefType) for result in user.results):
            raise pass_error(user, f"'{user.name}' of a buffer with a layout is not supported; expected memref.subview")


def _offset(view: Any, strides: list[int], offset: int) -> int:
    """Where a view starts, given the strides and the offset of its source; the marker for dynamic when that is not
    constant."""
    starts = list(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]))
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic in (offset, *starts):
        return dynamic
    return offset + sum(start * stride for start, stride in zip(starts, strides, strict=True))
