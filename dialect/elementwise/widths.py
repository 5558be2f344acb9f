"""How many neighbouring points of an elementwise kernel one thread takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.elementwise import gathers, pointwise
from mlir_gemm.dialect.elementwise.pointwise import Pointwise


def vector_width(all_points: Sequence[Pointwise], place: int, bits: int) -> int:
    """How many neighbouring points one thread takes, in accesses of at most `bits` bits; 1 where that cannot be."""
    size = all_points[0].space[place] if all_points[0].space else 1
    width = min(_widest(points, place, bits) for points in all_points)
    while width > 1 and (_divisor(size) % width or not all(_fits(points, place, width) for points in all_points)):
        width //= 2
    return max(width, 1)


def _divisor(size: Any) -> int:
    """A number that divides a size; 1 for one known at run time only."""
    return size if isinstance(size, int) else 1


def _widest(points: Pointwise, place: int, bits: int) -> int:
    """How many elements fit into `bits`, of the widest type among the operands that change from one point to the
    next."""
    loop = points.parallel[place]
    widths = [
        getattr(operand.type.element_type, "width", 0)
        for operand, map_ in zip([*points.inputs, *points.outputs], points.maps, strict=True)
        if pointwise.in_memory(operand) and pointwise.mentions(map_, loop)
    ]
    return 1 if min(widths) < 8 else bits // max(widths)


def _fits(points: Pointwise, place: int, width: int) -> bool:
    if points.reduced:
        return False
    if not all(pointwise.is_elementwise(operation) for operation in pointwise.body_of(points)):
        loop = points.parallel[place]
        if not gathers.has_loads(points) or gathers.spreads(points, loop, width) is None:
            return False
    return _has_rows(points, place, width)


def _has_rows(points: Pointwise, place: int, width: int) -> bool:
    """Whether operands are read and written in whole vectors, or are one number for all points."""
    kinds = [
        pointwise.access_kind(operand.type, map_, points.parallel[place], width)
        for operand, map_ in zip([*points.inputs, *points.outputs], points.maps, strict=True)
        if pointwise.in_memory(operand)
    ]
    return "apart" not in kinds and kinds[-1] == "row"
