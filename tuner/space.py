"""What a search may try on a product: every legal schedule that the parts propose, and legal neighbours of the best."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import log
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.parts.fields import normalised
from mlir_gemm.parts.registry import layout_of, layouts, mmas, mmas_on, padded, rasters, unstaged
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.completing import finished
from mlir_gemm.tile_model.decisions import Decisions, decide
from mlir_gemm.tile_model.rewriting import Refuses
from mlir_gemm.tile_model.rules import broken
from mlir_gemm.tile_model.select import TOLERANCE, Candidate, by_time, estimate, mainloops_tried, mmas_tried
from mlir_gemm.tile_model.swap import may_swap, swapped

FACTOR = 3.0
"""How many times the least predicted time a schedule may be predicted to take, to be tried."""
LEADERS = 24
"""Of how many of the best, by prediction, neighbours are proposed too: they differ in one field."""
GROUPS = (4, 8, 16, 32)
PADS = (0, 8, 16)
"""Elements that rows of B may be followed by, where those of A are followed by others."""
UNROLLED = (1, 2, 4)
WALKED = (2, 4)
"""Tiles of a block."""
CLUSTERS = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4))
SHARES = (0, 1, 2)
BUCKETS = 16
"""Steps in which a coordinate tells a predicted time, from the least to FACTOR times as much."""
SWITCHES = (
    "swap_ab", "ping_pong", "persistent", "interleave", "early", "early_trigger", "sequential_tiles",
    "promote", "promote_a", "promote_b", "promote_c", "promote_result", "fragments_ahead",
)  # fmt: skip
"""Coordinates that are 0 or 1: off or on."""
Coordinates = dict[str, int | str]
Legal = dict[Schedule, Candidate]
"""Legal schedules with their predictions. To write a schedule takes as long as to predict its time: only what may be
tried is written, once."""


@dataclass(frozen=True)
class Trial:
    """One schedule that may be tried."""

    schedule: str
    """All fields, as text."""
    predicted: float
    """Seconds."""
    at: Coordinates
    """Where it lies in the space: numbers, and names of parts."""
    shares: Mapping[str, float]
    """What part of the predicted time each term of its cost is, by the term's name."""


@dataclass
class Illegal:
    """What one rule refuses."""

    count: int
    reason: str
    """Of the first."""


@dataclass(frozen=True)
class Space:
    """All schedules that may be tried on a product, by predicted time; the model's choice first."""

    problem: Problem
    target: Target
    decisions: Decisions
    trials: tuple[Trial, ...]
    illegal: Mapping[str, Illegal] = field(default_factory=dict[str, "Illegal"])
    """What was proposed and is not legal, by the first rule that it breaks."""

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each schedule."""
        return {trial.schedule: place for place, trial in enumerate(self.trials)}

    @cached_property
    def axes(self) -> dict[str, tuple[int | str, ...]]:
        """The values of each coordinate, those with more than one."""
        found = {name: {trial.at[name] for trial in self.trials} for name in self.trials[0].at}
        return {name: tuple(sorted(values, key=_order)) for name, values in found.items() if len(values) > 1}


def _order(value: int | str) -> tuple[int, str]:
    return (value, "") if isinstance(value, int) else (0, value)


def explore(
    problem: Problem,
    target: Target,
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
    factor: float = FACTOR,
    most: int = 0,
) -> Space:
    """The space of a product as its module has it. `refuses` and `divisible` say what the program does not allow, as
    for `decide`. At most `most` schedules if that is not 0. What the model decides before it chooses a schedule (copies
    of operands, slices of k) stays; whether A and B change places is tried both ways.

    Raises what the model raises.
    """
    decisions = decide(problem, target, None, refuses, divisible)
    choice = decisions.choice
    own = {name: value for name, value in choice.pinned.items() if name != "swap_ab"}
    is_swapped = bool(choice.pinned.get("swap_ab"))
    found = [(choice.problem, {**own, "swap_ab": is_swapped})]
    if is_swapped or ("swap_ab" not in choice.pinned and not problem.dynamic and may_swap(choice.problem)):
        found.append((swapped(choice.problem), {**own, "swap_ab": not is_swapped}))
    legal: Legal = {}
    illegal: dict[str, Illegal] = {}
    for product, pinned in found:
        legal |= _candidates(product, target, pinned, illegal)
    best = choice.schedule.replace(swap_ab=is_swapped)
    legal.pop(best, None)
    others = [each for each in legal.values() if each.cost.total <= factor * choice.cost.total]
    ranking = [(Candidate(best, choice.cost), str(best)), *_ranked(others)][: most or None]
    least = min(each.cost.total for each, _ in ranking)
    trials = tuple(trial_of(each, least, factor, text) for each, text in ranking)
    return Space(problem, target, decisions, trials, illegal)


def _ranked(legal: Iterable[Candidate]) -> list[tuple[Candidate, str]]:
    written = ((each, str(each.schedule)) for each in legal)
    return by_time(written, lambda each: each[0].cost.total, lambda each: each[1])


def _leaders(legal: Iterable[Candidate]) -> list[Schedule]:
    """The best, by prediction."""
    timed = sorted(legal, key=lambda each: each.cost.total)
    last = timed[min(LEADERS, len(timed)) - 1].cost.total * (1 + TOLERANCE) if timed else 0.0
    near = itertools.takewhile(lambda each: each.cost.total <= last, timed)
    return [each.schedule for each, _ in _ranked(near)[:LEADERS]]


def trial_of(candidate: Candidate, least: float, factor: float = FACTOR, text: str = "") -> Trial:
    """A schedule as a trial of a space whose least predicted time, in seconds, is `least`. `text` is the schedule as
    text, where that is known already."""
    schedule, cost, seconds = candidate.schedule, candidate.cost, candidate.cost.total
    at: Coordinates = {"mma": schedule.mma, "mainloop": schedule.mainloop, "raster": schedule.raster}
    for name in ("block", "warp"):
        at |= {f"{name}_{axis}": size for axis, size in zip("mnk", schedule.value(name), strict=True)}
    for name in (
        "stages", "cluster_m", "cluster_n", "split_k_cluster", "stream_k", "throttle", "raster_group", "pad",
        "unroll_by", "tiles_per_block",
    ):  # fmt: skip
        at[name] = schedule.value(name)
    at["pad_b"] = schedule.pad_b if schedule.pad_b >= 0 else schedule.pad
    at["layouts"] = f"{schedule.layout} {schedule.layout_b}".rstrip()
    for name in SWITCHES:
        at[name] = int(bool(schedule.value(name)))
    at["promote_c"] = schedule.promote_c + schedule.prefetch_c  # 2 where it comes during the products
    at["predicted"] = min(BUCKETS, max(0, round(BUCKETS * log(seconds / least) / log(max(factor, 1.001)))))
    terms = (*cost.OVERLAPPING, *cost.ADDITIVE)
    return Trial(text or str(schedule), seconds, at, {term: max(0.0, getattr(cost, term)) / seconds for term in terms})


def _candidates(problem: Problem, target: Target, pinned: Mapping[str, Any], illegal: dict[str, Illegal]) -> Legal:
    """The legal schedules of a product that is computed so, with their predictions; what is not legal is counted."""
    found: Legal = {}
    judged: dict[Schedule, bool] = {}

    def is_legal(schedule: Schedule) -> bool:
        known = judged.get(schedule)
        if known is None:
            rule, reason = next(broken(problem, schedule, target), ("", ""))
            judged[schedule] = known = not rule
            if rule:
                illegal.setdefault(rule, Illegal(0, reason)).count += 1
        return known

    def keep(schedules: Iterable[Schedule]) -> None:
        for each in schedules:
            if each not in found:
                found[each] = Candidate(each, estimate(problem, each, target))

    for mma in mmas_on(target):
        named = {**pinned, "mma": mma.name}
        if mmas_tried(problem, target, named):
            legal = (each for each in _proposed(problem, target, named) if is_legal(each))
            keep(_finished(problem, target, pinned, legal))  # what follows from a legal schedule is legal
    near = chain.from_iterable(neighbours(each, target) for each in _leaders(found.values()))
    keep(each for each in dict.fromkeys(normalised(each, {}) for each in near) if is_legal(each))
    return found


def _proposed(problem: Problem, target: Target, named: Mapping[str, Any]) -> Iterator[Schedule]:
    """What an mma's search proposes with each main loop, likely tiles and all others."""
    for copy in dict.fromkeys(chain.from_iterable(mainloops_tried(problem, target, named))):
        for wide in (False, True):
            yield from mmas()[named["mma"]].search(problem, target, {**named, "mainloop": copy}, wide)


