"""Choosing a schedule: propose, keep what the rules allow, score, take the cheapest.

A part's search decides only where to look; `rules` decides what is legal, and the mma's cost family what is good.
Fields that the user has pinned are never changed.

Predictions are sums, roots and powers of floating-point numbers, so that two which are equal on paper may differ in the
last bits, and by which of them is computed how. Times closer than TOLERANCE count as the same, and `preference`
decides: no change of order changes a choice. All comparisons of predictions go through `is_less` or `by_time`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.parts.base import Mma
from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.parts.registry import has, mainloop_of, mainloops, mainloops_on, mma_of, mmas, mmas_on
from mlir_gemm.parts.traffic import operand_bytes, stays
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec import extensions
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import ALL, HALVES, K_RANGE, LOWER, TRIANGLE, UPPER
from mlir_gemm.tile_model.completing import finished, started
from mlir_gemm.tile_model.offers import best_offered
from mlir_gemm.tile_model.preferring import low_first, shallow_rather
from mlir_gemm.tile_model.rules import broken, mma_of_chip, problem_rules_of, violations

WORTH = 0.75
"""Part of the time of an operation that is tried earlier under which the prediction of a rival, which was fitted to
squares, is believed: nearest to the best of 59 products of which both were measured (H200, H100)."""
PEER = 1.2
"""The same for a peer: WMMA's predictions for a V100 are twice what was published (docs/papers.md)."""
FILLED = 64
"""Rows and columns that fill the tiles of an operation that is tried earlier. Where L2 holds all, its rival then took
1.14 to 4 times as long for 36 products, for 58 others 0.76 to 2.2 times (`2026-11-{24,27}-h200-spaces.jsonl.xz`)."""
HALF = 0.75
"""Part of the time of all tiles under which half of them are believed to be faster. Where half of them would leave SMs
idle, smaller ones are taken, which are fed more bytes for each product: 64x64 for 2048x2048 in bf16, of which an SM got
62 bytes in a clock of 1.7 GHz on an H200 and 47 on an H100, not 79 and 67 as predicted. So 0.78 and 0.86 of the time
were predicted, and 1.02 and 1.26 measured; from 3000 rows on, with larger tiles, 0.50 to 0.63, measured 0.51 to 0.71
(`2026-11-23-h200-spaces.json.xz`, `2026-11-28-h100-spaces.json.xz`)."""
TIE = 1.0005
"""Times within this factor of the best count as the same: no measurement tells them apart."""
RANKING = 64
"""How many candidates a choice keeps."""
TOLERANCE = 1e-9
"""Part of a time within which another one is the same. Rounding leaves about 1e-15; schedules that the model tells
apart at all differ by 1e-7 and more."""
ENGINE_BITS, ASYNCHRONOUS_BITS = 128, 32
"""Bits that rows must be aligned to for the copy engine, and for cp.async."""
LEAST_MIXED, LOWEST_MIXED = 256, 32
"""Least k for which copies of one operand beside a computed one are compared, some steps that they can be ahead; and
least rows and columns: products of fewer take tiles of one warp, 0.93 to 1.0 as fast with a ring (H200, 13 sizes)."""

T = TypeVar("T")
Names = tuple[str, ...]


class Candidate(NamedTuple):
    """A legal schedule and its predicted cost."""

    schedule: Schedule
    cost: Prediction


class Rejection(NamedTuple):
    """A schedule proposed, the first rule it breaks, by name, and the reason."""

    schedule: Schedule
    rule: str
    reason: str


@dataclass(frozen=True)
class Choice:
    """What was chosen, and what it was chosen from."""

    problem: Problem
    target: Target
    pinned: Mapping[str, Any]
    schedule: Schedule
    cost: Prediction
    ranking: tuple[Candidate, ...]
    """The best candidates, best first; the first is the choice."""
    considered: int
    """How many legal candidates were scored."""
    compared: Prediction
    """By what the choice is compared with others: its cost, or the least where another one than that is preferred."""

    @cached_property
    def rejected(self) -> tuple[Rejection, ...]:
        """Everything that a wide search proposes and the rules refuse. Computed on first use."""
        return tuple(rejections(self.problem, self.target, self.pinned))


