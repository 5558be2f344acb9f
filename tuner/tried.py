"""What a study knows, for pictures of it: the schedules that were tried, in order, with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import optuna
from optuna.importance import get_param_importances
from optuna.trial import TrialState

from mlir_gemm.errors import Error
from mlir_gemm.tuner.samplers import Points
from mlir_gemm.tuner.space import Space
from mlir_gemm.tuner.storages import open_storage, storage_errors

UNITS = {"time": "TFLOP/s", "cold": "TFLOP/s, cold", "energy": "GFLOP/J", "compromise": "of the best"}
"""What pictures show of an objective: more is better."""
LEAST = 8
"""Values that pictures of parameters are drawn from; with fewer the predicted times of all schedules stand in."""


@dataclass(frozen=True)
class Tried:
    """One schedule that was tried."""

    place: int
    """In the space."""
    value: float | None
    """Of the objective; None where it failed."""
    slow: bool = False
    """Whether it was given up after its first repetitions: its value is a rough one then."""
    reason: str = ""
    """Why it failed."""


@dataclass(frozen=True)
class Known:
    """A space, and what is known of it."""

    space: Space
    objective: str
    measured: bool
    """Whether values were measured, rather than predicted."""
    gpu: str
    runs: Mapping[str, Sequence[Tried]]
    """What each sampler tried, in order."""
    best: str
    """The best schedule, as the search gave it."""

    @property
    def unit(self) -> str:
        """What `merit` gives."""
        return UNITS[self.objective]

    def merit(self, value: float) -> float:
        """A value of the objective as a figure of which more is better."""
        if self.objective == "compromise":
            return min(self.values.values()) / value
        return self.space.problem.flops / value / (1e9 if self.objective == "energy" else 1e12)

    @cached_property
    def values(self) -> dict[int, float]:
        """The least value of each schedule that has one, by its place."""
        found: dict[int, float] = {}
        for each in (each for run in self.runs.values() for each in run):
            if each.value:
                found[each.place] = min(each.value, found.get(each.place, each.value))
        return found

    @cached_property
    def shown(self) -> dict[int, float]:
        """The values that pictures of parameters show: those that were tried, or where these are few and times are
        what counts, the predicted ones of the whole space."""
        if len(self.values) >= LEAST and self.measured:
            return self.values
        if self.objective not in ("time", "cold"):
            return self.values
        return {place: trial.predicted for place, trial in enumerate(self.space.trials)}

    @property
    def shown_is_measured(self) -> bool:
        """Whether `shown` has measured values."""
        return self.measured and self.shown is self.values

    @cached_property
    def failed(self) -> dict[str, int]:
        """How many failed, by the first words of the reason."""
        found: dict[str, int] = {}
        for each in (each for run in self.runs.values() for each in run):
            if each.reason:
                kind = each.reason.partition(":")[0][:60]
                found[kind] = found.get(kind, 0) + 1
        return found

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why each schedule failed that did."""
        tried = (each for run in self.runs.values() for each in run if each.reason)
        return {self.space.trials[each.place].schedule: f"failed: {each.reason}" for each in tried}

    @cached_property
    def importance(self) -> dict[str, float]:
        """The part that each coordinate of the space has in how the values differ, by Optuna's evaluator, the most
        important first. The predicted time is left out: it is no parameter. Empty where all is alike."""
        points = Points(self.space)
        kinds = points.distributions()
        kinds.pop("predicted", None)
        if not kinds or len(set(self.shown.values())) < 2:
            return {}
        study = optuna.create_study()
        for place, value in self.shown.items():
            given = {name: each for name, each in points.parameters(place).items() if name in kinds}
            study.add_trial(optuna.trial.create_trial(params=given, distributions=kinds, value=value))
        return get_param_importances(study)


def runs_of(storages: Sequence[str], name: str, space: Space) -> dict[str, list[Tried]]:
    """What was tried in the studies of one name in some storages, by sampler. Raises Error where one has no such study,
    and StorageError."""
    found: dict[str, list[Tried]] = {}
    for number, storage in enumerate(storages):
        opened = open_storage(storage)
        with storage_errors(storage):
            if name not in optuna.get_all_study_names(opened):
                raise Error(f"the storage '{storage}' has no study of this product, GPU, objective and version")
            trials = optuna.load_study(study_name=name, storage=opened).get_trials(deepcopy=False)
        mine: dict[str, list[Tried]] = {}
        for trial in trials:
            tried = _tried(trial, space)
            if tried is not None:
                mine.setdefault(str(trial.user_attrs.get("sampler", "unknown sampler")), []).append(tried)
        for sampler, run in mine.items():
            found[f"{sampler} ({number + 1})" if sampler in found else sampler] = run
    return found


def _tried(trial: optuna.trial.FrozenTrial, space: Space) -> Tried | None:
    place = space.places.get(trial.user_attrs.get("schedule", ""))
    if place is None or trial.user_attrs.get("repeated") or trial.user_attrs.get("abandoned"):
        return None
    if trial.state == TrialState.FAIL:
        return Tried(place, None, reason=str(trial.user_attrs.get("reason", "failed")))
    if trial.state == TrialState.PRUNED:
        return Tried(place, trial.value if trial.value is not None else trial.intermediate_values.get(0), slow=True)
    return Tried(place, trial.value) if trial.state == TrialState.COMPLETE else None
