"""Kernels written tile by tile: operations of the tile dialect, which the passes from `accumulate` on compile as they
compile those of the compiler's own.

A kernel is written as it runs: `parallelise` is a loop over the blocks of the grid, `walk` one over steps in a block.
Each is traced once, with a tile whose place counts the loop. Tiles are copied to shared memory, multiplied, combined
elementwise, and stored; copies ahead, layouts, warps and instructions are the schedule's, and come from the passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.parts.fields import fields_of
from mlir_gemm.parts.registry import layout_of
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.runtime.kernel import Kernel, compile
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select
from mlir_gemm.tracing.tiling import Place, Tile

if TYPE_CHECKING:
    from mlir_gemm.spec.target import Target

_BLOCK, _STEP = "block", "k"
_FLOATS = ("f16", "bf16", "f32", "f64")


@dataclass(frozen=True)
class Memory:
    """A matrix in global memory, with a letter for each of its dimensions."""

    value: str
    dimensions: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        """As MLIR has it."""
        return f"memref<{'x'.join(map(str, self.shape))}x{self.element}>"


@dataclass(frozen=True)
class Value:
    """A tile in registers; `+`, `-` and `*` are elementwise, with others of the same shape and with numbers."""

    kernel: TileKernel
    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        """As MLIR has it."""
        return f"vector<{'x'.join(map(str, self.shape))}x{self.element}>"

    def _with(self, operation: str, other: Value | float) -> Value:
        return self.kernel.combined(operation, self, other)

    def __add__(self, other: Value | float) -> Value:
        return self._with("add", other)

    def __sub__(self, other: Value | float) -> Value:
        return self._with("sub", other)

    def __mul__(self, other: Value | float) -> Value:
        return self._with("mul", other)

    def maximum(self, other: Value | float) -> Value:
        """The larger of two elements; NaN where one is."""
        return self._with("maximum", other)


@dataclass
class Sum:
    """A tile of sums, which products are added to."""

    kernel: TileKernel
    memory: Memory
    tile: Tile

    def add_product(self, a: Memory, b: Memory, tile: Tile) -> None:
        """Adds the product of a tile of `a` and one of `b`: those along the dimensions that each of them has, of which
        one, `k`, is in both."""
        self.kernel.multiply(self, a, b, tile)

    @property
    def value(self) -> Value:
        """The sums."""
        return self.kernel.load(self.memory, self.tile)


class TileKernel:
    """A kernel on f16, bf16, f32 or f64 matrices, written tile by tile (docs/tiling.md has one).

    Its schedule is that of one product of `sizes` (`m`, `n` and `k`) and of these types, with the block tile `block`:
    the model's choice among those without a ring of the copy engine, but for the fields that are given.
    """

    def __init__(
        self, name: str, sizes: Tile, block: Tile, element: str = "f16", chip: str = "sm_80", b_order: str = "kn",
        **schedule: Any,
    ) -> None:  # fmt: skip
        """Raises InputError, ScheduleError or TargetError where there is no such schedule."""
        if sorted(sizes.sizes) != ["k", "m", "n"] or sorted(block.sizes) != ["k", "m", "n"] or element not in _FLOATS:
            raise InputError(
                f"a kernel on {element} of sizes {sizes} and blocks {block}; expected m, n and k, and one of "
                f"{', '.join(_FLOATS)}"
            )
        self.name, self.chip, self.element = name, chip, element
        self.sum_element = "f64" if element == "f64" else "f32"
        self._target = target(chip)
        m, n, k = (sizes.sizes[each] for each in "mnk")
        self._problem = Problem(
            m, n, k, a=element, b=element, acc=self.sum_element, out=self.sum_element, reads_c=False, b_order=b_order
        )
        self.schedule = _chosen(self._problem, self._target, block, schedule)
        self._arguments: list[str] = []
        self._results: list[str] = []
        self._before: list[str] = []
        self._buffers: list[str] = []
        self._lines: list[str] = []
        self._depth, self._count, self._products = 0, 0, 0
        self._loops: dict[str, int] = {}
        self._inside = False

    def _new(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _say(self, line: str) -> None:
        self._lines.append("  " * (self._depth + 1) + line)

    def _argument(self, name: str, dimensions: str, shape: tuple[int, ...], element: str, role: str) -> Memory:
        made = Memory(f"%{name}", dimensions, tuple(shape), element)
        if len(dimensions) != len(shape):
            raise InputError(f"{name} of {shape} with dimensions '{dimensions}'; expected a letter for each dimension")
        text = f'{made.value}: {made.type} {{tile.name = "{name}", tile.role = "{role}"}}'
        (self._results if role == "result" else self._arguments).append(text)
        return made

    def reads(self, name: str, dimensions: str, shape: tuple[int, ...], element: str = "") -> Memory:
        """An argument that the kernel reads."""
        return self._argument(name, dimensions, shape, element or self.element, "in")

    def writes(self, name: str, dimensions: str, shape: tuple[int, ...], element: str = "") -> Memory:
        """An argument that the kernel writes, which a call may leave out: these come last."""
        return self._argument(name, dimensions, shape, element or self.sum_element, "result")

    def parallelise(self, tile: Tile, by: Tile) -> Iterator[Tile]:
        """A loop over the tiles of a tile, of the sizes of `by`, each of which a block of the grid computes: one tile
        for all."""
        if self._inside:
            raise InputError("parallelise inside of parallelise; expected walk there")
        self._inside = True
        yield from self._loop(tile, by, _BLOCK)
        self._inside = False

    def walk(self, tile: Tile, by: Tile) -> Iterator[Tile]:
        """A loop over the tiles of a tile, which a block computes one after the other."""
        if not self._inside:
            raise InputError("walk outside of parallelise; expected it inside")
        yield from self._loop(tile, by, _STEP)

    def _loop(self, tile: Tile, by: Tile, level: str) -> Iterator[Tile]:
        names: dict[str, str] = {}
        for dimension, count in tile.counts(by).items():
            names[dimension] = f"{dimension}{self._count}"
            self._count += 1
            self._loops[names[dimension]] = count
            self._say(f"affine.for %{names[dimension]} = 0 to {count} {{")
            self._depth += 1
        if level == _BLOCK:
            self._say(_BUFFERS)
        yield tile.part(by, names)
        for _ in names:
            self._depth -= 1
            self._say(f'}} {{tile.loop = "{level}"}}')

    def zeros(self, tile: Tile) -> Sum:
        """Sums of a tile that begin with zero, in the kernel's type of sums."""
        shape = tuple(self._problem.m if name == "m" else self._problem.n for name in tile.sizes)
        memory = Memory(self._new(), "".join(tile.sizes), shape, self.sum_element)
        self._before.append(f"    {memory.value} = memref.alloc() : {memory.type}")
        self.store(self._splat(0.0, tuple(tile.sizes.values()), self.sum_element), memory, tile)
        return Sum(self, memory, tile)

    def multiply(self, sum_: Sum, a: Memory, b: Memory, tile: Tile) -> None:
        """What `Sum.add_product` does."""
        self._products += 1
        sides = [self._staged(each, tile) for each in (a, b)]
        so_far = self.load(sum_.memory, sum_.tile)
        result = Value(self, self._new(), so_far.shape, so_far.element)
        (left, left_type), (right, right_type) = sides
        self._say(
            f'{result.name} = "tile.mma"({left}, {right}, {so_far.name}) {{a = "{a.dimensions}", b = "{b.dimensions}"}}'
            f" : ({left_type}, {right_type}, {so_far.type}) -> {so_far.type}"
        )
        self.store(result, sum_.memory, sum_.tile)

    def _staged(self, memory: Memory, tile: Tile) -> tuple[str, str]:
        """A copy of a tile in shared memory: its name and its type."""
        part, buffer = tile.project(memory.dimensions), self._new()
        type_ = f"memref<{'x'.join(map(str, part.sizes.values()))}x{memory.element}, 3>"
        layout = layout_of(self.schedule).attribute(self.schedule)
        self._buffers.append(f'{buffer} = memref.alloc() {{tile.layout = "{layout}"}} : {type_}')
        offsets = self._offsets(part)
        self._say(
            f'"tile.copy"({buffer}, {memory.value}, {", ".join(offsets)}) {self._bounds(memory, part, 1, 1)}'
            f" : ({type_}, {memory.type}, {', '.join(['index'] * len(offsets))}) -> ()"
        )
        return buffer, type_

    def load(self, memory: Memory, tile: Tile) -> Value:
        """A tile of a matrix, or of numbers for each of its rows or columns, in registers; zero beyond the ends."""
        part = tile.project(memory.dimensions)
        made = Value(self, self._new(), tuple(tile.sizes.values()), memory.element)
        offsets = self._offsets(part)
        bounds = self._bounds(memory, part, 1, whole=tile)
        self._say(
            f'{made.name} = "tile.load"({memory.value}, {", ".join(offsets)}) {bounds}'
            f" : ({memory.type}, {', '.join(['index'] * len(offsets))}) -> {made.type}"
        )
        return made

    def store(self, value: Value, memory: Memory, tile: Tile) -> None:
        """Writes a tile, rounded to the matrix's type; what lies beyond the ends is dropped."""
        if value.element != memory.element:
            rounded = Value(self, self._new(), value.shape, memory.element)
            narrower = _FLOATS.index(memory.element) < _FLOATS.index(value.element)
            cast = "truncf" if narrower else "extf"
            self._say(f"{rounded.name} = arith.{cast} {value.name} : {value.type} to {rounded.type}")
            value = rounded
        part = tile.project(memory.dimensions)
        offsets = self._offsets(part)
        self._say(
            f'"tile.store"({value.name}, {memory.value}, {", ".join(offsets)}) {self._bounds(memory, part, 1, 1)}'
            f" : ({value.type}, {memory.type}, {', '.join(['index'] * len(offsets))}) -> ()"
        )

    def combined(self, operation: str, left: Value, right: Value | float) -> Value:
        """What a Value's operators do."""
        if not isinstance(right, Value):
            right = self._splat(right, left.shape, left.element)
        if (left.shape, left.element) != (right.shape, right.element):
            raise InputError(f"{left.type} and {right.type} combined; expected tiles of one shape and type")
        made = Value(self, self._new(), left.shape, left.element)
        self._say(f"{made.name} = arith.{operation}f {left.name}, {right.name} : {left.type}")
        return made

    def _splat(self, number: float, shape: tuple[int, ...], element: str) -> Value:
        made = Value(self, self._new(), shape, element)
        self._say(f"{made.name} = arith.constant dense<{float(number):e}> : {made.type}")
        return made

    def _offsets(self, tile: Tile) -> list[str]:
        return [self._index(place) for place in tile.base.values()]

    def _index(self, place: Place) -> str:
        """A place as an index value."""
        made, loops = self._new(), list(place.loops)
        parts = [f"d{number} * {place.loops[name]}" for number, name in enumerate(loops)] + [str(place.number)]
        dims = ", ".join(f"d{number}" for number in range(len(loops)))
        given = ", ".join(f"%{name}" for name in loops)
        self._say(f"{made} = affine.apply affine_map<({dims}) -> ({' + '.join(parts)})>({given})")
        return made

    def _bounds(self, memory: Memory, part: Tile, *segments: int, whole: Tile | None = None) -> str:
        """The attributes of an access: what surely lies within the memory, and what the tile's dimensions run along."""
        inside: list[str] = []
        for name, size in zip(memory.dimensions, memory.shape, strict=True):
            place = part.base[name]
            last = place.number + sum((self._loops[loop] - 1) * times for loop, times in place.loops.items())
            inside.append("true" if last + part.sizes[name] <= size else "false")
        count = ", ".join(map(str, (*segments, len(memory.shape))))
        dims = ""
        if whole is not None and list(whole.sizes) != list(memory.dimensions):
            order = list(whole.sizes)
            dims = f"dims = array<i64: {', '.join(str(order.index(name)) for name in memory.dimensions)}>, "
        return f"{{{dims}in_bounds = array<i1: {', '.join(inside)}>, operandSegmentSizes = array<i32: {count}>}}"

    def module(self) -> str:
        """The kernel as MLIR, at the stage `tensorize`. Raises InputError where its tiles do not fit in shared
        memory."""
        used = self._products * smem_bytes(self._problem, self.schedule)
        if used > self._target.smem_block:
            raise InputError(
                f"{self._products} products in a block, whose tiles take {used} bytes of shared memory of "
                f"{self._target.smem_block}; expected smaller blocks, or fewer stages"
            )
        lines: list[str] = []
        for line in self._lines:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + each for each in self._buffers] if line.strip() == _BUFFERS else [line]
        schedule = {name: self.schedule.value(name) for name in fields_of(self.schedule)}
        marks = f"tile.problem = {_dictionary(asdict(self._problem))}, tile.schedule = {_dictionary(schedule)}"
        body = "\n".join([*self._before, *("  " + line for line in lines)])
        arguments = ", ".join([*self._arguments, *self._results])
        return (
            f'module attributes {{tile.chip = "{self.chip}", tile.stage = "tensorize"}} {{\n'
            f"  func.func @{self.name}({arguments}) attributes {{{marks}}} {{\n{body}\n"
            "    return\n  }\n}\n"
        )

    def compile(self, device: str | int = "auto") -> Kernel:
        """The kernel, to be called with its arrays."""
        return compile(self.module(), device=device)