def select(problem: Problem, target: Target, pinned: Mapping[str, Any] | None = None) -> Choice:
    """The schedule with the least predicted time among the legal ones that have the `pinned` fields, which
    `Schedule.check_fields` must have checked.

    Raises InputError for a problem that no mma of the chip can compute, and ScheduleError when the pinned fields
    leave no legal schedule.
    """
    fixed = dict(pinned or {})
    less = partial_space(problem)
    if less and not fixed.get("space"):
        return _with_less(problem, target, fixed, less)
    return _select(problem, target, tuple(fixed.items()))


def partial_space(problem: Problem) -> str:
    """The space of tiles that leaves out what need not be computed; "" where everything must be."""
    square = problem.m == problem.n and not problem.dynamic
    masked = {"n>m": LOWER, "n<m": UPPER}.get(problem.result_mask, "") if square else ""
    return TRIANGLE if problem.symmetric else masked or (K_RANGE if problem.zeros or problem.result_mask else "")


def _with_less(problem: Problem, target: Target, pinned: Mapping[str, Any], space: str) -> Choice:
    """The choice where not all tiles or steps need be computed: with less of them, unless that has no legal schedule or
    all are predicted to take less time, or not much more than half of them."""
    whole = _select(problem, target, tuple({**pinned, "space": ALL}.items()))
    try:
        less = _select(problem, target, tuple({**pinned, "space": space}.items()))
    except ScheduleError:
        return whole
    believed = HALF if space in HALVES else 1.0
    return whole if is_less(believed * whole.cost.total, less.cost.total) else less


@lru_cache(maxsize=64)  # rewrites ask of the product what the choice of its schedule asks again
def _select(problem: Problem, target: Target, pinned: tuple[tuple[str, Any], ...]) -> Choice:
    fixed = dict(pinned)
    _check_problem(problem, target, fixed)
    _check_mma(problem, target, fixed)
    legal = candidates(problem, target, fixed)
    if not legal:
        raise _refusal(problem, target, fixed)
    scored = _wide_first(legal)
    scored = _rivals(problem, target, fixed, scored[0]) + scored
    found = best_offered(problem, target, fixed, scored)
    schedule, cost = shallow_rather(found, scored)
    best = Candidate(started(problem, schedule, cost.on_gpu, target, fixed), cost)
    others = [each for each in scored[1:] if each.schedule is not schedule]
    ranking = [best, *others] if schedule is found[0] else [best, Candidate(*found), *others]
    return Choice(problem, target, fixed, best.schedule, cost, tuple(ranking[:RANKING]), len(scored), found[1])


extensions.on_change(_select.cache_clear)


def _rivals(problem: Problem, target: Target, pinned: Mapping[str, Any], best: Candidate) -> list[Candidate]:
    """Candidates of a rival predicted to take enough less time than the best of an operation that is tried earlier
    (of a peer, not much more) to go before it, best first; not looked for where that cannot be."""
    mma = mma_of(best.schedule)
    rival = next((each for each in mmas_on(target) if (each.rival or each.peer) and each.rank > mma.rank), None)
    if rival is None or "mma" in pinned:
        return []
    limit = best.cost.on_gpu * (PEER if rival.peer else WORTH)
    filled = not rival.peer and min(problem.m, problem.n) >= FILLED and stays(problem, target)
    named = {**pinned, "mma": rival.name}
    if filled or not mmas_tried(problem, target, named) or limit <= _least_seconds(rival, problem, target):
        return []
    scored = _wide_first(candidates(problem, target, named))
    if not scored:
        return []
    gain = best_offered(problem, target, named, scored)[1].on_gpu / scored[0].cost.on_gpu
    return [candidate for candidate in scored if is_less(gain * candidate.cost.on_gpu, limit)]


def _least_seconds(mma: Mma, problem: Problem, target: Target) -> float:
    """A lower bound on the time of any schedule of an mma on the GPU: its products at the full rate, or its operands
    from DRAM where L2 does not keep them from one run to the next."""
    read = operand_bytes(problem, "a") + operand_bytes(problem, "b")
    moved = 0.0 if stays(problem, target) else read / target.dram_bytes_s
    return max(mma.full_rate_seconds(problem, target), moved)


