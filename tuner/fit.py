"""Fits a chip's constants to what was measured, and says how much nearer the model came on problems left out.

The figures and constants that a chip's name may give (`tile_model/constants.py`) move from what they are as far as
measurements ask for, and no further: each is assumed to be right to within PRIOR. What is made small is how much longer
the choice takes than the best measured, and the error of the times of good schedules, with a part of what all schedules
of a problem have in common forgiven. Gauss-Newton steps, each a linear problem with bounds (`scipy.optimize`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import chip_name
from mlir_gemm.tile_model.constants import FAMILIES, constants_of, with_constants
from mlir_gemm.tile_model.select import estimate
from mlir_gemm.tile_model.swap import as_computed
from mlir_gemm.tuner.measured import Measured
from mlir_gemm.tuner.proposals import handicaps

PRIOR = 0.25
"""Standard deviation of the logarithm of each constant, from what it is."""
PRIOR_OF_RATES = 0.05
"""The same of rates, which were measured or are in data sheets."""
ERROR, EACH = 0.1, 4.0
"""Standard deviation of the logarithm of a predicted time, and the measurements that a problem counts as."""
LOSS = 0.015
"""The logarithm of how much longer the choice takes, that counts as much as an error of ERROR."""
SOFT = 0.03
"""Predicted times that differ by this part count as nearly the same when the choice is judged."""
NEAR = 0.25
"""How fast the weight of a schedule falls with its distance from the best of its problem."""
COMMON = 0.35
"""Part of the error which all schedules of a problem have in common that is forgiven."""
STEPS, STEP = 3, 0.4
"""Gauss-Newton steps, and the most that the logarithm of a constant changes in one."""
TRAINED = 16
"""Schedules of a problem that a fit takes, the fastest."""
KEPT = 0.02
"""Constants that move by a smaller part stay as they are."""
FOLDS = 5
WORSE = 1.03
"""How many times the greatest loss of before the greatest loss after may be."""
RATES = {"tensor": "tensor_flops_clock_sm", "l2rate": "l2_bytes_s", "dram": "dram_bytes_s"}
LEFT = ("launch", "issue")
"""Constants of the host's launches, which say nothing about a schedule."""

Array = Any
"""A numpy array of numbers: one for each schedule, or for each constant."""
Values = dict[str, float]


@dataclass(frozen=True)
class Judgement:
    """How good a model is on some problems."""

    losses: tuple[float, ...]
    """How many times as long as the best measured schedule the choice takes, for each problem: the one that is
    predicted to be fastest of those that the model proposes."""
    error: float
    """Standard deviation of the logarithm of predicted by measured times, of schedules within 1.3 of the best, what the
    schedules of a problem have in common left out."""

    @property
    def mean(self) -> float:
        """The geometric mean of the losses."""
        return float(np.exp(np.mean(np.log(self.losses))))

    @property
    def worst(self) -> float:
        return max(self.losses)


@dataclass(frozen=True)
class Fit:
    """What a fit found."""

    values: Values
    """The constants that moved, by name."""
    before: Judgement
    after: Judgement
    """Of each problem by a fit to others."""
    inside: Judgement
    """Of all problems by the fit to all."""

    @property
    def refused(self) -> str:
        """Why this is not to be used; empty where it is."""
        gains = np.log(self.before.losses) - np.log(self.after.losses)
        mean, doubt = float(gains.mean()), float(gains.std(ddof=1) / len(gains) ** 0.5) if len(gains) > 1 else np.inf
        if not self.values:
            return "no constant moved"
        if mean <= max(doubt, 1e-4):
            return f"on problems left out the choice is {np.expm1(mean):.2%} nearer the best, give or take {doubt:.2%}"
        if self.after.worst > WORSE * self.before.worst:
            return f"on problems left out the worst choice is {self.after.worst:.3f} times the best"
        return ""