_BUFFERS = "// buffers"
_MMA = "mma_sync"
"""What multiplies where it can: its operands may lie in any order, those of each product in another one."""
_MAINLOOPS = ("cp_async", "register_prefetch", "direct")
"""Those whose copies the threads that multiply issue."""


def _chosen(problem: Problem, chip: Target, block: Tile, given: Mapping[str, Any]) -> Schedule:
    """The model's schedule of a product whose tiles are copied by the threads that multiply."""
    pinned = Schedule.check_fields({**given, "block": tuple(block.sizes[each] for each in "mnk")})
    if pinned.get("mainloop", _MAINLOOPS[0]) not in _MAINLOOPS:
        raise InputError(f"a kernel of tiles with mainloop={pinned['mainloop']}; expected {' or '.join(_MAINLOOPS)}")
    ways = [{"mma": _MMA, "mainloop": each} for each in _MAINLOOPS] + [{"mainloop": each} for each in _MAINLOOPS]
    for way in ways:
        with suppress(ScheduleError):
            return select(problem, chip, {**way, **pinned}).schedule
    return select(problem, chip, pinned).schedule  # which says why there is none


def _dictionary(values: Mapping[str, Any]) -> str:
    return f"{{{', '.join(f'{name} = {_attribute(value)}' for name, value in values.items())}}}"


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, tuple):
        numbers = cast("tuple[int, ...]", value)
        return f"[{', '.join(map(str, numbers))}]"
    return f'"{value}"'
