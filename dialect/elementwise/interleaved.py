"""Memory with components of elements beside each other, read and written in whole vectors (`cells.py` says which).

What lies together in memory is loaded as vectors, each number goes to its point in registers, and neighbours are stored
as vectors again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, memory
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.elementwise.cells import Cell, Run, Steps, is_own, steps_of
from mlir_gemm.dialect.elementwise.pointwise import Pointwise

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
        if self.cell.width == 1:
            return values[0]
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
        if run.length == 1:
            return [dialect("memref").LoadOp(view, [start]).result]
        type_ = ir.VectorType.get([length], element)
        own = {_within(steps, run, here) for here in self.cell.within(run)}
        found: list[Any] = []
        for first in range(0, run.length, length):
            at = indexing.add(start, first)
            singles = [number if first + number in own else None for number in range(length)]
            sure = first + length <= run.length - self.cell.beyond(steps, run)
            inside = None if sure else guards.less(indexing.add(at, length - 1), end)
            vector = guards.either(
                inside, type_, lambda at=at: _vector(view, type_, at),
                lambda at=at, singles=singles: _singles(view, type_, at, singles),
            )  # fmt: skip
            found += [dialect("vector").ExtractOp(vector, [], [number]).result for number in range(length)]
        return found

    def _start(self, steps: Steps, outside: Place, run: Run) -> Any:
        """The place in memory at which a run begins."""
        known = steps.offset - steps.offset % run.step
        moves = [steps.times(place, self.first[place]) for place in steps.of if place not in self.cell.components]
        for place in steps.of:
            if steps.known(place):
                known += steps.known(place) * outside[place]
            elif outside[place]:
                moves.append(steps.times(place, outside[place]))
        found = moves[0] if moves else constants.index(0)
        for each in moves[1:]:
            found = indexing.add(found, each)
        return indexing.add(found, known)

    def keep(self, points: Pointwise, pending: Mapping[Any, tuple[Any, list[Any]]], at: Place) -> None:
        """What one point and its neighbours leave in each buffer."""
        for buffer, (value, _) in pending.items():
            if buffer in points.outputs and not is_own(buffer):
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
                    element = value
                    if self.cell.width > 1:
                        element = dialect("vector").ExtractOp(value, [], [number]).result
                    runs.setdefault(outside, {})[_within(steps, run, here)] = element
            for outside, values in runs.items():
                self._store(buffer, steps, run, outside, [values[number] for number in range(run.length)])

    def _store(self, buffer: Any, steps: Steps, run: Run, outside: Place, values: list[Any]) -> None:
        element, start = buffer.type.element_type, self._start(steps, outside, run)
        view, _ = _flat(buffer, steps, self.cell.sizes)
        length = min(run.length, self.bits // element.width)
        if run.length == 1:
            dialect("memref").StoreOp(values[0], view, [start])
            return
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
    return steps.offset % run.step + sum(steps.known(place) * here[place] for place in (run.lead, *run.near))


def _flat(operand: Any, steps: Steps, sizes: Sequence[Any]) -> tuple[Any, Any]:
    """An operand's memory from its aligned address on as a vector, and where it ends."""
    known = all(isinstance(sizes[place], int) and steps.known(place) for place in steps.of)
    end: Any = steps.offset + 1
    if known:
        end += sum(steps.known(place) * (sizes[place] - 1) for place in steps.of)
    else:
        for place in steps.of:
            last = sizes[place] - 1 if isinstance(sizes[place], int) else indexing.sub(sizes[place], 1)
            end = indexing.add(steps.times(place, last), end)
    dynamic = ir.ShapedType.get_dynamic_size()
    layout, type_ = ir.StridedLayoutAttr.get(0, [1]), operand.type
    flat = ir.MemRefType.get([end if known else dynamic], type_.element_type, layout, type_.memory_space)
    cast = dialect("_memref_ops_gen").ReinterpretCastOp
    made = cast(flat, operand, [], [] if known else [end], [], [0], [end if known else dynamic], [1])
    return made.result, end
