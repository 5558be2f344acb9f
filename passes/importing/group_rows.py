"""group-rows: kernels that work along the same rows become one.

Expects `tile.kernel` on what is computed (`group-kernels`). A reduction other than a product, such as a sum or a
maximum along the rows of a matrix, takes in other reductions along the same rows and elementwise work before, between
and after them: a softmax or a layer norm is one kernel, which reads each row once. Kernels with products stay as they
are. A kernel is taken in only if no third one lies between the two. Of up to 4 rows of half a million elements and
more, or 8 of a million, which no cluster of blocks holds, each step stays a kernel of its own, that all SMs work on
(`split-rows-in-workspace`), unless they are of a size known at run time only, or blocks that run at the same time can
hold them: `grid` says how many do, what each can hold of a row, and from how many bytes of rows on. Leaves
`tile.kernel`, numbered again in the order in which kernels run, and on the first operation of each kernel `tile.cuts`:
for each kernel that it reads from, why it is another one. A second run changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining import cuts
from mlir_gemm.dialect.outlining.long_rows import are_few_and_long, stand_ins_of
from mlir_gemm.dialect.outlining.row_kernels import can_be_rows, rows_of
from mlir_gemm.dialect.outlining.tensors import place_in_tensors
from mlir_gemm.dialect.symbols import taken_apart
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.group_kernels import mark_of, source_of
from mlir_gemm.spec.attributes import KERNEL, NOTE
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT, ROWS


@dataclass(frozen=True)
class GroupRows(Pass):
    """Join what works along the same rows."""

    name: ClassVar[str] = "group-rows"
    grid: tuple[int, ...] = (0, 0, 0, 0)
    """Blocks that run at the same time, the bytes of a row that the shared memory of each can hold, the registers for
    more, and the least bytes of all rows for which that pays."""

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _Groups(function, self.grid).join()


def kind_of_group(operations: list[Any]) -> str:
    """What kind of kernel the operations of a group make."""
    product = product_of(operations[0])
    if product is not None and not product.is_pointwise:
        return PRODUCT
    return ROWS if any(_is_row_reduction(op) for op in operations) else ELEMENTWISE


def _is_row_reduction(op: Any) -> bool:
    return structured.is_generic(op) and can_be_rows(op)


def _are_few_and_long(operations: list[Any], grid: tuple[int, ...]) -> bool:
    """Whether several operations go along the same rows, which are few and very long, and more than blocks that run at
    the same time can hold."""
    generics = [structured.read(op) for op in operations if structured.is_generic(op)]
    reductions = [(generic, structured.sizes_of(generic)) for generic in generics if not generic.elementwise]
    results = [ir.ShapedType(generic.op.results[0].type) for generic in generics if generic.elementwise]
    points = [math.prod(sizes) for _, sizes in reductions]
    points += [math.prod(type_.shape) for type_ in results if type_.has_static_shape]
    for (generic, sizes), whole in zip(reductions, points, strict=False):
        divided = list(zip(sizes, generic.parallel, strict=True))
        rows, along = ([size for size, parallel in divided if parallel is kind] for kind in (True, False))
        if whole and are_few_and_long(rows, along, stand_ins_of(generic.op)):
            reduced = [each for each, _ in reductions]
            return points.count(whole) > 1 and not _is_held(operations, reduced, whole, grid)
    return False


def _is_held(operations: list[Any], reductions: list[Generic], points: int, grid: tuple[int, ...]) -> bool:
    """Whether blocks of the grid can hold what operations read of a row, and are asked to: rows whose elements are
    neighbours in memory, along one dimension, of constant sizes and a constant start."""
    blocks, shared, held, least = grid
    generics = [structured.read(op) for op in operations if structured.is_generic(op)]
    made = {result for op in operations for result in op.results}
    read = {value for generic in generics for value in generic.inputs} - made
    rows = [value for value in read if isinstance(value.type, ir.RankedTensorType) and _points(value) == points]
    before = _read_before(generics, reductions)
    wide = [value for value in rows if value in before]
    bits = sum(value.type.element_type.width for value in wide)
    moved = points * sum(value.type.element_type.width for value in rows)
    if not blocks or not wide or moved < least * 8 or not all(_is_along(each, wide) for each in reductions):
        return False
    length = points // math.prod(size for size, kept in zip(structured.sizes_of(reductions[0]), reductions[0].parallel,
                                                            strict=True) if kept)  # fmt: skip
    return -(-length // blocks) <= shared * 8 // bits + held // -(-bits // WORD) - SPARE


def _read_before(generics: list[Generic], reductions: list[Generic]) -> set[Any]:
    """What is read, or, of a single row, what reductions are computed from: what is needed only after them, such as
    weights, is not held."""
    makers = {result: generic for generic in generics for result in generic.op.results}
    sizes = [zip(structured.sizes_of(each), each.parallel, strict=True) for each in reductions]
    single = all(size == 1 for each in sizes for size, kept in each if kept)
    found, seen, waiting = set[Any](), set[Any](), list(reductions if single else generics)
    while waiting:
        generic = waiting.pop()
        for value in generic.inputs:
            if value not in makers:
                found.add(value)
            elif value not in seen:
                seen.add(value)
                waiting.append(makers[value])
    return found


def _points(value: Any) -> int:
    return math.prod(value.type.shape) if value.type.has_static_shape else 0


def _is_along(generic: Generic, wide: list[Any]) -> bool:
    """Whether a reduction is along one dimension, whose elements are neighbours in what is read, and of sizes that are
    constants, and starts from a number."""
    stand_ins = stand_ins_of(generic.op)
    if generic.parallel.count(False) != 1 or any(
        not taken_apart(size, stand_ins).is_number for size in structured.sizes_of(generic)
    ):
        return False
    if any(getattr(output.owner, "name", "") != "linalg.fill" for output in generic.outputs):
        return False
    maps = [map_ for value, map_ in zip(generic.inputs, generic.maps, strict=False) if value in wide]
    last = [list(map_.results)[-1] for map_ in maps]
    return all(isinstance(each, ir.AffineDimExpr) and not generic.parallel[each.position] for each in last)


WORD, SPARE = 32, 4096
"""Bits of a register, and elements of a block's part by which whole tiles may hold less."""


