"""Views: how a tensor lies in its buffer, as sizes, strides and an offset in elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.source import is_row_major
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.windows import Image, Parts


@dataclass(frozen=True)
class View:
    """Element `i` is at `offset + sum(i * strides)` of the buffer."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    windows: Image | None = None
    """Of what elements are reached by windows (`tile.windows`), so that loops may be joined that do not step evenly."""
    parts: tuple[Parts, ...] = ()
    """Of joined loops: what each dimension counts through. `strides` are then those of the innermost part."""

    @staticmethod
    def dense(shape: Sequence[int]) -> View:
        """Row-major, without gaps."""
        return View(tuple(shape), tuple(prod(shape[axis + 1 :]) for axis in range(len(shape))))

    @property
    def is_dense(self) -> bool:
        """Whether the view is what `dense` gives."""
        return self == View.dense(self.shape)

    @property
    def is_injective(self) -> bool:
        """Whether it is plain that no two elements share a place."""
        reach = 0
        for stride, size in sorted((s, n) for s, n in zip(self.strides, self.shape, strict=True) if n > 1):
            if stride <= reach:
                return False
            reach += stride * (size - 1)
        return True

    def expanded(self, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> View:
        """With each dimension split into the sizes of a group of dimensions of `shape`."""
        strides = list(View.dense(shape).strides)  # dimensions of size 1 before a scalar have no group
        for stride, group in zip(self.strides, groups, strict=bool(groups)):
            for position, axis in enumerate(group):
                strides[axis] = stride * prod(shape[inner] for inner in group[position + 1 :])
        return replace(self, shape=tuple(shape), strides=tuple(strides))

    def collapsed(self, groups: Sequence[Sequence[int]]) -> View | None:
        """With each group of dimensions made one; None where their elements do not follow one another evenly."""
        shape: list[int] = []
        strides: list[int] = []
        for group in groups:
            axes = [axis for axis in group if self.shape[axis] != 1]
            pairs = pairwise(axes)
            if any(self.strides[outer] != self.strides[inner] * self.shape[inner] for outer, inner in pairs):
                return None
            shape.append(prod(self.shape[axis] for axis in group))
            strides.append(self.strides[axes[-1]] if axes else 1)
        view = View(tuple(shape), tuple(strides), self.offset)
        dense = View.dense(shape)
        tidy = tuple(d if n == 1 else s for s, d, n in zip(strides, dense.strides, shape, strict=True))
        return replace(self, shape=view.shape, strides=tidy)

    def sliced(self, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> View:
        """A regular part of it, of the same rank."""
        start = self.offset + sum(o * s for o, s in zip(offsets, self.strides, strict=True))
        strides = tuple(s * step for s, step in zip(self.strides, steps, strict=True))
        return replace(self, shape=tuple(sizes), strides=strides, offset=start)

    def without_units(self, shape: Sequence[int]) -> View:
        """With dimensions of size 1 dropped until the shape is `shape`."""
        kept: list[int] = []
        for axis, size in enumerate(self.shape):
            if len(kept) < len(shape) and size == shape[len(kept)]:
                kept.append(axis)
        return replace(self, shape=tuple(shape), strides=tuple(self.strides[axis] for axis in kept))


def view_of_type(type_: Any, operation: Any) -> View:
    """How a memref lies in its buffer. Raises InputError where that is not known now."""
    shape = list(type_.shape)
    if not type_.has_static_shape:
        raise input_error(operation, f"{type_} has dynamic sizes; sizes must be static")
    if is_row_major(type_):
        return View.dense(shape)
    try:
        strides, offset = type_.get_strides_and_offset()
    except Exception:  # the bindings raise RuntimeError or ValueError, by version
        raise input_error(operation, f"{type_} is not strided; expected sizes and strides") from None
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    if unknown in (*strides, offset):
        raise input_error(operation, f"{type_} has a dynamic stride or offset; they must be static")
    return View(tuple(shape), tuple(strides), offset)


def given_view(type_: Any, operation: Any) -> View:
    """`view_of_type` of memory that the user gave: raises InputError where it runs backwards."""
    view = view_of_type(type_, operation)
    if min(view.strides, default=0) < 0:
        raise input_error(operation, f"{type_} has a negative stride; strides must be at least 0")
    return view


def memref_type(view: View, element: Any) -> Any:
    """The memref type of a view in global memory."""
    if view.is_dense:
        return ir.MemRefType.get(list(view.shape), element)
    layout = ir.StridedLayoutAttr.get(view.offset, list(view.strides))
    return ir.MemRefType.get(list(view.shape), element, layout)
