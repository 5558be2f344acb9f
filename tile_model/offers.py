"""What parts offer beside a chosen schedule: changes of their own fields that are no part of a search, and are taken
where the formula of the cost says that they pay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.parts.registry import mma_of, optional_parts
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.rules import broken

PAYS = 0.995
"""Part of a predicted time that a schedule must be predicted to take at most with what is offered."""
OFFERED = 8
"""Candidates that are looked at with what is offered: tiles gain differently by it. 3602x75x374 in f64 takes 20.0 us by
the tiles that are best without `fragments_ahead`, 11.4 by those that are best with it; 3x10320x1432 in f16 8.3 and 7.1
(H100, `2026-11-28-h100-seed-32-spaces.jsonl.xz`)."""
TILES = ("block", "warp")
"""Who fixes these has a schedule in mind: to that nothing is added."""


def taken(
    problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]
) -> tuple[Schedule, Prediction | None]:
    """The schedule with what pays of all that is offered, one after another, and its predicted time; None where nothing
    is taken. Fields that are pinned stay."""
    seconds: Prediction | None = None
    for changes, _ in _offered(problem, schedule, target, pinned):
        changed = schedule.replace(**changes)
        if next(broken(problem, changed, target), None) is not None:
            continue
        estimate = mma_of(schedule).family.estimate
        other, before = estimate(problem, changed, target), seconds or estimate(problem, schedule, target)
        if other.total < PAYS * before.total:
            schedule, seconds = changed, other
    return schedule, seconds


def best_offered(
    problem: Problem, target: Target, pinned: Mapping[str, Any], scored: Sequence[tuple[Schedule, Prediction]]
) -> tuple[Schedule, Prediction]:
    """The best of the first few candidates, best first, each with what pays of all that is offered, and its predicted
    time. Another one goes before the first only where it takes less with it by PAYS, and multiplies by the same mma."""
    found = [(changed, more or cost) for schedule, cost in scored[:OFFERED]
             for changed, more in (taken(problem, schedule, target, pinned),)]  # fmt: skip
    best = found[0]
    for schedule, cost in found[1:]:
        if schedule.mma == best[0].mma and cost.on_gpu < PAYS * best[1].on_gpu:
            best = schedule, cost
    return best


def reasons(problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]) -> Iterator[str]:
    """Why a schedule has what was offered to it, in words."""
    for changes, why in _offered(problem, schedule, target, pinned):
        if all(schedule.value(name) == value for name, value in changes.items()):
            yield f"{', '.join(f'{name}={shown_value(value)}' for name, value in changes.items())}: {why}"


def _offered(
    problem: Problem, schedule: Schedule, target: Target, pinned: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    if any(name in pinned for name in TILES):
        return
    for part in optional_parts():
        for changes, why in part.offers(problem, schedule, target):
            if not any(name in pinned for name in changes):
                yield changes, why
