"""Windows: what a convolution reads of its image, as a matrix of windows that is nowhere in memory (`tile.windows`).

Rows are places of the window, columns places in it. Each dimension of a tile.windows counts through several numbers,
the last one fastest, and each of these moves by a stride of its own in the image. So an element's address is a sum of
quotients and remainders of its indices, which whoever reads it computes. Zeros around the image are nowhere either.
How many images there are may be known at run time only: nothing is divided by the outermost number (`OPEN`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.sizes import size_of

NAME = "tile.windows"
STRIDED = "strided"
"""On windows: each dimension has one stride, perhaps below 0, and stays by itself: a view by strides."""
OPEN = -(1 << 63)
"""A size that is known at run time only, as MLIR writes it: how many images there are."""


@dataclass(frozen=True)
class Image:
    """What windows are taken of: sizes, and how many zeros there are around it, in front and behind."""

    shape: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def padded(self) -> tuple[int, ...]:
        """Sizes with the zeros. Offset and strides of windows are those of a dense image of these sizes."""
        return tuple(map(sum, zip(self.shape, self.low, self.high, strict=True)))

    @property
    def has_zeros(self) -> bool:
        """Whether there are any."""
        return any((*self.low, *self.high))


Parts = tuple[tuple[int, int], ...]
"""The numbers that one dimension counts through, outermost first: how many there are, and their stride in elements."""


def is_windows(value: Any) -> bool:
    """Whether a tensor or memref is a view by windows, whose elements lie where its type does not say."""
    return getattr(value.owner, "name", "") == NAME


def make(
    source: Any, type_: Any, image: Image, parts: Sequence[Parts], offset: int = 0, counts: Sequence[Any] = (),
    strided: bool = False,
) -> Any:  # fmt: skip
    """Windows of a dense tensor or memref that holds an image, of a type with one dimension for each of `parts`, at the
    insertion point; `counts` are its dynamic sizes. One that is `strided` is a view by its strides and nothing else."""
    i64 = ir.IntegerType.get_signless(64)
    sizes, strides = (
        ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get([each[number] for each in one]) for one in parts])
        for number in (0, 1)
    )
    attributes = {"offset": ir.IntegerAttr.get(i64, offset), "sizes": sizes, "strides": strides}
    for name in ("shape", "low", "high"):
        attributes[name] = ir.DenseI64ArrayAttr.get(list(getattr(image, name)))
    if strided:
        attributes[STRIDED] = ir.UnitAttr.get()
    return ir.Operation.create(NAME, results=[type_], operands=[source, *counts], attributes=attributes).results[0]


def is_strided(value: Any) -> bool:
    """Whether windows are a view by strides, which may overlap."""
    return STRIDED in value.owner.operation.attributes


def parts_of(value: Any) -> list[Parts]:
    """For each dimension of a view by windows the numbers it counts through."""
    attributes = value.owner.operation.attributes
    sizes, strides = ([list(each) for each in attributes[name]] for name in ("sizes", "strides"))
    return [tuple(zip(*pair, strict=True)) for pair in zip(sizes, strides, strict=True)]


def image_of(value: Any) -> Image:
    """What the windows are taken of."""
    attributes = value.owner.operation.attributes
    return Image(*(tuple(attributes[name]) for name in ("shape", "low", "high")))


def offset_of(value: Any) -> int:
    """Elements in front of the first one."""
    return int(ir.IntegerAttr(value.owner.operation.attributes["offset"]).value)


def source_of(value: Any) -> Any:
    """The image."""
    return value.owner.operation.operands[0]


def run_of(value: Any) -> int:
    """How many neighbours along the last dimension are neighbours in the image, and start at each multiple of that."""
    parts = [part for part in parts_of(value)[-1] if part[0] != 1]
    return parts[-1][0] if parts and parts[-1][1] == 1 else 1


def divisor(value: Any) -> int:
    """A number that divides the address of each run of neighbours, and its length."""
    steps = [stride for one in parts_of(value) for size, stride in one if size != 1 and stride != 1]
    image = image_of(value)
    pixel = image.shape[-1] if image.has_zeros else 0
    return gcd(run_of(value), offset_of(value), pixel, *steps)


def closed(parts: Sequence[Parts], counts: Sequence[int]) -> list[Parts]:
    """What dimensions count through where the open ones have these sizes."""
    rest = iter(counts)
    return [
        ((next(rest) // prod(size for size, _ in one[1:]), one[0][1]), *one[1:]) if one[0][0] == OPEN else one
        for one in parts
    ]


def closed_of(value: Any, type_: Any) -> Any:
    """The same windows where the sizes are those of a type, of a source whose sizes are known, at the insertion
    point."""
    image, source = image_of(value), source_of(value)
    counts = [size for size, each in zip(type_.shape, value.type.shape, strict=True) if each == OPEN]
    images = prod(source.type.shape) // prod(image.shape[1:])
    image = Image((images, *image.shape[1:]), image.low, image.high)
    return make(source, type_, image, closed(parts_of(value), counts), offset_of(value))


def places(parts: Sequence[Parts], offset: int) -> Any:
    """Where each element is in the image, from its start: an array of numbers."""
    import numpy as np  # a tenth of the time of a small module, for few of which it is used

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
    sizes = source.type.shape
    count, given = prod(sizes), list[Any]()
    if OPEN in sizes:
        count, given = OPEN, [indexing.product([size_of(source, axis) for axis in range(len(sizes))])]
    layout = ir.StridedLayoutAttr.get(0, [1])
    type_ = ir.MemRefType.get([count], source.type.element_type, layout, source.type.memory_space)
    cast = dialect("_memref_ops_gen").ReinterpretCastOp
    return cast(type_, source, [], given, [], [0], [count], [1]).result


def reached(value: Any, indices: Sequence[Any]) -> tuple[Any, Any | None]:
    """Where an element is in the row that `flat` gives, from its index values, and whether it lies in the image; None
    where all do. Built at the insertion point."""
    image, parts = image_of(value), parts_of(value)
    if not image.has_zeros:
        return _address(indices, parts, offset_of(value)), None
    starts = starts_of(offset_of(value), image.padded)
    coordinates: list[Any] = [None] * len(starts)
    for index, one in zip(indices, parts, strict=True):
        for dim, number in numbers(index, digits(one, image.padded) or ()):
            coordinates[dim] = number if coordinates[dim] is None else indexing.add(coordinates[dim], number)
    arith, within, found = dialect("arith"), None, None
    for dim, (number, start) in enumerate(zip(coordinates, starts, strict=True)):
        coordinate = moved(number, start - image.low[dim])
        if image.low[dim] or image.high[dim]:  # what is below 0 is a large number
            within = guards.both([within, guards.less(coordinate, image.shape[dim])])
        step = arith.MulIOp(coordinate, constants.index(prod(image.shape[dim + 1 :]))).result
        found = step if found is None else arith.AddIOp(found, step).result
    return found, within


def moved(index: Any | None, distance: int) -> Any:
    """An index value and a distance, which may be below 0 and their sum too, at the insertion point; no index is 0."""
    start = constants.index(distance)
    return start if index is None else dialect("arith").AddIOp(index, start).result if distance else index


def _address(indices: Sequence[Any], parts: Sequence[Parts], offset: int) -> Any:
    found: Any = offset
    for index, one in zip(indices, parts, strict=True):
        inner = 1
        for place in reversed(range(len(one))):
            size, stride = one[place]
            if size != 1 and stride:
                number = index if inner == 1 else indexing.div(index, inner)
                number = number if place == 0 else indexing.rem(number, size)
                step = number if stride == 1 else indexing.mul(number, stride)
                found = indexing.add(step, found) if isinstance(found, int) else indexing.add(found, step)
            inner *= size
    return found if not isinstance(found, int) else constants.index(found)


Digit = tuple[int, int, int]
"""A number that an index counts through: the image's dimension, how many there are, by how much each moves there."""


