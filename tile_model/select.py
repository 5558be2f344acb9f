"""Choosing a schedule: propose, keep what the rules allow, score, take the cheapest.

`proposals` decides only where to look; what is legal is for `rules` and what is good for `cost` to say. Fields that
the user has pinned are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import sqrt
from typing import Any, NamedTuple

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.schedule import VECTOR_BITS, Schedule, Tile
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.cost import Cost, estimate
from mlir_gemm.tile_model.resources import VECTOR_ELEMENT_BITS, occupancy, uneven_vectors
from mlir_gemm.tile_model.rules import PROBLEM_RULES, SIZE_UNIT, broken, violations

LARGEST = 256
"""Largest block tile in m and n that is proposed; larger ones do not fit in the registers of an SM."""
LARGEST_K = 128
DEPTHS = 3
"""How many block tile k are proposed, from the largest: more steps of less work have never paid."""
WARP_K = 16
"""The warp tile's k that is proposed. The inner loop is unrolled, so a larger one gives the same code."""
TIE = 1.0005
"""Times within this factor of the best count as the same: no measurement tells them apart."""
RANKING = 64
"""How many candidates a choice keeps."""
MANY_BLOCKS = 32
"""Blocks for each SM from which tiles of an eighth of the largest area, or less, are no longer proposed."""
MOST_WARPS = 16
MOST_WARP_AREA = 64 * 96
"""Largest warp tile proposed: 192 accumulators a thread."""
MOST_ASPECT = 4


class Candidate(NamedTuple):
    """A legal schedule and its predicted cost."""

    schedule: Schedule
    cost: Cost


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
    cost: Cost
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

    Raises InputError for a problem that no schedule can compute yet, and ScheduleError when the pinned fields leave no
    legal schedule.
    """
    fixed = dict(pinned or {})
    _check_problem(problem, target)
    legal = candidates(problem, target, fixed)
    scored = [Candidate(schedule, estimate(problem, schedule, target)) for schedule in legal]
    if not scored:
        raise _refusal(problem, target, fixed)
    scored = _wide_first(scored)
    best = scored[0]
    return Choice(problem, target, fixed, best.schedule, best.cost, tuple(scored[:RANKING]), len(scored))


def candidates(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> list[Schedule]:
    """The legal schedules worth scoring, empty when there are none.

    The first search that finds any decides: likely tiles with prefetch, then without it (which needs fewer
    registers), then every tile. Tiles that the threads cannot copy evenly are left out when there are others: their
    addresses take registers that no estimate knows well.
    """
    for wide in (False, True):
        for copy in _copies(pinned):
            tried = proposals(problem, target, {**pinned, "copy": copy}, wide)
            legal = [schedule for schedule in tried if next(broken(problem, schedule, target), None) is None]
            legal = [schedule for schedule in legal if not uneven_vectors(schedule)] or legal
            if legal:
                return legal if "group" in pinned else [_grouped(problem, schedule, target) for schedule in legal]
    return []


def best_group(problem: Problem, schedule: Schedule, target: Target) -> int:
    """The group of the raster with which the blocks in flight read least: they cover a rectangle of the result, `group`
    tile rows high, and read the rows of A and the columns of B that it spans, which are fewest when it is square.
    The tile rows of the result are shared evenly among the groups."""
    block_m, block_n, _ = schedule.block
    rows = problem.m // block_m
    in_flight = min(target.sms * occupancy(problem, schedule, target).blocks, rows * (problem.n // block_n))
    square = max(1, round(sqrt(in_flight * block_n / block_m)))
    groups = max(1, round(rows / square))
    return -(-rows // groups)


def rejections(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> Iterator[Rejection]:
    """The schedules of the wide search that break a rule, each with the first rule it breaks."""
    for schedule in proposals(problem, target, {**pinned, "copy": _copies(pinned)[0]}, wide=True):
        for rule, reason in broken(problem, schedule, target):
            yield Rejection(schedule, rule, reason)
            break


def proposals(problem: Problem, target: Target, pinned: Mapping[str, Any], wide: bool = False) -> Iterator[Schedule]:
    """Schedules to try, legal or not. A `wide` search also proposes tiles that cannot divide the problem, long warp
    tiles and small tiles for large problems."""
    fixed = {name: value for name, value in pinned.items() if name not in ("block", "warp", "stages", "vector")}
    promote = pinned.get("promote", True)
    for block in [pinned["block"]] if "block" in pinned else _blocks(problem, target, wide):
        stages = (1, 2) if promote and problem.k > block[2] else (1,)
        for warp in [pinned["warp"]] if "warp" in pinned else _warps(block, wide):
            vector = pinned.get("vector") or widest_vector(block, warp, pinned.get("pad", 8))
            for count in (pinned["stages"],) if "stages" in pinned else stages:
                yield Schedule(block=block, warp=warp, stages=count, vector=vector, **fixed)


def tile_sizes(extent: int) -> list[int]:
    """Tile sizes to try along a dimension of `extent` elements, largest first: the powers of two from 16 to 256 that
    divide it. When those end below 128, the other multiples of 16 that divide it too, none closer than a fifth to
    the next larger one."""
    powers = [size for size in (256, 128, 64, 32, 16) if extent % size == 0]
    if powers and powers[0] >= 128:
        return powers
    spread: list[int] = []
    for size in range(LARGEST, 0, -SIZE_UNIT):
        if extent % size == 0 and (not spread or 5 * size <= 4 * spread[-1]):
            spread.append(size)
    return spread


def widest_vector(block: Tile, warp: Tile, pad: int) -> int:
    """The widest vector, in bits, that splits the tiles of A and B evenly among the threads and keeps padded rows
    aligned; 16 when none does."""
    m, n, k = block
    threads = 32 * max(1, (m // warp[0]) * (n // warp[1]))
    for bits in reversed(VECTOR_BITS):
        width = bits // VECTOR_ELEMENT_BITS
        aligned = not (k % width or n % width or pad % width)
        if aligned and not (m * k % (width * threads) or k * n % (width * threads)):
            return bits
    return VECTOR_BITS[0]


def _blocks(problem: Problem, target: Target, wide: bool) -> list[Tile]:
    if wide:
        # The sizes that divide, and around them the powers of two that may not: those are rejected, with a reason.
        powers = {16, 32, 64, 128, 256}
        rows, columns, depths = (
            sorted(powers.union(tile_sizes(extent))) for extent in (problem.m, problem.n, problem.k)
        )
        return [(m, n, k) for m in rows for n in columns for k in depths if k <= LARGEST_K]
    rows, columns = tile_sizes(problem.m), tile_sizes(problem.n)
    depths = [k for k in tile_sizes(problem.k) if k <= LARGEST_K][:DEPTHS]
    largest = rows[0] * columns[0]
    few = MANY_BLOCKS * target.sms
    return [
        (m, n, k)
        for m in rows
        for n in columns
        if 8 * m * n >= largest or problem.m * problem.n <= few * m * n
        for k in depths
    ]


def _warps(block: Tile, wide: bool) -> list[Tile]:
    rows, columns = _splits(block[0]), _splits(block[1])
    tiles: list[Tile] = [(m, n, WARP_K) for m in rows for n in columns]
    if wide:
        return tiles

    def likely(tile: Tile) -> bool:
        m, n, _ = tile
        area, warps = m * n, (block[0] // m) * (block[1] // n)
        return area <= MOST_WARP_AREA and warps <= MOST_WARPS and max(m, n) <= MOST_ASPECT * min(m, n)

    return [tile for tile in tiles if likely(tile)]


def _splits(extent: int) -> list[int]:
    """The sizes of warp tiles that divide a block tile's `extent`, largest first; 16 when none does."""
    sizes = [size for size in range(SIZE_UNIT, min(extent, LARGEST) + 1, SIZE_UNIT) if extent % size == 0]
    return sizes[::-1] or [SIZE_UNIT]


