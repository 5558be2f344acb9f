"""Windows: what a convolution reads of its image, as a matrix of windows that is nowhere in memory (`tile.windows`).

Rows are places of the window, columns places in it. Each dimension of a tile.windows counts through several numbers,
the last one fastest, and each of these moves by a stride of its own in the image. So an element's address is a sum of
quotients and remainders of its indices, which whoever reads it computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import Any

import numpy as np

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir

NAME = "tile.windows"

Parts = tuple[tuple[int, int], ...]
"""The numbers that one dimension counts through, outermost first: how many there are, and their stride in elements."""


def is_windows(value: Any) -> bool:
    """Whether a tensor or memref is a view by windows, whose elements lie where its type does not say."""
    return getattr(value.owner, "name", "") == NAME


def make(source: Any, type_: Any, parts: Sequence[Parts], offset: int = 0) -> Any:
    """Windows of a dense tensor or memref, of a type with one dimension for each of `parts`, at the insertion point."""
    i64 = ir.IntegerType.get_signless(64)
    sizes, strides = (
        ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get([each[number] for each in one]) for one in parts])
        for number in (0, 1)
    )
    attributes = {"offset": ir.IntegerAttr.get(i64, offset), "sizes": sizes, "strides": strides}
    return ir.Operation.create(NAME, results=[type_], operands=[source], attributes=attributes).results[0]


def parts_of(value: Any) -> list[Parts]:
    """For each dimension of a view by windows the numbers it counts through."""
    attributes = value.owner.operation.attributes
    sizes, strides = ([list(each) for each in attributes[name]] for name in ("sizes", "strides"))
    return [tuple(zip(*pair, strict=True)) for pair in zip(sizes, strides, strict=True)]


def offset_of(value: Any) -> int:
    """Elements in front of the first one."""
    return int(ir.IntegerAttr(value.owner.operation.attributes["offset"]).value)


def source_of(value: Any) -> Any:
    """The image."""
    return value.owner.operation.operands[0]


def run_of(value: Any) -> int:
    """How many neighbours along the last dimension are neighbours in the image, and start at each multiple of that."""
    parts = [part for part in parts_of(value)[-1] if part[0] > 1]
    return parts[-1][0] if parts and parts[-1][1] == 1 else 1


def divisor(value: Any) -> int:
    """A number that divides the address of each run of neighbours, and its length."""
    steps = [stride for one in parts_of(value) for size, stride in one if size > 1 and stride != 1]
    return gcd(run_of(value), offset_of(value), *steps)


def places(parts: Sequence[Parts], offset: int) -> Any:
    """Where each element is in the image, from its start: an array of numbers."""
    found: Any = np.full([], offset, np.int64)
    for axis, one in enumerate(parts):
        along: Any = np.zeros([], np.int64)
        for size, stride in one:
            along = np.add.outer(along, np.arange(size, dtype=np.int64) * stride)
        found = found + along.reshape([-1, *[1] * (len(parts) - 1 - axis)])
    return found


def flat(value: Any) -> Any:
    """The image as one row of memory, at the insertion point."""
    source = source_of(value)
    count = prod(source.type.shape)
    layout = ir.StridedLayoutAttr.get(0, [1])
    type_ = ir.MemRefType.get([count], source.type.element_type, layout, source.type.memory_space)
    cast = dialect("_memref_ops_gen").ReinterpretCastOp
    return cast(type_, source, [], [], [], [0], [count], [1]).result


def address(value: Any, indices: Sequence[Any]) -> Any:
    """Where an element is in the row that `flat` gives, from its index values; built at the insertion point."""
    found: Any = offset_of(value)
    for index, parts in zip(indices, parts_of(value), strict=True):
        inner = 1
        for place in reversed(range(len(parts))):
            size, stride = parts[place]
            if size > 1 and stride:
                number = index if inner == 1 else indexing.div(index, inner)
                number = number if place == 0 else indexing.rem(number, size)
                step = number if stride == 1 else indexing.mul(number, stride)
                found = indexing.add(step, found) if isinstance(found, int) else indexing.add(found, step)
            inner *= size
    return found