class _Groups:
    """The kernels of a function, by their numbers."""

    def __init__(self, function: Any, grid: tuple[int, ...]) -> None:
        self.grid = grid
        self.place: dict[Any, int] = {}
        self.members: dict[int, list[Any]] = {}
        self.number: dict[Any, int] = {}
        for place, operation in enumerate(in_block(body(function))):
            op = operation.operation
            number = mark_of(op)
            if number is not None:
                self.place[op] = place
                self.members.setdefault(number, []).append(op)
                self.number.update((result, number) for result in op.results)
        self.kinds = {number: kind_of_group(ops) for number, ops in self.members.items()}
        self.apart: dict[tuple[int, int], str] = {}
        """Why two kernels, which were tried, are not one."""

    def join(self) -> None:
        """Joins what can be joined, and writes the numbers down."""
        first = {number: min(self.place[op] for op in ops) for number, ops in self.members.items()}
        joined = False
        for number in sorted(first, key=lambda each: first[each]):
            while self.kinds.get(number) == ROWS and self._take_one(number):
                joined = True
        order = self._order() if joined else sorted(self.members)
        found = {ops[0]: self._cuts(number, order) for number, ops in self.members.items()}
        for op, reasons in found.items():
            cuts.write(op, reasons)
        for number, ops in self.members.items():  # attributes change how operations are found: nothing after this
            for op in ops:
                if self.kinds[number] == ROWS and NOTE in op.attributes:
                    del op.attributes[NOTE]
                if joined:
                    op.attributes[KERNEL] = constants.integer(order.index(number))

    def _take_one(self, number: int) -> bool:
        """Whether a kernel of rows has taken in another one."""
        for other in self._beside(number):
            operations = sorted([*self.members[number], *self.members[other]], key=lambda op: self.place[op])
            self.apart[number, other] = why = self._why_apart(number, other, operations)
            if why:
                continue
            self.members[number] = operations
            for op in self.members.pop(other):
                self.number.update((result, number) for result in op.results)
            del self.kinds[other]
            return True
        return False

    def _why_apart(self, one: int, other: int, operations: list[Any]) -> str:
        """Why two kernels, which have these operations, are not one; empty where they can be."""
        if _are_few_and_long(operations, self.grid):
            return "rows are few and long: all SMs work on each step"
        if self._something_between(one, other):
            return "a third kernel reads from one of them and is read by the other"
        found = rows_of(operations, place_in_tensors)
        return found if isinstance(found, str) else ""

    def _cuts(self, number: int, order: list[int]) -> dict[str, str]:
        """Why a kernel is cut from each that it reads from, by their numbers to come."""
        found: dict[str, str] = {}
        for other in sorted(self._needs(number), key=order.index):
            made = {result for op in self.members[other] for result in op.results}
            read = {op: {source_of(value) for value in structured.sources(op)} & made for op in self.members[number]}
            makers = [value.owner.operation for values in read.values() for value in values]
            readers = [op for op, values in read.items() if values]
            apart = self.apart.get((number, other)) or self.apart.get((other, number), "")
            why = cuts.why_after(self.kinds[other], self.kinds[number], readers, makers, apart)
            found[str(order.index(other))] = why
        return found

    def _needs(self, number: int) -> set[int]:
        """The kernels whose results a kernel reads."""
        sources = (source_of(value) for op in self.members[number] for value in structured.sources(op))
        return {self.number[source] for source in sources if source in self.number} - {number}

    def _beside(self, number: int) -> list[int]:
        """The kernels without products that a kernel reads from, is read by, or reads the same as."""
        own = self._needs(number)
        read = self._read(number)
        found = [
            other
            for other in self.members
            if other != number
            and self.kinds[other] != PRODUCT
            and (other in own or number in self._needs(other) or read & self._read(other))
        ]
        return sorted(found, key=lambda other: self.place[self.members[other][0]])

    def _read(self, number: int) -> set[Any]:
        inputs = (value for op in self.members[number] if structured.is_generic(op)
                  for value in structured.read(op).inputs)  # fmt: skip
        return {source_of(value) for value in inputs if isinstance(value.type, ir.RankedTensorType)}

    def _something_between(self, one: int, other: int) -> bool:
        """Whether a third kernel reads from one of two and is read by the other."""
        pair = {one, other}
        needs = {number: self._needs(number) for number in self.members}

        def leads_back(number: int, seen: set[int]) -> bool:
            if number in pair:
                return True
            seen.add(number)
            return any(leads_back(each, seen) for each in needs[number] if each not in seen)

        return any(leads_back(each, set()) for number in pair for each in needs[number] - pair)

    def _order(self) -> list[int]:
        """The kernels in the order in which they run."""
        done: list[int] = []

        def visit(number: int) -> None:
            if number not in done:
                for each in sorted(self._needs(number)):
                    visit(each)
                done.append(number)

        for number in sorted(self.members, key=lambda each: self.place[self.members[each][0]]):
            visit(number)
        return done
