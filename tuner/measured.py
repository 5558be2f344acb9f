"""What was measured of many schedules of a problem: files of sweeps, and studies of `mlir-gemm tune`."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from mlir_gemm.bench import sweep_report
from mlir_gemm.bench.former_schedules import read_schedule
from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tuner.storages import known_storage, storage_errors
from mlir_gemm.tuner.study import ABOUT


@dataclass(frozen=True)
class Measured:
    """The times of some schedules of one problem on one GPU."""

    problem: Problem
    """As the module has it; where a schedule says `swap_ab`, it is of the product with A and B exchanged."""
    schedules: tuple[Schedule, ...]
    seconds: tuple[float, ...]
    gpu: str = ""
    """What the driver calls it; empty where that is not known."""
    chip: str = ""


def of_sweep(path: str) -> list[Measured]:
    """The problems of a file of `mlir_gemm.bench.sweep` of which two schedules or more were measured. Those with an
    epilogue are left out: the file does not say what it reads. A file of lines (`.jsonl`) is one of
    `test/gpu/check_whole_spaces.py`. Raises Error."""
    if ".jsonl" in path:
        return of_tables(path)
    found: list[Measured] = []
    for entry in sweep_report.read(path):
        rows = [row for row in entry["rows"] if row.get("us")]
        if entry.get("epilogue", "none") != "none" or len(rows) < 2:
            continue
        schedules = tuple(read_schedule(row["schedule"]) for row in rows)
        seconds = tuple(1e-6 * row["us"] for row in rows)
        problem = sweep_report.product_of_case(entry["case"])
        found.append(Measured(problem, schedules, seconds, entry.get("device", ""), entry.get("chip", "")))
    return found


def of_tables(path: str) -> list[Measured]:
    """The same of the tables of `test/gpu/check_whole_spaces.py`, of products that are one kernel. Raises Error."""
    try:
        data = Path(path).read_bytes()
        lines = [json.loads(line) for line in (lzma.decompress(data) if path.endswith(".xz") else data).splitlines()]
    except (OSError, ValueError, lzma.LZMAError) as problem:
        raise Error(f"cannot read the tables '{path}': {problem}") from None
    device = next((line.get("device", "") for line in lines if line.get("device")), "")
    found: list[Measured] = []
    for line in lines:
        if line.get("kind") != "table" or line["rewrites"] or len(line["rows"]) < 2:
            continue
        schedules = tuple(Schedule.make(Schedule.parse(row["schedule"])) for row in line["rows"])
        seconds = tuple(1e-6 * row["us"] for row in line["rows"])
        found.append(Measured(Problem(**line["decided"]), schedules, seconds, device, line["chip"]))
    return found


def of_storage(storage: str) -> list[Measured]:
    """The studies of a storage by time, of products that are one kernel. Raises StorageError."""
    opened = known_storage(storage)
    with storage_errors(storage):
        names = optuna.get_all_study_names(opened)
        studies = [optuna.load_study(study_name=name, storage=opened) for name in names]
        return [found for study in studies for found in _of_study(study)]


def _of_study(study: optuna.Study) -> Iterator[Measured]:
    about: Any = study.user_attrs.get(ABOUT)
    if not about or about["objective"] != "time" or about["rewrites"] or not about["measured"]:
        return
    times: dict[str, float] = {}
    for trial in study.get_trials(deepcopy=False):
        value = trial.value if trial.state == TrialState.COMPLETE else trial.intermediate_values.get(0)
        if value and not trial.user_attrs.get("repeated") and trial.state != TrialState.FAIL:
            times[trial.user_attrs["schedule"]] = value
    if len(times) > 1:
        schedules = tuple(Schedule.make(Schedule.parse(text)) for text in times)
        yield Measured(Problem(**about["problem"]), schedules, tuple(times.values()), about["gpu"], about["chip"])


def of_all(sweeps: Iterable[str], storages: Sequence[str]) -> list[Measured]:
    """All measurements of some files and storages. Raises Error where there are none."""
    found = [each for path in sweeps for each in of_sweep(path)]
    found += [each for storage in storages for each in of_storage(storage)]
    if not found:
        raise Error("nothing was measured: no sweep is named, and no storage has a study of times on a GPU")
    return found


def about(problem: Problem, chip: str, gpu: str, objective: str, rewrites: Iterable[str], measured: bool) -> Any:
    """What a study says of itself, as plain data: so `tune --fit` knows what its times are of."""
    return json.loads(json.dumps({
        "problem": vars(problem), "chip": chip, "gpu": gpu, "objective": objective, "rewrites": list(rewrites),
        "measured": measured,
    }))  # fmt: skip


def journals(folder: Path) -> list[str]:
    """The journals of a folder of studies."""
    return sorted(map(str, folder.glob("*.journal")))
