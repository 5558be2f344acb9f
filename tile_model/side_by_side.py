"""Whether products of the same A, of matrices B that may be of other widths, should be launched at once: blocks of the
one after those of the other, so that the last wave of each is filled by the next, and nobody waits for a launch.

All have the tiles that the model chooses for one product by all columns, since blocks of a launch have the same
threads, clusters and shared memory. What is predicted is that product's time, of as many columns as the tiles of all
cover; and where a fixed number of blocks walks the tiles of each, as much more as one after another leaves SMs idle.
How many blocks walk the tiles of each is chosen so that this is least.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import ceil
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.parts.block import threads
from mlir_gemm.parts.fields import fields_of
from mlir_gemm.parts.grid import blocks
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.rewriting import Case
from mlir_gemm.tile_model.select import by_time, estimate, preference, select
from mlir_gemm.tile_model.swap import as_computed, may_swap, offer

TRIED = 4
"""Schedules of the product by all columns that are tried, best first, until all products can have their tiles."""
MORE = 3
"""Numbers of tiles a block that are tried, from the least on that go in one round."""
START = 0.1
"""Part of the time of a tile that it takes a block to begin, and to end, about."""
_SAME = ("m", "k", "batch", "a", "b", "acc", "a_order", "b_order", "a_memory", "b_memory", "unsigned", "dynamic")
"""What products must have in common for tiles of one to suit the others."""
_NONE = ("algebra", "symmetric", "result_mask", "zeros", "sparse", "composite", "laid_out", "planes",
         "a_channels", "b_channels")  # fmt: skip
"""What none of them may have."""
_SHAPE = ("mma", "precision", "mainloop", "block", "warp", "instruction", "cluster_m", "cluster_n", "split_k_cluster",
          "persistent", "ping_pong", "stream_k", "min_blocks", "tiles_per_block")  # fmt: skip
"""Fields that decide of what a launch has one for all its blocks, and how much work a block has."""


@dataclass(frozen=True)
class Together:
    """Products that are launched at once."""

    pinned: Sequence[Mapping[str, Any]]
    """The fields that are fixed for each."""
    seconds: float
    """What all take."""


def go_together(problems: Sequence[Problem]) -> bool:
    """Whether tiles of one of some products suit all others."""
    first = problems[0]
    return all(
        all(getattr(each, name) == getattr(first, name) for name in _SAME)
        and not any(getattr(each, name) for name in _NONE)
        and each.batch == 1
        for each in problems
    )


def together(problems: Sequence[Problem], target: Target, pinned: Mapping[str, Any]) -> Together | None:
    """Products with the same tiles, launched at once, with what is `pinned` for each of them; None where no tiles suit
    all. Raises what `select` raises."""
    if not go_together(problems):
        return None
    whole = _whole(problems)
    swapped = offer(Case(whole, target, pinned)) if all(may_swap(each) for each in problems) else None
    case = swapped.case if swapped is not None else Case(whole, target, {**pinned, "swap_ab": False})
    ranking = select(case.problem, target, case.pinned).ranking
    schedules = [each.schedule.replace(swap_ab=swapped is not None) for each in ranking if not each.schedule.stream_k]
    timed = {each: _seconds(whole, problems, each, (each.persistent,) * len(problems), target) for each in schedules}
    for schedule in by_time(timed, lambda each: timed[each], preference)[:TRIED]:
        counts = walkers(_tiles(problems, schedule), schedule)
        fields = _with_tiles_of(schedule, counts, problems, target, pinned)
        if fields is not None:
            return Together(fields, _seconds(whole, problems, schedule, counts, target))
    return None


def _whole(problems: Sequence[Problem]) -> Problem:
    """One product by the columns of all. What follows it is taken to be what follows the widest."""
    widest = max(problems, key=lambda each: each.n)
    return dataclasses.replace(
        widest, n=sum(each.n for each in problems), b_matrices=0,
        **{name: min(getattr(each, name) for each in problems) for name in ("b_vector", "out_vector")},
    )  # fmt: skip


def _with_tiles_of(
    schedule: Schedule, counts: Sequence[int], problems: Sequence[Problem], target: Target, pinned: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]] | None:
    """The fields that give each product the tiles of a schedule, and so many blocks that walk them; None where one of
    them cannot have these, or needs other threads."""
    known = fields_of(schedule)
    shape = {name: schedule.value(name) for name in _SHAPE if name in known}
    own = [{"persistent": count} if count else {} for count in counts]
    fields = [{**shape, **each, "swap_ab": schedule.swap_ab, "split_k_workspace": 1, **pinned} for each in own]
    try:
        chosen = [select(as_computed(problem, schedule), target, each).schedule
                  for problem, each in zip(problems, fields, strict=True)]  # fmt: skip
    except Error:
        return None
    return fields if len({(threads(each), each.cluster, each.min_blocks) for each in chosen}) == 1 else None


def _seconds(
    whole: Problem, problems: Sequence[Problem], schedule: Schedule, counts: tuple[int, ...], target: Target
) -> float:
    """What all are predicted to take with a schedule, where so many blocks walk the tiles of each, if any do."""
    side = schedule.block[0] if schedule.swap_ab else schedule.block[1]
    covered = dataclasses.replace(whole, n=sum(side * ceil(each.n / side) for each in problems))
    seconds = estimate(as_computed(covered, schedule), schedule, target).on_gpu
    if not schedule.persistent:
        return seconds
    tiles = _tiles(problems, schedule)
    even = ceil(sum(tiles) / schedule.persistent)
    return seconds * longest(tiles, counts, schedule.persistent, 0.0) / even


def _tiles(problems: Sequence[Problem], schedule: Schedule) -> tuple[int, ...]:
    """How many tiles each product has."""
    return tuple(blocks(as_computed(each, schedule), schedule) for each in problems)


def walkers(tiles: tuple[int, ...], schedule: Schedule) -> tuple[int, ...]:
    """How many blocks walk the tiles of each product, so that the busiest SM is done first: the fewer, the fewer begin
    anew, but the more unequal are the last ones. Those of a cluster stay as many as the schedule says."""
    most = schedule.persistent
    usual = (most,) * len(tiles)
    if not most or schedule.cluster > 1:
        return usual
    options = [{ceil(count / (ceil(count / most) + more)) for more in range(MORE)} for count in tiles]
    even = min(product(*options), key=lambda each: (round(longest(tiles, each, most), 6), *(-one for one in each)))
    return even if longest(tiles, even, most) <= longest(tiles, usual, most) else usual


@lru_cache(maxsize=256)
def longest(tiles: tuple[int, ...], counts: tuple[int, ...], places: int, start: float = START) -> float:
    """Tiles of the busiest of so many places, with what it takes a block to start: each takes the next one when it has
    done with one, and so many blocks divide the tiles of each product."""
    busy = [0.0] * places
    for count, number in zip(tiles, counts, strict=True):
        for block in range(min(number, count)):
            heapq.heappush(busy, heapq.heappop(busy) + len(range(block, count, number)) + start)
    return max(busy)
