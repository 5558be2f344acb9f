"""What is added from outside the package and is not a part: passes at a slot of a stage, selectors, front ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import ALL_SLOTS
from mlir_gemm.spec.target import Target


def _always(_: Schedule, __: Target) -> bool:
    return True


@dataclass(frozen=True)
class PassAt:
    """A pass of one's own, and where it runs in the stages of every product: after what stands in that slot. Without a
    stage it runs only where a part names it."""

    cls: type[Any]
    """A subclass of `mlir_gemm.passes.base.Pass`."""
    stage: str = ""
    slot: str = ""
    """One of the stage's slots; `spec.stages.ALL_SLOTS` lists them."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    applies: Callable[[Schedule, Target], bool] = _always
    """Which kernels it is for."""

    @property
    def name(self) -> str:
        """The pass's name on the command line."""
        return self.cls.name

    def check(self) -> None:
        """Raises Error for a slot that does not exist, and for what is not a pass."""
        if not (isinstance(getattr(self.cls, "name", None), str) and callable(getattr(self.cls, "run", None))):
            raise Error(f"{self.cls!r} is not a pass: expected a class with a name and a method run(module)")
        if not (self.stage or self.slot):
            return
        if self.stage not in ALL_SLOTS or not ALL_SLOTS[self.stage] or self.stage in ("import", "select"):
            known = [stage for stage, slots in ALL_SLOTS.items() if slots and stage not in ("import", "select")]
            raise Error(f"pass '{self.name}' at stage '{self.stage}'; expected one of {', '.join(known)}")
        if self.slot not in ALL_SLOTS[self.stage]:
            raise Error(
                f"pass '{self.name}' at slot '{self.slot}' of stage '{self.stage}'; expected one of "
                f"{', '.join(ALL_SLOTS[self.stage])}"
            )


@dataclass(frozen=True)
class Selector:
    """Chooses schedules in place of the tile model."""

    name: str
    choose: Callable[[Problem, Target, Mapping[str, Any]], Schedule | None]
    """The schedule of a product on a chip that has the fields that are fixed; None leaves it to the model. What it
    returns is checked by the model's rules."""


@dataclass(frozen=True)
class FrontEnd:
    """Reads what is not MLIR, or MLIR of dialects that mlir-gemm does not take."""

    name: str
    read: Callable[[str], str | None]
    """The module as linalg, as text, of a source's text; None where it is not for this front end. Raises InputError for
    one that is, and is wrong."""


def _no_rules() -> Mapping[str, Callable[[Any, Any], bool]]:
    return {}


@dataclass(frozen=True)
class Rewrites:
    """Rules of one's own, by which a source is rewritten before products are recognised in it."""

    name: str
    rules: Mapping[str, Callable[[Any, Any], bool]] = field(default_factory=_no_rules)
    """By the name of the operation that a rule begins at: a function of that operation and of the rewriter of MLIR's
    bindings, which rewrites and returns True, or changes nothing and returns False."""
    pdl: str = ""
    """Patterns as MLIR text, in the dialect pdl."""

    def check(self) -> None:
        """Raises Error where there is no rule, or one that is not a function of an operation's name."""
        if not self.rules and not self.pdl:
            raise Error(f"there are no rules in '{self.name}': expected functions by operation, or patterns in PDL")
        for root, rule in self.rules.items():
            if "." not in root or not callable(rule):
                raise Error(
                    f"the rules '{self.name}' have {rule!r} for '{root}'; expected a function, by the name of an "
                    "operation such as 'linalg.matmul'"
                )
