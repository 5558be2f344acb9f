"""The same bits for a row of the result however many rows there are: what fixes the order in which its products are
added up must not depend on M.

Within an operator the order is that of k: steps of one instruction after another, whatever the tiles, and zeros behind
the end add nothing. What changes it is another operator, or dividing the steps of k among blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mlir_gemm.pipeline.problem import Problem

STANDARD_ROWS = 4096
"""The M for which the operator is chosen."""


def invariant_fields(
    problem: Problem, pinned: Mapping[str, Any], choose: Callable[[Problem, Mapping[str, Any]], str]
) -> dict[str, Any]:
    """The pinned fields with those that make the result independent of M: no split of k, and the operator that `choose`
    finds for the product with a standard M. Without `batch_invariant` among them, the fields as they are."""
    if not pinned.get("batch_invariant"):
        return dict(pinned)
    fixed = {"split": 1, **pinned}
    if "operator" not in fixed:
        dynamic = problem.dynamic.replace("m", "")
        fixed["operator"] = choose(replace(problem, m=STANDARD_ROWS, dynamic=dynamic), fixed)
    return fixed
