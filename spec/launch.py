"""How what was compiled is launched: the same information for the Python runtime and, as JSON, for any other caller.

A function that is one kernel has one step and nothing else. A program has a list of steps, which run in order, and
memory of three kinds, which the steps' parameters name by one number: its arguments come first, then its intermediate
buffers, then its constants.

Sizes that are known at run time only stand in a launch as expressions of symbols (`sizes`), each of which is a size of
some argument. `Launch.at` gives the launch for certain values, in which all is numbers.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.json_values import as_tuples
from mlir_gemm.spec.sizes import Size, added, compiled, multiple, product, symbols_of
from mlir_gemm.spec.tensor_map import Extent, TensorMap
from mlir_gemm.spec.workspace import Buffer, placed

Triple: TypeAlias = "tuple[Extent, Extent, Extent]"


@dataclass(frozen=True)
class Argument:
    """One argument of the source function, or one of its tensor results (which follow the arguments, in order)."""

    name: str
    """The name in the source (`%A` gives `A`) where the IR keeps it, else `arg0`, ...; `result0`, ... for results."""
    shape: tuple[Extent, ...]
    """Sizes in elements. A symbol is given its value by the first argument that has it as a size."""
    dtype: str
    """Element type by its MLIR name: f16, f32."""
    role: str
    """`in` (only read), `out` (written whole, not read), `inout`, or `result` (an `out` that the runtime makes)."""
    strides: tuple[Extent, ...] | None = None
    """Distance of neighbours in each dimension, in elements; None for dense row-major memory. The stride of a dimension
    of size 1 means nothing."""
    offset: Extent = 0
    """Elements between the address that the kernel takes and element [0, ..., 0]. The caller's array starts at that
    element, so the address handed over is the array's own less this many elements."""
    complex: bool = False
    """Whether the last dimension, of 2, holds the parts of complex numbers: arrays of these are taken and given."""
    checks: tuple[str, ...] = ()
    """What the program says of a dimension whose size does not agree; empty where it says nothing."""
    least: tuple[int, ...] = ()
    """The least size of each dimension that the program can do with; empty where any will do."""
    most: tuple[int, ...] = ()
    """The largest, -1 for any; empty where any will do."""
    scalar: bool = False
    """Whether the caller gives a number, which kernels take by value, in as many bytes as its type has (i1 in one)."""
    open_strides: bool = False
    """Whether the source leaves its strides open: code for other ones can be compiled."""

    @property
    def item_bytes(self) -> int:
        """Bytes of one element."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def span_bytes(self) -> int:
        """Bytes from element [0, ..., 0] to after the last one, gaps included; 0 when there is no element. Raises
        ValueError when sizes are symbols."""
        if self.is_dynamic:
            raise ValueError(f"the sizes of '{self.name}' are not known before a call: {self.shape}")
        if 0 in self.shape:
            return 0
        if self.strides is None:
            return self.item_bytes * math.prod(self.shape)
        return self.item_bytes * (1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)))

    @property
    def span(self) -> Size:
        """`span_bytes`, as an expression where sizes are symbols: too large then where a size is 0."""
        if not self.is_dynamic:
            return self.span_bytes
        if self.strides is None:
            return product([self.item_bytes, *self.shape])
        last: Size = 1
        for size, stride in zip(self.shape, self.strides, strict=True):
            last = added(last, product([("sub", size, 1), stride]))
        return product([self.item_bytes, ("max", last, 0)])

    @property
    def shift_bytes(self) -> Extent:
        """`offset` in bytes."""
        return product([self.item_bytes, self.offset])

    @property
    def is_dynamic(self) -> bool:
        """Whether sizes or strides are symbols."""
        return not all(isinstance(each, int) for each in (*self.shape, *(self.strides or ())))


@dataclass(frozen=True)
class Step:
    """One launch of one kernel."""

    entry: str
    """Name of the entry in the PTX."""
    grid: Triple
    block: Triple
    """Threads of a block, which the kernel is laid out for: others are an error. SPIR-V for Vulkan takes them as the
    specialisation constants 0, 1 and 2 where all kernels of the module have the same."""
    cluster: Triple
    shared_bytes: int
    """Dynamic shared memory to ask for at launch; 0 when all of it is declared statically."""
    parameters: tuple[Extent | TensorMap, ...]
    """The kernel's parameters in order. A number is one of memory: first the launch's arguments, then its buffers, then
    its constants; the parameter is a device pointer that must be aligned to 16 bytes. A TensorMap is passed by value,
    made for the address that its memory has. A symbol, or an expression, is that size as an integer of 64 bits; in a
    launch bound to sizes it is the number of one of `Launch.values`, which come after the constants."""
    dependent_launch: bool = False
    """Whether it may start while what is before it on the stream still runs (programmatic dependent launch): the
    kernel waits itself before it touches memory."""

    cooperative: bool = False
    """Whether all its blocks must be on the GPU at the same time, because some wait for others (a cooperative launch).
    With `dependent_launch` they start when all fit beside what still runs."""

    asserts: tuple[str, ...] = ()
    """The messages of assertions that the kernel reports in SPIR-V: it takes one buffer more, as its last parameter, in
    which a word is the number of the message of one that failed, from 1, and stays as it is where none did."""

    @property
    def is_empty(self) -> bool:
        """Whether the grid has no blocks: there is nothing to launch."""
        return 0 in self.grid

    @property
    def memory(self) -> tuple[Extent, ...]:
        """Its parameters with the number of their memory for tensor maps."""
        return tuple(each.memory if isinstance(each, TensorMap) else each for each in self.parameters)

    @property
    def tensor_maps(self) -> tuple[TensorMap, ...]:
        """The tensor maps among its parameters."""
        return tuple(each for each in self.parameters if isinstance(each, TensorMap))


@dataclass(frozen=True)
class Constant:
    """Data that stands in the module, such as weights."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """Element type by its MLIR name."""
    data: bytes = dataclasses.field(repr=False)
    """The elements in row-major order, little-endian, as the device gets them."""


@dataclass(frozen=True)
class Launch:
    """Everything that a call needs besides the code."""

    arguments: tuple[Argument, ...]
    """The function's arguments in order, then its results."""
    steps: tuple[Step, ...]
    """What runs, in this order; nothing for a function that has nothing to compute."""
    buffers: tuple[Buffer, ...] = ()
    constants: tuple[Constant, ...] = ()
    workspace_bytes: int = 0
    """Size of the memory that the buffers lie in, aligned to 256 bytes. Its contents need not outlive the call. 0 while
    the buffers have no places."""
    zeroed_bytes: int = 0
    """The same of the memory for buffers that are `zeroed`: it is zero before the first launch, and kept."""
    values: tuple[int, ...] = ()
    """In a launch bound to sizes, the sizes that kernels get as parameters."""

    @staticmethod
    def of_kernel(
        entry: str,
        grid: Triple,
        block: Triple,
        cluster: Triple,
        shared_bytes: int,
        arguments: tuple[Argument, ...],
        parameters: tuple[int | TensorMap, ...],
    ) -> Launch:
        """The launch of one kernel."""
        return Launch(arguments, (Step(entry, grid, block, cluster, shared_bytes, parameters),))

    @property
    def is_program(self) -> bool:
        """Whether it is more than a single launch of one kernel on the arguments."""
        own = all(buffer.scratch for buffer in self.buffers)
        return len(self.steps) != 1 or not own or bool(self.constants)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone, for pickling: what follows from them is worked out again."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def tensor_maps(self) -> tuple[TensorMap, ...]:
        """The tensor maps that its steps take, each once."""
        return tuple(dict.fromkeys(each for step in self.steps for each in step.tensor_maps))

    @functools.cached_property
    def symbols(self) -> tuple[str, ...]:
        """The sizes that are known at run time only, in the order in which the arguments have them; none in a launch
        that is all numbers."""
        return symbols_of(*(size for argument in self.arguments for size in argument.shape), *self._sizes())

    @functools.cached_property
    def binding(self) -> tuple[tuple[int, int, int], ...]:
        """Where to read each symbol's value: the number of an argument, the dimension, and what to divide its size by
        (1 where the size is the symbol itself). Raises InputError for a symbol that no argument of the caller
        determines."""
        places: dict[str, tuple[int, int, int]] = {}
        for number, argument in enumerate(self.arguments):
            for axis, size in enumerate(argument.shape if argument.role != "result" else ()):
                name, factor = multiple(size)
                if name and (name not in places or factor < places[name][2]):
                    places[name] = number, axis, factor
        compiled([name for name in self.symbols if name not in places], tuple(places))  # refuses
        return tuple(places[name] for name in self.symbols)

    def at(self, values: Sequence[int]) -> Launch:
        """The launch for these values of `symbols`: sizes are numbers, and the buffers have places."""
        if not self.symbols:
            return self
        numbers = dict(zip(self._sizes(), self._evaluate(values), strict=True))

        def bound(sizes: Sequence[Extent]) -> tuple[int, ...]:
            return tuple(size if isinstance(size, int) else numbers[size] for size in sizes)

        arguments = tuple(
            dataclasses.replace(
                argument,
                shape=bound(argument.shape),
                strides=None if argument.strides is None else bound(argument.strides),
            )
            for argument in self.arguments
        )
        passed = list(
            dict.fromkeys(
                size for step in self.steps for size in step.parameters if not isinstance(size, int | TensorMap)
            )
        )
        first = len(self.arguments) + len(self.buffers) + len(self.constants)

        def parameter(given: Extent | TensorMap) -> int | TensorMap:
            if isinstance(given, TensorMap):
                sizes, strides = bound(given.sizes), bound(given.strides_bytes)
                (offset,) = bound([given.element_offset])
                return dataclasses.replace(given, sizes=sizes, strides_bytes=strides, element_offset=offset)
            return given if isinstance(given, int) else first + passed.index(given)

        steps = tuple(
            dataclasses.replace(
                step,
                grid=bound(step.grid),
                block=bound(step.block),
                parameters=tuple(map(parameter, step.parameters)),
            )
            for step in self.steps
        )
        sizes = bound([buffer.bytes for buffer in self.buffers])
        sized = [Buffer(None, size, buffer.scratch) for buffer, size in zip(self.buffers, sizes, strict=True)]
        buffers, size, zeroed = placed(sized, [step.memory for step in self.steps], len(self.arguments))
        return Launch(arguments, steps, buffers, self.constants, size, zeroed, bound(passed))

    @functools.cached_property
    def _evaluate(self) -> Callable[[Sequence[int]], tuple[int, ...]]:
        return compiled(self._sizes(), self.symbols)

    def _sizes(self) -> tuple[Size, ...]:
        """All sizes that are not numbers, each once."""
        return tuple(dict.fromkeys(size for size in self._extents() if not isinstance(size, int)))

    def _extents(self) -> Iterator[Extent]:
        for argument in self.arguments:
            yield from argument.shape
            yield from argument.strides or ()
        for step in self.steps:
            yield from (*step.grid, *step.block)
            for each in step.parameters:
                is_map = isinstance(each, TensorMap)
                yield from (*each.sizes, *each.strides_bytes, each.element_offset) if is_map else (each,)
        for buffer in self.buffers:
            yield buffer.bytes

    @property
    def entry(self) -> str:
        """The one step's entry. Like the other fields of a step, an AttributeError when there is not exactly one."""
        return self._only("entry").entry

    @property
    def grid(self) -> Triple:
        """The one step's grid."""
        return self._only("grid").grid

    @property
    def block(self) -> Triple:
        """The one step's block."""
        return self._only("block").block

    @property
    def cluster(self) -> Triple:
        """The one step's cluster."""
        return self._only("cluster").cluster

    @property
    def shared_bytes(self) -> int:
        """The one step's dynamic shared memory."""
        return self._only("shared_bytes").shared_bytes

    @property
    def parameters(self) -> tuple[Extent | TensorMap, ...]:
        """The one step's parameters."""
        return self._only("parameters").parameters

    def _only(self, name: str) -> Step:
        if len(self.steps) != 1:
            raise AttributeError(f"a program of {len(self.steps)} steps has no single '{name}'; see 'steps'")
        return self.steps[0]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, for `--launch-info`: of one kernel, what it is launched with beside its arguments."""
        data = dataclasses.asdict(self)
        for step, shown in zip(self.steps, data["steps"], strict=True):
            shown["parameters"] = tuple(
                each.to_json() if isinstance(each, TensorMap) else each for each in step.parameters
            )
            for name in ("asserts", "cooperative"):
                if not shown[name]:
                    del shown[name]
        for argument in data["arguments"]:
            for name in ("scalar", "open_strides", "complex", "checks", "least", "most"):
                if not argument[name]:
                    del argument[name]
        if not self.values:
            del data["values"]
        if not self.zeroed_bytes:
            del data["zeroed_bytes"]
        for buffer in data["buffers"]:
            if not buffer["scratch"]:
                del buffer["scratch"]
        if self.is_program:
            for constant in data["constants"]:
                constant["data"] = base64.b64encode(constant["data"]).decode()
            return data
        (step,) = data["steps"]
        parameters = step.pop("parameters")
        whole = {**step, "arguments": data["arguments"], "parameters": parameters}
        if self.buffers:
            whole |= {name: data[name] for name in _SCRATCH if name in data}
        return whole

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Launch:
        """What `to_json` gave, after a trip through JSON. Raises KeyError, TypeError or ValueError for other data."""
        fields: dict[str, Any] = as_tuples(data)
        arguments = tuple(Argument(**argument) for argument in fields.pop("arguments"))
        buffers = tuple(Buffer(**buffer) for buffer in fields.pop("buffers", ()))
        if "steps" not in fields:
            sizes = {name: fields.pop(name) for name in _SCRATCH if name in fields}
            return Launch(arguments, (_step(fields),), buffers, **sizes)
        return Launch(
            arguments,
            tuple(map(_step, fields.pop("steps"))),
            buffers,
            tuple(_constant(constant) for constant in fields.pop("constants")),
            **fields,
        )


_SCRATCH = ("buffers", "workspace_bytes", "zeroed_bytes")
"""What stands in the data of one kernel's launch if it needs memory beside its arguments."""


def _constant(fields: Mapping[str, Any]) -> Constant:
    return Constant(fields["name"], fields["shape"], fields["dtype"], base64.b64decode(fields["data"]))


def _step(fields: Mapping[str, Any]) -> Step:
    """A step from its data. A parameter that has fields of its own is a tensor map."""
    parameters = tuple(
        TensorMap.from_json(cast("Mapping[str, Any]", each)) if isinstance(each, Mapping) else each
        for each in fields["parameters"]
    )
    given: dict[str, Any] = {**fields, "parameters": parameters}
    return Step(**given)


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of dense row-major memory."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
