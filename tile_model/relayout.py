"""Whether operands are better copied into an aligned workspace first, and in which order.

Rows of 8191 f16 elements begin at odd multiples of two bytes, so that loads are at most 16 bits wide, and asynchronous
copies are not possible. Fragments of i8 are loaded as matrices only when neighbours lie along k, else element by
element. One pass over the operand at the speed of memory makes rows of whole 16-byte vectors, along k if need be; the
product then reads those. `wgmma` and the copy engine need such rows, and with other elements than 16 bits B along k; A
comes through registers where it does not lie so, and where only B does not, the sides of the product are swapped. Where
neither does, B of bytes is transposed in shared memory instead, or copied, whichever is predicted to be faster. (f32 as
tf32 with `mma_sync` has the same choice of order; there it gains less than the copy takes.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from itertools import product
from math import inf
from typing import Any

from mlir_gemm.errors import Error, ScheduleError
from mlir_gemm.parts.layout import staged
from mlir_gemm.parts.registry import mainloops, mmas, mmas_on
from mlir_gemm.parts.traffic import operand_bytes
from mlir_gemm.parts.warp_level.constants import FragmentConstants
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem, element_bytes, memory_bytes
from mlir_gemm.spec.schedule import Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.dividing import typical_part
from mlir_gemm.tile_model.rewriting import Alternative, Case
from mlir_gemm.tile_model.select import is_less, mmas_tried, select
from mlir_gemm.tile_model.swap import across_in_b, should_swap, swapped

ALIGNED = 128
"""Bits to which rows of the workspace are aligned."""
LINE = 128
"""Bytes of a line of L2."""
ALONG_K = {"a": "mk", "b": "nk"}
TRANSPOSED, BY_ELEMENT = 15.6, 4.0
"""Bytes, read and written, that an SM moves in a clock in patches of whole vectors that it transposes: 147 us for 256
MiB of f32 on an H200 where a plain copy takes 129, 42 for 64 MiB of i8 (36). An H100's SMs are the same and its memory
is slower: it takes 42 to 47 us too, and 12.9 for 16 MiB (2026-11-28-h100-byte-copies.json.xz). And how much longer than
a plain copy one takes that transposes element by element: 464 and 364 us."""
STARTED = 2e-6
"""Seconds that such a copy takes beyond its bytes where the product may start while it ends: with one of 4 MiB, which
L2 holds, 2048^3 of bytes takes 4.1 to 4.8 us more on an H100 (the same file). Others were measured before kernels
started early (two of 2 MB take 11 us in all): they take a whole launch."""
NARROW, FILLED = 8, 16
"""Elements of a row that is narrower than a vector, and those of its copy."""
WORTH = 0.95
"""The copies must save this much: they also take memory, and the prediction is not exact."""


def offer(case: Case) -> Alternative | None:
    """The product on copies of operands that are worth it. None where the model finds no schedule at all: the choice
    of one will say what is wrong."""
    problem, target, pinned = case.problem, case.target, case.pinned
    typical = typical_part(problem, target, pinned) if case.divisible else problem
    try:
        advice = relayout_advice(typical, target, pinned)
        block = _block(relaid(typical, advice), advice, target, pinned) if advice else (1, 1, 1)
    except Error:
        return None
    if not advice:
        return None
    seconds = relayout_seconds(problem, advice, target)

    def why() -> list[str]:
        names = " and ".join(f"{operand.upper()} ({order})" for operand, order in advice.items())
        try:
            before = f"the product would take {shown_time(select(problem, target, pinned).cost.total)}"
        except Error:
            before = "there is no legal schedule"
        return [
            f"re-laid   {names} first, in aligned rows, by kernels of their own, which take another "
            f"{shown_time(seconds)};",
            f"          as it lies in memory {before}",
        ]

    changed = case.changed(relaid(problem, advice), relaid=True)
    return Alternative(changed, step("pad-operands", block=block, **advice), why, seconds)


def relayout_advice(problem: Problem, target: Target, pinned: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The operands, of `a` and `b`, that are worth re-laying out first, each with the order in which it should lie:
    those with which the copies and the product together are predicted to take the least time. Empty when the product is
    best computed as it is, or its sizes are known at run time only.

    Raises what `select` raises for the product as it is, unless one on the copies can be computed.
    """
    pinned = dict(pinned or {})
    choices = [_choices(problem, operand, target, pinned) for operand in "ab"]
    if problem.dynamic or all(len(each) == 1 for each in choices):
        return {}
    refused: ScheduleError | None = None
    try:
        now = _seconds(problem, target, pinned)
    except ScheduleError as error:
        now, refused = inf, error
    least, best, fastest = now * WORTH, dict[str, str](), 0.0
    for advice in _combined(choices):
        copies = relayout_seconds(problem, advice, target)
        if is_less(fastest + copies, least):
            try:
                seconds = _seconds(relaid(problem, advice), target, pinned)
            except ScheduleError:
                continue
            fastest = fastest or seconds  # the first has all operands re-laid out; with fewer, it takes longer
            if is_less(seconds + copies, least):
                least, best = seconds + copies, advice
    if refused and not best:
        raise refused
    return best


