"""Whether operands whose rows are not aligned are better copied into an aligned workspace first.

Rows of 8191 f16 elements begin at odd multiples of two bytes, so that nothing wider than 16 bits can be loaded of them
and nothing asynchronously. One pass over the operand at the speed of memory makes rows of whole 16-byte vectors; the
product then reads those.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.clocks import CONSTANTS
from mlir_gemm.tile_model.operators import memory_bytes
from mlir_gemm.tile_model.select import select

ALIGNED = 128
"""Bits to which rows of the workspace are aligned."""


def relayout_advice(problem: Problem, target: Target, pinned: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The operands, of `a` and `b`, that are worth re-laying out first: those with which the copies and the product
    together are predicted to take the least time. Empty when the product is best computed as it is.

    Raises what `select` raises.
    """
    narrow = tuple(operand for operand in "ab" if _vector(problem, operand) < ALIGNED)
    if not narrow:
        return ()
    least, best = select(problem, target, pinned).cost.total, ()
    # With all of them the product is fastest: when that does not pay for the cheapest copy, nothing does.
    fastest = select(relaid(problem, narrow), target, pinned).cost.total
    if fastest + min(relayout_seconds(problem, operand, target) for operand in narrow) >= least:
        return ()
    for chosen in (narrow, *((operand,) for operand in narrow if len(narrow) > 1)):
        product = fastest if chosen == narrow else select(relaid(problem, chosen), target, pinned).cost.total
        total = product + sum(relayout_seconds(problem, operand, target) for operand in chosen)
        if total < least:
            least, best = total, chosen
    return best


def relaid(problem: Problem, operands: tuple[str, ...]) -> Problem:
    """The problem once these operands lie in an aligned workspace, in the order in which they lay before."""
    return dataclasses.replace(problem, **{f"{operand}_vector": ALIGNED for operand in operands})


def relayout_seconds(problem: Problem, operand: str, target: Target) -> float:
    """Seconds of the copy: launch, one read and one write of the operand at the speed of DRAM."""
    across = problem.m if operand == "a" else problem.n
    size = problem.batch * across * problem.k * memory_bytes(problem, operand)
    return CONSTANTS.launch + 2 * size / target.dram_bytes_s


def _vector(problem: Problem, operand: str) -> int:
    return problem.a_vector if operand == "a" else problem.b_vector
