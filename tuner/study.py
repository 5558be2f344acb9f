"""A search: asks the sampler, has schedules compiled and measured, tells the storage, and ends when the budget does.

All that is known lies in an Optuna study, one for each product, GPU, objective and version. Several workers may share
its storage: what one tries the others leave out. A worker that was killed loses what it was measuring at that moment,
and the next one tries that again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import optuna
from optuna.trial import TrialState

from mlir_gemm.errors import Error
from mlir_gemm.tuner.measuring import DONE, FAILED, PRUNED, Measurer, Outcome
from mlir_gemm.tuner.samplers import IN_POINTS, STARTUP, Chooser, optuna_sampler
from mlir_gemm.tuner.space import Space
from mlir_gemm.tuner.storages import open_storage, storage_errors
from mlir_gemm.version import __version__

BETTER = 0.002
"""The expected improvement, as a part of the least value, under which nothing better is expected."""
LEAST = 8
"""Schedules that are measured before anything is expected."""
ABANDONED_SECONDS = 1800
"""After this a trial of another machine counts as abandoned."""
MOST_REPEATED = 500
"""Points in a row that led to schedules which had been tried: then there is nothing new to be found."""
ABOUT = "about"
"""The attribute of a study that says what its times are of."""
WANTED = "wanted"
"""The attribute of a trial that waits: its schedule. Only when a worker has put its name on the trial it becomes the
trial's own, so that of one who is killed between the two nothing counts as tried."""
_STATES = {DONE: TrialState.COMPLETE, PRUNED: TrialState.PRUNED, FAILED: TrialState.FAIL}


@dataclass(frozen=True)
class Budget:
    """When a search ends; 0 for no such limit. All trials of the study count, also those of before."""

    trials: int = 0
    seconds: float = 0.0
    expected: bool = False
    """Whether it ends when nothing better is expected."""


@dataclass(frozen=True)
class Result:
    """What a search found."""

    schedule: str
    value: float
    model_value: float
    """Of the model's choice, measured beside it; 0 where that failed."""
    predicted: float
    """Seconds that the model predicts for what was found."""
    done: int
    pruned: int
    failed: dict[str, int] = field(default_factory=dict[str, int])
    """How many failed for each reason."""
    why: str = ""
    """Why the search ended."""

    @property
    def tried(self) -> int:
        return self.done + self.pruned + sum(self.failed.values())


def study_name(space: Space, gpu: str, objective: str) -> str:
    """The study of a product, chip, GPU, objective and version."""
    parts = [str(vars(space.problem)), space.target.chip, gpu, objective, __version__]
    return f"{space.problem} on {gpu} by {objective} {hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]}"


