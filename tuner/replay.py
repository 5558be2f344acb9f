"""How soon a sampler finds the best of a space, where all times are known: no GPU is needed.

    python -m mlir_gemm.tuner.replay [SWEEP.json.xz ...] [--trials 50] [--together 8] [--seeds 3]

With files of sweeps, or of `test/gpu/check_whole_spaces.py`, a space is the measured schedules of a problem. Without,
it is all legal schedules of some problems, and their times are the model's with errors: of a chip whose constants
differ (`constants`), or of the values of fields, alone and in pairs (`fields`). Prints how many times the best of those
predicted within a factor of two the best of the first trials takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.constants import constants_of, with_constants
from mlir_gemm.tile_model.select import Candidate, estimate
from mlir_gemm.tile_model.swap import as_computed
from mlir_gemm.tuner.expectation import Expectation
from mlir_gemm.tuner.measured import of_sweep
from mlir_gemm.tuner.space import Trial, explore, trial_of

SAMPLERS = ("expected", "model", "random")
MARKS = (1, 8, 16, 24, 50)
CHIP = "sm_90a"
PROBLEMS = (
    Problem(200, 328, 456, out="f16", reads_c=False, b_order="nk"),
    Problem(24, 6144, 3584, "bf16", "bf16", out="bf16", reads_c=False, b_order="nk"),
    Problem(1234, 2346, 1112, out="f16", reads_c=False),
    Problem(448, 832, 704, "f64", "f64", "f64", "f64", reads_c=False),
    Problem(520, 776, 904, "f32", "f32", reads_c=False),
    Problem(1, 5120, 13824, out="f16", reads_c=False),
)
SPREAD, OF_FIELDS, OF_PAIRS, OWN, NOISE = 0.4, 0.05, 0.03, 0.015, 0.005
"""Deviations of logarithms: of constants, of each field's values, of each pair's, of each schedule, of measuring."""
PAIRED = ("block_m", "block_n", "block_k", "stages", "split_k_cluster", "mainloop")

Times = Any
"""A numpy array with seconds for each trial of a space."""


def tried(sampler: str, trials: Sequence[Trial], times: Times, count: int, together: int, seed: int = 0) -> list[int]:
    """The places of a space in the order in which a sampler takes them, `together` at a time; the model's choice
    first."""
    random, expectation = np.random.default_rng(seed), Expectation(trials)
    order = [int(place) for place in np.argsort([trial.predicted for trial in trials], kind="stable")]
    if sampler == "random":
        order = [order[0], *(int(place) for place in random.permutation(len(trials)) if place != order[0])]
    if sampler != "expected":
        return order[:count]
    measured: dict[int, float | None] = {}
    while len(measured) < min(count, len(trials)):
        asked = [] if measured else [order[0]]
        while len(asked) < min(together, len(trials) - len(measured), count - len(measured)):
            improvements = expectation.improvements(measured, asked)
            free = [place for place in range(len(trials)) if place not in measured and place not in asked]
            asked.append(max(free, key=lambda place: (improvements[place], -place)))
        measured |= {place: float(times[place] * np.exp(NOISE * random.standard_normal())) for place in asked}
    return list(measured)


def swept(path: str, least: int) -> Iterator[tuple[list[Trial], Times]]:
    """The problems of a sweep of which at least so many schedules were measured."""
    for each in of_sweep(path):
        if len(each.seconds) >= least:
            costs = [estimate(as_computed(each.problem, one), one, target(CHIP)) for one in each.schedules]
            first = min(cost.total for cost in costs)
            trials = [trial_of(Candidate(one, cost), first) for one, cost in zip(each.schedules, costs, strict=True)]
            yield trials, np.array(each.seconds)


def drawn(problem: Problem, kind: str, seeds: int, most: int) -> Iterator[tuple[list[Trial], Times]]:
    """The space of a problem, with times that are the model's with errors of a kind."""
    trials = list(explore(problem, target(CHIP), most=most).trials)
    predicted = np.array([trial.predicted for trial in trials])
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        errors = OWN * random.standard_normal(len(trials))
        errors += _of_constants(problem, trials, random) if kind == "constants" else _of_fields(trials, random)
        yield trials, predicted * np.exp(errors)


def _of_constants(problem: Problem, trials: Sequence[Trial], random: np.random.Generator) -> Times:
    own = {name: value for name, value in constants_of(target(CHIP)).items() if name.partition(".")[2] != "held"}
    other = with_constants(
        target(CHIP), {name: value * float(np.exp(SPREAD * random.standard_normal())) for name, value in own.items()}
    )
    found: list[float] = []
    for trial in trials:
        schedule = Schedule.make(Schedule.parse(trial.schedule))
        computed = as_computed(problem, schedule)
        ratio = estimate(computed, schedule, other).total / estimate(computed, schedule, target(CHIP)).total
        found.append(ratio)
    return np.log(found)


def _of_fields(trials: Sequence[Trial], random: np.random.Generator) -> Times:
    names = [(name,) for name in trials[0].at if name != "predicted"]
    errors = np.zeros(len(trials))
    for fields in (*names, *combinations(PAIRED, 2)):
        effects: dict[Any, float] = {}
        spread = OF_FIELDS if len(fields) == 1 else OF_PAIRS
        for place, trial in enumerate(trials):
            value = tuple(trial.at[name] for name in fields)
            errors[place] += effects.setdefault(value, spread * float(random.standard_normal()))
    return errors


def replayed(spaces: Sequence[tuple[list[Trial], Times]], count: int, together: int) -> Mapping[str, Any]:
    """For each sampler, space and mark how many times the best the best of the first trials takes."""
    found: dict[str, list[list[float]]] = {sampler: [] for sampler in SAMPLERS}
    for number, (trials, times) in enumerate(spaces):
        predicted = np.array([trial.predicted for trial in trials])
        best = times[predicted < 2 * predicted.min()].min()
        for sampler in SAMPLERS:
            order = tried(sampler, trials, times, count, together, number)
            found[sampler].append([float(times[order[:mark]].min() / best) for mark in MARKS])
    return {sampler: np.array(rows) for sampler, rows in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sweeps", nargs="*")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--together", type=int, default=8, help="schedules that are chosen before one is measured")
    parser.add_argument("--least", type=int, default=60, help="schedules that a problem of a sweep must have")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=0, help="schedules of a space, the best by prediction")
    given = parser.parse_args()
    spaces = {path: list(swept(path, given.least)) for path in given.sweeps} or {
        kind: [each for problem in PROBLEMS for each in drawn(problem, kind, given.seeds, given.most)]
        for kind in ("constants", "fields")
    }
    for name, each in spaces.items():
        print(f"{name}: {len(each)} spaces of {np.mean([len(trials) for trials, _ in each]):.0f} schedules")
        print(f"{'':10}" + "".join(f"{f'after {mark}':>18}" for mark in MARKS))
        for sampler, rows in replayed(each, given.trials, given.together).items():
            cells = [f"{np.exp(np.log(row).mean()):.4f} ({row.max():.2f})" for row in rows.T]
            print(f"{sampler:10}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
