"""Which main loops are tried with an operation, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.parts.base import Mma
from mlir_gemm.parts.registry import mainloops_on, mmas
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target

Names = tuple[str, ...]
ENGINE_BITS, ASYNCHRONOUS_BITS = 128, 32
"""Bits that rows must be aligned to for the copy engine, and for cp.async."""


def mainloops_tried(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> tuple[Names, ...]:
    """Names of main loops to propose, in the order in which they are tried; those that stand together are compared.
    `pinned` names the operation."""
    if "mainloop" in pinned:
        return ((pinned["mainloop"],),)
    mma = mmas()[pinned["mma"]]
    on_chip = mainloops_on(target)
    rings = tuple(each.name for each in on_chip if each.producer)
    streamed = tuple(each.name for each in on_chip if each.asynchronous and not each.producer)
    waiting = tuple(each.name for each in on_chip if each.in_registers)
    direct = tuple(each.name for each in on_chip if not each.ahead)
    if mma.by_descriptor:
        return (rings,)
    if not pinned.get("promote", True):
        return (direct,)
    loaded: tuple[Names, ...] = (waiting, direct)
    if mma.lanes:
        # Guarded loads of lanes that multiply fit in registers with small tiles only.
        loaded = ((*waiting, *direct),)
    if mma.whole_tiles or not streamed or problem.a_memory or problem.b_memory:
        return loaded
    aligned = min(problem.a_vector, problem.b_vector, pinned.get("vector", ENGINE_BITS))
    if rings and aligned >= ENGINE_BITS and _suits_rings(mma, problem) and pinned.get("stages") != 1:
        return ((*rings, *streamed), *loaded)
    if aligned >= ASYNCHRONOUS_BITS and pinned.get("stages") != 1:
        return (streamed, *loaded)
    # Copies that fall back to loads and stores: those that load ahead may be better.
    return ((*streamed, *waiting), direct)


def _suits_rings(mma: Mma, problem: Problem) -> bool:
    """Whether ldmatrix loads both operands from a ring: elements one by one meet in banks where rows are not padded,
    and f64 on a ring was not measured."""
    return mma.reads_rings and all(mma.by_matrix(problem, operand) for operand in "ab")
