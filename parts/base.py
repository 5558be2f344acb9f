"""What a part is: a name, traits that others may ask for, rules, needs, and the passes that it adds at slots of the
stages.

Whoever needs to know something of another part asks for a trait, never for the part's name. A part has the name of its
file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.spec.emulation import multiplied_as
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import Placed
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import PRECISIONS, Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.threads import UNITS

Passes = Callable[[Schedule, Target], Iterable[Placed]]
Rule = Callable[[Problem, Schedule, Target], str | None]
"""Why a schedule does not go with a problem and a chip, in words that name the value, the rule and the nearest value
that is right; None where it does."""
Search = Callable[[Problem, Target, Mapping[str, Any], bool], Iterator[Schedule]]
"""Schedules to try, legal or not, with these fields fixed. The flag asks for a wide search: tiles too that are seldom
worth it."""


class Form(NamedTuple):
    """One way in which an operation multiplies."""

    operands: tuple[str, ...]
    """Element types of A and B."""
    mixed: bool
    """Whether A and B may be different ones of `operands`."""
    acc: str
    """Element type of the accumulator."""
    instruction: Tile
    precision: str = ""
    """The schedule's `precision` without which this form is not allowed; empty where it is exact."""
    needs: frozenset[str] = frozenset()
    """Capabilities that a chip must have for it, beyond those of the operation."""
    sparse: bool = False
    """Whether A is a 2:4 sparse matrix."""


class Rules(NamedTuple):
    """A part's rules. A later group is asked only where all earlier ones hold."""

    problem: tuple[Rule, ...] = ()
    """What it can compute at all."""
    shape: tuple[Rule, ...] = ()
    """Which tiles, stages and layouts go with it."""
    resource: tuple[Rule, ...] = ()
    """What that takes of the chip."""


NO_RULES = Rules()


class CostFamily(NamedTuple):
    """One formula for the time of a kernel, with the constants that were fitted for it."""

    estimate: Callable[[Problem, Schedule, Target], Prediction]


@dataclass(frozen=True)
class Part:
    """An optional part: a tile scheduler, or a way to store results."""

    name: str
    applies: Callable[[Schedule], bool]
    """Whether a schedule has it."""
    passes: Passes
    rank: int = 100
    """Its place among the parts that put passes at the same slot."""
    fields: tuple[Field, ...] = ()
    """Fields of the schedule that are its own."""
    own_fields: tuple[Field, ...] = ()
    """Those of a part from outside, whose defaults are integers, truth values or texts. A schedule has them as
    `part.field`; `Schedule.value` reads them."""
    rules: Rules = NO_RULES
    """Asked where it applies."""
    on_ring: bool = False
    """Whether it needs a warp of its own that copies."""
    by_warpgroups: bool = False
    """Whether it needs an operation that warpgroups multiply with."""
    offers: Callable[[Problem, Schedule, Target], Iterable[tuple[Mapping[str, Any], str]]] = lambda _, __, ___: ()
    """Fields of its own that may pay beside a schedule without it, each with why; where it is predicted to, the model
    takes them."""
    by_rows: bool = False
    """Whether it needs an operation whose epilogue can hand whole rows to lanes."""
    shared: Callable[[Problem, Schedule], int] | None = None
    """Bytes of shared memory through which results leave; None where they do not."""
    beside: Callable[[Problem, Schedule], int] | None = None
    """Bytes of shared memory that it takes beside a ring, as long as a block runs; None where it never does."""


def extends(element: str, into: str) -> bool:
    """Whether every element of one type is one of the other."""
    if element == into:
        return True
    one, other = TYPES[element], TYPES[into]
    return one.is_float == other.is_float and one.bytes < other.bytes


def always_no(_: Problem, __: str) -> bool:
    """A trait that an operation has for no operand."""
    return False


