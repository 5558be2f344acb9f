"""Bodies with several results that multiply elements whose components lie in tensors of their own (planes), as one
product of real numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import component_products, generics, structured
from mlir_gemm.dialect.linalg.bilinear_forms import polynomial_of
from mlir_gemm.dialect.linalg.component_products import ComponentProduct, Factor, is_zero, sum_type
from mlir_gemm.dialect.linalg.components import at, component, computed
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.spec.bilinear import Number, Table
from mlir_gemm.spec.bilinear_plans import LAUNCH_BYTES, is_exact
from mlir_gemm.spec.element_types import ELEMENT_BYTES

THROUGH, BY_WARPS = 0.75, 0.4
"""Part of their rate that products reach whose operands come through registers, and where other products have the
instruction of a warpgroup. Complex ones on an H100, by one kernel and by one for each pair of planes: 512^3 in f32 32.0
and 45.9 us, in f64 40.5 and 44.9; 1024^3 in f64 238 and 186, in f16 45 and 34, in tf32 108 and 47
(2026-11-28-h100-planes.json.xz; of what takes less than 40 us there, the host's launches are a part)."""
WORTH = 0.85
"""One product must save this much: the prediction is rough."""
WIDEST = 16
"""Bytes of an element of the result at most: a lane holds all its components."""


@dataclass(frozen=True)
class Rates:
    """What a chip does while its memory moves a byte, and how many bytes that is in the time of a launch."""

    operations: Mapping[str, tuple[float, float]]
    """By type: those of products that read components where they lie, and of others."""
    launch: float = LAUNCH_BYTES


@dataclass(frozen=True)
class PlaneProduct:
    """A body that multiplies elements with components in planes."""

    generic: Generic
    left: tuple[int, ...]
    """The inputs that are planes of A, of which the result's neighbours are not."""
    right: tuple[int, ...]
    """Those of B."""
    table: Table

    def loops(self, operand: int) -> tuple[int, ...]:
        """The loop along each dimension of an operand."""
        return tuple(each.position for each in self.generic.maps[operand].results)

    def bytes_together(self, rate: float) -> float:
        """What one product takes that reads and writes every plane once, in bytes that memory moves in that time, of so
        many operations while it moves one."""
        count, size, wide = self._sizes()
        moved = size * sum(self._elements(each) for each in (*self.left, *self.right))
        return self._multiplied(count * count, rate) + moved + wide * count * self._elements(self._output)

    def bytes_apart(self, rate: float, launch: float) -> float:
        """The same of a product for each pair of planes, whose sums are added up in memory; each further one takes as
        long as memory takes for so many bytes as a `launch` is worth."""
        count, size, wide = self._sizes()
        numbers = [number for row in self.table for cell in row for number in cell if number]
        moved = size * sum(self._elements(each[0]) for each in (self.left, self.right)) * len(numbers)
        sums = 2 * len(numbers) - count  # each but the first of a component reads what there is so far
        launches = launch * (len(numbers) - 1)
        return self._multiplied(len(numbers), rate) + moved + wide * sums * self._elements(self._output) + launches

    @property
    def _output(self) -> int:
        return len(self.generic.inputs)

    def _sizes(self) -> tuple[int, int, int]:
        element, output = (structured.element_of(self.generic.operands[at]) for at in (0, self._output))
        return len(self.table), ELEMENT_BYTES[str(element)], ELEMENT_BYTES[str(sum_type(output))]

    def _multiplied(self, products: int, rate: float) -> float:
        return products * 2 * prod(structured.sizes_of(self.generic)) / rate

    def _elements(self, operand: int) -> int:
        return prod(self.generic.operands[operand].type.shape)

    def build(self) -> list[Any]:
        """The planes of the result, at the insertion point."""
        generic, count = self.generic, len(self.table)
        output = generic.outputs[0]
        element = structured.element_of(output)
        wide, shape = sum_type(element), [*output.type.shape, count]
        start = generics.zero(shape, wide)
        sides = [_Planes(tuple(generic.inputs[each] for each in side), self.loops(side[0]))
                 for side in (self.left, self.right)]  # fmt: skip
        whole = ComponentProduct(
            Factor(sides[0].beside(), sides[0].loops), sides[1].factor(), start, self.loops(self._output),
            tuple(structured.sizes_of(generic)), tuple(generic.parallel), self.table,
        )  # fmt: skip
        found = component_products.laid(whole)
        cuts = [cut for cut in map(_cut_of, generic.op.results) if cut is not None]
        narrow = element
        if wide == element and len(cuts) == count:
            narrow = cuts[0].results[0].type.element_type
        if narrow != wide:
            cut, rank = dialect("arith").TruncFOp, len(shape)
            found = computed([(found, list(range(rank)))], shape, narrow, lambda values: cut(narrow, values[0]).result)
        planes = [component(found, {len(shape) - 1: number}) for number in range(count)]
        if narrow == element:
            return planes
        for cut_, plane in zip(cuts, planes, strict=True):
            cut_.results[0].replace_all_uses_with(plane)
        return [generics.zero(list(output.type.shape), element)] * count  # nothing else reads the wide ones


@dataclass(frozen=True)
class _Planes:
    values: tuple[Any, ...]
    loops: tuple[int, ...]

    def beside(self) -> Any:
        """A tensor with the components beside each other."""
        type_, rank = self.values[0].type, len(self.loops)
        shape = [*type_.shape, len(self.values)]
        read = [(value, list(range(rank))) for value in self.values]
        return computed(read, shape, type_.element_type, lambda values: at(rank, values))

    def factor(self) -> Factor:
        """A factor whose components are read where they lie."""
        return Factor(self.values[0], self.loops, self.values)


def _cut_of(value: Any) -> Any | None:
    """The operation that alone reads a result, and cuts its numbers to narrow ones; None for another."""
    uses = list(value.uses)
    op = uses[0].owner.operation if len(uses) == 1 else None
    if op is None or not structured.is_generic(op) or len(op.results) != 1:
        return None
    generic = structured.read(op)
    yielded = generic.yielded[0].owner
    same = all(map_ == ir.AffineMap.get_identity(len(generic.parallel)) for map_ in generic.maps)
    cuts = getattr(yielded, "name", "") == "arith.truncf" and yielded.operation.operands[0] == generic.body.arguments[0]
    return op if generic.elementwise and same and cuts and len(generic.inputs) == 1 else None


def _leaves(value: Any) -> bool:
    """Whether a result, perhaps cut to narrow numbers, is one of the function's: what else computes with a plane would
    read it from between the others."""
    cut = _cut_of(value)
    names = [use.owner.operation.name for use in (value if cut is None else cut.results[0]).uses]
    return bool(names) and set(names) <= {"func.return", "bufferization.materialize_in_destination"}


def read(generic: Generic, rates: Rates) -> PlaneProduct | None:
    """A body that one product of real numbers computes in less time than one for each pair of planes, and whose results
    are those of the function; None for another."""
    count, inputs = len(generic.outputs), len(generic.inputs)
    types = {str(structured.element_of(value)) for value in generic.inputs}
    outputs = {(value.type, str(map_)) for value, map_ in zip(generic.outputs, generic.maps[inputs:], strict=True)}
    if count not in (2, 4) or inputs != 2 * count or len(outputs) != 1 or len(types) != 1:
        return None
    if not types <= set(rates.operations):
        return None
    if not all(map_.is_projected_permutation for map_ in generic.maps):
        return None
    if not all(value.type.has_static_shape for value in generic.operands) or not all(map(_is_zero, generic.outputs)):
        return None
    if not all(map(_leaves, generic.op.results)):
        return None
    sides = _sides(generic)
    table = None if sides is None else _table(generic, *sides)
    (element,) = types
    if sides is None or table is None or not is_exact(table, element):
        return None
    found = PlaneProduct(generic, sides[0], sides[1], table)
    wide = ELEMENT_BYTES[str(sum_type(structured.element_of(generic.outputs[0])))]
    if not _lies(found) or count * wide > WIDEST:
        return None
    together, apart = rates.operations[element]
    reached = together * (BY_WARPS if together < apart else THROUGH)
    return found if found.bytes_together(reached) < WORTH * found.bytes_apart(apart, rates.launch) else None


def _is_zero(value: Any) -> bool:
    """Whether a tensor is filled with zeros, by an operation of either form."""
    op = generics.owner_of(value)
    if op is None or op.name != "linalg.generic":
        return is_zero(value)
    generic = structured.read(op)
    given = generic.yielded[0]
    arguments = list(generic.body.arguments)
    scalar = op.operands[arguments.index(given)] if given in arguments else given
    maker = getattr(scalar.owner, "name", "")
    return maker == "arith.constant" and scalar.owner.operation.attributes["value"].value == 0


def _sides(generic: Generic) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The planes of A and of B: those of B have the loop along which the result's neighbours lie."""
    inputs = range(len(generic.inputs))
    last = generic.maps[len(generic.inputs)].results[-1].position
    right = tuple(each for each in inputs if last in [dim.position for dim in generic.maps[each].results])
    left = tuple(each for each in inputs if each not in right)
    like = all(len({(generic.operands[each].type, str(generic.maps[each])) for each in side}) == 1
               for side in (left, right))  # fmt: skip
    return (left, right) if like and len(left) == len(right) else None


def _table(generic: Generic, left: Sequence[int], right: Sequence[int]) -> Table | None:
    count, inputs = len(left), len(generic.inputs)
    cells: list[list[list[Number]]] = [[[0] * count for _ in right] for _ in left]
    for to, value in enumerate(generic.yielded):
        found = polynomial_of(value, generic)
        if found is None or found.get((inputs + to,)) != 1:
            return None
        for key, number in found.items():
            pair = sorted(key)
            if key == (inputs + to,) or not number:
                continue
            if len(pair) != 2 or not (set(pair) & set(left) and set(pair) & set(right)):
                return None
            one = next(each for each in pair if each in left)
            other = next(each for each in pair if each in right)
            cells[left.index(one)][right.index(other)][to] += number
    return tuple(tuple(tuple(cell) for cell in row) for row in cells)


def _lies(found: PlaneProduct) -> bool:
    """Whether it is a product of matrices, perhaps one for each index of a batch, whose A has steps of k as
    neighbours."""
    loops = [set(found.loops(each)) for each in (found.left[0], found.right[0], len(found.generic.inputs))]
    steps = {loop for loop, parallel in enumerate(found.generic.parallel) if not parallel}
    whole = loops[0] | loops[1] == loops[2] | steps and steps <= loops[0] & loops[1]
    single = [len(loops[0] - loops[1]), len(loops[1] - loops[0]), len(steps)] == [1, 1, 1]
    return whole and single and len(loops[0] & loops[1] - steps) < 2 and found.loops(found.left[0])[-1] in steps
