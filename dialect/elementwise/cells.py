"""What a thread takes of kernels whose memory has components of elements beside each other.

A thread takes `width` points along one loop, all of the loops over components, and, where an input lies along another
loop than the outputs do, `depth` points along that one: so that what it reads and writes are whole vectors
(`interleaved.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.elementwise import patches, pointwise
from mlir_gemm.dialect.elementwise.patches import Patch
from mlir_gemm.dialect.elementwise.pointwise import Pointwise
from mlir_gemm.dialect.sizes import shared_sizes, strides_of
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.errors import PassError

MOST = 4
"""Components of an element, at most."""
STEPS = (1, 2, MOST)
"""Elements from one point to the next, so that some points are a vector."""
NARROW = 32
"""Bits of an element with its components of which a thread that transposes takes four; of wider ones fewer."""
MOST_BITS = 512
"""What a thread loads or stores of one operand without gaps, at most."""


@dataclass(frozen=True)
class OpenStep:
    """A step that is known at run time only."""

    number: int
    values: tuple[Any, ...]
    """Index values: the step is their product, times `number`."""


@dataclass(frozen=True)
class Steps:
    """An operand: how far apart in memory, in elements, neighbours along each loop are."""

    of: Mapping[int, int | OpenStep]
    """By place; only loops that it depends on."""
    offset: int

    def known(self, place: int) -> int:
        """The step along a loop; 0 where it is not known."""
        step = self.of.get(place, 0)
        return step if isinstance(step, int) else 0

    def divisor(self, place: int) -> int:
        """A number that divides the step along a loop."""
        step = self.of[place]
        return step if isinstance(step, int) else step.number

    def times(self, place: int, index: Any) -> Any:
        """How far from the start an index along a loop is, as an index value at the insertion point."""
        step = self.of[place]
        if isinstance(step, int):
            return constants.index(step * index) if isinstance(index, int) else indexing.mul(index, step)
        found = constants.index(index) if isinstance(index, int) else index
        for value in (*step.values, *([step.number] if step.number != 1 else [])):
            found = indexing.mul(found, value)
        return found


@dataclass(frozen=True)
class Cell:
    """The points of one thread. Loops are numbered by place."""

    along: int
    """The loop that outputs lie along, but for components."""
    width: int
    components: tuple[int, ...]
    """The loops over components."""
    sizes: tuple[Any, ...]
    """Of all loops; index values where they are known at run time only."""
    across: int = -1
    """The loop that an input lies along, where that is another one."""
    patch: Patch | None = None
    """How threads lie where there is one."""

    def taken(self, place: int) -> int:
        """How many points along a loop a thread takes."""
        if place in self.components:
            return self.sizes[place]
        if self.patch is not None and place == self.across:
            return self.patch.depth
        return self.width if place == self.along else 1

    def run(self, steps: Steps) -> Run | None:
        """How what a thread takes of an operand lies in memory; None where it takes one number, or no whole vectors."""
        leads = [place for place in dict.fromkeys((self.along, self.across)) if steps.known(place) in STEPS]
        if len(leads) != 1:
            return None
        (lead,), step = leads, steps.known(leads[0])
        near = tuple(each for each in self.components if 0 < steps.known(each) < step)
        reach = steps.offset % step + sum((self.sizes[each] - 1) * steps.known(each) for each in near)
        length = step * self.taken(lead)
        far = [steps.divisor(place) for place in steps.of if place not in (lead, *near)]
        if reach >= step or any(each % length for each in (*far, steps.offset - steps.offset % step)):
            return None
        return Run(lead, near, step, length)

    def within(self, run: Run) -> Iterator[tuple[int, ...]]:
        """The points of one run, from its first one on."""
        inside = (run.lead, *run.near)
        return product(*(range(self.taken(place) if place in inside else 1) for place in range(len(self.sizes))))

    def beyond(self, steps: Steps, run: Run) -> int:
        """How many elements the last run of an operand has after its last number."""
        own = steps.offset % run.step + sum(steps.known(each) * (self.sizes[each] - 1) for each in run.near)
        return run.step - own - 1


@dataclass(frozen=True)
class Run:
    """Neighbours in memory: `length` elements, `step` of them for each point along the loop `lead`."""

    lead: int
    near: tuple[int, ...]
    """The loops over components whose steps are within."""
    step: int
    length: int


def cell_of(all_points: Sequence[Pointwise], order: Sequence[int], bits: int) -> Cell | None:
    """What a thread takes of a kernel of whose operands some have components beside each other, in accesses of at most
    `bits` bits; None for any other, and where memory is not read and written in vectors."""
    sizes = tuple(all_points[0].space)
    components = tuple(place for place in order if isinstance(sizes[place], int) and sizes[place] <= MOST)
    long = [place for place in order if place not in components]
    if not long or not all(map(_is_plain, all_points)):
        return None
    operands = [each for points in all_points for each in _operands(points)]
    if any(each.steps is None for each in operands):
        return None
    found, along = [(each, each.steps) for each in operands if each.steps is not None], long[-1]
    leads = [(_lead(steps, long), steps) for _, steps in found if along in steps.of]
    others = {lead for lead, _ in leads} - {along}
    if len(others) > 1 or all(steps.known(lead) in (0, 1) for lead, steps in leads):
        return None
    copies = any(points.operation.operation.name == "tile.copy" for points in all_points)
    for cell in _cells(sizes, along, components, next(iter(others), -1), found, bits):
        if all(_fits(cell, each, steps) for each, steps in found):
            return cell if cell.width > 1 or not copies else None
    return None


def _cells(
    sizes: tuple[Any, ...], along: int, components: tuple[int, ...], across: int,
    found: Sequence[tuple[Accessed, Steps]], bits: int,
) -> Iterator[Cell]:  # fmt: skip
    """What a thread may take, the most first."""
    own = [(each, [steps.known(place) for place in (along, across) if steps.known(place)]) for each, steps in found]
    widest = max(each.item * min([MOST, *steps]) for each, steps in own)
    for width in _halves(sizes[along], max(bits // widest, 2)):
        if across < 0 or not all(isinstance(sizes[place], int) for place in (along, across)):
            yield Cell(along, width, components, sizes, across)
            continue
        for depth in _halves(sizes[across], max(MOST * NARROW // max(widest, NARROW), 1)):
            lanes = [
                patches.lanes(sizes[place] // each, wanted)
                for place, each, wanted in ((along, width, patches.OUT_LANES), (across, depth, patches.IN_LANES))
            ]
            yield Cell(along, width, components, sizes, across, Patch(along, width, across, depth, *lanes))


def _halves(size: Any, most: int) -> Iterator[int]:
    """The powers of two from `most` on that divide a size, down to 1; 1 for one known at run time only."""
    while most > 1:
        if isinstance(size, int) and size % most == 0:
            yield most
        most //= 2
    yield 1


def _is_plain(points: Pointwise) -> bool:
    whole = points.operation.operation.name != "tile.copy" or patches.is_whole(points)
    return whole and not points.reduced and all(map(pointwise.is_elementwise, pointwise.body_of(points)))


@dataclass(frozen=True)
class Accessed:
    """An operand in memory."""

    item: int
    """Bits of an element."""
    steps: Steps | None
    written: bool


def _operands(points: Pointwise) -> list[Accessed]:
    """What is read and written in memory that is not the kernel's own."""
    outputs = list(zip(points.outputs, points.output_maps, strict=True))
    return [
        Accessed(getattr(operand.type.element_type, "width", 0), steps_of(points, operand, map_), written)
        for written, pairs in ((False, patches.inputs_of(points)), (True, outputs))
        for operand, map_ in pairs
        if not is_own(operand)
    ]