class Search:
    """One worker's search."""

    def __init__(
        self,
        space: Space,
        measurer: Measurer,
        storage: str,
        name: str,
        *,
        sampler: str = "expected",
        seed: int = 0,
        side_by_side: int = 1,
        progress: Callable[[int, float, float], None] | None = None,
        about: Any = None,
    ) -> None:
        """`side_by_side` schedules are asked for and compiled at a time. `progress` gets how many were tried, the
        least value and that of the model's choice. `about` is kept with the study (`measured.about`)."""
        self._space, self._measurer, self._storage = space, measurer, storage
        self._together, self._progress = side_by_side, progress
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._chooser, self._sampler = Chooser(space, sampler), sampler
        self._me = f"{socket.gethostname()}:{os.getpid()}"
        self._here: dict[int, float] = {}
        self._start = time.monotonic()
        opened = open_storage(storage)
        with self._errors():
            self._study = optuna.create_study(
                storage=opened, study_name=name, load_if_exists=True, sampler=optuna_sampler(sampler, seed)
            )
            if about is not None and ABOUT not in self._study.user_attrs:
                self._study.set_user_attr(ABOUT, about)
            self._take_up()

    def _errors(self) -> contextlib.AbstractContextManager[None]:
        return storage_errors(self._storage)

    def run(self, budget: Budget) -> Result:
        """Tries schedules until the budget is spent. Raises StorageError."""
        repeated, why = 0, ""
        while not why:
            asked: list[tuple[optuna.Trial, int]] = []
            with self._errors():
                why = self._over(budget)
                while not why and len(asked) < self._room(budget):
                    trial, place, new = self._ask()
                    repeated = 0 if new else repeated + 1
                    if new:
                        asked.append((trial, place))
                    elif repeated > MOST_REPEATED or len(self._taken()) >= len(self._space.trials):
                        why = "" if asked else "there is nothing left to try"
                        break
            self._try(asked, budget)
        return self.result(why)

    def result(self, why: str = "") -> Result:
        """What was found so far. The best is measured beside the model's choice once more, and has to be better; not so
        where that one failed: what hangs, faults or is wrong is never run again, nor taken."""
        with self._errors():
            trials = self._study.get_trials(deepcopy=False)
        values = {place: trial.value for place, trial in self._told(trials) if trial.state == TrialState.COMPLETE}
        known = {place: value for place, value in values.items() if value}
        if not known:
            raise Error("no schedule could be measured", notes=tuple(_reasons(trials)))
        place = min(known, key=lambda each: (known[each], each))
        best, choice = self._space.trials[place], self._space.trials[0]
        value = other = known[place]
        if any(at == 0 and trial.state == TrialState.FAIL for at, trial in self._told(trials)):
            other = 0.0
        elif place:
            value, other = self._measurer.compare(best.schedule, choice.schedule)
            if value >= other:
                best, value = choice, other
        states = [trial.state for _, trial in self._told(trials)]
        return Result(
            best.schedule, value, other, best.predicted, states.count(TrialState.COMPLETE),
            states.count(TrialState.PRUNED), _reasons(trials), why,
        )  # fmt: skip

    @property
    def best_here(self) -> tuple[str, float]:
        """The best schedule of those that this worker measured itself, and its value, whether or not the storage could
        be told; an empty text and 0 where there is none."""
        if not self._here:
            return "", 0.0
        place = min(self._here, key=lambda each: (self._here[each], each))
        return self._space.trials[place].schedule, self._here[place]

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        """All trials of the study, as Optuna has them."""
        with self._errors():
            return self._study.get_trials(deepcopy=False)

    def _try(self, asked: list[tuple[optuna.Trial, int]], budget: Budget) -> None:
        """Compiles and measures; what the time does not suffice for is left to another worker, or another time."""
        schedules = [self._space.trials[place].schedule for _, place in asked]
        refused = self._measurer.prepare(schedules) if schedules else dict[str, str]()
        for number, ((trial, _), schedule) in enumerate(zip(asked, schedules, strict=True)):
            if number and budget.seconds and time.monotonic() - self._start > budget.seconds:
                with self._errors():
                    self._give_up(trial.number, again=False)
                continue
            best, value = self._best()
            why = refused.get(schedule, "")
            outcome = Outcome(FAILED, reason=why) if why else self._measurer.measure(schedule, best, value)
            if outcome.state == DONE:
                self._here[self._space.places[schedule]] = outcome.value
            with self._errors():
                self._tell(trial, outcome)
            tried, least, choice = self._so_far()
            if self._progress is not None:
                self._progress(tried, least, choice)

    def _tell(self, trial: optuna.Trial, outcome: Outcome) -> None:
        if outcome.state == FAILED:
            trial.set_user_attr("reason", outcome.reason)
            self._study.tell(trial, state=TrialState.FAIL)
            return
        trial.set_user_attr("error", outcome.error)
        if outcome.state == PRUNED:
            trial.report(outcome.value, 0)
            self._study.tell(trial, state=TrialState.PRUNED)
            return
        self._study.tell(trial, outcome.value)

    def _ask(self) -> tuple[optuna.Trial, int, bool]:
        """The next trial, the place of its schedule, and whether that is new. One that is not is told at once."""
        trial = self._study.ask()
        trial.set_user_attr("worker", self._me)
        given = trial.user_attrs.get(WANTED) or trial.user_attrs.get("schedule")  # the latter in older studies
        values = self._values()
        if given is None:
            place = self._chooser.choose(trial, values, self._taken())
        else:
            place = self._space.places[given]
            self._chooser.register(trial)
        trial.set_user_attr("sampler", self._sampler)
        trial.set_user_attr("schedule", self._space.trials[place].schedule)
        if self._is_mine(trial, place):
            return trial, place, True
        trial.set_user_attr("repeated", True)
        known = values.get(place)
        if known is None:
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, known)
        return trial, place, False

    def _is_mine(self, trial: optuna.Trial, place: int) -> bool:
        """Whether this trial is the one that measures its schedule. Of two workers that choose the same at once at most
        one does: who comes second sees that the other has made sure, or has the higher number; if both give way, the
        schedule is free again."""

        def others(made_sure: bool) -> bool:
            return any(
                other.number < trial.number or (made_sure and other.user_attrs.get("sure"))
                for at, other in self._told(self._study.get_trials(deepcopy=False))
                if at == place and other.number != trial.number
            )

        if others(made_sure=True):
            return False
        trial.set_user_attr("sure", True)
        return not others(made_sure=False)

    def _take_up(self) -> None:
        """Gives up what killed workers left running, to be tried again; and begins with the model's best."""
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state == TrialState.RUNNING and self._is_abandoned(trial):
                self._give_up(trial.number, again=True)
            elif trial.state == TrialState.RUNNING and "worker" not in trial.user_attrs:
                self._enqueue(trial.user_attrs.get(WANTED, ""))  # whoever took it may be gone; if not, one gives way
        if self._study.get_trials(deepcopy=False):
            return
        for place in range(min(STARTUP if self._sampler in IN_POINTS else 1, len(self._space.trials))):
            self._enqueue(self._space.trials[place].schedule)

    def _enqueue(self, schedule: str) -> None:
        place = self._space.places.get(schedule)
        if place is not None:
            self._study.enqueue_trial(self._chooser.first(place), user_attrs={WANTED: schedule})

    def _give_up(self, number: int, *, again: bool) -> None:
        trial = self._study.get_trials(deepcopy=False)[number]
        live = self._study._storage  # pyright: ignore[reportPrivateUsage]
        live.set_trial_user_attr(trial._trial_id, "abandoned", True)  # pyright: ignore[reportPrivateUsage]
        self._study.tell(number, state=TrialState.FAIL)
        if again:
            self._enqueue(trial.user_attrs.get("schedule") or trial.user_attrs.get(WANTED, ""))

    def _is_abandoned(self, trial: optuna.trial.FrozenTrial) -> bool:
        host, _, process = str(trial.user_attrs.get("worker", "")).rpartition(":")
        if host == socket.gethostname() and process.isdecimal():
            return int(process) == os.getpid() or not _is_running(int(process))
        started = trial.datetime_start
        return started is None or time.time() - started.timestamp() > ABANDONED_SECONDS

    def _told(self, trials: list[optuna.trial.FrozenTrial]) -> Iterator[tuple[int, optuna.trial.FrozenTrial]]:
        """Trials of schedules of the space, with their places; without those that wait, repeat or were abandoned."""
        for trial in trials:
            place = self._space.places.get(trial.user_attrs.get("schedule", ""))
            if place is None or trial.state == TrialState.WAITING:
                continue
            if not (trial.user_attrs.get("repeated") or trial.user_attrs.get("abandoned")):
                yield place, trial

    def _taken(self) -> set[int]:
        return {place for place, _ in self._told(self._study.get_trials(deepcopy=False))}

    def _values(self) -> dict[int, float | None]:
        """Values so far by place; None where one failed."""
        found: dict[int, float | None] = {}
        for place, trial in self._told(self._study.get_trials(deepcopy=False)):
            if trial.state == TrialState.FAIL:
                found[place] = None
            elif trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
                found[place] = trial.value if trial.value is not None else trial.intermediate_values.get(0)
        return found

    def _best(self) -> tuple[str, float]:
        """The best schedule so far and its value; an empty text and 0 where there is none."""
        with self._errors():
            told = list(self._told(self._study.get_trials(deepcopy=False)))
        done = [(trial.value, place) for place, trial in told if trial.state == TrialState.COMPLETE and trial.value]
        if not done:
            return "", 0.0
        value, place = min(done)
        return self._space.trials[place].schedule, value

    def _so_far(self) -> tuple[int, float, float]:
        with self._errors():
            values = self._values()
        known = [value for value in values.values() if value]
        return len(values), min(known, default=0.0), values.get(0) or 0.0

    def _room(self, budget: Budget) -> int:
        left = budget.trials - len(self._taken()) if budget.trials else self._together
        return max(1, min(self._together, left))

    def _over(self, budget: Budget) -> str:
        """Why the search is over; empty while it is not."""
        values, taken = self._values(), self._taken()
        if budget.trials and len(taken) >= budget.trials:
            return f"{budget.trials} trials"
        if budget.seconds and time.monotonic() - self._start > budget.seconds:
            return f"{budget.seconds:.0f} s"
        if len(taken) >= len(self._space.trials):
            return f"all {len(taken)} schedules were tried"
        if budget.expected and sum(value is not None for value in values.values()) >= LEAST:
            running = [place for place in taken if place not in values]
            if float(self._chooser.expectation.improvements(values, running).max()) < BETTER:
                return f"an improvement of less than {BETTER:.1%} is expected"
        return ""


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _reasons(trials: list[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for trial in trials:
        if "reason" in trial.user_attrs:
            found[trial.user_attrs["reason"]] = found.get(trial.user_attrs["reason"], 0) + 1
    return found
