"""Everything that the stage `select` decides of a product: the rewrites, and the choice of a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import composite, dividing, materialize, relayout, swap
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.rewriting import Alternative, Case, Offer, Refuses
from mlir_gemm.tile_model.select import Choice, select


def _of_numbers(offer: Offer) -> Offer:
    """A rewrite for ordinary products only: it relies on padding with zeros, or on partial sums."""
    return _of_one(lambda case: None if case.problem.algebra or case.problem.composite else offer(case))


def _of_one(offer: Offer) -> Offer:
    """A rewrite of the only product of a kernel."""
    return lambda case: None if case.problem.b_matrices else offer(case)


REWRITES: dict[str, Offer] = {
    "components": _of_numbers(composite.offer),
    "materialize": _of_numbers(materialize.offer), "relayout": _of_numbers(relayout.offer),
    "split_k_workspace": _of_numbers(dividing.offer), "swap_ab": _of_one(swap.offer),
}  # fmt: skip
"""The rewrites, in the order in which they are asked."""


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
        found = REWRITES[name](case)
        why = found.refused(refuses) if found is not None else ""
        if found is not None and not why:
            taken[name], case = found, found.case
        elif found is not None and found.missed:
            missed.append(f"{found.missed}: {why}")
    choice = select(case.problem, target, case.pinned)
    return Decisions(problem, given, taken, tuple(missed), choice)
