"""`mlir-gemm tune --fit`: finds constants that times were made with, keeps nothing that is no better on problems left
out, and reads sweeps and studies. Times are the model's, with other constants: there is no GPU here."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import no_cache_on_disk, run_main

from mlir_gemm.errors import TargetError
from mlir_gemm.runtime import own_chip
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import chip_name, target
from mlir_gemm.tile_model.constants import constants_of
from mlir_gemm.tile_model.select import estimate
from mlir_gemm.tile_model.swap import as_computed
from mlir_gemm.tuner import fit as fitting
from mlir_gemm.tuner.measured import Measured, of_storage, of_sweep
from mlir_gemm.tuner.measuring import Predicted
from mlir_gemm.tuner.space import explore
from mlir_gemm.tuner.study import Budget, Search

RESULTS = Path(__file__).parents[2] / "bench/results"
SWEEP = str(RESULTS / "2026-11-22-h200-random-sweep.json.xz")
TRUTH = "sm_90a:wgmma.chain=900,wgmma.l2=1200,wgmma.tile=4000"
"""A chip on which small steps, L2 and the ends of tiles take longer than the row says."""


@pytest.fixture(autouse=True)
def few_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer fits and steps than a user gets, to save time."""
    monkeypatch.setattr(fitting, "FOLDS", 2)
    monkeypatch.setattr(fitting, "STEPS", 2)


@cache
def measured(noise: float = 0.0) -> tuple[Measured, ...]:
    """Twelve problems of a sweep with the times of the model for another chip, or with nothing but noise beside its
    own."""
    draw, chip = random.Random(1), target("sm_90a" if noise else TRUTH)
    found: list[Measured] = []
    for each in of_sweep(SWEEP)[::18]:
        schedules = each.schedules[:12]
        times = [estimate(as_computed(each.problem, schedule), schedule, chip).total for schedule in schedules]
        seconds = tuple(time * 2 ** draw.gauss(0, noise) for time in times)
        found.append(Measured(each.problem, schedules, seconds, "NVIDIA H200"))
    return tuple(found)


def test_a_name_gives_other_constants():
    chip = target("H200, wgmma.row=1.4, sms=100")
    assert chip.chip == "sm_90a:sms=100,wgmma.row=1.4" == chip_name(chip.chip)
    assert constants_of(chip) == {**constants_of(target("sm_90a")), "wgmma.row": 1.4}
    assert target("sm_80:lanes.fragment=70").fitted != target("sm_80").fitted
    for wrong in ("wgmma.row=100", "wgmma.rows=1", "wgmma.row", "lanes.late=1"):
        with pytest.raises(TargetError, match=r"wgmma\.row"):
            target(f"sm_90a:{wrong}")


def test_finds_constants_that_times_were_made_with():
    found = fitting.fit(measured(), target("sm_90a"))
    assert not found.refused
    assert found.before.mean > 1.05 and found.after.mean < 1 + (found.before.mean - 1) / 2
    chip = fitting.chip_with("sm_90a:sms=132,wgmma.chain=200", found.values)
    assert chip_name(chip) == chip_name(chip.upper())
    assert chip.startswith("sm_90a:sms=132,")


def test_keeps_nothing_where_there_is_only_noise():
    found = fitting.fit(measured(0.1), target("sm_90a"))
    assert found.refused


def test_a_chip_keeps_what_was_not_fitted():
    assert fitting.chip_with("sm_90a", {}) == "sm_90a"
    assert fitting.chip_with("sm_90a:h100pcie,dram=1.5", {"dram": 1.75}) == "sm_90a:h100pcie,dram=1.75"


def _sweep(path: Path, problems: tuple[Measured, ...]) -> Path:
    """A file of a sweep."""
    entries: list[Any] = []
    for each in problems:
        p = each.problem
        case = [p.m, p.n, p.k, "n" if p.a_order == "mk" else "t", "n" if p.b_order == "kn" else "t", p.a, p.out]
        rows = [{"schedule": str(s), "us": 1e6 * t} for s, t in zip(each.schedules, each.seconds, strict=True)]
        entries.append({"case": case, "rows": rows, "device": each.gpu, "chip": "sm_90a"})
    path.write_text(json.dumps(entries))
    return path


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(own_chip.VARIABLE, str(tmp_path / "chips.json"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "chips.json"


def test_what_is_better_goes_to_the_table_of_the_user(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    figures, other = {"chip": "sm_90a:dram=4.2", "figures": {"dram": 1}}, {"chip": "sm_89:l4"}
    table.write_text(json.dumps({"format": own_chip.FORMAT, "gpus": {"NVIDIA H200": figures, "NVIDIA L4": other}}))
    status, out, err = run_main(capsys, "tune", "--fit", _sweep(tmp_path / "sweep.json", measured()))
    assert status == 0, err
    assert "on problems left out:" in out and "so far 210" in out and f"kept in {table}" in out
    kept = json.loads(table.read_text())["gpus"]
    assert kept["NVIDIA H200"]["figures"] == {"dram": 1} and kept["NVIDIA L4"] == other
    assert kept["NVIDIA H200"]["fit"]["left out"]["mean"] < kept["NVIDIA H200"]["fit"]["as it was"]["mean"]
    chip = own_chip.measured()["NVIDIA H200"]
    assert chip.startswith("sm_90a:dram=4.2") and "wgmma.chain=" in chip and chip_name(chip) == chip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["none.json"], "cannot read the sweep"),
        ([], "nothing was measured"),
        (["few"], "1 problems were measured on NVIDIA H200; a fit that leaves some out needs 10"),
        (["several"], "of several GPUs: NVIDIA A100, NVIDIA H200"),
        (["unknown"], "do not name their GPU"),
    ],
)
def test_what_fit_refuses(given: list[str], said: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    one = measured()[0]
    other, unknown = (Measured(one.problem, one.schedules, one.seconds, gpu) for gpu in ("NVIDIA A100", ""))
    _sweep(tmp_path / "few", (one,))
    _sweep(tmp_path / "several", (one, other))
    _sweep(tmp_path / "unknown", (unknown,))
    status, _, err = run_main(capsys, "tune", "--fit", *(tmp_path / each for each in given))
    assert status == 1 and said in err
    assert not table.exists()


def test_a_study_says_what_its_times_are_of(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    storage = tmp_path / "s.journal"
    status, _, err = run_main(
        capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", "--trials", "3", "--most", "9", "--storage", storage
    )
    assert status == 0, err
    assert of_storage(str(storage)) == []  # predicted times teach nothing
    from mlir_gemm.tuner.measured import about

    space = explore(Problem(1, 512, 768, out="f16", reads_c=False), target("sm_90a"), most=6)
    what = about(space.problem, "sm_90a", "NVIDIA H200", "time", (), True)
    Search(space, Predicted(space), str(storage), "measured", sampler="model", about=what).run(Budget(trials=4))
    (found,) = of_storage(str(storage))
    assert (found.problem, found.gpu, found.chip, len(found.seconds)) == (space.problem, "NVIDIA H200", "sm_90a", 4)
    assert str(found.schedules[0]) == space.trials[0].schedule
    assert isinstance(found.schedules[0], Schedule)