def is_own(operand: Any) -> bool:
    """Whether it is a buffer of the kernel's own, whose elements stay in registers."""
    return getattr(operand.owner, "name", "") == "memref.alloc"


def steps_of(points: Pointwise, operand: Any, map_: Any) -> Steps | None:
    """The steps of an operand; None where they are not known."""
    strides, offset = operand.type.get_strides_and_offset()
    if offset == ir.ShapedType.get_dynamic_stride_or_offset():
        return None
    found: dict[int, int | OpenStep] = {}
    for axis, (stride, each) in enumerate(zip(strides, map_.results, strict=True)):
        step = _open_step(operand, axis) if stride == ir.ShapedType.get_dynamic_stride_or_offset() else stride
        if isinstance(each, ir.AffineConstantExpr):
            if each.value and not isinstance(step, int):
                return None
            offset += stride * each.value if each.value else 0
        elif not isinstance(each, ir.AffineDimExpr) or step is None:
            return None
        elif each.position in points.parallel:
            place = points.parallel.index(each.position)
            if place in found:
                return None
            found[place] = step
    return Steps(found, offset)


def _open_step(operand: Any, axis: int) -> OpenStep | None:
    """A stride that is known at run time only, of a function's argument whose sizes are named; else None."""
    if not hasattr(operand.owner, "operations"):
        return None
    function = operand.owner.owner
    try:
        stride = strides_of(function, operand.type, argument_attributes(function)[operand.arg_number])[axis]
    except PassError:
        return None
    shared = shared_sizes(function)
    values = [shared.get(Size(1, (symbol,))) for symbol in stride.symbols]
    return OpenStep(stride.number, tuple(values)) if all(each is not None for each in values) else None


def _lead(steps: Steps, long: Sequence[int]) -> int:
    """The loop that an operand lies along, but for components."""
    places = [place for place in long if place in steps.of]
    return min(places, key=lambda place: (not steps.known(place), steps.known(place)))


def _fits(cell: Cell, operand: Accessed, steps: Steps) -> bool:
    """Whether an operand is read or written in whole vectors, or is one number for all points along a loop."""
    run = cell.run(steps)
    if run is None:
        return not operand.written and cell.along not in steps.of
    filled = run.lead == cell.along and prod(cell.sizes[each] for each in run.near) == run.step
    return operand.item >= 8 and run.length * operand.item <= MOST_BITS and (filled or not operand.written)
