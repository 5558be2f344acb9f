"""Who says what is tried next: samplers by name, Optuna's among them, over a space of legal schedules only.

Samplers of points get one parameter for each coordinate of the space, and the nearest legal schedule is what counts:
a value of a point is that of its schedule. The predicted time is one of the coordinates, so that they learn from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution

from mlir_gemm.tuner.expectation import Expectation
from mlir_gemm.tuner.space import Space

IN_POINTS = ("tpe", "cmaes", "genetic")
PLACE = "place"
"""The parameter of samplers that take a schedule by its place in the model's order."""
AGAIN = 4
"""So many points in a row may lead to schedules that were tried; then the nearest one that was not is taken."""
STARTUP, POPULATION = 10, 10


def optuna_sampler(name: str, seed: int) -> optuna.samplers.BaseSampler:
    """Optuna's object for a sampler."""
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    if name == "tpe":
        return optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP, multivariate=True, constant_liar=True)
    if name == "cmaes":
        return optuna.samplers.CmaEsSampler(seed=seed, n_startup_trials=STARTUP, warn_independent_sampling=False)
    if name == "genetic":
        return optuna.samplers.NSGAIISampler(seed=seed, population_size=POPULATION)
    return optuna.samplers.RandomSampler(seed=seed)


class Points:
    """The coordinates of a space as Optuna's parameters, and which schedule is nearest to values of them."""

    def __init__(self, space: Space) -> None:
        self._axes = space.axes
        ranks = {name: {value: number for number, value in enumerate(values)} for name, values in self._axes.items()}
        self._ranks = np.array(
            [[ranks[name][trial.at[name]] for name in self._axes] for trial in space.trials], dtype=np.float64
        ).reshape(len(space.trials), len(self._axes))
        self._named = np.array([self._is_named(name) for name in self._axes], dtype=bool)
        self._widths = np.array([max(1, len(values) - 1) for values in self._axes.values()], dtype=np.float64)

    def _is_named(self, name: str) -> bool:
        return any(isinstance(value, str) for value in self._axes[name])

    def ask(self, trial: optuna.Trial) -> Mapping[str, int | str]:
        """A point, as the study's sampler suggests it."""
        found: dict[str, int | str] = {}
        for name, values in self._axes.items():
            if self._is_named(name):
                found[name] = str(trial.suggest_categorical(name, [str(value) for value in values]))
            else:
                found[name] = values[trial.suggest_int(name, 0, len(values) - 1)]
        return found

    def parameters(self, place: int) -> dict[str, Any]:
        """The parameters of a schedule."""
        ranks = self._ranks[place]
        return {
            name: values[int(rank)] if self._is_named(name) else int(rank)
            for (name, values), rank in zip(self._axes.items(), ranks, strict=True)
        }

    def distributions(self) -> dict[str, Any]:
        """Of each parameter."""
        return {
            name: CategoricalDistribution(list(values)) if self._is_named(name) else IntDistribution(0, len(values) - 1)
            for name, values in self._axes.items()
        }

    def order(self, point: Mapping[str, int | str]) -> list[int]:
        """The places of the space, those nearest to a point first; of equally near ones as predicted."""
        if not self._axes:
            return list(range(len(self._ranks)))
        wanted = np.array([self._axes[name].index(point[name]) for name in self._axes], dtype=np.float64)
        apart = np.abs(self._ranks - wanted)
        apart = np.where(self._named, apart > 0, apart / self._widths)
        return [int(place) for place in np.argsort(apart.sum(axis=1), kind="stable")]


class Chooser:
    """What is tried next."""

    def __init__(self, space: Space, name: str) -> None:
        self._space, self._name = space, name
        self._points = Points(space) if name in IN_POINTS else None
        self._expectation: Expectation | None = None
        self._repeated = 0

    @property
    def expectation(self) -> Expectation:
        """What the measurements say of the rest."""
        self._expectation = self._expectation or Expectation(self._space.trials)
        return self._expectation

    def first(self, place: int) -> dict[str, Any]:
        """Parameters that lead to a schedule, for `Study.enqueue_trial`."""
        return self._points.parameters(place) if self._points else {PLACE: place}

    def register(self, trial: optuna.Trial) -> None:
        """Gives a trial whose schedule is settled the parameters that lead to it."""
        if self._points is not None:
            self._points.ask(trial)

    def choose(self, trial: optuna.Trial, values: Mapping[int, float | None], taken: Collection[int]) -> int:
        """The place of the schedule for a trial. It may be one that was tried, with samplers of points. `values` are
        the results so far by place, None of what failed; `taken` are all that were tried, or are being."""
        if self._points is None:
            return trial.suggest_int(PLACE, *[self._next(trial, values, taken)] * 2)
        order = self._points.order(self._points.ask(trial))
        if order[0] in taken and self._repeated < AGAIN:
            self._repeated += 1
            return order[0]
        self._repeated = 0
        return next((place for place in order if place not in taken), order[0])

    def _next(self, trial: optuna.Trial, values: Mapping[int, float | None], taken: Collection[int]) -> int:
        free = [place for place in range(len(self._space.trials)) if place not in taken]
        if not free:
            return 0
        if self._name == "random":
            return free[trial.suggest_int("random", 0, 2**31 - 1) % len(free)]
        if self._name != "expected":
            return free[0]
        improvements = self.expectation.improvements(values, [place for place in taken if place not in values])
        return max(free, key=lambda place: (improvements[place], -place))
