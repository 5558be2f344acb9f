"""Positions in a ring as numbers: a slot and a phase, which changes each time the slots start again."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect
from mlir_gemm.dialect.rings import i32, i32_constant


def advance(op: Any) -> tuple[Any, Any]:
    """The results of a tile.advance as arithmetic at the insertion point. Counted modulo the stages a position would
    cost a division in each step (3 % with 6 stages); the divisions by a tile's steps happen once a tile."""
    slot, phase, steps = op.operands
    stages, count = constants.number_of(op, "stages"), constants.integer_of(steps)
    return (
        _next(slot, phase, stages) if count == 1 else _further(slot, phase, stages, steps if count is None else count)
    )


def _next(slot: Any, phase: Any, stages: int) -> tuple[Any, Any]:
    arith = dialect("arith")
    flipped = arith.XOrIOp(phase, i32_constant(1)).result
    if stages == 1:
        return slot, flipped
    last = arith.CmpIOp(arith.CmpIPredicate.eq, slot, constants.index(stages - 1)).result
    following = arith.AddIOp(slot, constants.index(1)).result
    return (
        arith.SelectOp(last, constants.index(0), following).result,
        arith.SelectOp(last, flipped, phase).result,
    )


def _further(slot: Any, phase: Any, stages: int, steps: Any) -> tuple[Any, Any]:
    arith = dialect("arith")
    if isinstance(steps, int):
        rounds, rest = (constants.index(each) for each in divmod(steps, stages))
    else:
        count = constants.index(stages)
        rounds, rest = arith.DivUIOp(steps, count).result, arith.RemUIOp(steps, count).result
    moved, last = arith.AddIOp(slot, rest).result, constants.index(stages)
    wraps = arith.CmpIOp(arith.CmpIPredicate.uge, moved, last).result
    once = arith.IndexCastUIOp(i32(), rounds).result
    turned = arith.XOrIOp(phase, arith.AndIOp(once, i32_constant(1)).result).result
    flipped = arith.XOrIOp(turned, i32_constant(1)).result
    return (
        arith.SelectOp(wraps, arith.SubIOp(moved, last).result, moved).result,
        arith.SelectOp(wraps, flipped, turned).result,
    )
