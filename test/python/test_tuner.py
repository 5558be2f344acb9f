"""The search for schedules: what may be tried, the samplers, budgets and storages. Times are the model's."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import no_cache_on_disk
from hypothesis import given, settings
from hypothesis import strategies as st

from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.swap import swapped
from mlir_gemm.tuner import SAMPLERS, replay
from mlir_gemm.tuner.expectation import Expectation
from mlir_gemm.tuner.measuring import FAILED, Outcome, Predicted
from mlir_gemm.tuner.samplers import IN_POINTS, Points
from mlir_gemm.tuner.space import Space, explore
from mlir_gemm.tuner.storages import StorageError
from mlir_gemm.tuner.study import Budget, Search, study_name

SMALL_PROBLEM = Problem(1, 512, 768, out="f16", reads_c=False)


@cache
def space(chip: str = "sm_90a") -> Space:
    return explore(SMALL_PROBLEM, target(chip), most=60)


class Table(Predicted):
    """Times that differ from the model's: what it finds best is slow, and some others fail."""

    measured = True

    def __init__(
        self, over: Space, failing: Sequence[int] = (), slow: Sequence[int] = range(5), pause: float = 0.0
    ) -> None:
        super().__init__(over)
        self.places, self.failing, self.pause = over.places, failing, pause
        self.tried: list[int] = []
        for place in slow:
            self._seconds[over.trials[place].schedule] *= 1.5

    def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
        time.sleep(self.pause)
        self.tried.append(self.places[schedule])
        if self.places[schedule] in self.failing:
            return Outcome(FAILED, reason="is wrong")
        return super().measure(schedule, best, best_value)


def search(
    folder: Path, measurer: Any = None, sampler: str = "expected", over: Space | None = None, **more: Any
) -> Search:
    over = over or space()
    return Search(over, measurer or Predicted(over), str(folder / "study.journal"), "study", sampler=sampler, **more)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(1, 300), st.integers(1, 300), st.integers(1, 600), st.sampled_from(["f16", "f32", "i8", "f64"]),
    st.sampled_from(["sm_75", "sm_80", "sm_90a"]), st.sampled_from(["mk", "km"]), st.sampled_from(["kn", "nk"]),
)  # fmt: skip
def test_every_schedule_of_a_space_is_legal(m: int, n: int, k: int, kind: str, chip: str, a_order: str, b_order: str):
    accumulator = {"i8": "i32", "f64": "f64"}.get(kind, "f32")
    problem = Problem(
        m, n, k, kind, kind, accumulator, accumulator, reads_c=False, a_order=a_order, b_order=b_order,
        a_vector=16 if kind == "f16" else 64, b_vector=16 if kind == "f16" else 64, out_vector=32,
    )  # fmt: skip
    found = explore(problem, target(chip), most=40)
    computed = found.decisions.choice.problem
    is_swapped = bool(found.decisions.choice.pinned.get("swap_ab"))
    for trial in found.trials:
        schedule = Schedule.make(Schedule.parse(trial.schedule))
        product = computed if schedule.swap_ab == is_swapped else swapped(computed)
        assert violations(product, schedule, target(chip)) == []
    assert len(found.places) == len(found.trials)
    assert found.trials[0].schedule == str(found.decisions.choice.schedule.replace(swap_ab=is_swapped))


def test_points_lead_to_their_schedules():
    points = Points(space())
    for place in range(len(space().trials)):
        found = points.order(space().trials[place].at)[0]
        assert space().trials[found].at == space().trials[place].at


def test_what_is_measured_changes_what_is_expected():
    expectation = Expectation(space().trials)
    at_first = expectation.improvements({})
    assert space().trials[int(at_first.argmax())].predicted == min(each.predicted for each in space().trials)
    seconds = space().trials[0].predicted
    assert expectation.improvements({0: seconds})[0] == 0
    fast = expectation.improvements({0: seconds, 30: 0.5 * space().trials[30].predicted})
    slow = expectation.improvements({0: seconds, 30: 2.0 * space().trials[30].predicted})
    assert fast.sum() != slow.sum()
    assert expectation.improvements({0: seconds, 1: None}).shape == (len(space().trials),)


