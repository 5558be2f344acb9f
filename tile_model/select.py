"""Choosing a schedule: propose, keep what the rules allow, score, take the cheapest.

`search` decides only where to look; what is legal is for `rules` and what is good for `cost` to say. Fields that the
user has pinned are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import sqrt
from typing import Any, NamedTuple

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import GROUPED, Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.clocks import SYNC
from mlir_gemm.tile_model.cost import estimate
from mlir_gemm.tile_model.grid import grid, is_one_wave
from mlir_gemm.tile_model.group_cost import CONSTANTS as GROUP
from mlir_gemm.tile_model.group_rules import TMA_BITS
from mlir_gemm.tile_model.group_work import lies_between_lines
from mlir_gemm.tile_model.keeping import keeping
from mlir_gemm.tile_model.operators import by_matrix, full_rate_seconds
from mlir_gemm.tile_model.order import by_time, is_less, preference
from mlir_gemm.tile_model.prediction import Prediction
from mlir_gemm.tile_model.registers import uneven_vectors
from mlir_gemm.tile_model.resources import occupancy
from mlir_gemm.tile_model.rules import PROBLEM_RULES, broken, violations
from mlir_gemm.tile_model.search import proposals
from mlir_gemm.tile_model.shape_rules import MOST_STAGES, operator_of_chip
from mlir_gemm.tile_model.traffic import operand_bytes

PREFERRED = ("wgmma", "mma_sync", "wmma", "simt")
"""Operators in the order in which they are tried: the first that has a legal schedule is taken, except that `wgmma` is
compared with the one in RIVAL."""
RIVAL, WORTH = "mma_sync", 0.85
"""The operator that small or thin products may be better off with, and the part of the time of `wgmma` under which its
prediction, which was fitted to squares, is believed."""
TIE = 1.0005
"""Times within this factor of the best count as the same: no measurement tells them apart."""
LOW, MIRROR = 64, 1.03
"""Rows of a tile that is as fast as its mirror image for the model, and up to which part of the time it is preferred:
64x128 takes 1 to 6 % less than 128x64 for 12 of 14 sizes on the H200."""
RANKING = 64
"""How many candidates a choice keeps."""


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

    @cached_property
    def rejected(self) -> tuple[Rejection, ...]:
        """Everything that a wide search proposes and the rules refuse. Computed on first use."""
        return tuple(rejections(self.problem, self.target, self.pinned))


def select(problem: Problem, target: Target, pinned: Mapping[str, Any] | None = None) -> Choice:
    """The schedule with the least predicted time among the legal ones that have the `pinned` fields, which
    `Schedule.check_fields` must have checked.

    Raises InputError for a problem that no operator of the chip can compute, and ScheduleError when the pinned fields
    leave no legal schedule.
    """
    fixed = dict(pinned or {})
    _check_problem(problem, target, fixed)
    _check_operator(problem, target, fixed)
    legal = candidates(problem, target, fixed)
    if not legal:
        raise _refusal(problem, target, fixed)
    scored = _scored(problem, target, legal)
    scored = _rivals(problem, target, fixed, scored[0]) + scored
    best = scored[0]
    return Choice(problem, target, fixed, best.schedule, best.cost, tuple(scored[:RANKING]), len(scored))


def _scored(problem: Problem, target: Target, legal: list[Schedule]) -> list[Candidate]:
    return _wide_first([Candidate(schedule, estimate(problem, schedule, target)) for schedule in legal])


def _rivals(problem: Problem, target: Target, pinned: Mapping[str, Any], best: Candidate) -> list[Candidate]:
    """Candidates of the other operator that are predicted to take so much less time than the best of `wgmma` that they
    go before it, best first; they are not looked for where that cannot be."""
    if best.schedule.operator != "wgmma" or "operator" in pinned:
        return []
    limit = WORTH * best.cost.total
    if limit <= max(GROUP.launch, _least_seconds(problem, target)):
        return []
    named = {**pinned, "operator": RIVAL}
    legal = candidates(problem, target, named) if operators(problem, target, named) else []
    return [candidate for candidate in _scored(problem, target, legal) if is_less(candidate.cost.total, limit)]


def _least_seconds(problem: Problem, target: Target) -> float:
    """What no schedule of the rival can be faster than: its products at the full rate, or its operands from DRAM, and a
    launch."""
    read = operand_bytes(problem, "a") + operand_bytes(problem, "b")
    return SYNC.launch + max(full_rate_seconds(RIVAL, problem, target), read / target.dram_bytes_s)


def candidates(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> list[Schedule]:
    """The legal schedules worth scoring, empty when there are none.

    The first search that finds any decides: for each operator in the order of preference likely tiles, with the copies
    that suit it best, then with those that need fewer registers; then every tile. With `wmma`, tiles that the threads
    cannot copy evenly are left out when there are others: their addresses take registers that no estimate knows well.
    """
    for operator in operators(problem, target, pinned):
        named = {**pinned, "operator": operator}
        for wide in (False, True):
            for copies in _copies(problem, target, named):
                tried = chain.from_iterable(
                    proposals(problem, target, {**named, "copy": copy}, wide) for copy in copies
                )
                legal = [schedule for schedule in tried if next(broken(problem, schedule, target), None) is None]
                if operator == "wmma":
                    legal = [schedule for schedule in legal if not uneven_vectors(schedule)] or legal
                if legal:
                    return [_finished(problem, schedule, target, pinned) for schedule in legal]
    return []


def operators(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> list[str]:
    """The operators to try, in order: the pinned one, or those of the chip that take the problem's types and sizes."""
    named = (pinned["operator"],) if "operator" in pinned else PREFERRED
    precision = pinned.get("precision", Schedule.precision)
    return [
        operator
        for operator in named
        if operator in target.operators and not _reasons(problem, target, operator, precision)
    ]


