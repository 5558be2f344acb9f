"""What a part is: a name, traits that others may ask for, and the passes that it puts at slots of the stages.

Whoever needs to know something of another part asks for a trait, never for the part's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mlir_gemm.spec.passes import Placed
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

Passes = Callable[[Schedule, Target], Iterable[Placed]]


@dataclass(frozen=True)
class Part:
    """A part that is there or not: a tile scheduler, a way for results to leave."""

    name: str
    applies: Callable[[Schedule], bool]
    """Whether a schedule has it."""
    passes: Passes


@dataclass(frozen=True)
class Mma:
    """An operation that multiplies tiles."""

    name: str
    """Its name in a schedule."""
    passes: Passes
    unit: str = "warp"
    """Who multiplies a tile together: a `warp`, or a `warpgroup` of four."""
    asynchronous: bool = False
    """Whether it is issued and waited for, and reads shared memory in between."""
    by_descriptor: bool = False
    """Whether it takes operands in shared memory by descriptors, which know of the swizzle, and not from lanes."""
    opaque: bool = False
    """Whether only the operation knows which lane holds which element of the accumulator."""
    tensor_cores: bool = True
    """Whether tensor cores multiply, and not ordinary arithmetic."""

    stores_rows: bool = False
    """Whether its epilogue can hand whole rows to lanes, through shared memory."""

    @property
    def warps(self) -> int:
        """Warps that multiply a tile together."""
        return 4 if self.unit == "warpgroup" else 1


@dataclass(frozen=True)
class Mainloop:
    """How operands reach shared memory while others are multiplied."""

    name: str
    """Its name in a schedule."""
    passes: Passes
    most_stages: int = 2
    """Most buffers of an operand that it can make use of."""
    least_stages: int = 1
    in_registers: bool = False
    """Whether the next k tile waits in registers."""
    asynchronous: bool = False
    """Whether copies go on while the threads that issued them do something else."""
    producer: bool = False
    """Whether a warp of its own copies, by the copy engine, and hands over through barriers in shared memory."""