@dataclass(frozen=True)
class Mma:
    """An operation that multiplies tiles."""

    kind: ClassVar[str] = "mma"
    name: str
    """Its name in a schedule."""
    rank: int
    """Operations are tried in this order: the first that has a legal schedule is taken."""
    forms: tuple[Form, ...]
    """The types that it multiplies; where several take a type, the best first."""
    passes: Passes
    search: Search
    family: CostFamily
    rate: Callable[[Problem, Target], float]
    """Operations that an SM does in one clock for a problem's types, a multiplication and an addition being two."""
    registers: Callable[[Problem, Schedule, Target], int]
    """Estimate of the 32-bit registers that a thread needs."""
    needs: frozenset[str] = frozenset()
    """Capabilities of a chip without which it does not exist."""
    rules: Rules = NO_RULES
    fields: tuple[Field, ...] = ()
    """Fields of the schedule that are its own."""
    results: tuple[str, ...] = ()
    """Element types of results; empty for all."""
    default: bool = False
    """Whether a schedule that names none has this one."""
    lanes: tuple[int, int] | None = None
    """Rows and columns of the lanes of a warp, where each lane computes a tile of its own."""
    unit: str = "warp"
    """Who multiplies a tile together: a `warp`, a `wave` of two, or a `warpgroup` of four."""
    asynchronous: bool = False
    """Whether it is issued and waited for, and reads shared memory in between."""
    by_descriptor: bool = False
    """Whether it takes operands in shared memory by descriptors, which know of the swizzle, and not from lanes."""
    reads_rings: bool = False
    """Whether it can take operands from a ring of stages that a warp of its own fills."""
    opaque: bool = False
    """Whether only the operation knows which lane holds which element of the accumulator."""
    any_algebra: bool = False
    """Whether it combines by any algebra, not only by plus and times of numbers, where operands extend to the
    accumulator's type."""
    composites: bool = False
    """Whether it makes numbers of B from elements with components (`tile.composite`) in registers."""
    tensor_cores: bool = True
    """Whether tensor cores multiply, and not ordinary arithmetic."""
    whole_tiles: bool = False
    """Whether it is for single aligned products, whose tiles divide them: it guards no edges, and may read
    operands and partial sums from global memory."""
    stores_rows: bool = False
    """Whether its epilogue can hand whole rows to lanes, through shared memory."""
    rival: bool = False
    """Whether it is compared with operations that are tried earlier."""
    peer: bool = False
    """Whether it goes before the operation that is tried earlier unless it is predicted to be much slower."""
    by_matrix: Callable[[Problem, str], bool] = always_no
    """Whether the fragments of operand `a` or `b` are loaded as 8x8 matrices (ldmatrix), and not element by element."""
    fragments: Callable[[Problem, Schedule], int] | None = None
    """Registers of the fragments of one k step, where the assembler loads those of the next ahead."""
    features: Callable[[Schedule, Target], str] = lambda _, __: ""
    """LLVM target features in place of the chip's own, such as a newer PTX, where its operations need them."""
    scratch: Callable[[Problem, Schedule], int] = lambda _, __: 0
    """Bytes of shared memory of the epilogue, in the place of the operands."""
    preferred: Callable[[Problem, list[Schedule]], list[Schedule]] = lambda _, legal: legal
    """Of its legal schedules those that are better known; all where none are."""

    @property
    def warps(self) -> int:
        """Warps that multiply a tile together."""
        return UNITS[self.unit]

    def tile_unit(self, instruction: Tile) -> Tile:
        """What the sizes of a warp tile must be multiples of."""
        return (*self.lanes, instruction[2]) if self.lanes else instruction

    def forms_of(self, problem: Problem, precision: str, target: Target) -> list[Form]:
        """The forms in which it multiplies the problem's types at this precision on the chip, the best first."""
        if problem.composite and not self.composites:
            return []
        if problem.algebra:
            return self._by_algebra(problem)
        return [
            form
            for form in self.forms
            if problem.acc == form.acc
            and problem.sparse == ("a" if form.sparse else "")
            and problem.a in form.operands
            and problem.b in form.operands
            and (form.mixed or problem.a == problem.b)
            and form.precision in ("", multiplied_as(precision))
            and form.needs <= target.capabilities
        ]

    def allows(self, precision: str, target: Target) -> bool:
        """Whether it has a form of its own for a precision on the chip."""
        return any(form.precision == precision and form.needs <= target.capabilities for form in self.forms)

    def _by_algebra(self, problem: Problem) -> list[Form]:
        types = problem.a, problem.b
        if not self.any_algebra or not all(extends(each, problem.acc) for each in types):
            return []
        return [Form(tuple(dict.fromkeys(types)), True, problem.acc, self.forms[0].instruction)]

    def instruction_of(self, problem: Problem, target: Target) -> Tile:
        """The instruction of the problem's types, at whatever precision allows them."""
        found = (form for precision in PRECISIONS for form in self.forms_of(problem, precision, target))
        return next(found, self.forms[0]).instruction

    def shown_forms(self) -> str:
        """The types that it takes, for messages."""
        shown: list[str] = []
        for form in self.forms:
            types = f"any of {', '.join(form.operands)}" if form.mixed else f"{form.operands[0]},{form.operands[0]}"
            allowed = f" with precision={form.precision}" if form.precision else ""
            types = f"2:4 sparse A of {types}" if form.sparse else types
            shown.append(f"{types} accumulated in {form.acc}{allowed}")
        return "; ".join(dict.fromkeys(shown))

    def full_rate_seconds(self, problem: Problem, target: Target) -> float:
        """Seconds of the problem's products where all SMs multiply at the full rate."""
        return problem.flops / (self.rate(problem, target) * target.clock_hz * target.sms)


