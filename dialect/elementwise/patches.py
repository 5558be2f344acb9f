"""Patches of points for kernels that transpose: their memory is read and written in vectors along different loops.

A thread takes `width` points along the loop that the output's neighbours lie on, and `depth` along the one that an
input's lie on: it loads `width` vectors of `depth`, transposes them in registers, and stores `depth` vectors of
`width`. Threads of a warp lie along both loops, so that each touches whole runs of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.elementwise import pointwise
from mlir_gemm.dialect.elementwise.pointwise import Pointwise
from mlir_gemm.dialect.tile import place_of

OUT_LANES, IN_LANES = 16, 2
"""Threads of a warp along the output's neighbours, and along the input's: the fastest of five on an H200, by 2 to 10 %
for elements of 1 to 8 bytes."""
FURTHEST = 4
"""How many times as many threads may lie along a loop, where the wanted number does not divide it."""
LEAST_BYTES = 8
"""The narrowest loads and stores that are worth it."""


@dataclass(frozen=True)
class Patch:
    """The points of one thread, and how those of a warp's threads lie. Loops are numbered by place."""

    along: int
    """The loop that neighbours of the outputs lie on."""
    width: int
    across: int
    """The loop that neighbours of transposed inputs lie on."""
    depth: int
    out_lanes: int
    in_lanes: int

    def bounds(self, sizes: Sequence[int], order: Sequence[int]) -> list[tuple[int, int]]:
        """The loops to walk, outermost first, each as a place and its iterations: the other loops, the patches of
        warps, and those of threads."""
        others = [(place, sizes[place]) for place in order if place not in (self.along, self.across)]
        return [
            *others,
            (self.along, sizes[self.along] // (self.width * self.out_lanes)),
            (self.across, sizes[self.across] // (self.depth * self.in_lanes)),
            (self.along, self.out_lanes),
            (self.across, self.in_lanes),
        ]


def patch_of(all_points: Sequence[Pointwise], along: int, bits: int) -> Patch | None:
    """The patch for a kernel that reads some input only along another loop than `along`, on which neighbours of its
    outputs lie, and whose sizes are constants that vectors of LEAST_BYTES to `bits` bits divide; None for any other."""
    turned = {loop for points in all_points for loop in _loops_of_turned(points, along)}
    sizes = all_points[0].space
    across = next(iter(turned), None)
    if len(turned) != 1 or across is None or not all(isinstance(size, int) for size in sizes):
        return None
    item = max(_item_bits(all_points))
    width = _largest(sizes[along], bits // item)
    depth = _largest(sizes[across], max(width // 2, min(width, 4)))
    least = min(8 * LEAST_BYTES, bits)
    if width == 1 or width * item < least or depth * item < least or min(_item_bits(all_points)) < 8:
        return None
    found = Patch(
        along, width, across, depth,
        lanes(sizes[along] // width, OUT_LANES), lanes(sizes[across] // depth, IN_LANES),
    )  # fmt: skip
    return found if all(_fits(points, found) for points in all_points) else None


def _largest(size: int, most: int) -> int:
    """The largest power of two up to `most` that divides a size."""
    while most > 1 and size % most:
        most //= 2
    return max(most, 1)


def lanes(count: int, wanted: int) -> int:
    """How many threads lie side by side: the power of two that is wanted where it divides their count; else the least
    divisor up to FURTHEST times as many, with which a warp lies as it should for the most part; else any divisor."""
    if count % wanted == 0:
        return wanted
    above = next((lanes for lanes in range(wanted, FURTHEST * wanted + 1) if count % lanes == 0), None)
    return above or max(lanes for lanes in range(1, wanted + 1) if count % lanes == 0)


def _item_bits(all_points: Sequence[Pointwise]) -> list[int]:
    operands = [operand for points in all_points for operand in (*points.inputs, *points.outputs, *_source(points))]
    return [operand.type.element_type.width for operand in operands if pointwise.in_memory(operand)]


def _source(points: Pointwise) -> list[Any]:
    """The source of a tile.copy."""
    is_copy = points.operation.operation.name == "tile.copy"
    return list(points.operation.operands)[1:2] if is_copy else []


def _loops_of_turned(points: Pointwise, along: int) -> set[int]:
    """The loops, by place, on which neighbours of inputs lie that are not those of `along`."""
    loops = {
        loop
        for operand, map_ in inputs_of(points)
        if pointwise.access_kind(operand.type, map_, points.parallel[along], 1) == "apart"
        for loop in [_fastest(operand.type, map_)]
    }
    return {points.parallel.index(loop) if loop in points.parallel else -1 for loop in loops}


def inputs_of(points: Pointwise) -> list[tuple[Any, Any]]:
    """What is read from memory, each with its map from loops to indices."""
    found = list(zip(points.inputs, points.maps, strict=False))
    for source in _source(points):
        place = place_of(points.operation)
        indices = [ir.AffineConstantExpr.get(0) if dim < 0 else ir.AffineDimExpr.get(dim) for dim in place.dims]
        found.append((source, ir.AffineMap.get(len(points.sizes), 0, indices)))
    return [(operand, map_) for operand, map_ in found if pointwise.in_memory(operand)]


def _fastest(type_: Any, map_: Any) -> int | None:
    """The loop that is the last index of an operand whose neighbours follow one another."""
    strides, _ = type_.get_strides_and_offset()
    last: Any = map_.results[len(strides) - 1] if strides else None
    return last.position if strides and strides[-1] == 1 and isinstance(last, ir.AffineDimExpr) else None


def _fits(points: Pointwise, patch: Patch) -> bool:
    if points.reduced or not all(pointwise.is_elementwise(operation) for operation in pointwise.body_of(points)):
        return False
    if _source(points) and not is_whole(points):
        return False
    along = points.parallel[patch.along]
    outputs = zip(points.outputs, points.output_maps, strict=True)
    if any(pointwise.access_kind(buffer.type, map_, along, patch.width) != "row" for buffer, map_ in outputs):
        return False
    return all(
        is_turned(operand, map_, points, patch)
        or pointwise.access_kind(operand.type, map_, along, patch.width) in ("row", "same")
        for operand, map_ in inputs_of(points)
    )


def is_whole(points: Pointwise) -> bool:
    """Whether a tile.copy reads a memory of its own from the start, and never beyond its end."""
    target, source = list(points.operation.operands)[:2]
    place = place_of(points.operation)
    return all(
        dim >= 0 and constants.integer_of(offset) == 0 and target.type.shape[dim] <= source.type.shape[axis]
        for axis, (offset, dim) in enumerate(zip(place.offsets, place.dims, strict=True))
    )


def is_turned(operand: Any, map_: Any, points: Pointwise, patch: Patch) -> bool:
    """Whether an operand is read in vectors of `depth` along `across`, at points that differ along `along` too."""
    return (
        pointwise.mentions(map_, points.parallel[patch.along])
        and pointwise.access_kind(operand.type, map_, points.parallel[patch.across], patch.depth) == "row"
    )
