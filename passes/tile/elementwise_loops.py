"""elementwise-loops: linalg.generics become one parallel loop over elements.

Expects functions marked `tile.kind = "elementwise"`: linalg.generics on memrefs (after upstream's
linalg-generalize-named-ops, and `share-sizes` where sizes are dynamic), and tile.copy into global memory of constant
size, which fills what lies beyond its source with zeros. All must have parallel loops of the same sizes, and what one
writes others may touch only at the same point: then a point keeps it in a register. Leaves an scf.forall, its loops in
the order of the output's memory; the loops of a reduction stay loops inside, with the accumulator in a register. An
iteration takes several neighbouring points where all accesses are aligned vectors. What transposes takes a patch of
them where rows and sizes allow that: it is loaded along the input's neighbours, turned in registers, and stored along
the output's, and iterations of a warp lie along both. Another copy that transposes walks along its source's neighbours,
and takes several of its target's at a time. Refuses what would need two kernels, or a temporary buffer in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.elementwise import pointwise, widths
from mlir_gemm.dialect.elementwise.cells import Cell, cell_of
from mlir_gemm.dialect.elementwise.emission import Emission, Turned
from mlir_gemm.dialect.elementwise.interleaved import Interleaved
from mlir_gemm.dialect.elementwise.patches import Patch, patch_of
from mlir_gemm.dialect.elementwise.pointwise import Pointwise
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import KIND

_AROUND = (
    "arith.constant", "tile.position", "memref.alloc", "memref.dealloc", "memref.dim", "tile.size", "arith.divui",
    "arith.muli", "func.return",
)  # fmt: skip
_ERASED = ("linalg.generic", "tile.copy", "tile.position", "memref.alloc", "memref.dealloc")
_INSIDE = ("arith", "math", "index", "affine", "memref.load", "linalg.index", "linalg.yield", "cf.assert")


@dataclass(frozen=True)
class ElementwiseLoops(Pass):
    """Turn elementwise linalg into one parallel loop."""

    name: ClassVar[str] = "elementwise-loops"
    bits: int = 128
    """The widest access of one thread: an iteration takes as many neighbouring points as fit. 0: always one point."""

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if is_elementwise_kernel(function):
                _convert(function, self.bits)


def is_elementwise_kernel(function: Any) -> bool:
    """Whether a function is an elementwise kernel."""
    attributes = function.attributes
    return KIND in attributes and ir.StringAttr(attributes[KIND]).value == "elementwise"


def _convert(function: Any, bits: int) -> None:
    everything = in_block(body(function))
    work = [operation for operation in everything if operation.operation.name not in (*_AROUND, "scf.forall")]
    if not work:
        return
    all_points = _aligned([pointwise.pointwise(operation) for operation in work])
    _check(all_points)
    order = pointwise.order(all_points[-1])
    width = widths.vector_width(all_points, order[-1], bits) if order else 1
    cell = cell_of(all_points, order, bits) if order and bits else None
    patch = patch_of(all_points, order[-1], bits) if order and bits else None
    with ir.InsertionPoint(work[-1]), work[-1].location:
        if cell is not None:
            _cells(all_points, order, cell, bits)
        elif patch is None:
            _rows(all_points, order, width)
        else:
            _patches(all_points, order, patch)
    for operation in reversed(everything):
        if operation.operation.name in _ERASED:
            operation.operation.erase()


def _rows(all_points: list[Pointwise], order: list[int], width: int) -> None:
    """Each iteration takes `width` neighbours of the output."""
    fastest = order[-1] if order else -1
    walk = pointwise.coalesced(all_points[-1], order) if width > 1 else order
    sizes = all_points[0].space
    bounds = [sizes[place] // width if place == fastest and width > 1 else sizes[place] for place in walk] or [1]
    loop = dialect("scf").ForallOp([0] * len(bounds), bounds, [1] * len(bounds))
    with ir.InsertionPoint(loop.body):
        positions: dict[int, Any] = dict(zip(walk, loop.body.arguments, strict=False))
        if width > 1:
            positions[fastest] = indexing.mul(positions[fastest], width)
        _emit(all_points, Emission([positions[place] for place in range(len(order))], width, fastest))
        dialect("scf").InParallelOp()


def _patches(all_points: list[Pointwise], order: list[int], patch: Patch) -> None:
    """Each iteration takes a patch of the output, and of what lies along another loop."""
    loop, positions = _tiled(all_points[0].space, order, patch)
    first = [positions[place] for place in range(len(order))]
    with ir.InsertionPoint(loop.body):
        turned = Turned(patch, first)
        for number in range(patch.depth):
            here = [indexing.add(at, number) if place == patch.across else at for place, at in enumerate(first)]
            _emit(all_points, Emission(here, patch.width, patch.along, turned=turned, across=number))
        dialect("scf").InParallelOp()


def _tiled(sizes: list[Any], order: list[int], patch: Patch) -> tuple[Any, dict[int, Any]]:
    """A loop over patches, and in it where the first point of each is along every loop, by place."""
    bounds = patch.bounds(sizes, order)
    loop = dialect("scf").ForallOp([0] * len(bounds), [size for _, size in bounds], [1] * len(bounds))
    with ir.InsertionPoint(loop.body):
        *outer, along, across, out_lane, in_lane = loop.body.arguments
        positions: dict[int, Any] = {place: value for (place, _), value in zip(bounds, outer, strict=False)}
        for place, whole, lanes, lane, each in (
            (patch.along, along, patch.out_lanes, out_lane, patch.width),
            (patch.across, across, patch.in_lanes, in_lane, patch.depth),
        ):
            positions[place] = indexing.mul(indexing.add(indexing.mul(whole, lanes), lane), each)
    return loop, positions


def _cells(all_points: list[Pointwise], order: list[int], cell: Cell, bits: int) -> None:
    """Each iteration takes neighbours along a loop, with all their components."""
    walk = [place for place in order if place not in cell.components]
    if cell.patch is not None:
        loop, first = _tiled(all_points[0].space, walk, cell.patch)
    else:
        bounds = [
            cell.sizes[place] // cell.taken(place) if cell.taken(place) > 1 else cell.sizes[place] for place in walk
        ]
        loop = dialect("scf").ForallOp([0] * len(bounds), bounds, [1] * len(bounds))
        with ir.InsertionPoint(loop.body):
            first = dict(zip(walk, loop.body.arguments, strict=True))
            if cell.width > 1:
                first[cell.along] = indexing.mul(first[cell.along], cell.width)
    with ir.InsertionPoint(loop.body):
        memory = Interleaved(cell, first, bits)
        for place in memory.places():
            emission = Emission(memory.positions(place), cell.width, cell.along, interleaved=memory, place=place)
            for points in all_points:
                with points.operation.location:
                    emission.point(points)
                    memory.keep(points, emission.pending, place)
        memory.store()
        dialect("scf").InParallelOp()


def _emit(all_points: list[Pointwise], emission: Emission) -> None:
    for points in all_points:
        with points.operation.location:
            emission.point(points)
    emission.flush()


def _aligned(all_points: list[Pointwise]) -> list[Pointwise]:
    """The operations with their parallel loops in one order, as far as the buffers that they share tell."""
    elements = dict[Any, Any]()
    found: list[Pointwise] = []
    for points in all_points:
        found.append(pointwise.aligned(points, elements))
        for buffer, map_ in zip((*points.inputs, *points.outputs), points.maps, strict=True):
            elements.setdefault(buffer, found[-1].element_of(map_))
    return found


def _check(all_points: list[Pointwise]) -> None:
    first = all_points[0]
    touched = dict[Any, set[Any]]()
    for points in all_points:
        if points.space != first.space:
            raise pass_error(
                points.operation,
                f"points of {_times(points.space)} in one kernel with points of {_times(first.space)}; expected the "
                "same sizes",
            )
        if any(isinstance(size, int) and not size for size in points.sizes):
            raise pass_error(points.operation, f"points of {_times(list(points.sizes))}; expected at least one")
        for operation in pointwise.body_of(points):
            _check_inside(operation)
        for buffer, map_ in zip((*points.inputs, *points.outputs), points.maps, strict=True):
            touched.setdefault(buffer, set()).add(points.element_of(map_))
        copied = list(points.operation.operands)[1:2] if points.operation.operation.name == "tile.copy" else []
        loaded = [op.operands[0] for op in named(points.operation, "memref.load")]
        for buffer in [*copied, *loaded]:
            if getattr(buffer.owner, "name", "") == "memref.alloc":
                raise pass_error(points.operation, f"a buffer of {buffer.type} of this kernel is read at any place")
            touched.setdefault(buffer, set()).add(None)
    for points in all_points:
        for buffer in points.outputs:
            if len(touched[buffer]) > 1:
                raise pass_error(
                    points.operation,
                    f"a buffer of {buffer.type} is written here, and other points touch the same element; expected "
                    "each point to touch only its own",
                )


def _check_inside(operation: Any) -> None:
    name = operation.operation.name
    if name not in _INSIDE and name.partition(".")[0] not in _INSIDE:
        raise pass_error(operation, f"'{name}' in the body of a point; expected operations of arith and math")


def _times(sizes: list[Any]) -> str:
    return "x".join(str(size) if isinstance(size, int) else "?" for size in sizes) or "1"
