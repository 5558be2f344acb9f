"""The same bits for a row of the result however many rows there are: what fixes the order in which its products are
added up must not depend on M.

Within an mma the order is that of k: steps of one instruction after another, whatever the tiles, and zeros after
the end add nothing. What changes it is another mma, or dividing the steps of k among blocks. Operands that are too
badly aligned for the mma are re-laid out, which changes no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.relayout import best_mma

STANDARD_ROWS = 4096
"""The M for which the mma is chosen."""
ALIGNED = 128
"""Bits to which a workspace for a re-laid operand is aligned."""


def invariant(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> dict[str, Any]:
    """The pinned fields, and with `batch_invariant` among them those that make the result independent of M: no split of
    k, and the mma that is best for the product with a standard M. To be asked of the product as it is, before it
    is re-laid out or A and B are swapped, and before `select`, which takes what is fixed as it comes."""
    if not pinned.get("batch_invariant"):
        return dict(pinned)
    fixed = {"split_k_cluster": 1, **pinned}
    if "mma" not in fixed:
        fixed["mma"] = best_mma(standard(problem), target, {**fixed, "batch_invariant": False})
    return fixed


def standard(problem: Problem) -> Problem:
    """The product with a standard M. How A is aligned must not depend on M either where its neighbours lie along it: a
    known M can be re-laid out to any alignment, one known at run time only may have none."""
    known = "m" not in problem.dynamic
    along_m = problem.a_order == "km"
    vector = problem.a_vector if not along_m else ALIGNED if known else 8 * ELEMENT_BYTES[problem.a_memory or problem.a]
    return replace(problem, m=STANDARD_ROWS, a_vector=vector)
