"""Decoding IR into a program of Python closures that work on whole tiles.

The bindings take microseconds for every attribute, so each operation is decoded once, into a step that reads and writes
slots of a frame; loops run steps. A value that differs between the warps of a block is a `PerUnit`: a step with such
an operand runs once for each warp, in lockstep. That is a valid order for any kernel whose barriers are right; whether
they are is for the engine that runs the output of `lower` to find.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.locations import location_of
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.errors import Error
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.tile_coroutines import Coroutines

Frame = list[Any]
Step = Callable[[Frame], None]
Function = Callable[..., Any]
Maker = Callable[[Any], Function]
"""Takes an operation, gives the function from its operands to its result (None if it has none)."""
StepMaker = Callable[["Decoder", Any], "Step | None"]
"""Takes an operation that a function of its operands cannot express, such as a loop; None for nothing to do."""

FRAMES = "frames of the cluster"
"""The slot of a frame that holds the frames of all blocks of the cluster, in the order of their ranks."""
RANK = "rank in the cluster"


class PerUnit(list[Any]):
    """One value for each warp of a block."""


@dataclass
class Written:
    """One region of a function's argument that a block wrote."""

    memory: Any
    region: tuple[slice, ...]


@dataclass
class State:
    """What a running program knows besides its values."""

    results: list[Any] | None
    """Arrays that a function on tensors copies what it returns to; None for leaving it in `returned`."""
    units: int = 0
    """Warps in a block; 0 while it is not known."""
    blocks: Collection[int] | None = None
    """The blocks of the grid to run; None for all."""
    written: list[Written] | None = None
    """Regions written by tile.store, if somebody asked."""
    returned: list[Any] = field(default_factory=list[Any])
    shared: dict[str, Any] = field(default_factory=dict[str, Any])
    """Shared-memory globals of the block that is running, by name."""
    copies: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    """Asynchronous copies that no group holds yet: the target, and what it is to hold."""
    groups: deque[list[tuple[Any, Any]]] = field(default_factory=deque[list[tuple[Any, Any]]])
    """Groups of them in flight."""
    rings: Any = None
    """Rings of stages (`tile_rings.Rings`)."""
    coroutines: Coroutines = field(default_factory=Coroutines)
    """The parts of the program that wait for each other."""
    launched: bool = False
    """Whether `units` counts all warps of a launch."""
    planes: dict[tuple[int, ...], tuple[Any, list[Any]]] = field(
        default_factory=dict[tuple[int, ...], tuple[Any, list[Any]]]
    )
    """Matrices that planes are seen as (`tile_planes`), and the planes, by what tells these apart."""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """The symbols of the program's arguments, and what they are."""


class Decoder:
    """Turns operations into steps over one frame."""

    def __init__(self, module: Any, state: State, functions: dict[str, Maker], steps: dict[str, StepMaker]) -> None:
        self.module = module
        self.state = state
        self._functions = functions
        self._steps = steps
        self._slots: dict[Any, int] = {}

    @property
    def size(self) -> int:
        """Slots that a frame needs."""
        return len(self._slots)

    def slot(self, value: Any) -> int:
        """The place of a value in the frame."""
        return self._slots.setdefault(value, len(self._slots))

    def slots(self, values: Iterable[Any]) -> list[int]:
        """The places of several values."""
        return [self.slot(value) for value in values]

    def block(self, block: Any) -> list[Step]:
        """The steps of a block's operations, its terminator left out unless there is a step for it."""
        return self.steps(in_block(block))

    def steps(self, operations: Iterable[Any]) -> list[Step]:
        """The steps of operations. Raises SimulationError for one that is not known."""
        found = [self.step(operation) for operation in operations]
        return [step for step in found if step is not None]

    def step(self, operation: Any) -> Step | None:
        """The step of one operation."""
        name: str = operation.operation.name
        make = self._steps.get(name) or self._steps.get(f"{name.partition('.')[0]}.*")
        if make is not None:
            return make(self, operation)
        if name not in self._functions:
            raise unknown(operation)
        results = list(operation.operation.results)
        function = located(self._functions[name](operation), operation)
        inputs = self.slots(operation.operation.operands)
        return call(function, inputs, self.slot(results[0]) if results else None)


def unknown(operation: Any) -> SimulationError:
    """The error for an operation that the simulator cannot run at this stage."""
    name = operation.operation.name
    return SimulationError(f"the simulator does not know '{name}' at this stage", location_of(operation))


def located(function: Function, operation: Any) -> Function:
    """`function`, whose own errors name the place of the operation."""
    location = location_of(operation)
    name = operation.operation.name

    def located(*operands: Any) -> Any:
        try:
            return function(*operands)
        except Error as error:
            error.location = error.location or location
            raise
        except (ValueError, IndexError, ZeroDivisionError, OverflowError, TypeError) as error:
            raise SimulationError(f"'{name}': {error}", location) from error

    return located


def call(function: Function, inputs: list[int], output: int | None) -> Step:
    """A step that applies a function, once or for each warp."""

    def step(frame: Frame) -> None:
        operands = [frame[i] for i in inputs]
        units = next((len(operand) for operand in operands if type(operand) is PerUnit), 0)
        result = per_unit(function, operands, units) if units else function(*operands)
        if output is not None:
            frame[output] = result

    return step


def per_unit(function: Function, operands: list[Any], units: int) -> PerUnit:
    """A function applied for each warp."""
    return PerUnit(
        function(*[operand[unit] if type(operand) is PerUnit else operand for operand in operands])
        for unit in range(units)
    )


def run_steps(steps: list[Step], frame: Frame) -> None:
    """Runs steps in order."""
    for step in steps:
        step(frame)


def uniform(value: Any, what: str) -> int:
    """An index that must be the same for every warp and lane, as a Python integer."""
    if type(value) is int:
        return value
    if type(value) is PerUnit:
        first = uniform(value[0], what)
        if any(uniform(other, what) != first for other in value):
            raise SimulationError(f"{what} differs between the warps of a block")
        return first
    if getattr(value, "ndim", 0):
        if (value != value.flat[0]).any():
            raise SimulationError(f"{what} differs between the lanes of a warp")
        return int(value.flat[0])
    return int(value)
