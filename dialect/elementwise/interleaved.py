"""Kernels whose memory has components of elements beside each other: it is read and written in whole vectors.

A thread takes `width` points along one loop, all of the loops over components, and, where an input lies along another
loop than the outputs do, `depth` points along that one. What lies together in memory is loaded as vectors, each number
goes to its point in registers, and neighbours are stored as vectors again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, memory
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.elementwise import patches, pointwise
from mlir_gemm.dialect.elementwise.patches import Patch
from mlir_gemm.dialect.elementwise.pointwise import Pointwise

MOST = 4
"""Components of an element, at most."""
STEPS = (1, 2, MOST)
"""Elements from one point to the next, so that some points are a vector."""
NARROW = 32
"""Bits of an element with its components of which a thread that transposes takes four; of wider ones fewer."""
MOST_BITS = 512
"""What a thread loads or stores of one operand without gaps, at most."""


@dataclass(frozen=True)
class Steps:
    """An operand: how far apart in memory, in elements, neighbours along each loop are."""

    of: Mapping[int, int]
    """By place; only loops that it depends on."""
    offset: int

    def without(self, places: Sequence[int]) -> dict[int, int]:
        return {place: step for place, step in self.of.items() if place not in places}


@dataclass(frozen=True)
class Cell:
    """The points of one thread. Loops are numbered by place."""

    along: int
    """The loop that outputs lie along, but for components."""
    width: int
    components: tuple[int, ...]
    """The loops over components."""
    sizes: tuple[int, ...]
    """Of all loops."""
    patch: Patch | None = None
    """How threads lie where an input lies along another loop."""

    @property
    def across(self) -> int:
        """The loop that an input lies along, where that is another one; else -1."""
        return self.patch.across if self.patch is not None else -1

    def taken(self, place: int) -> int:
        """How many points along a loop a thread takes."""
        if place in self.components:
            return self.sizes[place]
        if self.patch is not None and place == self.patch.across:
            return self.patch.depth
        return self.width if place == self.along else 1

    def run(self, steps: Steps) -> Run | None:
        """How what a thread takes of an operand lies in memory; None where it takes one number, or no whole vectors."""
        leads = [place for place in (self.along, self.across) if steps.of.get(place, 0) in STEPS]
        if len(leads) != 1:
            return None
        (lead,), step = leads, steps.of[leads[0]]
        near = tuple(each for each in self.components if 0 < steps.of.get(each, step) < step)
        reach = steps.offset % step + sum((self.sizes[each] - 1) * steps.of[each] for each in near)
        length = step * self.taken(lead)
        far = [*steps.without([lead, *near]).values(), steps.offset - steps.offset % step]
        if reach >= step or any(each % length for each in far):
            return None
        return Run(lead, near, step, length)

    def within(self, run: Run) -> Iterator[tuple[int, ...]]:
        """The points of one run, from its first one on."""
        inside = (run.lead, *run.near)
        return product(*(range(self.taken(place) if place in inside else 1) for place in range(len(self.sizes))))

    def last(self, steps: Steps, run: Run) -> int:
        """Where the last run of an operand begins."""
        ends = {place: size - self.taken(place) if place == run.lead else size - 1
                for place, size in enumerate(self.sizes) if place not in run.near}  # fmt: skip
        reach = sum(step * ends[place] for place, step in steps.of.items() if place in ends)
        return steps.offset - steps.offset % run.step + reach


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
    `bits` bits; None for any other, where sizes are not known, and where memory is not read and written in whole
    vectors."""
    sizes = all_points[0].space
    if not all(isinstance(size, int) for size in sizes) or not all(map(_is_plain, all_points)):
        return None
    components = tuple(place for place in order if sizes[place] <= MOST)
    long = [place for place in order if place not in components]
    operands = [each for points in all_points for each in _operands(points)]
    if not long or any(each.steps is None for each in operands):
        return None
    found, along = [(each, each.steps) for each in operands if each.steps is not None], long[-1]
    leads = [(_lead(steps, long), steps) for _, steps in found if along in steps.of]
    others = {lead for lead, _ in leads} - {along}
    if len(others) > 1 or all(steps.of[lead] == 1 for lead, steps in leads):
        return None
    cell = _cell(tuple(sizes), along, components, next(iter(others), -1), found, bits)
    fits = all(_fits(cell, each, steps) for each, steps in found)
    return cell if cell.width > 1 and fits else None