class _Table:
    """All schedules of some problems, as columns. `handicap` has for each what `handicaps` says."""

    def __init__(self, problems: Sequence[Measured], handicap: Sequence[Sequence[float]], most: int = 0) -> None:
        self.work: list[tuple[Problem, Schedule]] = []
        case: list[int] = []
        chosen: list[float] = []
        seconds: list[float] = []
        for place, each in enumerate(problems):
            rows = sorted(zip(each.seconds, range(len(each.seconds)), strict=True))
            if most:  # the fastest that could be chosen are among them
                rows = sorted({*rows[:most], *[row for row in rows if np.isfinite(handicap[place][row[1]])][:most]})
            case += [place] * len(rows)
            chosen += [handicap[place][at] for _, at in rows]
            seconds += [time for time, _ in rows]
            self.work += [(as_computed(each.problem, each.schedules[at]), each.schedules[at]) for _, at in rows]
        self.case, self.logs, self.handicap = np.array(case), np.log(np.array(seconds)), np.array(chosen)
        self.count = len(problems)
        best = np.full(self.count, np.inf)
        np.minimum.at(best, self.case, self.logs)
        self.slower = self.logs - best[self.case]
        self.weight = np.exp(-np.expm1(self.slower) / NEAR)
        self.weight /= np.bincount(self.case, self.weight)[self.case]

    def predicted(self, target: Target, rows: Any = None) -> Array:
        """Logarithms of predicted times of all, or some, without what launching takes; NaN where one has none."""
        found: list[float] = []
        for place in range(len(self.work)) if rows is None else rows:
            seconds: Any = estimate(*self.work[place], target).on_gpu
            found.append(seconds.real if isinstance(seconds, complex) else seconds)
        return np.log(np.array(found))

    def residuals(self, logs: Array) -> Array:
        """What is made small: errors of times, and the loss of each choice."""
        errors = logs - self.logs
        common = np.bincount(self.case, self.weight * errors, self.count)
        kept = np.sqrt(EACH * self.weight) / ERROR * (errors - COMMON * common[self.case])
        return np.concatenate([kept, self._lost(self._chances(logs)) / LOSS])

    def slopes(self, logs: Array, jacobian: Array) -> Array:
        """Derivatives of the residuals by the constants, from those of the logarithms of times."""
        common = np.array([np.bincount(self.case, self.weight * column, self.count) for column in jacobian.T]).T
        kept = (np.sqrt(EACH * self.weight) / ERROR)[:, None] * (jacobian - COMMON * common[self.case])
        chance = self._chances(logs)
        pull = -chance * (self.slower - self._lost(chance)[self.case]) / SOFT
        lost = np.array([np.bincount(self.case, pull * column, self.count) for column in jacobian.T]).T
        return np.concatenate([kept, lost / LOSS])

    def judged(self, target: Target) -> Judgement:
        logs = self.predicted(target)
        near = self.slower < np.log(1.3)
        losses: list[float] = []
        errors: list[Array] = []
        for place in range(self.count):
            own = np.flatnonzero(self.case == place)
            losses.append(float(np.exp(self.slower[own[np.argmin(logs[own] + self.handicap[own])]])))
            close = own[near[own]]
            error = logs[close] - self.logs[close]
            errors.append(error - error.mean())
        return Judgement(tuple(losses), float(np.std(np.concatenate(errors))))

    def _chances(self, logs: Array) -> Array:
        least = np.full(self.count, np.inf)
        compared = logs + self.handicap
        np.minimum.at(least, self.case, compared)
        chance = np.exp(-np.maximum(compared - least[self.case], 0) / SOFT)
        return chance / np.bincount(self.case, chance)[self.case]

    def _lost(self, chance: Array) -> Array:
        return np.bincount(self.case, chance * self.slower, self.count)


def changed(target: Target, values: Mapping[str, float]) -> Target:
    """The chip with other rates (TB/s, FLOP) and constants."""
    scaled = {name: value * (1e12 if name != "tensor" else 1) for name, value in values.items() if name in RATES}
    moved = replace(target, **{RATES[name]: value for name, value in scaled.items()})
    return with_constants(moved, {name: value for name, value in values.items() if name not in RATES})


def known(target: Target) -> Values:
    """What a fit may change, as it is."""
    found = {name: getattr(target, field) / (1e12 if name != "tensor" else 1) for name, field in RATES.items()}
    constants = constants_of(target)
    return found | {name: value for name, value in constants.items() if name.partition(".")[2] not in LEFT}


