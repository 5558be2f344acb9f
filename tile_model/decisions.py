"""Everything that the stage `select` decides of a product, without the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.dividing import check_division, divide_advice, divided, divided_fields, typical_part
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.long_sums import Division, is_long
from mlir_gemm.tile_model.relayout import relaid, relayout_advice
from mlir_gemm.tile_model.select import Choice, select
from mlir_gemm.tile_model.swap import check_exchange, should_swap, swapped


@dataclass(frozen=True)
class Decisions:
    """Everything that the stage `select` decides of a product, in the order in which it does."""

    source: Problem
    """The product as the module has it."""
    pinned: Mapping[str, Any]
    """The fields that the user has fixed."""
    advice: Mapping[str, str]
    """The operands that are re-laid out first, each with its new order."""
    relaid: Problem
    division: Division
    """The parts in which its k is multiplied."""
    divided: Problem
    """`relaid`, or the batch of products of its parts."""
    exchanged: bool
    """Whether the sides of `divided` change places."""
    fixed_sides: str
    """Why they do not although that would be faster; empty where there is no such reason."""
    choice: Choice
    """The schedule of what is computed in the end."""


def decide(
    problem: Problem,
    target: Target,
    pinned: Mapping[str, Any] | None = None,
    cannot_swap: str = "",
    cannot_divide: str = "",
) -> Decisions:
    """What the stage `select` does with a product: the model's part of `pipeline/kernel_run.py`, without the IR.
    `cannot_swap` says why the sides cannot change places, if so, `cannot_divide` why k cannot be divided so.

    Raises what `select` raises.
    """
    given = dict(pinned or {})
    fields = invariant(problem, target, given)
    advice = relayout_advice(problem if cannot_divide else typical_part(problem, target, given), target, fields)
    lying = relaid(problem, advice)
    check_division(given, cannot_divide)
    whole = cannot_divide or (advice and not is_long(lying) and "split_k_workspace" not in given)
    division = Division(1, lying.k) if whole else divide_advice(lying, target, given)
    parts = division.parts
    batch = divided(lying, parts, division.depth) if parts > 1 else lying
    fields = {**divided_fields(parts), **dict(division.fields), **fields}
    wanted = should_swap(batch, target, fields)
    check_exchange(given, cannot_swap)
    exchanged = wanted and not cannot_swap
    computed = swapped(batch) if exchanged else batch
    choice = select(computed, target, {**fields, "swap_ab": True} if exchanged else fields)
    refused = cannot_swap if wanted else ""
    return Decisions(problem, given, advice, lying, division, batch, exchanged, refused, choice)