def _grouped(problem: Problem, schedule: Schedule, target: Target) -> Schedule:
    if schedule.raster != "grouped":
        return schedule
    return schedule.replace(group=best_group(problem, schedule, target))


def _copies(pinned: Mapping[str, Any]) -> tuple[str, ...]:
    if "copy" in pinned:
        return (pinned["copy"],)
    return ("prefetch", "plain") if pinned.get("promote", True) else ("plain",)


def _check_problem(problem: Problem, target: Target) -> None:
    reasons = [rule(problem, Schedule(), target) for rule in PROBLEM_RULES]
    found = [reason for reason in reasons if reason]
    if found:
        raise InputError(f"{problem}: {found[0]}", notes=tuple(found[1:]))


def _wide_first(scored: list[Candidate]) -> list[Candidate]:
    """Candidates by time; among those that tie with the best, the widest tiles (n rather than m) go first: what they
    touch of memory lies in longer rows."""
    scored = sorted(scored, key=lambda candidate: candidate.cost.total)
    limit = scored[0].cost.total * TIE
    tied = sum(candidate.cost.total <= limit for candidate in scored)
    head = sorted(scored[:tied], key=lambda candidate: (candidate.schedule.block[0], candidate.schedule.warp[0]))
    return head + scored[tied:]


def _refusal(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> ScheduleError:
    """Why the pinned fields leave nothing: the violations of the schedule that comes closest to being legal."""

    def distance(found: list[str]) -> tuple[bool, int]:
        blamed = any(f"{name}=" in found[0] for name in pinned)
        return not blamed, len(found)

    fixed = {**pinned, "copy": _copies(pinned)[-1]}
    tried = chain(proposals(problem, target, fixed), proposals(problem, target, fixed, wide=True))
    found = min((violations(problem, schedule, target) for schedule in tried), key=distance)
    shown = ", ".join(f"{name}={_show(value)}" for name, value in pinned.items())
    where = f"{problem} on {target.chip}" + (f" with {shown}" if shown else "")
    return ScheduleError(f"no legal schedule for {where}: {found[0]}", notes=tuple(found[1:]))


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if isinstance(value, int | str) else "x".join(map(str, value))
