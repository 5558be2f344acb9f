"""Fits the constants of the cost of `wgmma` to measured kernels, and says how good the choice is that they lead to.

    python bench/fit_wgmma_cost.py SWEEP.json[.xz] [...] [--fit] [--cross] [--generations N] [--leave NAMES]

A sweep is a list of {"case": [m, n, k, layout of A, layout of B, type, result type], "rows": [{"schedule", "us"}]},
layouts `n` (as in C = A B, rows of neighbours along k and n) or `t`; after them the number of products, if it is a
batch. A file given twice counts twice. Without options the constants that stand in
`parts/mma/wgmma/cost.py` are judged. `--fit` fits new ones; `--cross` fits once without each size and judges the
choice for that size.

Large kernels run at a clock that depends on what the chip did in the 30 ms before, and a sweep in a fixed order (those
before `mlir_gemm.bench.sweep`) measures neighbours of a slow kernel faster than neighbours of a fast one. A nuisance
parameter takes this out: `history`, times the part of the time that power decides, times how much busier than USUAL the
tensor cores were.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mlir_gemm.bench.former_schedules import read_schedule
from mlir_gemm.bench.sweep_report import Entry, product_of_case
from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants
from mlir_gemm.parts.mma.wgmma.cost import cost_of
from mlir_gemm.parts.mma.wgmma.search import is_proposed
from mlir_gemm.parts.mma.wgmma.work import Work, work_of
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.swap import as_computed

CHIP = target("sm_90a")
NEAR = 0.25
"""How fast the weight of a kernel falls with its distance from the best of its case."""
SOFT = 0.012
"""Predicted times that differ by this part count as nearly the same when the choice is judged."""
COMMON = 0.35
"""Part of the error that all kernels of a case have in common that is forgiven: from one run to the next all kernels of
a large product are up to 8 % slower or faster."""
HISTORY, WINDOW, PEAK, USUAL = 0.35, 0.03, 7e14, 0.85
"""The nuisance parameter, the seconds that the power limit looks back, FLOP/s that count as 1, and what a program of
large products only comes to: the constants are for that."""
START = dataclasses.replace(
    CHIP.constants(WgmmaConstants),
    write=0.5, row=2.0, odd=2.0, thin=1.0, parted=0.5, outside=16.0, l2=4000.0, apart=4.0, latency=1500.0, held=1.0,
    chain=100.0, sync=40.0, cluster=30.0, inside=6.0, tile=600.0, staged=64.0, taken=2000.0, torn=1.8, narrow=0.5,
    direct=7.87, guarded=0.378, parts=16.0, split=1000.0, ragged=0.2, memory=3.0, dram=0.95, fill=3000.0, overlap=0.5,
    form=1500.0, power=0.7, heat=0.03, limit=5.0, bend=0.5,
)  # fmt: skip
"""Guesses from data sheets and single kernels, where each fit begins."""
FIXED = ("issue", "issued", "direct", "guarded", "integers")
"""The second is of epilogues, which sweeps have none of; the next two are of results that threads store, which only the
first sweeps had, with tiles of 48, 80 and 112 columns; the last of products of integers, which no sweep has."""
BOUNDS = {
    "write": (0.2, 1.0), "row": (1.2, 1.75), "odd": (1.0, 3.5), "thin": (0.5, 3.0), "parted": (0.01, 1.0),
    "torn": (1.0, 4.0), "latency": (800, 4000), "held": (0.3, 1.3),
    "chain": (50, 400), "inside": (1.5, 30.0), "tile": (50, 4000), "ragged": (0.02, 1.0), "memory": (1.3, 16.0),
    "dram": (0.85, 1.05), "fill": (500, 6000), "overlap": (0.3, 1.0), "power": (0.2, 1.2), "limit": (3.0, 12.0),
    "bend": (0.2, 1.0), "apart": (0.3, 200.0), "l2": (2000, 40000), "turned": (0.9, 1.1), "launch": (5.8e-06, 6.2e-06),
    "narrow": (0.01, 3.0), "heat": (0.001, 0.08), "history": (0.02, 0.8),
}  # fmt: skip
"""What is physically plausible: outside of these a better fit means that some other term is missing."""

Values = dict[str, float]
Column = Any
"""A numpy array with one element for each kernel."""


class Table(NamedTuple):
    """All kernels of all cases, as columns."""

    problems: list[Problem]
    schedules: list[Schedule]
    case: Column
    seconds: Column
    before: Column
    """How busy the tensor cores were before a kernel was measured."""
    queued: Column
    """Whether the GPU waited until all launches were queued, so that what the host takes does not show."""
    work: Work

    def where(self, chosen: Sequence[int]) -> Table:
        """The table of some of the cases."""
        kept = np.isin(self.case, chosen)
        columns = {field.name: getattr(self.work, field.name)[kept] for field in dataclasses.fields(Work)}
        names = {old: new for new, old in enumerate(chosen)}
        return Table(
            [self.problems[place] for place in chosen],
            [schedule for schedule, keep in zip(self.schedules, kept, strict=True) if keep],
            np.array([names[place] for place in self.case[kept]]),
            self.seconds[kept], self.before[kept], self.queued[kept], Work(**columns),
        )  # fmt: skip


def read(paths: Sequence[str]) -> Table:
    """The sweeps of some files as one table: kernels that the search proposes. Sizes that were measured with launches
    queued count only so."""
    entries: list[Entry] = []
    for path in paths:
        data = Path(path).read_bytes()
        entries += json.loads(lzma.decompress(data) if path.endswith(".xz") else data)
    short = {tuple(entry["case"][:3]) for entry in entries if is_queued(entry)}
    entries = [entry for entry in entries if is_queued(entry) or tuple(entry["case"][:3]) not in short]
    problems: list[Problem] = []
    schedules: list[Schedule] = []
    case: list[int] = []
    seconds: list[float] = []
    before: list[float] = []
    queued: list[bool] = []
    for entry in entries:
        problem = product_of_case(entry["case"])
        timed = [row for row in entry["rows"] if row.get("us")]
        every = [(read_schedule(row["schedule"]), row["us"] * 1e-6) for row in timed]
        rows = [row for row in every if is_proposed(row[0])]
        rows.sort(key=lambda row: in_turn(row[0]))
        schedules += [schedule for schedule, _ in rows]
        seconds += [time for _, time in rows]
        random = entry.get("order") == "random"
        before += [USUAL] * len(rows) if random else busy_before(problem, [time for _, time in rows])
        queued += [is_queued(entry)] * len(rows)
        case += [len(problems)] * len(rows)
        problems.append(problem)
    works = [
        work_of(as_computed(problems[place], schedule), schedule, CHIP)
        for place, schedule in zip(case, schedules, strict=True)
    ]
    names = [field.name for field in dataclasses.fields(Work)]
    columns: dict[str, Any] = {name: np.array([float(getattr(work, name)) for work in works]) for name in names}
    return Table(
        problems, schedules, np.array(case), np.array(seconds), np.array(before), np.array(queued),
        Work(**columns),
    )  # fmt: skip


def is_queued(entry: Entry) -> bool:
    """Whether what the host takes does not show in an entry's times."""
    return bool(entry.get("settings", {}).get("queued"))