def test_learns_from_errors_that_schedules_have_in_common():
    """In spaces with errors of fields' values, the expected improvement finds a better schedule than other orders."""
    after = dict.fromkeys(("expected", "model", "random"), 0.0)
    for seed, (trials, times) in enumerate(replay.drawn(SMALL_PROBLEM, "fields", 6, 120)):
        for sampler in after:
            order = replay.tried(sampler, trials, times, 16, 4, seed)
            assert len(set(order)) == 16
            after[sampler] += math.log(times[order].min() / times.min())
    assert after["expected"] < 0.75 * min(after["model"], after["random"])


def test_a_sweep_is_a_space():
    sweep = Path(__file__).parents[2] / "bench/results/2026-11-22-h200-losers-sweep.json.xz"
    trials, times = next(replay.swept(str(sweep), 100))
    (row,) = replay.replayed([(trials, times)], 24, 8)["expected"]
    assert len(trials) == len(times) >= 100 and 1 <= row[-1] <= row[0]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_each_sampler_finds_something_and_tries_nothing_twice(sampler: str, tmp_path: Path):
    table = Table(space())
    result = search(tmp_path, table, sampler, seed=3, side_by_side=3).run(Budget(trials=16))
    assert table.tried[0] == 0  # the model's choice is the first
    assert len(table.tried) == len(set(table.tried)) == 16 == result.tried
    assert result.value <= result.model_value
    assert result.why == "16 trials"
    if sampler in IN_POINTS:
        assert set(range(10)) <= set(table.tried)


def test_the_model_order_and_all_of_it(tmp_path: Path):
    table = Table(space())
    result = search(tmp_path, table, "exhaustive").run(Budget())
    assert table.tried == list(range(len(space().trials)))
    assert result.why == f"all {len(space().trials)} schedules were tried"
    least = min(table._seconds.values())  # pyright: ignore[reportPrivateUsage]
    assert result.value == least < result.model_value


def test_random_depends_on_the_seed(tmp_path: Path):
    tried: list[list[int]] = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        table = Table(space())
        search(folder, table, "random", seed=seed).run(Budget(trials=8))
        tried.append(table.tried)
    assert tried[0] == tried[1] != tried[2]


def test_what_fails_and_what_is_slow_is_counted(tmp_path: Path):
    result = search(tmp_path, Table(space(), failing=(1, 2), slow=range(4, 8)), "model").run(Budget(trials=60))
    assert result.failed == {"is wrong": 2}
    assert result.done + result.pruned + 2 == len(space().trials)
    assert result.pruned > 0


def test_a_choice_that_failed_is_never_run_again_nor_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    table = Table(space(), failing=(0,), slow=())  # by the model's times it would be the best
    monkeypatch.setattr(Table, "compare", lambda *_: pytest.fail("it is measured once more"))
    result = search(tmp_path, table, "model").run(Budget(trials=6))
    assert result.schedule == space().trials[1].schedule and result.model_value == 0
    assert result.failed == {"is wrong": 1}


def test_nothing_that_can_be_measured_is_an_error(tmp_path: Path):
    with pytest.raises(Error, match="no schedule could be measured"):
        search(tmp_path, Table(space(), failing=range(60))).run(Budget(trials=4))


def test_ends_by_time_and_when_nothing_is_expected(tmp_path: Path):
    start = time.monotonic()
    result = search(tmp_path / "a", Table(space(), pause=0.1), "model").run(Budget(seconds=1))
    assert result.why == "1 s" and time.monotonic() - start < 5
    result = search(tmp_path / "b", Predicted(space())).run(Budget(expected=True))
    assert "is expected" in result.why and result.tried < len(space().trials)


