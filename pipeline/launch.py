"""How what was compiled is launched: the same information for the Python runtime and, as JSON, for any other caller.

A function that is one kernel has one step and nothing else. A program has a list of steps, which run in order, and
memory of three kinds, which the steps' parameters name by one number: its arguments come first, then its intermediate
buffers, then its constants.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mlir_gemm.pipeline.problem import ELEMENT_BYTES

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Argument:
    """One argument of the source function, or one of its tensor results (which follow the arguments, in order)."""

    name: str
    """The name in the source (`%A` gives `A`) where the IR keeps it, else `arg0`, ...; `result0`, ... for results."""
    shape: tuple[int, ...]
    """Sizes in elements."""
    dtype: str
    """Element type by its MLIR name: f16, f32."""
    role: str
    """`in` (only read), `out` (written whole, not read), `inout`, or `result` (an `out` that the runtime makes)."""
    strides: tuple[int, ...] | None = None
    """Distance of neighbours in each dimension, in elements; None for dense row-major memory. The stride of a dimension
    of size 1 means nothing."""
    offset: int = 0
    """Elements between the address that the kernel takes and element [0, ..., 0]. The caller's array starts at that
    element, so the address handed over is the array's own less this many elements."""

    @property
    def item_bytes(self) -> int:
        """Bytes of one element."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def span_bytes(self) -> int:
        """Bytes from element [0, ..., 0] to behind the last one, gaps included; 0 when there is no element."""
        if 0 in self.shape:
            return 0
        if self.strides is None:
            return self.item_bytes * math.prod(self.shape)
        return self.item_bytes * (1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)))

    @property
    def shift_bytes(self) -> int:
        """`offset` in bytes."""
        return self.item_bytes * self.offset


@dataclass(frozen=True)
class Step:
    """One launch of one kernel."""

    entry: str
    """Name of the entry in the PTX."""
    grid: Triple
    block: Triple
    cluster: Triple
    shared_bytes: int
    """Dynamic shared memory to ask for at launch; 0 when all of it is declared statically."""
    parameters: tuple[int, ...]
    """The kernel's parameters in order, each a number of memory: first the launch's arguments, then its buffers, then
    its constants. Every parameter is a device pointer that must be aligned to 16 bytes."""

    @property
    def is_empty(self) -> bool:
        """Whether the grid has no blocks: there is nothing to launch."""
        return 0 in self.grid


@dataclass(frozen=True)
class Buffer:
    """An intermediate result. Buffers that are never in use at the same time share memory."""

    offset: int
    """Bytes from the start of the workspace, a multiple of 256."""
    bytes: int


@dataclass(frozen=True)
class Constant:
    """Data that stands in the module, such as weights."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """Element type by its MLIR name."""
    data: str = dataclasses.field(repr=False)
    """The elements in row-major order, little-endian, in base64."""

    def bytes(self) -> bytes:
        """The elements as the device gets them."""
        return base64.b64decode(self.data)


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
    """Size of the memory that the buffers lie in, aligned to 256 bytes. Its contents need not outlive the call."""

    @staticmethod
    def of_kernel(
        entry: str,
        grid: Triple,
        block: Triple,
        cluster: Triple,
        shared_bytes: int,
        arguments: tuple[Argument, ...],
        parameters: tuple[int, ...],
    ) -> Launch:
        """The launch of one kernel."""
        return Launch(arguments, (Step(entry, grid, block, cluster, shared_bytes, parameters),))

    @property
    def is_program(self) -> bool:
        """Whether it is more than one launch of one kernel on the arguments."""
        return len(self.steps) != 1 or bool(self.buffers or self.constants)

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
    def parameters(self) -> tuple[int, ...]:
        """The one step's parameters."""
        return self._only("parameters").parameters

    def _only(self, name: str) -> Step:
        if len(self.steps) != 1:
            raise AttributeError(f"a program of {len(self.steps)} steps has no single '{name}'; see 'steps'")
        return self.steps[0]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, for `--launch-info`: of one kernel, what it is launched with beside its arguments."""
        data = dataclasses.asdict(self)
        if self.is_program:
            return data
        (step,) = data["steps"]
        parameters = step.pop("parameters")
        return {**step, "arguments": data["arguments"], "parameters": parameters}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Launch:
        """What `to_json` gave, after a trip through JSON. Raises KeyError, TypeError or ValueError for other data."""
        fields: dict[str, Any] = as_tuples(data)
        arguments = tuple(Argument(**argument) for argument in fields.pop("arguments"))
        if "steps" not in fields:
            return Launch(arguments, (Step(**fields),))
        return Launch(
            arguments,
            tuple(Step(**step) for step in fields.pop("steps")),
            tuple(Buffer(**buffer) for buffer in fields.pop("buffers")),
            tuple(Constant(**constant) for constant in fields.pop("constants")),
            **fields,
        )


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of dense row-major memory."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def as_tuples(value: Any) -> Any:
    """JSON has lists where the dataclasses have tuples."""
    if isinstance(value, list | tuple):
        return tuple(as_tuples(item) for item in cast("list[Any]", value))
    if isinstance(value, dict):
        return {name: as_tuples(item) for name, item in cast("dict[str, Any]", value).items()}
    return value
