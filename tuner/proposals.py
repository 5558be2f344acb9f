"""Which measured schedules the model could have chosen. A search also measures what the model never proposes, such as
`stream_k` with `wgmma`: such a schedule may be the best, but how its time is predicted decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import inf, isfinite, log
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.parts.base import Mma
from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.spec import extensions
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.select import WORTH, candidates
from mlir_gemm.tile_model.swap import as_computed
from mlir_gemm.tuner.measured import Measured

DECIDED = (
    "mma", "mainloop", "block", "warp", "stages", "cluster_m", "cluster_n", "split_k_cluster", "stream_k",
    "ping_pong", "unroll_by", "pad_b", "layout_b", "promote_a", "promote_b", "promote_result", "tiles_per_block",
    "interleave",
)  # fmt: skip
"""Fields in which two schedules differ that a search compares; others follow from these, or change little."""


def handicaps(measured: Measured, target: Target) -> list[float]:
    """Of each schedule what is added to the logarithm of its predicted time before the model takes the least: 0, or
    that of WORTH for an mma that is believed only where it is so much faster; infinity for what the model does not
    compare. 0 for all where fewer than two would be compared, as in a sweep of something else."""
    found = [
        _proposed(as_computed(measured.problem, schedule), schedule.split_k_workspace, target).get(_kind(schedule), inf)
        for schedule in measured.schedules
    ]
    return found if sum(map(isfinite, found)) > 1 else [0.0] * len(found)


def _kind(schedule: Schedule) -> tuple[Any, ...]:
    return (*(schedule.value(name) for name in DECIDED), bool(schedule.persistent))


@lru_cache(maxsize=1024)  # schedules of one problem ask again and again
def _proposed(problem: Problem, slices: int, target: Target) -> dict[tuple[Any, ...], float]:
    return dict(reversed(list(_kinds(problem, slices, target))))


extensions.on_change(_proposed.cache_clear)


def _kinds(problem: Problem, slices: int, target: Target) -> Iterator[tuple[tuple[Any, ...], float]]:
    """What is proposed for a product that is computed so: by the first mma that takes it, and by the one that this is
    compared with, each with its handicap."""
    fixed = {"split_k_workspace": slices} if slices > 1 else {}
    first: Mma | None = None
    for mma in mmas_on(target):
        if first is not None and not ((mma.rival or mma.peer) and mma.rank > first.rank):
            continue
        try:
            proposed = candidates(problem, target, {**fixed, "mma": mma.name})
        except Error:  # an mma that cannot compute it
            continue
        if not proposed:
            continue
        handicap = 0.0 if first is None or mma.peer else -log(WORTH)
        yield from ((_kind(each.schedule), handicap) for each in proposed)
        if first is not None:
            return
        first = mma
