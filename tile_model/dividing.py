"""Whether to multiply the k of a product in slices, side by side, which a second kernel adds up.

Products of few tiles leave SMs idle, or take tiles so small that bytes into shared memory are what limits.
`split_k_cluster` gives the steps of a tile to a cluster, whose blocks hand each other their sums; but clusters do not
fit on all SMs, blocks of one read different steps, and the hand-over takes microseconds. Slices that are products of a
batch read the same steps side by side, have no clusters, and are added up at the speed of L2."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from math import inf
from typing import Any

from mlir_gemm.errors import Error, ScheduleError
from mlir_gemm.parts.registry import mma_of, warpgroup_mma
from mlir_gemm.parts.traffic import STAYING, operand_bytes
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.spec import sum_tree
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.long_sums import (
    SHORTER,
    Division,
    by_warps,
    is_long,
    is_small,
    long_divisions,
    longest_sum,
    shows_more,
)
from mlir_gemm.tile_model.long_tiles import PROMOTED_FROM, covering, long_fields, promotion_of
from mlir_gemm.tile_model.rewriting import Alternative, Case
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import Choice, is_less, select
from mlir_gemm.tile_model.swap import should_swap, swapped

MORE_SMS = "there are tiles for more SMs"
WHOLE = 1
"""The number of slices of a k that is left whole."""
PARTS = (2, 3, 4, 6, 8, 12, 16)
"""Numbers of slices that are tried."""
STEP = 128
"""Bytes of k that each slice must have whole multiples of."""
FEW = 1.0
"""Tiles of 128x128 for each SM under which slices are considered."""
LEAST = 2048
"""Elements of k from which they are."""
MOVING = 0.7
"""Part of the time of the product as it is that reading operands which L2 does not hold may take, for slices to be
considered: where DRAM limits, they only add to what is moved. 256x1024x16384 in f16, of 42 MB, takes 29 to 34 us as it
is on an H100, whose L2 has 50, and reading them 14 (`2026-11-28-h100-own-row.jsonl.xz`)."""
LAUNCH, RATE = 0.1e-6, 3.4e12
"""Seconds that the kernel after it takes to start, and bytes a second at which it reads the slices from L2."""
LEVEL, REST = 1.5e-6, 5e-6
"""Seconds of each further kernel that adds up slices, and of one that multiplies what is left of k, about."""
OTHER = 2.0
"""How many times as long slices may take as predicted that another mma multiplies than the whole: 16x8192x100000 in
15 slices with `mma_sync` took 701 us on the H200, predicted 388, and whole with `wgmma` 373."""
WORTH = 0.97
"""Part of the time of the product as it is under which slices pay. With these three the choice among 667 kernels for 24
products takes 1.027 times as long as the best on the H200."""
THIN = 64
"""Rows or columns under which a product has no slices."""
_SHAPING = (
    "block",
    "warp",
    "cluster_m",
    "cluster_n",
    "split_k_cluster",
    "stream_k",
    "persistent",
    "ping_pong",
    "swap_ab",
    "raster",
)
"""Fields that mean the tiles of the product as it is."""


def divided(problem: Problem, parts: int, depth: int = 0) -> Problem:
    """The batch of products of the slices of k, of `depth` elements each (0: all of k); what follows the product is
    left to the kernel after it. An operand of one row or column lies along k then."""
    depth = depth or problem.k // parts
    changes: dict[str, Any] = {}
    if problem.m == 1 and problem.a_order == "km":
        changes |= {"a_order": "mk", "a_vector": _vector(depth, problem.a_memory or problem.a)}
    if problem.n == 1 and problem.b_order == "kn":
        changes |= {"b_order": "nk", "b_vector": _vector(depth, problem.b_memory or problem.b)}
    return dataclasses.replace(
        problem, k=depth, batch=problem.batch * parts, out=problem.acc, out_vector=128, reads_c=False, extra_bytes=0,
        epilogue_ops=0, epilogue_matrices=0, epilogue_types="", zeros="", result_mask="", **changes,
    )  # fmt: skip


def _vector(elements: int, type_: str) -> int:
    """Bits of the widest access along rows of this many elements."""
    bits = 8 * elements * ELEMENT_BYTES.get(type_, 4)
    return min(128, bits & -bits)


def offer(case: Case) -> Alternative | None:
    """The product in slices of its k, as many as are pinned or pay; none for one that has been divided, and for one on
    copies of its operands only where its k is long."""
    problem, target, pinned = case.problem, case.target, case.pinned
    asked = pinned.get("split_k_workspace", WHOLE)
    if case.slices > 1 or not (case.divisible or asked > WHOLE):
        return None
    if asked > WHOLE and pinned.get("batch_invariant"):
        raise ScheduleError(f"split_k_workspace={asked} with batch_invariant=on: expected split_k_workspace=1")
    try:
        division = divide_advice(problem, target, pinned)
    except Error:  # the choice of a schedule will say what is wrong
        return None
    parts, rest = division.parts, division.rest(problem.k)
    if parts == WHOLE or (case.relaid and not is_long(problem) and asked == WHOLE):
        return None
    batch, seconds = divided(problem, parts, division.depth), sum_seconds(problem, parts)

    def why() -> list[str]:
        before = select(problem, target, {**pinned, "split_k_workspace": WHOLE}).cost.total
        reason = "as pinned" if asked > WHOLE else _why_divided(problem, target, division, pinned)
        return [
            f"divided   {batch}{f', and the last {rest} of k' if rest else ''}",
            f"          k in {parts} slices, multiplied side by side and added up by a kernel after it, which takes "
            "about",
            f"          {shown_time(seconds)}: {reason}. Predicted {shown_time(before)} whole",
        ]

    depth = 0 if division.even else division.depth
    brings = {name: value for name, value in division.fields if name not in pinned}
    return Alternative(
        case.changed(batch, pinned={**divided_fields(parts), **brings, **pinned}, slices=parts),
        step("split-k-in-workspace", slices=parts, depth=depth, by_warps=division.by_warps), why, seconds, brings,
        asked=f"split_k_workspace={asked}" if asked > WHOLE else "", instead="split_k_workspace=1",
    )  # fmt: skip


def _why_divided(problem: Problem, target: Target, division: Division, pinned: Mapping[str, Any]) -> str:
    """Why the model offers a division."""
    if division.by_warps:
        return "a warp multiplies each element of a slice, without a schedule; all below is how tiles would do it"
    choice = _part_choice(problem, target, division, pinned)
    if choice is not None and choice.schedule.promotion:
        elements = choice.schedule.promotion * choice.schedule.block[2]
        return f"an accumulator of the tensor cores takes {elements} of k at a time"
    longest = longest_sum(problem, pinned.get("precision", "full"))
    return f"no accumulator takes more than {max(longest, division.depth)} of k" if longest else MORE_SMS


def divide_advice(problem: Problem, target: Target, pinned: Mapping[str, Any] | None = None) -> Division:
    """How the k of a product should be multiplied in slices: in the pinned number, or in that which is predicted to
    take the least time among those that leave no accumulator more than it may take; one slice where it is best left
    whole, or where the model finds no schedule for it."""
    pinned = dict(pinned or {})
    if "split_k_workspace" in pinned:
        return _pinned(problem, target, pinned)
    whole = Division(WHOLE, problem.k)
    if _is_long(problem, pinned):
        return _for_warps(problem, target, pinned) or _long_advice(problem, target, pinned)
    if not _may_pay(problem, target, pinned):
        return whole
    least, best = _seconds(problem, target, pinned), whole
    if least is None or is_less(MOVING * least, _moving_seconds(problem, target)):
        return whole
    for parts in PARTS:
        if problem.k * ELEMENT_BYTES.get(problem.a, 4) % (parts * STEP):
            continue
        taken = _seconds(divided(problem, parts), target, {**divided_fields(parts), **pinned})
        if taken is not None and is_less(taken + sum_seconds(problem, parts), least):
            least, best = taken + sum_seconds(problem, parts), Division(parts, problem.k // parts)
    return best


def _pinned(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Division:
    """The pinned number of slices, of equal length. Where k has no such slices, or their rows would begin elsewhere
    than vectors, those that the model makes of it by itself, if they are as many: a schedule that was found by
    measuring has the model's number, and nothing else says how long its slices are."""
    parts = pinned["split_k_workspace"]
    if problem.k % parts or _torn(problem, problem.k // parts):
        own = divide_advice(problem, target, {name: pinned[name] for name in ("precision",) if name in pinned})
        if own.parts == parts:
            return Division(parts, own.depth)
    return Division(parts, problem.k // parts, even=parts > WHOLE)


def _torn(problem: Problem, depth: int) -> bool:
    """Whether slices of this length of an operand that lies along k begin between its vectors: 64 of 5329 elements."""
    along = (problem.a_order == "mk", problem.a_memory or problem.a, problem.a_vector), (
        problem.b_order == "nk", problem.b_memory or problem.b, problem.b_vector,
    )  # fmt: skip
    return any(lies and _vector(depth, type_) < vector for lies, type_, vector in along)


def typical_part(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Problem:
    """The product by which the model decides the layout of operands: a slice of a long product, since slices take much
    less time than the whole; other products as they are."""
    if "split_k_workspace" in pinned or not _is_long(problem, pinned):
        return problem
    warps = _for_warps(problem, target, pinned)
    if warps is not None:  # a row of its own is read as it lies
        return dataclasses.replace(divided(problem, warps.parts, warps.depth), a_vector=128, b_vector=128)
    found = list(long_divisions(problem, target, pinned.get("precision", "full")))
    middle = found[len(found) // 2] if found else Division(WHOLE, problem.k)
    return divided(problem, middle.parts, middle.depth) if found else problem


def _is_long(problem: Problem, pinned: Mapping[str, Any]) -> bool:
    """Whether a product is divided for its length: its k is long, and no one has said how it is to be computed."""
    shaped = pinned.get("batch_invariant") or any(name in pinned for name in _SHAPING)
    return is_long(problem) and not shaped and not problem.dynamic and not problem.reads_c


def _for_warps(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Division | None:
    """How warps multiply a long product of few elements, unless it has a schedule in part already."""
    return None if set(pinned) - {"precision"} else by_warps(problem, target)


def _long_advice(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Division:
    """The division of a long product. It may be left whole only where sums are exact."""
    precision = pinned.get("precision", "full")
    exact, small = longest_sum(problem, precision) is None, is_small(problem)
    covered = covering(problem, target, precision)
    if covered is not None and _part_choice(problem, target, covered, pinned) is not None:
        return covered
    whole = None if small and not exact else _any_choice(problem, target, pinned)
    fields = long_fields(problem, target, precision)
    found = _timed(problem, target, pinned, whole, fields) if fields else []
    promoted = bool(found)
    found = found or _timed(problem, target, pinned, whole, {})
    if whole is not None and exact:
        found.insert(0, (whole.cost.total, Division(WHOLE, problem.k), whole))
    if not found:
        return Division(WHOLE, problem.k)
    least = min(taken for taken, *_ in found)
    if shows_more(problem) and not promoted:
        _, best, choice = max((each for each in found if each[0] <= SHORTER * least), key=lambda each: each[1].parts)
    else:
        _, best, choice = min(found, key=lambda each: each[0])
    return _promoted(problem, target, best, choice, precision)


def _timed(
    problem: Problem, target: Target, pinned: Mapping[str, Any], whole: Choice | None, given: Mapping[str, Any]
) -> list[tuple[float, Division, Choice]]:
    """Divisions of a long product whose schedules have the given fields, and the seconds that they should take."""
    found: list[tuple[float, Division, Choice]] = []
    least = inf
    for plain in long_divisions(problem, target, pinned.get("precision", "full"), bool(given.get("promotion"))):
        division = dataclasses.replace(plain, fields=tuple(given.items()))
        choice = _part_choice(problem, target, division, pinned)
        if choice is None:
            continue
        rest = REST if division.rest(problem.k) else 0
        taken = choice.cost.total + sum_seconds(problem, division.parts) + rest
        if whole is not None and choice.schedule.mma != whole.schedule.mma:
            taken *= OTHER
        found.append((taken, division, choice))
        least = min(least, taken)
        if taken > SHORTER * least:
            break  # more slices take even longer
    return found


def _promoted(problem: Problem, target: Target, division: Division, choice: Choice, precision: str) -> Division:
    """A division whose slices are added up in accumulators of their own besides, where these are long and a thread has
    registers for both."""
    promotion = promotion_of(problem, precision)
    if not promotion or division.fields or division.parts == WHOLE or division.depth <= PROMOTED_FROM:
        return division
    schedule = choice.schedule.replace(promotion=promotion)
    if mma_of(schedule) is not warpgroup_mma(target) or violations(choice.problem, schedule, target):
        return division
    return dataclasses.replace(division, fields=(("promotion", promotion),))


def _part_choice(problem: Problem, target: Target, division: Division, pinned: Mapping[str, Any]) -> Choice | None:
    """What the model chooses for the slices of a long product."""
    fields = {**divided_fields(division.parts), **dict(division.fields), **pinned}
    return _any_choice(divided(problem, division.parts, division.depth), target, fields)


def _any_choice(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Choice | None:
    """What the model chooses for a product, by any mma; None where there is no schedule for it."""
    try:
        computed = swapped(problem) if should_swap(problem, target, pinned) else problem
        return select(computed, target, pinned)
    except Error:
        return None


def divided_fields(parts: int) -> dict[str, Any]:
    """The fields that a schedule has once the k of its product is divided, unless the user has pinned them: none where
    it was left whole."""
    return {"split_k_workspace": parts, "split_k_cluster": 1} if parts > 1 else {}


def sum_seconds(problem: Problem, parts: int) -> float:
    """Seconds of the kernels after the product."""
    points = problem.batch * problem.m * problem.n
    written = points * ELEMENT_BYTES.get(problem.out, 4)
    found = sum_tree.levels(parts)
    read = points * ELEMENT_BYTES.get(problem.acc, 4) * (parts + 2 * sum(level.groups for level in found))
    return LAUNCH + LEVEL * len(found) + (read + written) / RATE


def _may_pay(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> bool:
    mma = warpgroup_mma(target)
    if mma is None or pinned.get("mma", mma.name) != mma.name or pinned.get("batch_invariant"):
        return False
    if any(name in pinned for name in _SHAPING) or problem.dynamic or problem.batch > 1 or problem.reads_c:
        return False
    few = problem.m * problem.n < FEW * target.sms * 128 * 128 and min(problem.m, problem.n) >= THIN
    return few and problem.k >= LEAST and not (problem.a_memory or problem.b_memory)


def _moving_seconds(problem: Problem, target: Target) -> float:
    """Seconds in which operands that L2 does not hold come from DRAM."""
    read = operand_bytes(problem, "a") + operand_bytes(problem, "b")
    return 0.0 if read < STAYING * target.l2_bytes else read / target.dram_bytes_s


def _seconds(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> float | None:
    """The predicted time of what `select` will compute, `wgmma`'s, of the product as it is a little less; None where it
    takes another mma or nothing."""
    try:
        computed = swapped(problem) if should_swap(problem, target, pinned) else problem
        choice = select(computed, target, pinned)
    except Error:
        return None
    if mma_of(choice.schedule) is not warpgroup_mma(target):
        return None
    if problem.batch > 1:
        return choice.cost.total
    return choice.cost.total * WORTH