def size_of(problem: Problem) -> tuple[int, int, int]:
    return problem.m, problem.n, problem.k


def in_turn(schedule: Schedule) -> tuple[Any, ...]:
    """Where the sweep measured a schedule."""
    return (*schedule.block, schedule.split_k_cluster, schedule.cluster_n, schedule.cluster_m)


def busy_before(problem: Problem, seconds: Sequence[float]) -> list[float]:
    """How busy the tensor cores were, in the sweep's third round, in the milliseconds before each kernel."""
    repeats = max(2, min(50, int(1.5e-3 / (problem.flops / 6e14 + 8e-6)))) + 1
    busy, found = 0.5, [0.0] * len(seconds)
    for _ in range(3):
        for place, time in enumerate(seconds):
            kept = float(np.exp(-(repeats * time + 5e-5) / WINDOW))
            busy = busy * kept + problem.flops / time / PEAK * (1 - kept)
            found[place] = busy
    return found


def predicted(table: Table, values: Values) -> Column:
    """Predicted seconds of every kernel, as measured after its neighbours."""
    constants = WgmmaConstants(**{name: value for name, value in values.items() if name != "history"})
    cost = cost_of(table.work, CHIP, constants)
    free = cost.steps + cost.epilogue + cost.memory + cost.ends
    share = np.minimum(1.0, (1 + cost.power / free) ** (constants.limit / constants.bend) - 1)
    return (cost.total - table.queued * cost.launch) * np.exp(values["history"] * (table.before - USUAL) * share)