def candidates(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> list[Candidate]:
    """The legal schedules worth a prediction, completed, with that; empty when there are none.

    The first search that finds any decides: for each mma in the order of preference likely tiles, with the copies
    that suit it best, then with those that need fewer registers; then every tile.
    """
    for mma in mmas_tried(problem, target, pinned):
        named = {**pinned, "mma": mma}
        for wide in (False, True):
            for copies in mainloops_tried(problem, target, named):
                tried = chain.from_iterable(
                    mmas()[mma].search(problem, target, {**named, "mainloop": copy}, wide) for copy in copies
                )
                legal = [schedule for schedule in tried if next(broken(problem, schedule, target), None) is None]
                if legal:
                    better = mmas()[mma].preferred(problem, legal)
                    whole = (finished(problem, schedule, target, pinned) for schedule in better)
                    return [Candidate(schedule, estimate(problem, schedule, target)) for schedule in whole]
    return []


def estimate(problem: Problem, schedule: Schedule, target: Target) -> Prediction:
    """The predicted cost of a legal schedule, by the formula of the operation that multiplies. On an illegal one the
    figures mean nothing. Tiles that reach over an edge count whole."""
    return mma_of(schedule).family.estimate(problem, schedule, target)


def mainloops_tried(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> tuple[Names, ...]:
    """Names of main loops to propose, in the order in which they are tried; those that stand together are compared.
    `pinned` names the operation."""
    if "mainloop" in pinned:
        return ((pinned["mainloop"],),)
    mma = mmas()[pinned["mma"]]
    on_chip = mainloops_on(target)
    rings = tuple(each.name for each in on_chip if each.producer)
    streamed = tuple(each.name for each in on_chip if each.asynchronous and not (each.producer or each.mixed))
    waiting = tuple(each.name for each in on_chip if each.in_registers and not each.mixed)
    mixed = tuple(each.name for each in on_chip if each.mixed)
    direct = tuple(each.name for each in on_chip if not each.ahead)
    if mma.by_descriptor:
        return (rings,)
    if not pinned.get("promote", True):
        return (direct,)
    loaded: tuple[Names, ...] = (waiting, direct)
    if mma.lanes:
        # Guarded loads of lanes that multiply fit in registers with small tiles only.
        loaded = ((*waiting, *direct),)
    if mma.whole_tiles or not streamed or (problem.a_memory and problem.b_memory):
        return loaded
    if problem.a_memory or problem.b_memory:
        copied = min(problem.b_vector if problem.a_memory else problem.a_vector, pinned.get("vector", ENGINE_BITS))
        large = problem.k >= LEAST_MIXED and min(problem.m, problem.n) >= LOWEST_MIXED
        ahead = copied >= ASYNCHRONOUS_BITS and large and pinned.get("stages") != 1
        beside = mixed if ahead else ()
        return ((*beside, *loaded[0]), *loaded[1:])
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


def mmas_tried(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> list[str]:
    """The mmas to try, in order: the pinned one, or those of the chip that take the problem's types and sizes."""
    named = (pinned["mma"],) if "mma" in pinned else tuple(mmas())
    precision = pinned.get("precision", Schedule.precision)
    return [mma for mma in named if has(mmas()[mma], target) and not _reasons(problem, target, mma, precision)]


def rejections(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Iterator[Rejection]:
    """The schedules of the wide search that break a rule, each with the first rule it breaks."""
    mma = next(iter(mmas_tried(problem, target, pinned)), next(iter(mmas())))
    named = {**pinned, "mma": mma}
    copy = mainloops_tried(problem, target, named)[0][0]
    for schedule in mmas()[mma].search(problem, target, {**named, "mainloop": copy}, True):
        for rule, reason in broken(problem, schedule, target):
            yield Rejection(schedule, rule, reason)
            break


def _reasons(problem: Problem, target: Target, mma: str, precision: str) -> list[str]:
    """Why an mma cannot compute a problem at all."""
    schedule = Schedule(mma=mma, precision=precision)
    return [reason for rule in problem_rules_of(schedule) if (reason := rule(problem, schedule, target))]


def _check_problem(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> None:
    """Refuses a problem that none of the chip's mmas can compute with this precision. The reasons are those of an
    mma that could with another precision, else of the last one, which takes most."""
    precision = pinned.get("precision", Schedule.precision)
    refused: list[list[str]] = []
    for mma in mmas_on(target):
        refused.append(_reasons(problem, target, mma.name, precision))
        if not refused[-1]:
            return
    if refused:
        found = next((reasons for reasons in refused if "expected precision=" in reasons[0]), refused[-1])
        raise InputError(f"{problem}: {found[0]}", notes=tuple(found[1:]))


def _check_mma(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> None:
    """Refuses a pinned mma that the chip lacks or that cannot compute the problem when another can."""
    if "mma" not in pinned or mmas_tried(problem, target, pinned):
        return
    mma: str = pinned["mma"]
    precision = pinned.get("precision", Schedule.precision)
    lacking = mma_of_chip(problem, Schedule(mma=mma), target)
    found = [lacking] if lacking else _reasons(problem, target, mma, precision)
    raise ScheduleError(
        f"no legal schedule for {problem} on {target.chip} with mma={mma}: {found[0]}", notes=tuple(found[1:])
    )


def is_less(seconds: float, other: float) -> bool:
    """Whether a predicted time is less than another, by more than rounding. Of alternatives that are tried one after
    another, each kept only where it is less than those before, the first of equals stays."""
    return seconds < other * (1 - TOLERANCE)


def preference(schedule: Schedule) -> tuple[Any, ...]:
    """A key that puts schedules of the same predicted time into their order, the preferred one first. It is what the
    order of proposals was among exactly equal times, and has few rows and long ones first, as everywhere:

    1. the main loop, by its rank
    2. the block tile: fewer rows, then more columns, then a longer k
    3. the warp tile: the same
    4. fewer stages: less shared memory
    5. fewer blocks in a cluster, then those below each other, then those that share the steps of k less
    6. without ping-pong first

    The values of all fields come last. No two schedules of one search are equal up to there.
    """
    (block_m, block_n, block_k), (warp_m, warp_n, warp_k) = schedule.block, schedule.warp
    return (
        mainloop_of(schedule).rank,
        (block_m, -block_n, -block_k),
        (warp_m, -warp_n, -warp_k),
        schedule.stages,
        (schedule.cluster, -schedule.cluster_m, schedule.split_k_cluster),
        schedule.ping_pong,
        tuple(map(str, vars(schedule).values())),
    )


def by_time(items: Iterable[T], seconds: Callable[[T], float], key: Callable[[T], Any]) -> list[T]:
    """The items by predicted time, those of the same time by a key, which must differ for all of them."""
    timed = sorted(((seconds(item), item) for item in items), key=lambda pair: pair[0])
    found: list[T] = []
    start = 0
    for end in range(1, len(timed) + 1):
        if end == len(timed) or timed[end][0] > timed[start][0] * (1 + TOLERANCE):
            same = [item for _, item in timed[start:end]]
            found += same if len(same) == 1 else sorted(same, key=key)
            start = end
    return found


def _wide_first(scored: list[Candidate]) -> list[Candidate]:
    """Candidates by time; among those that tie with the best, the widest tiles (n rather than m) go first: what they
    touch of memory lies in longer rows."""
    if not scored:
        return []
    scored = by_time(scored, _on_gpu, lambda candidate: preference(candidate.schedule))
    if mma_of(scored[0].schedule).unit == "warpgroup":
        return low_first(scored)
    limit = scored[0].cost.on_gpu * TIE
    tied = sum(candidate.cost.on_gpu <= limit for candidate in scored)
    head = sorted(scored[:tied], key=lambda candidate: (candidate.schedule.block[0], candidate.schedule.warp[0]))
    return head + scored[tied:]


def _on_gpu(candidate: Candidate) -> float:
    return candidate.cost.on_gpu


def _refusal(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> ScheduleError:
    """Why the pinned fields leave nothing: the violations of the schedule that comes closest to being legal."""

    def distance(item: tuple[int, list[str]]) -> tuple[bool, int, int]:
        place, found = item
        blamed = any(f"{name}=" in found[0] for name in pinned)
        return not blamed, place, len(found)

    def violated() -> Iterator[tuple[int, list[str]]]:
        for place, mma in enumerate(mmas_tried(problem, target, pinned)):
            named = {**pinned, "mma": mma}
            copies = [copy for together in mainloops_tried(problem, target, named) for copy in together]
            # The main loop that needs the least from the chip, unless stages are pinned, which only the first has.
            deep = pinned.get("stages", 1) > mainloops()[copies[-1]].most_stages
            fixed = {**named, "mainloop": copies[0 if deep else -1]}
            for wide in (False, True):
                for schedule in mmas()[mma].search(problem, target, fixed, wide):
                    yield place, violations(problem, schedule, target)

    _, found = min(violated(), key=distance)
    shown = ", ".join(f"{name}={shown_value(value)}" for name, value in pinned.items())
    where = f"{problem} on {target.chip}" + (f" with {shown}" if shown else "")
    return ScheduleError(f"no legal schedule for {where}: {found[0]}", notes=tuple(found[1:]))