def _cell(
    sizes: tuple[int, ...], along: int, components: tuple[int, ...], across: int,
    found: Sequence[tuple[Accessed, Steps]], bits: int,
) -> Cell:  # fmt: skip
    own = [(each, [step for place, step in steps.of.items() if place in (along, across)]) for each, steps in found]
    widest = max(each.item * min([MOST, *steps]) for each, steps in own)
    width = _largest(sizes[along], max(bits // widest, 2))
    if across < 0:
        return Cell(along, width, components, sizes)
    depth = _largest(sizes[across], max(MOST * NARROW // max(widest, NARROW), 1))
    lanes = [
        patches.lanes(sizes[place] // each, wanted)
        for place, each, wanted in ((along, width, patches.OUT_LANES), (across, depth, patches.IN_LANES))
    ]
    return Cell(along, width, components, sizes, Patch(along, width, across, depth, *lanes))


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
        if not _is_own(operand)
    ]


def _is_own(operand: Any) -> bool:
    """Whether it is a buffer of the kernel's own, whose elements stay in registers."""
    return getattr(operand.owner, "name", "") == "memref.alloc"


def steps_of(points: Pointwise, operand: Any, map_: Any) -> Steps | None:
    """The steps of an operand; None where they are not known."""
    strides, offset = operand.type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic in (*strides, offset):
        return None
    found: dict[int, int] = {}
    for stride, each in zip(strides, map_.results, strict=True):
        if isinstance(each, ir.AffineConstantExpr):
            offset += stride * each.value
        elif not isinstance(each, ir.AffineDimExpr):
            return None
        elif each.position in points.parallel:
            place = points.parallel.index(each.position)
            found[place] = found.get(place, 0) + stride
    return Steps(found, offset)


def _lead(steps: Steps, long: Sequence[int]) -> int:
    """The loop that an operand lies along, but for components."""
    return min((place for place in long if place in steps.of), key=lambda place: steps.of[place])


def _largest(size: int, most: int) -> int:
    while most > 1 and size % most:
        most //= 2
    return most


def _fits(cell: Cell, operand: Accessed, steps: Steps) -> bool:
    """Whether an operand is read or written in whole vectors, or is one number for all points along a loop."""
    run = cell.run(steps)
    if run is None:
        return not operand.written and cell.along not in steps.of
    filled = run.lead == cell.along and prod(cell.sizes[each] for each in run.near) == run.step
    return operand.item >= 8 and run.length * operand.item <= MOST_BITS and (filled or not operand.written)


Place = tuple[int, ...]
"""A point of a thread's: for each loop, by place, how far from the first one."""


@dataclass
class Interleaved:
    """What a thread reads and writes, at the insertion point: loaded once, and stored once all is computed."""

    cell: Cell
    first: Mapping[int, Any]
    """The values at the thread's first point of all loops but those over components, by place."""
    bits: int
    loaded: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])
    written: dict[Any, dict[Place, Any]] = field(default_factory=dict[Any, dict[Place, Any]])
    maps: dict[Any, tuple[Pointwise, Any]] = field(default_factory=dict[Any, tuple[Pointwise, Any]])

    def positions(self, at: Place) -> list[Any]:
        """The loops' values at a point."""
        return [constants.index(number) if place in self.cell.components else indexing.add(self.first[place], number)
                for place, number in enumerate(at)]  # fmt: skip

    def places(self) -> list[Place]:
        """The points that are computed one after the other, each with its neighbours along `along`."""
        taken = [1 if place == self.cell.along else self.cell.taken(place) for place in range(len(self.cell.sizes))]
        return list(product(*map(range, taken)))

    def row(self, points: Pointwise, operand: Any, map_: Any, at: Place) -> Any | None:
        """The vector of an operand for a point and its neighbours; None where it is one number."""
        steps = steps_of(points, operand, map_)
        run = self.cell.run(steps) if steps is not None else None
        if steps is None or run is None:
            return None
        values = list[Any]()
        for number in range(self.cell.width):
            here = tuple(number if place == self.cell.along else each for place, each in enumerate(at))
            values.append(self._number(operand, steps, run, here))
        return dialect("vector").FromElementsOp(ir.VectorType.get([len(values)], values[0].type), values).result

    def _number(self, operand: Any, steps: Steps, run: Run, here: Place) -> Any:
        outside = tuple(0 if place == run.lead or place in run.near or place not in steps.of else each
                        for place, each in enumerate(here))  # fmt: skip
        key = operand, steps.offset, tuple(sorted(steps.of.items())), outside
        if key not in self.loaded:
            self.loaded[key] = self._load(operand, steps, run, outside)
        return self.loaded[key][_within(steps, run, here)]

    def _load(self, operand: Any, steps: Steps, run: Run, outside: Place) -> list[Any]:
        """The elements of a run. What belongs to no point of the operand may lie beyond its end: there, only those that
        do are loaded."""
        element, start = operand.type.element_type, self._start(steps, outside, run)
        view, end = _flat(operand, steps, self.cell.sizes)
        length = min(run.length, self.bits // element.width)
        type_ = ir.VectorType.get([length], element)
        own = {_within(steps, run, here) for here in self.cell.within(run)}
        found: list[Any] = []
        for first in range(0, run.length, length):
            at = indexing.add(start, first)
            singles = [at_end if first + at_end in own else None for at_end in range(length)]
            beyond = self.cell.last(steps, run) + first + length > end
            inside = guards.less(indexing.add(at, length - 1), end) if beyond else None
            vector = guards.either(
                inside, type_, lambda at=at: _vector(view, type_, at),
                lambda at=at, singles=singles: _singles(view, type_, at, singles),
            )  # fmt: skip
            found += [dialect("vector").ExtractOp(vector, [], [number]).result for number in range(length)]
        return found

    def _start(self, steps: Steps, outside: Place, run: Run) -> Any:
        """The place in memory at which a run begins."""
        found: Any = constants.index(0)
        for place, step in steps.of.items():
            if place not in self.cell.components:
                moved = indexing.mul(self.first[place], step)
                found = moved if constants.integer_of(found) == 0 else indexing.add(found, moved)
        constant = steps.offset - steps.offset % run.step
        return indexing.add(found, constant + sum(step * outside[place] for place, step in steps.of.items()))

    def keep(self, points: Pointwise, pending: Mapping[Any, tuple[Any, list[Any]]], at: Place) -> None:
        """What one point and its neighbours leave in each buffer."""
        for buffer, (value, _) in pending.items():
            if buffer in points.outputs and not _is_own(buffer):
                self.maps[buffer] = points, points.output_maps[points.outputs.index(buffer)]
                self.written.setdefault(buffer, {})[at] = value

    def store(self) -> None:
        """Writes what all points left."""
        for buffer, (points, map_) in self.maps.items():
            steps = steps_of(points, buffer, map_)
            run = self.cell.run(steps) if steps is not None else None
            assert steps is not None and run is not None  # else there would be no cell
            runs: dict[Place, dict[int, Any]] = {}
            for at, value in self.written[buffer].items():
                outside = tuple(0 if place in run.near or place not in steps.of else each
                                for place, each in enumerate(at))  # fmt: skip
                for number in range(self.cell.width):
                    here = tuple(number if place == run.lead else each for place, each in enumerate(at))
                    element = dialect("vector").ExtractOp(value, [], [number]).result
                    runs.setdefault(outside, {})[_within(steps, run, here)] = element
            for outside, values in runs.items():
                self._store(buffer, steps, run, outside, [values[number] for number in range(run.length)])

    def _store(self, buffer: Any, steps: Steps, run: Run, outside: Place, values: list[Any]) -> None:
        element, start = buffer.type.element_type, self._start(steps, outside, run)
        view, _ = _flat(buffer, steps, self.cell.sizes)
        length = min(run.length, self.bits // element.width)
        type_ = ir.VectorType.get([length], element)
        for chunk in range(0, run.length, length):
            vector = dialect("vector").FromElementsOp(type_, values[chunk : chunk + length]).result
            at = indexing.add(start, chunk)
            dialect("vector").StoreOp(vector, view, [at], alignment=memory.vector_bytes(type_))


def _vector(view: Any, type_: Any, at: Any) -> Any:
    return dialect("vector").LoadOp(type_, view, [at], alignment=memory.vector_bytes(type_)).result


def _singles(view: Any, type_: Any, at: Any, numbers: Sequence[int | None]) -> Any:
    """A vector, element by element, with zeros for those that are not asked for."""
    zero = guards.zero(type_.element_type)
    values = [zero if number is None else dialect("memref").LoadOp(view, [indexing.add(at, number)]).result
              for number in numbers]  # fmt: skip
    return dialect("vector").FromElementsOp(type_, values).result


def _within(steps: Steps, run: Run, here: Place) -> int:
    """The place in a run of a point."""
    return steps.offset % run.step + sum(steps.of[place] * here[place] for place in (run.lead, *run.near)
                                         if place in steps.of)  # fmt: skip


def _flat(operand: Any, steps: Steps, sizes: Sequence[int]) -> tuple[Any, int]:
    """An operand's memory from its aligned address on as a vector, and where it ends."""
    end = steps.offset + sum(step * (sizes[place] - 1) for place, step in steps.of.items()) + 1
    type_ = operand.type
    layout = ir.StridedLayoutAttr.get(0, [1])
    flat = ir.MemRefType.get([end], type_.element_type, layout, type_.memory_space)
    cast = dialect("_memref_ops_gen").ReinterpretCastOp
    return cast(flat, operand, [], [], [], [0], [end], [1]).result, end