def loss(table: Table, values: Values) -> float:
    """Mean loss of the choice against the best measured, and the error of the times of good kernels."""
    cases = len(table.problems)
    best = np.full(cases, np.inf)
    np.minimum.at(best, table.case, table.seconds)
    slower = table.seconds / best[table.case]
    logs = np.log(predicted(table, values))
    weight = np.exp(-(slower - 1) / NEAR)
    weight /= np.bincount(table.case, weight)[table.case]
    beyond = logs - np.log(table.seconds)
    common = np.bincount(table.case, weight * beyond)
    error = np.bincount(table.case, weight * (beyond - COMMON * common[table.case]) ** 2)
    least = np.full(cases, np.inf)
    np.minimum.at(least, table.case, logs)
    chance = np.exp(-(logs - least[table.case]) / SOFT)
    chance /= np.bincount(table.case, chance)[table.case]
    lost = np.bincount(table.case, chance * slower) - 1
    return float(lost.mean() + 0.35 * np.sqrt(error.mean()) + 0.15 * np.sqrt((lost**2).mean()))


def fitted(
    table: Table, start: Values, generations: int, seed: int = 0, width: float = 0.12, fixed: Sequence[str] = ()
) -> Values:
    """The values with the least loss found by an evolution strategy with covariance adaptation (Hansen, "The CMA
    evolution strategy: a tutorial"), on their logarithms."""
    random = np.random.default_rng(seed)
    names = [name for name in start if name not in (*FIXED, *fixed)]
    count, many = len(names), 24
    weights = np.log(many / 2 + 0.5) - np.log(np.arange(1, many // 2 + 1))
    weights /= weights.sum()
    effective = 1 / (weights**2).sum()
    path_rate = (effective + 2) / (count + effective + 5)
    rate, one = 4 / (count + 4), 2 / ((count + 1.3) ** 2 + effective)
    rest = min(1 - one, 2 * (effective - 2 + 1 / effective) / ((count + 2) ** 2 + effective))
    length = np.sqrt(count) * (1 - 1 / (4 * count))
    mean, covariance = np.log([start[name] for name in names]), np.eye(count)
    path, step_path = np.zeros(count), np.zeros(count)
    best, least = start, loss(table, start)
    for _ in range(generations):
        spread, axes = np.linalg.eigh(covariance)
        spread = np.sqrt(np.maximum(spread, 1e-12))
        moves = random.standard_normal((many, count)) * spread @ axes.T
        losses: list[float] = []
        for move in moves:
            asked = np.exp(mean + width * move)
            values = bounded({**start, **dict(zip(names, asked.tolist(), strict=True))})
            found = loss(table, values)
            if found < least:
                best, least = values, found
            beyond = sum(abs(np.log(each / values[name])) for name, each in zip(names, asked, strict=True))
            losses.append(found + 0.01 * float(beyond))
        chosen = moves[np.argsort(losses)[: many // 2]]
        move = weights @ chosen
        mean = mean + width * move
        step_path = (1 - path_rate) * step_path + np.sqrt(path_rate * (2 - path_rate) * effective) * (
            axes @ ((axes.T @ move) / spread)
        )
        path = (1 - rate) * path + np.sqrt(rate * (2 - rate) * effective) * move
        covariance = (1 - one - rest) * covariance + one * np.outer(path, path) + rest * (chosen.T * weights) @ chosen
        width *= float(np.exp(path_rate / (1 + path_rate) * (np.linalg.norm(step_path) / length - 1)))
    return best


def bounded(values: Values) -> Values:
    """The values, each within what is plausible."""
    return {
        name: min(max(value, BOUNDS[name][0]), BOUNDS[name][1]) if name in BOUNDS else value
        for name, value in values.items()
    }


def judged(table: Table, values: Values, only: Sequence[int] | None = None) -> list[tuple[float, str]]:
    """For each case how much slower the choice is than the best measured kernel, and a line that says so. The choice
    does not depend on a kernel's neighbours in the sweep."""
    times = predicted(table, {**values, "history": 0.0})
    lines: list[tuple[float, str]] = []
    for place, problem in enumerate(table.problems):
        if only is not None and place not in only:
            continue
        own = np.flatnonzero(table.case == place)
        choice, best = int(own[np.argmin(times[own])]), int(own[np.argmin(table.seconds[own])])
        lost = float(table.seconds[choice] / table.seconds[best])
        near = own[table.seconds[own] < 1.3 * table.seconds[best]]
        ratios: Column = np.log(times[near] / table.seconds[near])
        error = float((ratios**2).mean() ** 0.5)
        lines.append((lost, (
            f"{problem.m},{problem.n},{problem.k} {problem.a_order},{problem.b_order} {problem.a}->{problem.out}: "
            f"{lost:.3f}  {shown(table.schedules[choice])} {table.seconds[choice] * 1e6:.1f} us "
            f"(predicted {times[choice] * 1e6:.1f}), best {shown(table.schedules[best])} "
            f"{table.seconds[best] * 1e6:.1f}; error of those within 1.3 {error:.1%}"
        )))  # fmt: skip
    return lines


def shown(schedule: Schedule) -> str:
    parts = [f"{name}={getattr(schedule, name)}" for name in ("cluster_m", "cluster_n", "split_k_cluster")]
    parts = ["x".join(map(str, schedule.block)), *(part for part in parts if not part.endswith("=1"))]
    return " ".join(parts + ["swap_ab"] * schedule.swap_ab)


def print_judged(lines: Sequence[tuple[float, str]]) -> None:
    for _, line in lines:
        print(line)
    lost = [each for each, _ in lines]
    print(f"geometric mean {np.exp(np.mean(np.log(lost))):.4f}, worst {max(lost):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sweeps", nargs="+")
    parser.add_argument("--fit", action="store_true", help="fit the constants")
    parser.add_argument("--cross", action="store_true", help="leave one size out at a time")
    parser.add_argument("--generations", type=int, default=400)
    parser.add_argument("--leave", default="", metavar="NAMES", help="constants that stay as they are")
    arguments = parser.parse_args()
    table = read(arguments.sweeps)
    print(f"{len(table.schedules)} kernels of {len(table.problems)} cases")
    values: Values = {**dataclasses.asdict(CHIP.constants(WgmmaConstants)), "history": HISTORY}
    left = tuple(name for name in str(arguments.leave).split(",") if name)
    start: Values = {**dataclasses.asdict(START), "history": HISTORY}
    start |= {name: values[name] for name in left}
    if arguments.fit:
        tries = [fitted(table, start, arguments.generations, seed, fixed=left) for seed in range(3)]
        values = min(tries, key=lambda each: loss(table, each))
        print("\n".join(f"    {name}: float = {value:.4g}" for name, value in values.items()))
    print_judged(judged(table, values))
    if arguments.cross:
        sizes = sorted({size_of(problem) for problem in table.problems})
        found: list[tuple[float, str]] = []
        for size in sizes:
            places = range(len(table.problems))
            own = [place for place in places if size_of(table.problems[place]) == size]
            others = table.where([place for place in places if place not in own])
            found += judged(table, fitted(others, start, arguments.generations, fixed=left), own)
        print("each size judged by a fit to the others:")
        print_judged(found)


if __name__ == "__main__":
    main()
