"""Whether the k of a product is better multiplied in parts, side by side, which a kernel behind adds up.

Products of few tiles leave SMs idle, or take tiles so small that bytes into shared memory are what limits. `split`
gives the steps of a tile to a cluster, whose blocks hand each other their sums; but clusters do not fit on all SMs,
blocks of one read different steps, and the hand-over takes microseconds. Parts that are products of a batch read the
same steps side by side, have no clusters, and are added up at the speed of L2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mlir_gemm.errors import Error, ScheduleError
from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.group_work import KEPT
from mlir_gemm.tile_model.select import select
from mlir_gemm.tile_model.swap import should_swap, swapped
from mlir_gemm.tile_model.traffic import operand_bytes

PARTS = (2, 3, 4, 6, 8, 12, 16)
"""Numbers of parts that are tried."""
STEP = 128
"""Bytes of k that each part must have whole multiples of."""
FEW = 1.0
"""Tiles of 128x128 for each SM under which parts are considered."""
LEAST = 2048
"""Elements of k from which they are. Operands must fit in L2: where DRAM limits, parts only add to what is moved."""
LAUNCH, RATE = 0.1e-6, 3.4e12
"""Seconds that the kernel behind takes to start, and bytes a second at which it reads the parts from L2."""
WORTH = 0.97
"""Part of the time of the product as it is under which parts pay. With these three the choice among 667 kernels for 24
products takes 1.027 times as long as the best on the H200."""
THIN = 64
"""Rows or columns under which a product has no parts."""
_SHAPING = ("block", "warp", "cluster_m", "cluster_n", "split", "stream", "persistent", "turns", "exchanged", "raster")
"""Fields that mean the tiles of the product as it is."""


def divided(problem: Problem, parts: int) -> Problem:
    """The batch of products of the parts of k; what follows the product is left to the kernel behind."""
    return dataclasses.replace(
        problem, k=problem.k // parts, batch=parts, out=problem.acc, out_vector=128, reads_c=False, extra_bytes=0,
        epilogue_ops=0, epilogue_matrices=0,
    )  # fmt: skip


def divide_advice(problem: Problem, target: Target, pinned: Mapping[str, Any] | None = None) -> int:
    """In how many parts the k of a product should be multiplied: the pinned number, or the one that is predicted to
    take the least time; 1 where it is best left whole, or where the model finds no schedule for it."""
    pinned = dict(pinned or {})
    if "divide" in pinned:
        return pinned["divide"]
    if not _may_pay(problem, target, pinned):
        return 1
    whole = _seconds(problem, target, pinned)
    if whole is None:
        return 1
    least, best = whole, 1
    for parts in PARTS:
        if problem.k * ELEMENT_BYTES.get(problem.a, 4) % (parts * STEP):
            continue
        taken = _seconds(divided(problem, parts), target, {**divided_fields(parts), **pinned})
        if taken is not None and taken + sum_seconds(problem, parts) < least:
            least, best = taken + sum_seconds(problem, parts), parts
    return best


def check_division(pinned: Mapping[str, Any], why_not: str) -> None:
    """Raises ScheduleError where a division is pinned that cannot be, for the reason given, or goes with no other
    field."""
    asked = pinned.get("divide", 1)
    if asked > 1 and pinned.get("batch_invariant"):
        raise ScheduleError(f"divide={asked} with batch_invariant=on: expected divide=1")
    if asked > 1 and why_not:
        raise ScheduleError(f"divide={asked}: {why_not}; expected divide=1")


def divided_fields(parts: int) -> dict[str, Any]:
    """The fields that a schedule has once the k of its product is divided, unless the user has pinned them: none where
    it was left whole. The kernel behind has many small blocks: started ahead they would all wait on the first SMs that
    are free."""
    return {"divide": parts, "split": 1, "ahead": False} if parts > 1 else {}


def sum_seconds(problem: Problem, parts: int) -> float:
    """Seconds of the kernel behind."""
    written = problem.m * problem.n * ELEMENT_BYTES.get(problem.out, 4)
    read = parts * problem.m * problem.n * ELEMENT_BYTES.get(problem.acc, 4)
    return LAUNCH + (read + written) / RATE


def _may_pay(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> bool:
    if "wgmma" not in target.operators or pinned.get("operator", "wgmma") != "wgmma" or pinned.get("batch_invariant"):
        return False
    if any(name in pinned for name in _SHAPING) or problem.dynamic or problem.batch > 1 or problem.reads_c:
        return False
    few = problem.m * problem.n < FEW * target.sms * 128 * 128 and min(problem.m, problem.n) >= THIN
    here = operand_bytes(problem, "a") + operand_bytes(problem, "b") < KEPT * target.l2_bytes
    return few and here and problem.k >= LEAST and not (problem.a_memory or problem.b_memory)


def _seconds(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> float | None:
    """The predicted time of what `select` will compute, `wgmma`'s, of the product as it is a little less; None where it
    takes another operator or nothing."""
    try:
        computed = swapped(problem) if should_swap(problem, target, pinned) else problem
        choice = select(computed, target, pinned)
    except Error:
        return None
    if choice.schedule.operator != "wgmma":
        return None
    if problem.batch > 1:
        return choice.cost.total
    return choice.cost.total * WORTH