def fit(problems: Sequence[Measured], target: Target, progress: Callable[[int, int], None] | None = None) -> Fit:
    """The constants of a chip by all problems, judged by fits that leave out a part of the problems each.

    Problems of the same size are left out together. `progress` gets how many fits are done, and of how many.
    """
    sizes = sorted({(each.problem.m, each.problem.n, each.problem.k) for each in problems})
    order: Array = np.random.default_rng(0).permutation(len(sizes))
    folds = min(FOLDS, len(sizes))
    fold_of = {sizes[int(place)]: number % folds for number, place in enumerate(order)}
    fold = np.array([fold_of[each.problem.m, each.problem.n, each.problem.k] for each in problems])
    handicap = [handicaps(each, target) for each in problems]
    before = _Table(problems, handicap)
    losses, errors = np.ones(len(problems)), [0.0]
    for left in range(folds if folds > 1 else 0):
        others = [place for place, number in enumerate(fold) if number != left]
        own = [place for place, number in enumerate(fold) if number == left]
        fitted = _fitted([problems[at] for at in others], [handicap[at] for at in others], target)
        judged = _Table([problems[at] for at in own], [handicap[at] for at in own]).judged(changed(target, fitted))
        losses[own] = judged.losses
        errors.append(judged.error**2 * len(own))
        if progress is not None:
            progress(left + 1, folds + 1)
    values = _fitted(problems, handicap, target)
    inside = before.judged(changed(target, values))
    if progress is not None:
        progress(folds + 1, folds + 1)
    after = Judgement(tuple(map(float, losses)), float(np.sqrt(sum(errors) / len(problems))))
    return Fit(values, before.judged(target), after, inside)


def _fitted(problems: Sequence[Measured], handicap: Sequence[Sequence[float]], target: Target) -> Values:
    """The constants that moved by more than KEPT."""
    table, start = _Table(problems, handicap, TRAINED), known(target)
    rows = _rows_by_name(table, target, start)
    names = [name for name in start if len(rows[name])]
    prior = np.array([PRIOR_OF_RATES if name in RATES else PRIOR for name in names])
    at, logs = np.zeros(len(names)), table.predicted(target)

    def moved(logarithms: Array) -> Target:
        times = np.exp(logarithms)
        return changed(target, {name: start[name] * float(x) for name, x in zip(names, times, strict=True)})

    solve: Any = importlib.import_module("scipy.optimize").lsq_linear  # without types

    def loss(logs: Array, at: Array) -> float:
        return float(np.square(table.residuals(logs)).sum() + np.square(at / prior).sum())

    for _ in range(STEPS):
        jacobian = np.zeros((len(logs), len(names)))
        for column, name in enumerate(names):
            one = at.copy()
            one[column] += 0.02
            jacobian[rows[name], column] = (table.predicted(moved(one), rows[name]) - logs[rows[name]]) / 0.02
        slopes = np.concatenate([table.slopes(logs, jacobian), np.diag(1 / prior)])
        residuals = np.concatenate([table.residuals(logs), at / prior])
        step = solve(slopes, -residuals, bounds=(-STEP, STEP)).x
        old = loss(logs, at)
        for part in (1.0, 0.5, 0.25, 0.1):
            tried = table.predicted(moved(at + part * step))
            if np.isfinite(tried).all() and loss(tried, at + part * step) < old:
                at, logs = at + part * step, tried
                break
        else:
            break
    return {
        name: float(f"{start[name] * float(np.exp(x)):.4g}")
        for name, x in zip(names, at, strict=True) if abs(x) > KEPT
    }  # fmt: skip


def _rows_by_name(table: _Table, target: Target, start: Values) -> dict[str, list[int]]:
    """Which schedules a constant has a part in: those of the mmas of its family; all for rates."""
    by_mma: dict[str, list[int]] = {}
    for place, (_, schedule) in enumerate(table.work):
        by_mma.setdefault(schedule.mma, []).append(place)
    family_of: dict[str, str] = {}
    for mma, rows in by_mma.items():
        few = rows[:4]
        for family in FAMILIES:
            other = {name: 1.3 * value for name, value in start.items() if name.startswith(f"{family}.")}
            if not np.array_equal(table.predicted(changed(target, other), few), table.predicted(target, few)):
                family_of[mma] = family
    everything = list(range(len(table.work)))
    return {
        name: everything if name in RATES
        else [row for mma, rows in by_mma.items() if family_of.get(mma) == name.partition(".")[0] for row in rows]
        for name in start
    }  # fmt: skip


def chip_with(chip: str, values: Mapping[str, float]) -> str:
    """The name of a chip with other figures and constants."""
    base, _, given = chip.partition(":")
    parts = [part for part in given.split(",") if part and part.partition("=")[0] not in values]
    parts += [f"{name}={value:.4g}" for name, value in values.items()]
    return chip_name(f"{base}:{','.join(parts)}" if parts else base)
