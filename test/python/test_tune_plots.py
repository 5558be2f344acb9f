"""Pictures of a study: `mlir-gemm tune --plots`. Times are the model's, or the model's with a made-up error."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

import random
import zlib
from functools import cache
from pathlib import Path

import pytest
from command_line import no_cache_on_disk, run_main

from mlir_gemm.errors import Error
from mlir_gemm.spec.backends import BACKENDS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tools import tune_plots
from mlir_gemm.tuner import pictures
from mlir_gemm.tuner.measuring import DONE, FAILED, Outcome, Predicted
from mlir_gemm.tuner.portability import DEVICES, matrix
from mlir_gemm.tuner.space import Space, explore
from mlir_gemm.tuner.study import Budget, Search
from mlir_gemm.tuner.study_page import page
from mlir_gemm.tuner.tried import Known, runs_of

PNG = b"\x89PNG\r\n"
PROBLEM = Problem(32, 32, 32, out="f16", reads_c=False)


class Measured(Predicted):
    """Stands in for a GPU: predicted times with an error, and now and then a fault."""

    measured = True

    def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
        drawn = random.Random(zlib.crc32(schedule.encode()))
        if drawn.random() < 0.1:
            return Outcome(FAILED, reason="faults: it wrote elsewhere")
        return Outcome(DONE, self._seconds[schedule] * drawn.uniform(0.8, 1.2))

    def compare(self, schedule: str, other: str) -> tuple[float, float]:
        return self._seconds[schedule], self._seconds[other]


@cache
def space() -> Space:
    return explore(PROBLEM, target("sm_80"), most=60)


def searched(folder: Path, *samplers: str, objective: str = "time") -> Known:
    storages = [str(folder / f"{sampler}.journal") for sampler in samplers]
    best = ""
    for sampler, storage in zip(samplers, storages, strict=True):
        best = Search(space(), Measured(space()), storage, "study", sampler=sampler).run(Budget(12)).schedule
    return Known(space(), objective, True, "A100", runs_of(storages, "study", space()), best)


def test_pictures_of_two_samplers(tmp_path: Path) -> None:
    known = searched(tmp_path, "model", "random")
    assert {sampler: len(run) for sampler, run in known.runs.items()} == {"model": 12, "random": 12}
    assert known.shown_is_measured and known.failed.keys() == {"faults"}
    portable = matrix(PROBLEM, ("v100", "h200"), own="sm_80", best=known.best)
    drawn = pictures.draw(known, portable)
    assert {name for name, _ in drawn.values()} == {
        "distribution.png", "best-so-far.png", "prediction.png", "importance.png", "parameters.png", "maps.png",
        "parallel.png", "illegal.png", "portability.png", "lost.png",
    }  # fmt: skip
    assert all(data.startswith(PNG) and len(data) > 4000 for _, data in drawn.values())
    text = page(known, drawn, portable)
    assert text.count('src="data:image/png;base64,') == len(drawn) and "12 by model; 12 by random" in text
    assert "the best found</th><td>" in text and "TFLOP/s<br><code>block=" in text
    assert known.best in text and "registers_fit" in text and "faults" in text


def test_switches_are_off_or_on_in_pictures() -> None:
    assert pictures._texts("early", (0, 1)) == ["off", "on"]  # pyright: ignore[reportPrivateUsage]
    assert pictures._texts("promote_c", (0, 2)) == ["off", "ahead"]  # pyright: ignore[reportPrivateUsage]
    assert pictures._texts("stages", (0, 1)) == ["0", "1"]  # pyright: ignore[reportPrivateUsage]


def test_importance_is_of_parameters_that_vary(tmp_path: Path) -> None:
    known = searched(tmp_path, "random")
    assert sum(known.importance.values()) == pytest.approx(1)
    assert known.importance.keys() <= space().axes.keys() and "predicted" not in known.importance


def test_few_values_leave_the_predicted_ones(tmp_path: Path) -> None:
    Search(space(), Predicted(space()), str(tmp_path / "s.journal"), "study").run(Budget(2))
    runs = runs_of([str(tmp_path / "s.journal")], "study", space())
    known = Known(space(), "time", False, "A100", runs, space().trials[0].schedule)
    assert len(known.shown) == len(space().trials) and not known.shown_is_measured
    drawn = pictures.draw(known, None)
    assert "best-so-far.png" in {name for name, _ in drawn.values()} and "predicted times: nothing was" in page(
        known, drawn, None
    )


def test_a_choice_that_failed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome(FAILED, reason="hangs: it did not end within 10 s")
    first = space().trials[0].schedule
    measure = Measured.measure
    monkeypatch.setattr(
        Measured, "measure", lambda self, *given: outcome if given[0] == first else measure(self, *given)
    )
    known = searched(tmp_path, "model")
    assert known.best != first
    text = page(known, pictures.draw(known, None), None)
    assert "<td>failed: hangs: it did not end within 10 s<br>" in text


def test_other_objectives(tmp_path: Path) -> None:
    known = searched(tmp_path, "random", objective="energy")
    value = min(known.values.values())
    assert known.unit == "GFLOP/J" and known.merit(value) == pytest.approx(PROBLEM.flops / value / 1e9)
    assert "distribution.png" in {name for name, _ in pictures.draw(known, None).values()}
    relative = Known(space(), "compromise", True, "A100", known.runs, known.best)
    assert relative.merit(value) == 1


def test_a_matrix_of_devices() -> None:
    found = matrix(Problem(1024, 1024, 1024, out="f16", reads_c=False), ("v100", "a100", "h200"))
    assert found.names == ("V100", "A100", "H200")
    assert [found.cells[n][n].share for n in range(3)] == pytest.approx([1, 1, 1])
    assert 0 < found.cells[1][2].tflops < found.cells[2][2].tflops
    volta, ampere, hopper = found.cells
    assert volta[1].share is None and "mma_m8n8k4" in volta[1].why
    assert ampere[0].share is None and "mma_sync" in ampere[0].why
    assert hopper[1].share is None and [loss[3] for loss in found.losses()] == [2, 1, 2]


def test_other_vendors_are_columns() -> None:
    found = matrix(PROBLEM, ("h200", "mi300x", "rx7900", "vulkan", "opencl", "vulkan-h200"))
    assert found.names == ("H200", "MI300X", "RX 7900 XTX by HIP", "Vulkan", "OpenCL", "H200 (Vulkan)")
    assert not found.left_out and not any(cell.measured for row in found.cells for cell in row)
    assert all(cell.share for cell in found.cells[3]), "ordinary arithmetic with little shared memory runs everywhere"
    assert found.cells[1][0].why == "mma=mfma: sm_90a has wgmma, mma_sync, dp4a, wmma, simt"
    assert found.cells[5][0].why == "mma=coop_matrix: sm_90a has wgmma, mma_sync, dp4a, wmma, simt"
    assert {target(name).backend for name in DEVICES} == set(BACKENDS), "every back end is in the usual matrix"


def test_measured_and_predicted_times_are_not_mixed() -> None:
    found = matrix(PROBLEM, ("v100", "a100"), own="a100")
    mine, volta = found.variants[1], found.variants[0]
    known = matrix(PROBLEM, ("v100", "a100"), own="a100", measured={mine: 3e-6, "another": 2e-6})
    assert known.cells[1][1].measured and known.cells[1][1].share == pytest.approx(2 / 3)
    assert not known.cells[0][1].measured and known.cells[0] == found.cells[0]
    assert volta != mine


class OtherVariants:
    """Measures those of other devices: one takes 1 s, one is wrong."""

    measured = True

    def prepare(self, schedules: list[str]) -> dict[str, str]:
        return {}

    def measure(self, schedule: str, best: str, best_value: float) -> Outcome:
        assert best and best_value
        return Outcome(FAILED, reason="is wrong") if "instruction=16x8x8" in schedule else Outcome(DONE, 1.0)


def test_variants_of_other_devices_are_checked_as_trials_are(tmp_path: Path) -> None:
    known = searched(tmp_path, "model")
    found = matrix(PROBLEM, ("t4", "rtx3090"), own="sm_80", best=known.best)
    assert "instruction=16x8x8" in found.variants[0]
    values = tune_plots._measured(known, found, OtherVariants())  # pyright: ignore[reportPrivateUsage, reportArgumentType]
    assert found.variants[0] not in values and values[known.best] < 1e-3
    assert all(values[each] for each in found.variants[1:])


def test_illegal_proposals_are_counted_by_rule() -> None:
    assert {"registers_fit", "block_divides_problem"} <= space().illegal.keys()
    assert all(each.count > 0 and each.reason for each in space().illegal.values())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    storage = tmp_path / "s.journal"
    status, out, err = run_main(
        capsys, "tune", "--mnk", "32,32,32", "--chip", "sm_80", "--trials", "3", "--most", "9", "--storage", storage,
        "--beside", storage, "--devices", "a100,rtx3090", "--plots", tmp_path / "plots",
    )  # fmt: skip
    assert status == 0, err
    assert f"pictures: {tmp_path / 'plots/index.html'}" in out
    assert "3 by expected; 3 by expected (2)" in (tmp_path / "plots/index.html").read_text()
    assert (tmp_path / "plots/distribution.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (("--devices", "a100"), 2, "--devices goes with --plots DIR"),
        (("--beside", "x"), 2, "--beside goes with --plots DIR"),
        (("--plots", "x", "--devices", "a101"), 1, "unknown chip 'a101'"),
    ],
)
def test_what_it_refuses(
    given: tuple[str, ...], status: int, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    got, _, err = run_main(capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", *given)
    assert got == status and said in err
    monkeypatch.setattr("mlir_gemm.tools.tune_plots.available", lambda: False)
    got, _, err = run_main(capsys, "tune", "--mnk", "64,64,64", "--chip", "sm_80", "--plots", "x")
    assert got == 1 and "needs matplotlib; pip install 'mlir-gemm[plots]'" in err


def test_a_storage_without_the_study_is_an_error(tmp_path: Path) -> None:
    storage = str(tmp_path / "other.journal")
    Search(space(), Predicted(space()), storage, "another").run(Budget(1))
    with pytest.raises(Error, match="has no study of this product"):
        runs_of([storage], "study", space())
