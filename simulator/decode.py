"""From operations to closures: each is decoded once, with its operands resolved to slots of a warp's list of values.

`HANDLERS` is the table of what is known: an operation's name, and the function that decodes it. A decoded operation is
a Step, called with the warp, or Blocking, a generator that yields a Wait where the warp cannot go on. To add an
operation, write a function with `@handles("dialect.name")` in one of the `ops_*` files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.simulator.elements import Element, element_of
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.options import Options
from mlir_gemm.simulator.report import Finding, Report
from mlir_gemm.simulator.warps import Run, Stop, Warp

Step = Callable[[Warp], None]


@dataclass(frozen=True)
class Blocking:
    """An operation at which a warp may have to wait."""

    run: Callable[[Warp], Run]


Decoded = Step | Blocking | None
HANDLERS: dict[str, Callable[[Decoder, Any], Decoded]] = {}


def handles(*names: str) -> Callable[[Callable[[Decoder, Any], Decoded]], Callable[[Decoder, Any], Decoded]]:
    """Enters a function in the table under the names of operations."""

    def enter(handler: Callable[[Decoder, Any], Decoded]) -> Callable[[Decoder, Any], Decoded]:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return enter


@dataclass(frozen=True)
class Info:
    """What a finding says of an operation."""

    operation: str
    location: str
    collective: bool
    """Executed by a warp as a whole."""
    report: Report

    def find(self, check: str, warp: Warp, lane: int, address: str, message: str, times: int = 1) -> None:
        """Reports what is wrong here."""
        finding = Finding(
            check, self.operation, self.location, warp.block.number, warp.number, lane, address, message
        )  # fmt: skip
        self.report.add(finding, times)

    def first_lane(self, warp: Warp) -> int:
        """The first active lane of a warp."""
        return 0 if warp.mask is None else int(warp.mask.argmax())


class Code:
    """The operations of one block, decoded."""

    def __init__(self, steps: list[Step | Blocking], names: list[str], results: list[int], limit: int):
        self.blocking = any(isinstance(step, Blocking) for step in steps)
        self.steps = [step for step in steps if not isinstance(step, Blocking)]
        self.length = len(steps)
        self.names = Counter(names)
        self.executed = 0
        self.results = results
        """Slots of what the terminator hands on."""
        self.limit = limit
        self._segments: list[tuple[list[Step], Blocking | None]] = [([], None)]
        for step in steps:
            if isinstance(step, Blocking):
                self._segments[-1] = (self._segments[-1][0], step)
                self._segments.append(([], None))
            else:
                self._segments[-1][0].append(step)

    def _count(self, warp: Warp) -> None:
        self.executed += 1
        warp.steps += self.length + 1
        if warp.steps > self.limit:
            raise Endless(warp)

    def plain(self, warp: Warp) -> None:
        """Runs code in which nothing blocks."""
        self._count(warp)
        for step in self.steps:
            step(warp)

    def resume(self, warp: Warp) -> Run:
        """Runs code that may block."""
        self._count(warp)
        for steps, blocking in self._segments:
            for step in steps:
                step(warp)
            if blocking is not None:
                yield from blocking.run(warp)


class Endless(Stop):
    """A warp ran more operations than allowed."""

    def __init__(self, warp: Warp):
        super().__init__(f"warp {warp.number} of block {warp.block.number} ran {warp.steps} operations without an end")
        self.warp = warp


class Decoder:
    """Turns one function into Code, and knows the slots of its values."""

    def __init__(self, report: Report, options: Options, limit: int):
        self.report = report
        self.options = options
        self.limit = limit
        self.slots: dict[Any, int] = {}
        self.template: list[Any] = []
        """The values of a warp that starts: constants are there already."""
        self.codes: list[Code] = []
        self.globals: dict[str, Any] = {}
        """Types of the module's memory, by name."""
        self.constants: dict[str, Any] = {}
        """Views of the module's constants in global memory, by name."""
        self.memory: list[Any] = []
        """Global memory whose addresses the code computes with (`ops_flags`)."""

    def slot(self, value: Any) -> int:
        """Where a value is kept."""
        found = self.slots.get(value)
        if found is None:
            found = self.slots[value] = len(self.template)
            self.template.append(None)
        return found

    def all_slots(self, values: Iterable[Any]) -> list[int]:
        """Where these values are kept."""
        return [self.slot(value) for value in values]

    def constant(self, value: Any, number: Any) -> None:
        """A value that is the same in every warp from the start."""
        self.template[self.slot(value)] = number

    def element(self, operation: Any, type_: Any) -> Element:
        """The element type of a number, vector or memref. Raises SimulationError when it is not known."""
        found = element_of(getattr(type_, "element_type", type_))
        if found is None:
            raise unsupported(operation, f"values of type {type_} are not simulated")
        return found

    def info(self, operation: Any, collective: bool = False) -> Info:
        """What a finding says of `operation`."""
        place = location_of(operation)
        where = str(place) if place is not None else str(operation.operation.location)
        return Info(operation.operation.name, where, collective, self.report)

    def code(self, block: Any) -> Code:
        """Decodes a block. Raises SimulationError at an operation that is not known."""
        steps: list[Step | Blocking] = []
        names: list[str] = []
        results: list[int] = []
        for operation in block.operations:
            name = operation.operation.name
            if name in TERMINATORS:
                results = self.all_slots(operation.operation.operands)
                continue
            handler = HANDLERS.get(name)
            if handler is None:
                raise unsupported(operation, "the simulator does not know this operation")
            step = handler(self, operation)
            if step is not None:
                steps.append(step)
                names.append(name)
        code = Code(steps, names, results, self.limit)
        self.codes.append(code)
        return code


TERMINATORS = (
    "scf.yield", "scf.condition", "affine.yield", "gpu.return", "func.return", "memref.alloca_scope.return"
)  # fmt: skip
"""They do nothing but name what is handed on."""


def is_vector(value: Any) -> bool:
    """Whether an MLIR value is a vector."""
    return isinstance(value.type, ir.VectorType)


def integers(attribute: Any) -> list[int]:
    """The numbers of an array attribute of integers, of either kind."""
    return [entry if isinstance(entry, int) else ir.IntegerAttr(entry).value for entry in attribute]