def _finished(
    problem: Problem, target: Target, pinned: Mapping[str, Any], schedules: Iterable[Schedule]
) -> Iterator[Schedule]:
    for schedule in dict.fromkeys(schedules):
        try:
            yield normalised(finished(problem, schedule, target, pinned), {})
        except Error:
            continue


def neighbours(schedule: Schedule, target: Target) -> Iterator[Schedule]:
    """Schedules that differ in one decision, legal or not."""
    yield from (schedule.replace(raster_group=group) for group in GROUPS)
    yield from (schedule.replace(raster=raster) for raster in rasters())
    yield from (schedule.replace(pad_b=pad) for pad in PADS if pad != schedule.pad)
    yield from _other_layouts(schedule)
    yield from (schedule.replace(unroll_by=by) for by in UNROLLED)
    yield schedule.replace(promote_a=False)
    yield schedule.replace(promote_b=False)
    yield schedule.replace(fragments_ahead=True)
    yield schedule.replace(promote_result=True)
    yield schedule.replace(promote_c=True)
    yield schedule.replace(promote_c=True, promote_result=True)
    yield schedule.replace(promote_c=True, prefetch_c=True)
    yield schedule.replace(promote_c=True, prefetch_c=True, promote_result=True)
    yield schedule.replace(promote=False, mainloop=unstaged().name, stages=1, layout=padded().name)
    for tiles in WALKED:
        walked = schedule.replace(tiles_per_block=tiles, persistent=0, stream_k=0)
        yield from (walked.replace(sequential_tiles=near) for near in (True, False))
    yield from (schedule.replace(stages=schedule.stages + more) for more in (-2, -1, 1) if schedule.stages + more > 0)
    yield from (schedule.replace(cluster_m=m, cluster_n=n) for m, n in CLUSTERS)
    yield schedule.replace(early_trigger=not schedule.early_trigger)
    yield schedule.replace(interleave=not schedule.interleave)
    walkers = target.sms // max(schedule.cluster, 1) * schedule.cluster
    for share in SHARES:
        yield schedule.replace(persistent=walkers, stream_k=share)
    yield schedule.replace(persistent=0, stream_k=0, ping_pong=False)
    yield schedule.replace(persistent=target.sms, ping_pong=True)


def _other_layouts(schedule: Schedule) -> Iterator[Schedule]:
    """B alone in another layout, and A alone; rows that are padded where those of the other are not have a pad of their
    own."""
    for name, layout in layouts().items():
        pads = PADS[1:] if layout.padded and not layout_of(schedule).padded else (-1,)
        if name != schedule.layout:
            yield from (schedule.replace(layout_b=name, pad_b=pad) for pad in pads)
            yield from (schedule.replace(layout=name, layout_b=schedule.layout, pad=max(pad, 0)) for pad in pads)
