"""Whether the sides of a product should be exchanged: what is wide then becomes high, where `wgmma` has at least 64
rows but as few as 8 columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.select import select

FEWEST_ROWS = 64
"""Rows of an instruction: with as many, exchanging gives nothing."""
WORTH = {"kn": 1.03, "nk": 1.01}
"""Part of the time within which the exchanged product must be, by the order of B. As they are, products with B in the
order `kn` have fewer tiles to choose from: 32x28672x8192 takes 120 us on the H200 and 110 exchanged; 16x8192x8192 with
`nk` 38.3 and 33.5."""
_SHAPING = ("block", "warp", "cluster_m", "cluster_n", "split", "persistent")
"""Fields that mean a certain orientation."""


def swapped(problem: Problem) -> Problem:
    """The same product with A and B in each other's place: D^T = B^T A^T."""
    orders = {"mk": "nk", "km": "kn", "nk": "mk", "kn": "km"}
    return Problem(
        problem.n, problem.m, problem.k, problem.b, problem.a, problem.acc, problem.out, problem.reads_c,
        problem.extra_bytes, problem.batch, orders[problem.b_order], orders[problem.a_order], problem.b_vector,
        problem.a_vector, problem.out_vector, problem.b_memory, problem.a_memory,
        "".join({"a": "b", "b": "a"}[side] for side in reversed(problem.unsigned)), problem.dynamic,
        problem.epilogue_ops,
    )  # fmt: skip


def should_swap(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> bool:
    """Whether the model predicts less time for the product with its sides exchanged. Fields that fix the shapes of
    tiles mean the product as it is."""
    if "wgmma" not in target.operators or problem.m >= FEWEST_ROWS or problem.n <= problem.m or problem.dynamic:
        return False
    if any(name in pinned for name in _SHAPING) or pinned.get("operator", "wgmma") != "wgmma":
        return False
    try:
        other = select(swapped(problem), target, pinned)
        if other.schedule.operator != "wgmma":
            return False
        worth = WORTH[problem.b_order]
        return other.cost.total < worth * select(problem, target, pinned).cost.total
    except Error:
        return False
