"""Buffers that a kernel has laid out for a product from elements with components: which they are, and of what.

A kernel that does nothing else has two loops over blocks of numbers (`dialect/composites.py`) beside those over rows
and columns of elements. What each number of a block is follows from its body, with the two loops at each place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.stand_ins import fixed, freed_type, primes_of
from mlir_gemm.dialect.sizes import sizes_of
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.spec.bilinear import MOST_COMPONENTS, Number, Table

_SCALED = "arith.mulf"
_SUMS = {"arith.addf": 1, "arith.subf": -1}
_ONE = -1
"""What stands for the number 1 in a linear form."""
Linear = Mapping[int, Number]
"""How much of each component a number is."""


@dataclass(frozen=True)
class LaidOut:
    """A buffer of a program, as a matrix of the elements that it has been laid out from."""

    run: Any
    """The tile.run that lays it out."""
    alloc: Any
    """The memref.alloc of the buffer."""
    sources: tuple[Any, ...]
    """The buffer of the elements; or one for each component, where each lies in a plane of its own."""
    shape: tuple[int, int]
    """Rows of elements of the source, those of all matrices of a batch, and its columns, in numbers."""
    turned: bool
    """Whether the rows of the source are columns of the buffer."""
    table: Table
    """The number at (x, y) of a block of the matrix as it lies in the source: `table[x][component][y]`."""
    beside: bool
    """Whether the matrices of a batch are beside each other in the rows of the source; else they follow each other."""
    stand_ins: Mapping[str, int]
    """Primes that stand for sizes known at run time only."""

    @property
    def in_planes(self) -> bool:
        """Whether each component lies in a buffer of its own."""
        return len(self.sources) > 1

    def elements(self, function: Any, number: int) -> tuple[Any, dict[str, Any]]:
        """The type of the source as a matrix, or as one for each index of a batch, of planes beside each other, in the
        place of a function's argument; and the attributes that tell its sizes."""
        type_ = body(function).arguments[number].type
        sizes = sizes_of(function, type_, argument_attributes(function)[number])[:-2]
        batch, element = [size.value(self.stand_ins) for size in sizes], type_.element_type
        (rows, columns), count = self.shape, prod(batch)
        if batch and self.beside:
            layout = ir.StridedLayoutAttr.get(0, [columns // count, columns, 1])
            whole = ir.MemRefType.get([*batch, rows, columns // count], element, layout=layout)
        else:
            whole = ir.MemRefType.get([*batch, rows // count, columns], element)
        return freed_type(function, whole, self.stand_ins)


def of_argument(outer: Any, kernel: str, number: int) -> LaidOut | None:
    """What the buffer is that a program's kernel is given as this argument; None where it is something else, or more
    than that kernel reads it."""
    runs = [run.operation for run in named(outer, "tile.run")]
    own = [run for run in runs if programs.kernel_of(run) == kernel]
    if len(own) != 1:
        return None
    buffer = programs.buffers_of(own[0])[number]
    using = [run for run in runs if buffer in programs.buffers_of(run)]
    addresses = [user.operation.name for user in users(buffer)]
    if getattr(buffer.owner, "name", "") != "memref.alloc" or len(using) != 2 or own[0] not in using:
        return None
    if programs.buffers_of(own[0]).count(buffer) != 1 or set(addresses) != {"memref.extract_aligned_pointer_as_index"}:
        return None
    maker = next(run for run in using if run != own[0])
    modules = programs.kernel_modules(outer)
    name = programs.kernel_of(maker)
    if name not in modules or [programs.kernel_of(run) for run in runs].count(name) != 1:
        return None
    function = programs.function_of(modules[name])
    primes = primes_of(function)
    return _of_kernel(fixed(function, primes) if primes else function, maker, buffer, primes)


def _of_kernel(function: Any, run: Any, buffer: Any, primes: Mapping[str, int]) -> LaidOut | None:
    """The same of a kernel's function, with numbers for all sizes."""
    inside = [op.operation for op in in_block(body(function))]
    generics = [op for op in inside if structured.is_generic(op)]
    known = ("tile.position", "arith.constant", "func.return", "linalg.generic")
    if len(generics) != 1 or any(op.name not in known for op in inside):
        return None
    generic = structured.read(generics[0])
    arguments, buffers = list(body(function).arguments), programs.buffers_of(run)
    if not generic.elementwise or len(generic.outputs) != 1 or not all(generic.parallel):
        return None
    output, inputs = generic.outputs[0], list(enumerate(generic.inputs))
    read = [(at, value) for at, value in inputs if not positions.is_position(value)]
    if output not in arguments or buffers[arguments.index(output)] != buffer:
        return None
    if not read or any(value not in arguments or not value.type.has_static_shape for _, value in read):
        return None
    sources = tuple(dict.fromkeys(buffers[arguments.index(value)] for _, value in read))
    if (
        len(sources) not in (1, output.type.shape[-1])
        or len(output.type.shape) not in (4, 5)
        or output in [value for _, value in read]
    ):
        return None
    order, block = loops_of(generic, len(inputs)), _block_loops(generic)
    sizes = list(output.type.shape)
    if order is None or block is None or {order[-3], order[-1]} != set(block) or sizes[-3] != sizes[-1]:
        return None
    if output.type.get_strides_and_offset() != (_dense(sizes), 0) or sizes[-1] > MOST_COMPONENTS:
        return None
    if primes and len(sources) > 1:
        return None
    return _of_loops(generic, run, buffer, sources, order, sizes, primes)


def _of_loops(
    generic: Generic, run: Any, buffer: Any, sources: tuple[Any, ...], order: Sequence[int], sizes: Sequence[int],
    primes: Mapping[str, int],
) -> LaidOut | None:  # fmt: skip
    *batch, rows, count, columns, _ = sizes
    *outermost, down, in_row, along, in_column = order
    arguments, buffers = list(generic.op.block.arguments), programs.buffers_of(run)
    unit = 1 if len(sources) > 1 else count  # elements from a number to the same one of the next element
    components: dict[int, int] = {}
    ways: set[bool] = set()
    for at, value in enumerate(generic.inputs):
        if positions.is_position(value):
            continue
        loops, (strides, offset) = loops_of(generic, at), value.type.get_strides_and_offset()
        if loops is None or sorted(loops) != sorted((*outermost, down, along)) or not 0 <= offset < unit:
            return None
        steps = dict(zip(loops, strides, strict=True))
        if any(steps[loop] != unit * rows * columns for loop in outermost):
            return None
        components[at] = offset if unit == count else sources.index(buffers[arguments.index(value)])
        for turned in (False, True):
            across = rows if turned else columns
            inner, outer = (down, along) if turned else (along, down)
            if steps[inner] == unit and steps[outer] == unit * across:
                ways.add(turned)
                break
        else:
            return None
    if len(ways) != 1:
        return None
    turned = ways.pop()
    cells: list[list[Linear]] = []
    for x in range(count):
        cells.append([])
        for y in range(count):
            found = Body(generic, components, {in_row: x, in_column: y}).linear(generic.yielded[0])
            if found is None or _ONE in found:
                return None
            cells[-1].append(found)
    table = tuple(
        tuple(tuple((cells[y][x] if turned else cells[x][y]).get(j, 0) for y in range(count)) for j in range(count))
        for x in range(count)
    )
    matrices = prod(batch)
    shape = (matrices * columns, rows * count) if turned else (matrices * rows, columns * count)
    return LaidOut(run, buffer.owner.operation, sources, shape, turned, table, turned and not batch, primes)


def loops_of(generic: Generic, operand: int) -> list[int] | None:
    """The loop along each dimension of an operand; None where one is no loop of its own."""
    map_ = generic.maps[operand]
    return [each.position for each in map_.results] if map_.is_projected_permutation else None


def _block_loops(generic: Generic) -> set[int] | None:
    """The loops whose numbers the body asks for."""
    found: set[int] = set()
    for at, value in enumerate(generic.inputs):
        if positions.is_position(value):
            loops = loops_of(generic, at)
            if loops is None or len(loops) != 1 or value.type.get_strides_and_offset() != ([1], 0):
                return None
            found.add(loops[0])
    return found


def _dense(sizes: Sequence[int]) -> list[int]:
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return strides


@dataclass(frozen=True)
class Body:
    """The body of an operation with some of its loops at known places."""

    generic: Generic
    components: Mapping[int, int]
    """The component that an input holds, by the input's number."""
    places: Mapping[int, int]
    """Where loops are."""

    def linear(self, value: Any) -> Linear | None:
        """A value as a sum of components; None where it is something else."""
        return self._linear(value, {})

    def _linear(self, value: Any, known: dict[Any, Linear | None]) -> Linear | None:
        """The same, with what is known of values that have been looked at: one may be used many times."""
        if value not in known:
            known[value] = self._found(value, known)
        return known[value]

    def _found(self, value: Any, known: dict[Any, Linear | None]) -> Linear | None:
        arguments = list(self.generic.body.arguments)
        if value in arguments:
            at = arguments.index(value)
            return {self.components[at]: 1} if at in self.components else None
        op = _maker(value)
        if op is None:
            return None
        if op.name == "arith.constant":
            number = op.attributes["value"]
            return ({_ONE: number.value} if number.value else {}) if isinstance(number, ir.FloatAttr) else None
        if op.name == "arith.select":
            chosen = self._holds(op.operands[0])
            return None if chosen is None else self._linear(op.operands[1 if chosen else 2], known)
        if op.name not in (*_SUMS, _SCALED, "arith.negf"):
            return None
        parts = [self._linear(each, known) for each in op.operands]
        given = [part for part in parts if part is not None]
        if len(given) < len(parts):
            return None
        if op.name == "arith.negf":
            return {key: -number for key, number in given[0].items()}
        if op.name in _SUMS:
            total = dict(given[0])
            for key, number in given[1].items():
                total[key] = total.get(key, 0) + _SUMS[op.name] * number
            return {key: number for key, number in total.items() if number}
        if op.name != _SCALED or not any(set(each) <= {_ONE} for each in given):
            return None
        by, of = given if set(given[0]) <= {_ONE} else given[::-1]
        return {key: number * by.get(_ONE, 0) for key, number in of.items()}

    def _holds(self, value: Any) -> bool | None:
        """Whether a comparison of loops holds; None where that is not known."""
        op = _maker(value)
        if op is None or op.name != "arith.cmpi" or ir.IntegerAttr(op.attributes["predicate"]).value not in (0, 1):
            return None
        left, right = (self._whole(each) for each in op.operands)
        if left is None or right is None:
            return None
        return (left == right) == (ir.IntegerAttr(op.attributes["predicate"]).value == 0)

    def _whole(self, value: Any) -> int | None:
        arguments = list(self.generic.body.arguments)
        if value in arguments:
            at = arguments.index(value)
            loops = loops_of(self.generic, at) or []
            is_place = at < len(self.generic.inputs) and positions.is_position(self.generic.inputs[at])
            return self.places.get(loops[0]) if is_place and loops else None
        op = _maker(value)
        number: Any = op.attributes["value"] if op is not None and op.name == "arith.constant" else None
        return number.value if isinstance(number, ir.IntegerAttr) else None


def _maker(value: Any) -> Any | None:
    return None if hasattr(value.owner, "operations") else value.owner.operation
