"""Everything that the stage `select` decides of a product: the rewrites, and how each is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.passes import PassSpec
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import dividing, relayout, swap
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.rewriting import Alternative, Case, Offer
from mlir_gemm.tile_model.select import Choice, select

Refuses = Callable[[PassSpec], str]
"""Why a program does not allow a pass; empty where it does."""

REWRITES: dict[str, Offer] = {"relayout": relayout.offer, "split_k_workspace": dividing.offer, "swap_ab": swap.offer}
"""The rewrites, in the order in which they are asked."""


def allowed(name: str, case: Case, refuses: Refuses) -> tuple[Alternative | None, str]:
    """What a rewrite offers, if the program allows it; and else what to say of it, if anything.

    Raises ScheduleError where somebody has asked for what the program does not allow.
    """
    found = REWRITES[name](case)
    why = refuses(found.step) if found is not None else ""
    if found is None or not why:
        return found, ""
    if found.asked:
        raise ScheduleError(f"{found.asked}: {why}; expected {found.instead}")
    return None, f"{found.missed}: {why}" if found.missed else ""


@dataclass(frozen=True)
class Decisions:
    """Everything that the stage `select` decides of a product, in the order in which it does."""

    source: Problem
    """The product as the module has it."""
    pinned: Mapping[str, Any]
    """The fields that the user has fixed."""
    rewrites: Mapping[str, Alternative]
    """What is done to it first, by the names of the rewrites."""
    missed: tuple[str, ...]
    """What would be faster, but is not allowed, as lines."""
    choice: Choice
    """The schedule of what is computed in the end."""


def decide(
    problem: Problem,
    target: Target,
    pinned: Mapping[str, Any] | None = None,
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
) -> Decisions:
    """What the stage `select` does with a product, without the IR. `refuses` says why the program does not allow a
    pass, `divisible` whether it allows at all that k is divided. Raises what `select` raises."""
    given = dict(pinned or {})
    case = Case(problem, target, invariant(problem, target, given), divisible)
    taken: dict[str, Alternative] = {}
    missed: list[str] = []
    for name in REWRITES:
        found, why = allowed(name, case, refuses)
        missed += filter(None, [why])
        if found is not None:
            taken[name], case = found, found.case
    choice = select(case.problem, target, case.pinned)
    return Decisions(problem, given, taken, tuple(missed), choice)