def _seconds(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> float:
    """Predicted seconds of a product on its operands as they lie."""
    return select(_computed(problem, target, pinned), target, pinned).cost.total


def _computed(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Problem:
    """The product as it is computed: with its sides swapped where only that takes the operands as they lie."""
    swaps = across_in_b(problem) and should_swap(problem, target, pinned)
    return swapped(problem) if swaps else problem


def _block(problem: Problem, advice: Mapping[str, str], target: Target, pinned: Mapping[str, Any]) -> Tile:
    """The tile of which copies hold whole ones, as the product's own sides are."""
    computed = _computed(problem, target, pinned)
    schedule = select(computed, target, pinned).schedule
    if mainloops()[schedule.mainloop].producer and staged(schedule) == "ab":
        return _lines(problem, advice)
    m, n, k = schedule.block
    return (m, n, k) if computed is problem else (n, m, k)


def _lines(problem: Problem, advice: Mapping[str, str]) -> Tile:
    """What copies for the copy engine consist of: it reads zeros beyond an operand's end, so that their rows are as
    many as the operand's, and a copy that transposes goes in whole vectors. Rows that are not whole vectors get whole
    lines, or a half or less of one, so that no box of the copy engine begins within a line and ends in the next."""
    wanted = {"m": 1, "n": 1, "k": 1}
    for operand, order in advice.items():
        bytes_ = memory_bytes(problem, operand)
        row = getattr(problem, order[1]) * bytes_
        if row * 8 % ALIGNED:
            wanted[order[1]] = max(wanted[order[1]], min(LINE, 1 << row.bit_length()) // bytes_)
    return wanted["m"], wanted["n"], wanted["k"]


def best_mma(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> str:
    """The mma that the model finds for a product, once its operands are re-laid out where that pays."""
    advice = relayout_advice(problem, target, pinned)
    return select(_computed(relaid(problem, advice), target, pinned), target, pinned).schedule.mma


def _choices(problem: Problem, operand: str, target: Target, pinned: Mapping[str, Any]) -> list[str]:
    """The orders that might be worth a copy of an operand; the empty one, for no copy, among them."""
    computed = problem.a_memory if operand == "a" else problem.b_memory
    if computed or problem.a_channels or problem.b_channels:
        return [""]
    order, vector = _order(problem, operand), problem.a_vector if operand == "a" else problem.b_vector
    keeps = [order] if vector < ALIGNED else []
    turned = dataclasses.replace(problem, **{f"{operand}_order": ALONG_K[operand]})
    rivals = [each for each in mmas_on(target) if each.rival] or [each for each in mmas().values() if each.rival]
    helps = element_bytes(problem, operand) == 1 and any(  # whose fragments ldmatrix loads, if it can
        each.by_matrix(turned, operand) and not each.by_matrix(problem, operand) for each in rivals
    )
    if element_bytes(problem, operand) != 2 and order != ALONG_K[operand]:
        found = (mmas()[name] for name in mmas_tried(problem, target, pinned))
        helps = helps or any(each.by_descriptor for each in found)
    return ["", *([ALONG_K[operand]] if helps else keeps)]


def _combined(choices: list[list[str]]) -> Iterator[dict[str, str]]:
    """Every combination with some copy, the one with the most copies first."""
    for orders in product(*(each[::-1] for each in choices)):
        if any(orders):
            yield {operand: order for operand, order in zip("ab", orders, strict=True) if order}


def _order(problem: Problem, operand: str) -> str:
    return problem.a_order if operand == "a" else problem.b_order


def relaid(problem: Problem, advice: Mapping[str, str]) -> Problem:
    """The problem once these operands lie in an aligned workspace, each in this order."""
    changes: dict[str, Any] = {f"{operand}_vector": ALIGNED for operand in advice}
    changes.update({f"{operand}_order": order for operand, order in advice.items()})
    return dataclasses.replace(problem, **changes)


def in_place_of_a_copy(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> list[str]:
    """Lines about B that is transposed in shared memory: what the product would take on a copy of it."""
    lines = ["    transposed in shared memory by the warps that multiply, before the products of each step"]
    if problem.dynamic:
        return lines
    advice = {"b": ALONG_K["b"]}
    try:
        seconds = select(relaid(problem, advice), target, pinned).cost.total
    except Error:
        return lines
    front = relayout_seconds(problem, advice, target)
    return [*lines, f"    on a copy of B it would take {shown_time(seconds)}, and the copy another {shown_time(front)}"]


def relayout_seconds(problem: Problem, advice: Mapping[str, str], target: Target) -> float:
    """Seconds of the copies: for each a start, one read and one write of the operand at the speed of DRAM, or of the
    SMs where they transpose."""
    total = 0.0
    for operand, order in advice.items():
        across = problem.m if operand == "a" else problem.n
        moved, rate = 2 * operand_bytes(problem, operand), target.dram_bytes_s
        start = target.constants(FragmentConstants).launch
        if order != _order(problem, operand) and _in_vectors(problem, operand, across):
            rate = min(rate, TRANSPOSED * target.sms * target.clock_hz)
            start = STARTED if target.has_dependent_launch else start
        elif order != _order(problem, operand):
            rate /= BY_ELEMENT
        if order not in ALONG_K.values() and across < NARROW:
            moved *= (1 + FILLED / across) / 2
        total += start + moved / rate
    return total


def _in_vectors(problem: Problem, operand: str, across: int) -> bool:
    """Whether a copy that transposes reads and writes whole vectors: rows are aligned, and both sizes are multiples."""
    vector = problem.a_vector if operand == "a" else problem.b_vector
    elements = ALIGNED // 8 // memory_bytes(problem, operand)
    return vector >= ALIGNED and across % elements == problem.k % elements == 0