def test_goes_on_where_it_was(tmp_path: Path):
    first, second = Table(space()), Table(space())
    search(tmp_path, first, "model").run(Budget(trials=5))
    result = search(tmp_path, second, "model").run(Budget(trials=9))
    assert (first.tried, second.tried) == ([0, 1, 2, 3, 4], [5, 6, 7, 8])
    assert result.tried == 9


def _work(folder: str, pause: float, trials: int, sampler: str = "expected") -> None:
    table = Table(space(), pause=pause)
    search(Path(folder), table, sampler, seed=os.getpid(), side_by_side=2).run(Budget(trials=trials))


def _measured(over: Search) -> list[str]:
    """The schedules that were measured."""
    return [t.user_attrs["schedule"] for t in over.trials() if t.state.name in ("COMPLETE", "PRUNED")]


def test_a_killed_worker_loses_nothing(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=_work, args=(str(tmp_path), 0.3, 40, "model"))
    worker.start()
    journal, start = tmp_path / "study.journal", time.monotonic()
    while time.monotonic() - start < 300:
        time.sleep(0.1)
        if journal.exists() and len(set(_measured(search(tmp_path, sampler="model")))) >= 3:
            break
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    again = search(tmp_path, table := Table(space()), "model")
    done = set(_measured(again))
    assert len(done) >= 3
    result = again.run(Budget(trials=12))
    assert result.tried == 12
    assert not {space().trials[place].schedule for place in table.tried} & done
    assert sorted(space().places[each] for each in set(_measured(again))) == list(range(12))


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_two_workers_share_a_storage(kind: str, tmp_path: Path):
    storage = str(tmp_path / "shared.journal") if kind == "journal" else f"sqlite:///{tmp_path}/shared.db"
    context = multiprocessing.get_context("spawn")
    both = context.Barrier(2)  # both make the tables of a database, and none is done before the other has started
    workers = [context.Process(target=_share, args=(storage, both)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    told = [
        t for t in Search(space(), Predicted(space()), storage, "shared").trials() if not t.user_attrs.get("repeated")
    ]
    measured = [t.user_attrs["schedule"] for t in told if t.state.name in ("COMPLETE", "PRUNED")]
    assert len(measured) == len(set(measured)) >= 20
    assert len({t.user_attrs["worker"] for t in told if "worker" in t.user_attrs}) == 2


def _share(storage: str, both: Any) -> None:
    table = Table(space(), pause=0.1)
    both.wait(100)
    Search(space(), table, storage, "shared", sampler="expected", seed=os.getpid()).run(Budget(trials=20))


@pytest.mark.parametrize("text", ["not a journal\n", '{"op_code": 99}\n', "\x00\x01"])
def test_a_damaged_storage_is_an_error(tmp_path: Path, text: str):
    (tmp_path / "study.journal").write_text(text)
    with pytest.raises(StorageError, match="cannot be used"):
        search(tmp_path)
    assert (tmp_path / "study.journal").read_text() == text


def test_a_storage_that_goes_away_is_an_error(tmp_path: Path):
    class Going(Table):
        def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
            if len(self.tried) == 3:
                (tmp_path / "study.journal").unlink()
                (tmp_path / "study.journal").mkdir()
            return super().measure(schedule, best, best_value)

    with pytest.raises(StorageError, match="what was told to it before stays"):
        search(tmp_path, Going(space()), "model").run(Budget(trials=9))


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = search(tmp_path, Table(space()), "model")
    first.run(Budget(trials=3))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device; what was told to it before stays"):
        search(tmp_path, Table(space()), "model").run(Budget(trials=6))
    monkeypatch.undo()
    again = Table(space())
    result = search(tmp_path, again, "model").run(Budget(trials=6))
    assert result.tried == 6 and again.tried[-1] == 5 and not {0, 1} & set(again.tried)


def test_a_study_is_of_one_product_gpu_and_objective():
    names = {study_name(space(), gpu, objective) for gpu in ("a", "b") for objective in ("time", "cold")}
    assert len(names) == 4
