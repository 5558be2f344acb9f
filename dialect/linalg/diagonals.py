"""Operands of a product that are constant along diagonals: Toeplitz, Hankel and circulant matrices of a vector.

`a[m, k] = v[f m + g k + c]`, with g of 1 or -1, perhaps modulo a number, is nowhere in memory. A view of the vector by
strides would have rows that begin anywhere, which neither the copy engine nor wide loads take. But each row is the one
before it, shifted; so a few copies of the vector, each shifted by one row more, hold whole tiles:

    copies[s, i] = v[f s + g (i - o) + c],    a[q S + s, k] = copies[s, k + f g S q + o]

The rows of a tile are S copies, one row each, and the next tile begins S rows of the vector further on. All of these
begin at multiples of 16 bytes where S elements are a multiple of that. S copies of m + k elements take the place of
m k elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of, clone
from mlir_gemm.dialect.linalg import computed_reads as reads
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.computed_reads import At
from mlir_gemm.dialect.linalg.generics import build
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.reshapes import reshape
from mlir_gemm.dialect.walk import body, in_block

ROWS = 128
"""Copies, where that divides the rows: those of a block tile."""
LEAST_ROWS = 64
"""Fewer copies leave tensor cores idle."""
ALIGNED = 128
"""Bits that copies begin at multiples of."""
SMALLER = 2
"""The copies must be this many times smaller than the matrix."""


@dataclass(frozen=True)
class Sum:
    """An index: loops with their factors, a distance, and what it is the remainder of a division by, 0 for none."""

    factors: dict[int, int]
    distance: int
    modulus: int = 0


def sum_of(expression: Any, *, modulo: bool = True) -> Sum | None:
    """An index as a sum of loops times numbers, perhaps modulo a number; None where it is no such sum."""
    if isinstance(expression, ir.AffineModExpr) and modulo:
        inner, by = sum_of(expression.lhs), expression.rhs
        if inner is None or inner.modulus or not isinstance(by, ir.AffineConstantExpr):
            return None
        return Sum(inner.factors, inner.distance, by.value)
    if isinstance(expression, ir.AffineConstantExpr):
        return Sum({}, expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return Sum({expression.position: 1}, 0)
    if not isinstance(expression, ir.AffineAddExpr | ir.AffineMulExpr):
        return None
    left, right = sum_of(expression.lhs), sum_of(expression.rhs)
    if left is None or right is None or left.modulus or right.modulus:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        loops = sorted({*left.factors, *right.factors})
        moves = {loop: left.factors.get(loop, 0) + right.factors.get(loop, 0) for loop in loops}
        return Sum(moves, left.distance + right.distance)
    one, number = (left, right) if not right.factors else (right, left)
    if number.factors:
        return None
    by = number.distance
    return Sum({loop: each * by for loop, each in one.factors.items()}, one.distance * by)


@dataclass(frozen=True)
class Diagonals:
    """An operand of a generic that is constant along diagonals, and how it is read."""

    op: Any
    number: int
    axis: int
    """Of the operand's dimensions the one whose index is a sum."""
    index: Sum
    row: int
    """The loop along its rows, m or n of the product."""
    k: int
    sizes: tuple[int, ...]
    """Of the loops."""
    copies: int
    """How many shifted copies there are, which divides the rows."""

    @property
    def source(self) -> Any:
        """The vector, or a batch of them."""
        return self.op.operands[self.number]

    @property
    def tiles(self) -> int:
        """How many times the copies hold the rows of a tile."""
        return self.sizes[self.row] // self.copies

    @property
    def step(self) -> int:
        """Elements of a copy from a tile of rows to the next one."""
        return self.index.factors[self.row] * self.index.factors[self.k] * self.copies

    @property
    def start(self) -> int:
        """Where the first tile begins."""
        return -self.step * (self.tiles - 1) if self.step < 0 else 0

    @property
    def unit(self) -> int:
        """Elements that rows begin at multiples of."""
        return ALIGNED // self.source.type.element_type.width

    @property
    def length(self) -> int:
        """Elements of a copy."""
        reached = self.sizes[self.k] + abs(self.step) * (self.tiles - 1)
        return -(-reached // self.unit) * self.unit

    @property
    def pays(self) -> bool:
        """Whether the copies are much smaller than the matrix."""
        return self.copies * self.length * SMALLER <= self.sizes[self.row] * self.sizes[self.k]


def find(op: Any) -> Diagonals | None:
    """The operand of a generic on tensors that is constant along diagonals and can be read from shifted copies."""
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
    types = [operand.type for operand in op.operands]
    if len(maps) != 3 or not all(isinstance(each, ir.RankedTensorType) and each.has_static_shape for each in types):
        return None
    odd = [number for number, map_ in enumerate(maps) if not map_.is_projected_permutation]
    sizes = _sizes(maps, types, len(reductions))
    if len(odd) != 1 or odd[0] == 2 or sizes is None or _reads_positions(op):
        return None
    (number,) = odd
    sums = [sum_of(each) for each in maps[number].results]
    axes = [axis for axis, each in enumerate(maps[number].results) if not isinstance(each, ir.AffineDimExpr)]
    index = sums[axes[0]] if len(axes) == 1 else None
    if index is None:
        return None
    loops = [loop for loop, factor in index.factors.items() if factor and sizes[loop] > 1]
    summed, rows = ([loop for loop in loops if reductions[loop] == kind] for kind in (True, False))
    beside: list[int] = [each.position for axis, each in enumerate(maps[number].results) if axis not in axes]
    others = [each.position for each in maps[1 - number].results]
    if len(summed) != 1 or len(rows) != 1 or len({*beside, *loops}) < len(beside) + 2 or rows[0] in others:
        return None
    if abs(index.factors[summed[0]]) != 1 or any(reductions[loop] for loop in beside):
        return None
    if index.modulus > types[number].shape[axes[0]]:
        return None
    width = types[number].element_type.width
    return next(
        (found for copies in _copies(sizes[rows[0]], max(1, ALIGNED // width))
         if (found := Diagonals(op, number, axes[0], index, rows[0], summed[0], sizes, copies)).pays),
        None,
    )  # fmt: skip


def _sizes(maps: Sequence[Any], types: Sequence[Any], loops: int) -> tuple[int, ...] | None:
    found: dict[int, int] = {}
    for map_, type_ in zip(maps, types, strict=True):
        for each, size in zip(map_.results, type_.shape, strict=True):
            if isinstance(each, ir.AffineDimExpr):
                found[each.position] = size
    return tuple(found[loop] for loop in range(loops)) if len(found) == loops else None


def _reads_positions(op: Any) -> bool:
    return any(inner.operation.name in ("linalg.index", "tensor.extract") for inner in in_block(body(op)))


def _copies(rows: int, unit: int) -> list[int]:
    """How many copies there may be: numbers that divide the rows, of whole units, by which tiles are at least as high
    as there are tiles. First 128, then those above it, then those below it, always the nearest first."""
    fit = [each for each in range(unit, rows, unit) if rows % each == 0 and each >= max(LEAST_ROWS, rows // each)]
    return sorted(fit, key=lambda each: (each < ROWS, abs(each - ROWS)))


def read_from_copies(found: Diagonals) -> None:
    """Replaces the generic by one that reads its operand from shifted copies, if that is a product of numbers. Leaves
    what it does not need, for `erase_dead`."""
    op, number = found.op, found.number
    block, yielded = body(op), in_block(body(op))[-1].operation.operands
    with ir.InsertionPoint(op), op.location:
        view = _view(found)
        maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
        moved = [tuple(_moved(found, each.position) for each in map_.results) if place != number else ()
                 for place, map_ in enumerate(maps)]  # fmt: skip
        reductions = ["reduction" in str(kind) for kind in op.attributes["iterator_types"]]
        reductions.insert(found.row + 1, False)
        loops = [tuple(loop for own in each for loop in own) for each in moved]
        beside = [loop for axis, each in enumerate(maps[number].results) if axis != found.axis
                  for loop in _moved(found, each.position)]  # fmt: skip
        loops[number] = (*beside, found.row, found.row + 1, *_moved(found, found.k))
        taken_apart = list[int]()
        for size, own in zip(op.operands[2].type.shape, moved[2], strict=True):
            taken_apart += [size] if len(own) == 1 else [found.tiles, found.copies]
        inputs = [view if place == number else op.operands[place] for place in range(2)]

        def emit(arguments: list[Any]) -> list[Any]:
            known = dict(zip(block.arguments, arguments, strict=True))
            for inner in in_block(block)[:-1]:
                clone(inner, known)
            return [known.get(value, value) for value in yielded]

        new = build(inputs, [reshape(op.operands[2], taken_apart)], loops, reductions, emit)
        if not _is_product(new, number):
            new.erase()
            return
        for name, attribute in attributes_of(op).items():
            if name not in new.attributes:
                new.attributes[name] = attribute
        op.results[0].replace_all_uses_with(reshape(new.results[0], list(op.results[0].type.shape)))
    op.erase()


def _moved(found: Diagonals, loop: int) -> tuple[int, ...]:
    """A loop, by its numbers once the rows are two loops."""
    return (loop, loop + 1) if loop == found.row else (loop + (loop > found.row),)


def _is_product(op: Any, number: int) -> bool:
    """Whether this is a product of an operand as it is."""
    product = product_of(op)
    sizes = structured.sizes_of(structured.read(op))
    return (
        product is not None
        and product.algebra is None
        and all(any(sizes[loop] > 1 for loop in part) for part in (product.m, product.n, product.k))
        and any(side.plain and side.operands == (number,) for side in (product.a, product.b))
    )


def _view(found: Diagonals) -> Any:
    """The operand as a view of shifted copies: what is beside the sum, tiles, rows of a tile, k."""
    source = found.source
    shape = [size for axis, size in enumerate(source.type.shape) if axis != found.axis]
    element = source.type.element_type
    copies = reads.copy(
        ir.RankedTensorType.get([*shape, found.copies, found.length], element), lambda at: _element(found, at)
    )
    strides, beyond = list[int](), found.copies * found.length
    for size in reversed(shape):
        strides.insert(0, beyond)
        beyond *= size
    view = [*shape, found.tiles, found.copies, found.sizes[found.k]]
    strides += [found.step, found.length, 1]
    lies = tuple(copies.type.shape)
    image = windows.Image(lies, (0,) * len(lies), (0,) * len(lies))
    parts = [((size, stride),) for size, stride in zip(view, strides, strict=True)]
    return windows.make(copies, ir.RankedTensorType.get(view, element), image, parts, found.start, strided=True)


def _element(found: Diagonals, at: list[Any]) -> Any:
    """An element of the copies, from its index values."""
    *place, copy, along = (At.of(each) for each in at)
    row, k, modulus = found.index.factors[found.row], found.index.factors[found.k], found.index.modulus
    distance = found.index.distance - k * found.start
    index = copy * At.number(row) + along * At.number(k) + At.number(distance)
    if modulus:  # of a number that is not negative
        least = distance + min(0, row * (found.copies - 1)) + min(0, k * (found.length - 1))
        index = reads.remainder(index + At.number(-(least // modulus) * modulus), modulus)
    else:  # what a copy has behind the last row's end is not read
        index = index.within(found.source, found.axis)
    place.insert(found.axis, index)
    return reads.element(found.source, place)
