"""Whether an operand that is computed on its way to shared memory should instead be computed once, by a kernel of its
own before the product.

A prologue saves a buffer, but computes each element for each block tile that it belongs to, and keeps the operand from
the copy engine and so from `wgmma`. 4096x4096x4096, f16 by i8 weights, takes 388 us on an H200 with a prologue; the
product of f16 alone takes 190, and the kernel in front 12.
"""

from __future__ import annotations

import dataclasses
from math import inf
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.parts.traffic import operand_bytes
from mlir_gemm.parts.warp_level.constants import FragmentConstants
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE
from mlir_gemm.tile_model.dividing import typical_part
from mlir_gemm.tile_model.rewriting import Alternative, Case
from mlir_gemm.tile_model.select import is_less, select

WORTH = 0.95
"""The kernel in front must save this much: it also takes memory, and the prediction is not exact."""
ALIGNED = 128
"""Bits to which a buffer's rows are aligned at most, for the widest access."""


def offer(case: Case) -> Alternative | None:
    """The product on buffers of computed operands, where that is predicted to take less time. None where it is not, or
    sizes are known at run time only."""
    problem, target, pinned = case.problem, case.target, case.pinned
    if problem.dynamic or not (problem.a_memory or problem.b_memory):
        return None

    def seconds(wanted: Problem) -> float:
        typical = typical_part(wanted, target, pinned) if case.divisible else wanted
        return select(typical, target, pinned).cost.total * (wanted.flops / typical.flops)

    try:
        before = seconds(problem)
    except Error:
        if pinned.get("space") != K_RANGE:  # the choice of a schedule will say what is wrong
            return None
        before = inf  # only a ring skips steps of k, and it takes operands from memory as they are
    least, best = before * WORTH, ""
    for operands in ("a", "b", "ab"):
        if any(not _memory(problem, operand) for operand in operands):
            continue
        try:
            after = seconds(materialized(problem, operands)) + materialize_seconds(problem, operands, target)
        except Error:
            continue
        if is_less(after, least):
            least, best = after, operands
    if not best:
        return None
    took, computed = materialize_seconds(problem, best, target), materialized(problem, best)

    def why() -> list[str]:
        names = " and ".join(f"{each.upper()} (from {_memory(problem, each)})" for each in best)
        return [
            f"computed  {names} once, by a kernel of its own, which takes another {shown_time(took)};",
            f"          computed on the way to shared memory the product would take {shown_time(before)}"
            if before < inf
            else "          steps of k in which it is zero can be skipped then only",
        ]

    return Alternative(
        case.changed(computed), step("materialize-operand", **dict.fromkeys(best, True)), why, took,
        missed=f"computed  {best.upper()} on its way to shared memory, though a kernel of its own would be faster",
    )  # fmt: skip


def _memory(problem: Problem, operand: str) -> str:
    return problem.a_memory if operand == "a" else problem.b_memory


def materialized(problem: Problem, operands: str) -> Problem:
    """The problem once these operands, of `a` and `b`, are read from buffers as they are multiplied."""
    changes: dict[str, Any] = {}
    for operand in operands:
        order = problem.a_order if operand == "a" else problem.b_order
        row = {"m": problem.m, "n": problem.n, "k": problem.k}[order[1]] * element_bytes(problem, operand) * 8
        changes |= {f"{operand}_memory": "", f"{operand}_vector": min(ALIGNED, row & -row)}
    return dataclasses.replace(problem, **changes)


def materialize_seconds(problem: Problem, operands: str, target: Target) -> float:
    """Seconds of the kernels in front: for each a launch, one read of what is in memory and one write of what is
    multiplied, at the speed of DRAM."""
    after = materialized(problem, operands)
    moved = sum(operand_bytes(problem, each) + operand_bytes(after, each) for each in operands)
    return len(operands) * target.constants(FragmentConstants).launch + moved / target.dram_bytes_s