@dataclass(frozen=True)
class Mainloop:
    """How operands reach shared memory while others are multiplied."""

    kind: ClassVar[str] = "mainloop"
    name: str
    """Its name in a schedule."""
    rank: int
    """Of schedules that are predicted to take the same time, the one with the lowest is preferred."""
    passes: Passes
    needs: frozenset[str] = frozenset()
    """Capabilities of a chip without which it does not exist."""
    rules: Rules = NO_RULES
    fields: tuple[Field, ...] = ()
    """Fields of the schedule that are its own."""
    default: bool = False
    """Whether a schedule that names none has this one."""
    most_stages: int = 2
    """Most buffers of an operand that it can make use of."""
    least_stages: int = 1
    in_registers: bool = False
    """Whether the next k tile waits in registers; with `asynchronous` that of an operand that is computed."""
    asynchronous: bool = False
    """Whether copies go on while the threads that issued them do something else."""
    producer: bool = False
    """Whether a warp of its own copies, by the copy engine, and hands over through barriers in shared memory."""

    @property
    def mixed(self) -> bool:
        """Whether it takes one operand that is computed on the way, and copies the other asynchronously."""
        return self.in_registers and self.asynchronous

    @property
    def ahead(self) -> bool:
        """Whether the next k tile is loaded while this one is multiplied."""
        return self.in_registers or self.asynchronous


@dataclass(frozen=True)
class Layout:
    """How rows of A and B lie in shared memory."""

    kind: ClassVar[str] = "smem_layout"
    name: str
    """Its name in a schedule."""
    padded: bool = False
    """Whether `pad` elements follow each row."""
    swizzled: bool = False
    """Whether the 16-byte chunks of rows change places."""
    panels: bool = False
    """Whether rows are cut into panels, as the copy engine swizzles them."""
    turns: bool = False
    """Whether rows run along m and n whatever the order of the operands in memory."""
    rules: Rules = NO_RULES
    fields: tuple[Field, ...] = ()
    default: bool = False

    def pad(self, schedule: Schedule, operand: str) -> int:
        """Elements that follow each row of operand `a` or `b`."""
        own = schedule.pad_b if operand == "b" and schedule.pad_b >= 0 else schedule.pad
        return own if self.padded else 0

    def attribute(self, schedule: Schedule, operand: str = "a") -> str:
        """The value of `tile.layout` on its buffers. The passes know `padN` and the other layouts of this package; a
        layout from outside comes with a pass of its own, which looks for its name there."""
        return f"pad{self.pad(schedule, operand)}" if self.padded else self.name


@dataclass(frozen=True)
class Raster:
    """The order in which blocks walk the tiles of the result."""

    kind: ClassVar[str] = "raster"
    name: str
    """Its name in a schedule."""
    group: Callable[[Schedule], int]
    """Tile rows that are walked at a time, column by column; 0 for all. What the model takes it for, whatever the pass
    makes of it."""
    snake: bool = False
    """Whether every other group is walked backwards."""
    walk: str = "rasterize-blocks"
    """The pass that finds the tile of a block: this one, which goes by `group` and `snake`, or one derived from it."""
    grouped: bool = False
    """Whether the schedule gives the height of the groups."""
    diagonal: bool = False
    """Whether blocks one after another are in other rows and other columns: those in flight cover as many of both."""
    fields: tuple[Field, ...] = ()
    default: bool = False

    def rows(self, schedule: Schedule, rows: int) -> int:
        """How many of these tile rows are walked at a time."""
        return min(self.group(schedule) or rows, rows)
