"""Which measured schedules the model could have chosen. A search also measures what the model never proposes, such as
`stream_k` with `wgmma`: such a schedule may be the best, but how its time is predicted decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.spec import extensions
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.select import candidates
from mlir_gemm.tile_model.swap import as_computed
from mlir_gemm.tuner.measured import Measured

DECIDED = (
    "mma", "mainloop", "block", "warp", "stages", "cluster_m", "cluster_n", "split_k_cluster", "stream_k",
    "ping_pong", "unroll_by", "pad_b", "layout_b", "promote_a", "promote_b", "promote_result", "tiles_per_block",
)  # fmt: skip
"""Fields in which two schedules differ that a search compares; others follow from these, or change little."""


def proposable(measured: Measured, target: Target) -> list[bool]:
    """Of each schedule, whether it is among those that the model compares. All are where fewer than two would be, as
    in a sweep of something else."""
    found = [
        _kind(schedule) in _proposed(as_computed(measured.problem, schedule), schedule.split_k_workspace, target)
        for schedule in measured.schedules
    ]
    return found if sum(found) > 1 else [True] * len(found)


def _kind(schedule: Schedule) -> tuple[Any, ...]:
    return (*(schedule.value(name) for name in DECIDED), bool(schedule.persistent))


@lru_cache(maxsize=1024)  # schedules of one problem ask again and again
def _proposed(problem: Problem, slices: int, target: Target) -> frozenset[tuple[Any, ...]]:
    return frozenset(_kinds(problem, slices, target))


extensions.on_change(_proposed.cache_clear)


def _kinds(problem: Problem, slices: int, target: Target) -> Iterator[tuple[Any, ...]]:
    """What each mma proposes for a product that is computed so."""
    fixed = {"split_k_workspace": slices} if slices > 1 else {}
    for mma in mmas_on(target):
        try:
            proposed = candidates(problem, target, {**fixed, "mma": mma.name})
        except Error:  # an mma that cannot compute it
            continue
        yield from (_kind(each.schedule) for each in proposed)