def digits(parts: Parts, shape: Sequence[int]) -> tuple[Digit, ...] | None:
    """What an index counts through along the dimensions of an image of some sizes; None where that is not so."""
    strides = [prod(shape[dim + 1 :]) for dim in range(len(shape))]
    found: list[Digit] = []
    for size, stride in reversed(parts):
        while size != 1:
            dim = next((dim for dim, each in enumerate(strides) if each <= stride), None)
            if dim is None or not stride or stride % strides[dim]:
                return None
            step = stride // strides[dim]
            if not dim or (size != OPEN and (size - 1) * step < shape[dim]):
                found.append((dim, size, step))
                break
            room = shape[dim] // step
            if shape[dim] % step or (size != OPEN and size % room):
                return None
            found.append((dim, room, step))
            size, stride = size if size == OPEN else size // room, strides[dim - 1]
    return tuple(reversed(found))


def numbers(index: Any, counted: Sequence[Digit], beyond: bool = False) -> list[tuple[int, Any]]:
    """How far an index is along each dimension that it counts through, as index values at the insertion point; with
    `beyond` the outermost may be past the end."""
    found: list[tuple[int, Any]] = []
    inner = 1
    for place in reversed(range(len(counted))):
        dim, size, step = counted[place]
        number = index if inner == 1 else indexing.div(index, inner)
        number = number if place == 0 and (beyond or size == OPEN) else indexing.rem(number, size)
        found.append((dim, number if step == 1 else indexing.mul(number, step)))
        inner *= size
    return found


def starts_of(offset: int, shape: Sequence[int]) -> list[int]:
    """An offset as an index along each dimension of a dense image."""
    found: list[int] = []
    for size in reversed(shape):
        found.append(offset % size)
        offset //= size
    return found[::-1]
