"""What may be done to a product before its schedule is chosen: compute operands once that a prologue computes, copy
operands to where they are read faster, multiply slices of k side by side, swap A and B. Each rewrite offers one
alternative to a product, or none; `REWRITES` in `decisions` lists them in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.passes import PassSpec
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target


@dataclass(frozen=True)
class Case:
    """A product as earlier rewrites have left it."""

    problem: Problem
    target: Target
    pinned: Mapping[str, Any]
    """The fields of the schedule that are fixed."""
    divisible: bool = True
    """Whether its program allows that k is multiplied in slices."""
    relaid: bool = False
    """Whether operands lie in a workspace."""
    slices: int = 1
    """In how many slices of k it has been divided."""

    def changed(self, problem: Problem, **fields: Any) -> Case:
        """The same product in another form."""
        return replace(self, problem=problem, **fields)


Refuses = Callable[[PassSpec], str]
"""Why a program does not allow a pass; empty where it does."""


@dataclass(frozen=True)
class Alternative:
    """Another way to compute a product, which is predicted to take less time, or which somebody has asked for."""

    case: Case
    """What is computed then, and the fields that are fixed with it."""
    step: PassSpec
    """The pass that does it."""
    why: Callable[[], Sequence[str]]
    """Lines for people: what is done, what it should take, what the product would take without."""
    seconds: float = 0.0
    """Predicted time of the kernels that it adds."""
    brings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of the fields that are fixed then, those of the product as the pass leaves it, and of no other kernel."""
    asked: str = ""
    """The field by which somebody has asked for it, and what it means; empty where the model offers it."""
    instead: str = ""
    """What the field should say where the program does not allow it."""
    missed: str = ""
    """What to say where the program does not allow what the model offers; empty for nothing."""
    note: str = ""
    """What the kernel's note says of it."""

    def refused(self, refuses: Refuses) -> str:
        """Why the program does not allow it; empty where it does. Raises ScheduleError where it was asked for
        explicitly."""
        why = refuses(self.step)
        if why and self.asked:
            raise ScheduleError(f"{self.asked}: {why}; expected {self.instead}")
        return why


Offer = Callable[[Case], Alternative | None]
"""What a rewrite offers. Raises ScheduleError for what is fixed and goes with nothing."""
