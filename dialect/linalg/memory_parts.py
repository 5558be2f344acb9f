"""Parts of memrefs at constant places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mlir_gemm.dialect.bindings import ir


class Part(NamedTuple):
    """Which part of a memref or tensor a slice is."""

    offsets: list[int]
    sizes: list[int]
    strides: list[int]

    def is_apart(self, other: Part) -> bool:
        """Whether no element is in both, which the ranges of some dimension show."""
        for low, size, step, start, extent, stride in zip(*self, *other, strict=True):
            if low + (size - 1) * step < start or start + (extent - 1) * stride < low:
                return True
        return False


def part_of(op: Any) -> Part:
    """The part that a subview or slice at constants is."""
    return Part(*(list(ir.DenseI64ArrayAttr(op.attributes[f"static_{kind}"])) for kind in Part._fields))


def static_subview(
    memory: Any, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int], shape: Sequence[int] = ()
) -> Any:
    """A memref.subview of static sizes at the insertion point; with a `shape`, without some dimensions of size 1."""
    steps, start = memory.type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    first = dynamic
    if dynamic not in (*steps, start):
        first = start + sum(offset * step for offset, step in zip(offsets, steps, strict=True))
    own = [dynamic if step == dynamic else step * stride for step, stride in zip(steps, strides, strict=True)]
    kept = kept_dimensions(sizes, shape) if shape else range(len(sizes))
    layout = ir.StridedLayoutAttr.get(first, [own[axis] for axis in kept])
    type_ = ir.MemRefType.get(
        [sizes[axis] for axis in kept], memory.type.element_type, layout, memory.type.memory_space
    )
    attributes = {
        "static_offsets": ir.DenseI64ArrayAttr.get(list(offsets)),
        "static_sizes": ir.DenseI64ArrayAttr.get(list(sizes)),
        "static_strides": ir.DenseI64ArrayAttr.get(list(strides)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
    }
    return ir.Operation.create("memref.subview", [type_], [memory], attributes).results[0]


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The dimensions of a part that its type has: those of size 1 may be left out."""
    found: list[int] = []
    left = list(shape)
    for axis, size in enumerate(sizes):
        rest = len(sizes) - axis
        if left and left[0] == size and (size != 1 or rest <= len(left) or 1 in left):
            found.append(axis)
            left.pop(0)
    return found