OBLONG = 1.5
"""How much lower than a square's side a group may be that divides the rows: 8 of 32 or 64 rows of 128x128 take as long
as 11 on the H200, with an epilogue up to 1 % less, since a place is found by shifts, and 1 % less where rows of the
result are not aligned. There 16, as near to the square, take 5 to 15 % more (8191 x 8191 x 8191)."""
SMALL_TILE, NEIGHBOURS = 64 * 128, 8
"""Elements of a block tile of `wgmma` that L2 limits, and blocks beside each other: with squares of 8 instead of all
128 the H200 takes 4.8 us instead of 5.1 for 1024 x 1024 x 1024, 8.2 instead of 8.4 for 1000; 256 x 8192 x 8192
exchanged, with an empty cache, 52 us in groups of 4, 56 in groups of 11."""


def best_group(problem: Problem, schedule: Schedule, target: Target) -> int:
    """The group of the raster with which the blocks in flight read least: they cover a rectangle of the result, `group`
    tile rows high, and read the rows of A and the columns of B that it spans, which are fewest when it is square.
    The tile rows of the result are shared evenly among the groups; in several waves a height that divides them is
    preferred, if it is hardly lower. Small tiles of `wgmma` that are all in flight need more than L2 gives, and an
    operand of which lines leave L2 first is best read at once by all who need it; then the square is that of
    neighbours, whose requests for the same lines become one."""
    block_m, block_n, _ = schedule.block
    rows, columns = grid(problem, schedule)
    in_flight = rows * columns
    if in_flight > target.sms:
        in_flight = min(in_flight, target.sms * occupancy(problem, schedule, target).blocks)
    elif schedule.operator == "wgmma" and (block_m * block_n <= SMALL_TILE or schedule.marks):
        in_flight = min(in_flight, NEIGHBOURS)
    side = sqrt(in_flight * block_n / block_m)
    whole = [size for size in range(1, round(side) + 1) if rows % size == 0 and side <= size * OBLONG]
    if whole and rows >= 2 * side and rows * columns > target.sms:
        return whole[-1]
    groups = max(1, round(rows / max(1, round(side))))
    return -(-rows // groups)


def rejections(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Iterator[Rejection]:
    """The schedules of the wide search that break a rule, each with the first rule it breaks."""
    operator = next(iter(operators(problem, target, pinned)), PREFERRED[0])
    named = {**pinned, "operator": operator}
    copy = _copies(problem, target, named)[0][0]
    for schedule in proposals(problem, target, {**named, "copy": copy}, wide=True):
        for rule, reason in broken(problem, schedule, target):
            yield Rejection(schedule, rule, reason)
            break


def _finished(problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]) -> Schedule:
    """With what follows from the rest of a schedule: what L2 keeps, when the next kernel starts, the raster."""
    schedule = keeping(problem, schedule, target, pinned)
    if "ahead" not in pinned and _in_order(problem, schedule, target):
        schedule = schedule.replace(ahead=False)
    if "group" in pinned or schedule.raster not in GROUPED:
        return schedule
    return schedule.replace(group=best_group(problem, schedule, target))


def _in_order(problem: Problem, schedule: Schedule, target: Target) -> bool:
    """Whether it counts which blocks are neighbours: with a tile for each, or with rows of operands that lie between
    lines, of which neighbours need the same.

    Blocks of a kernel that is started ahead get SMs in the order in which these become free, and neighbours no longer
    ask L2 for the same lines at once. Of 260 random products on the H200 those of one wave take 5 to 8 % less without,
    from 2.5 to 100 us (0.7 to 1.1 of the time), others the same; between lines up to 15 % less.
    """
    if problem.dynamic or schedule.operator != "wgmma":
        return False
    if 1 in grid(problem, schedule) and schedule.cluster_m * schedule.cluster_n > 1 and schedule.split == 1:
        return False  # blocks that need the same lines are a cluster, which stays together: only the gap would show
    return is_one_wave(problem, schedule, target) or lies_between_lines(problem, schedule)


def _copies(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Kinds of copy to propose, in the order in which they are tried; those that stand together are compared."""
    if "copy" in pinned:
        return ((pinned["copy"],),)
    if pinned["operator"] == "wgmma":
        return (("tma",),)
    if not pinned.get("promote", True):
        return (("plain",),)
    copies: tuple[tuple[str, ...], ...] = (("prefetch",), ("plain",))
    if pinned["operator"] == "simt":
        # Its guarded loads fit in registers with small tiles only.
        copies = (("prefetch", "plain"),)
    if pinned["operator"] == "wmma" or "cp_async" not in target.copies or problem.a_memory or problem.b_memory:
        return copies
    if "tma" in target.copies and _suits_ring(problem, pinned):
        return (("tma", "cp_async"), *copies)
    if min(problem.a_vector, problem.b_vector, pinned.get("vector", 128)) >= 32 and pinned.get("stages") != 1:
        return (("cp_async",), *copies)
    # Copies that fall back to loads and stores: those that load ahead may be better.
    return (("cp_async", "prefetch"), ("plain",))


def _suits_ring(problem: Problem, pinned: Mapping[str, Any]) -> bool:
    """Whether the copy engine can bring the operands of `mma_sync`, and ldmatrix loads both: elements one by one meet
    in banks where rows are not padded, and f64 on a ring was not measured."""
    operator: str = pinned["operator"]
    aligned = min(problem.a_vector, problem.b_vector, pinned.get("vector", 128)) >= TMA_BITS
    matrices = all(by_matrix(operator, problem, operand) for operand in "ab")
    return operator == "mma_sync" and aligned and matrices and pinned.get("stages") != 1


def _reasons(problem: Problem, target: Target, operator: str, precision: str) -> list[str]:
    """Why an operator cannot compute a problem at all."""
    schedule = Schedule(operator=operator, precision=precision)
    return [reason for rule in PROBLEM_RULES if (reason := rule(problem, schedule, target))]


def _check_problem(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> None:
    """Refuses a problem that none of the chip's operators can compute with this precision. The reasons are those of an
    operator that could with another precision, else of the last one, which takes most."""
    precision = pinned.get("precision", Schedule.precision)
    refused: list[list[str]] = []
    for operator in PREFERRED:
        if operator in target.operators:
            refused.append(_reasons(problem, target, operator, precision))
            if not refused[-1]:
                return
    if refused:
        found = next((reasons for reasons in refused if "expected precision=" in reasons[0]), refused[-1])
        raise InputError(f"{problem}: {found[0]}", notes=tuple(found[1:]))


def _check_operator(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> None:
    """Refuses a pinned operator that the chip lacks or that cannot compute the problem when another can."""
    if "operator" not in pinned or operators(problem, target, pinned):
        return
    operator: str = pinned["operator"]
    precision = pinned.get("precision", Schedule.precision)
    lacking = operator_of_chip(problem, Schedule(operator=operator), target)
    found = [lacking] if lacking else _reasons(problem, target, operator, precision)
    raise ScheduleError(
        f"no legal schedule for {problem} on {target.chip} with operator={operator}: {found[0]}", notes=tuple(found[1:])
    )


def _wide_first(scored: list[Candidate]) -> list[Candidate]:
    """Candidates by time; among those that tie with the best, the widest tiles (n rather than m) go first: what they
    touch of memory lies in longer rows."""
    if not scored:
        return []
    scored = by_time(scored, _total, lambda candidate: preference(candidate.schedule))
    if scored[0].schedule.operator == "wgmma":
        return _low_first(scored)
    limit = scored[0].cost.total * TIE
    tied = sum(candidate.cost.total <= limit for candidate in scored)
    head = sorted(scored[:tied], key=lambda candidate: (candidate.schedule.block[0], candidate.schedule.warp[0]))
    return head + scored[tied:]


def _total(candidate: Candidate) -> float:
    return candidate.cost.total


def _low_first(scored: list[Candidate]) -> list[Candidate]:
    """Candidates of `wgmma` in order, but that of two tiles that are each other's mirror image the one of 64 rows goes
    first where it is close: one instruction of 128 columns needs less of shared memory than two of 64."""
    best = scored[0].schedule
    m, n, k = best.block
    if n != LOW:
        return scored
    for place, (schedule, cost) in enumerate(scored):
        if cost.total > MIRROR * scored[0].cost.total:
            break
        image = (schedule.block, schedule.cluster_m, schedule.cluster_n) == ((n, m, k), best.cluster_n, best.cluster_m)
        if image and (schedule.split, schedule.turns) == (best.split, best.turns):
            return [scored[place], *scored[:place], *scored[place + 1 :]]
    return scored


def _refusal(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> ScheduleError:
    """Why the pinned fields leave nothing: the violations of the schedule that comes closest to being legal."""

    def distance(item: tuple[int, list[str]]) -> tuple[bool, int, int]:
        place, found = item
        blamed = any(f"{name}=" in found[0] for name in pinned)
        return not blamed, place, len(found)

    def violated() -> Iterator[tuple[int, list[str]]]:
        for place, operator in enumerate(operators(problem, target, pinned)):
            named = {**pinned, "operator": operator}
            copies = [copy for together in _copies(problem, target, named) for copy in together]
            # The copy that needs least of the chip, unless it is the stages that only the first has.
            deep = pinned.get("stages", 1) > MOST_STAGES[copies[-1]]
            fixed = {**named, "copy": copies[0 if deep else -1]}
            for wide in (False, True):
                for schedule in proposals(problem, target, fixed, wide):
                    yield place, violations(problem, schedule, target)

    _, found = min(violated(), key=distance)
    shown = ", ".join(f"{name}={_show(value)}" for name, value in pinned.items())
    where = f"{problem} on {target.chip}" + (f" with {shown}" if shown else "")
    return ScheduleError(f"no legal schedule for {where}: {found[0]}", notes=tuple(found[1:]))


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if isinstance(value, int | str) else "x".join(map(str, value))
