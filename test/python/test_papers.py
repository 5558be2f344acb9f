"""The tables of the works that the project grew out of: their data, and ours beside them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import ClassVar

import bench_samples as samples
import pytest
from assembled import usage
from command_line import run_main
from test_generated_docs import script

from mlir_gemm.bench import paper_data, paper_model, paper_report
from mlir_gemm.bench.contenders import name_of
from mlir_gemm.bench.figures import Entry, read
from mlir_gemm.bench.measure import Settings
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.paper_data import PAPERS, Table, paper
from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLES = [table for key in PAPERS for table in paper(key).table]


def table(name: str) -> Table:
    return next(each for each in TABLES if each.name.startswith(name))


@pytest.mark.parametrize("key", PAPERS)
def test_every_figure_has_its_place(key: str) -> None:
    found = paper(key)
    assert found.table and found.about and found.year > 2015
    for each in found.table:
        assert each.unit in paper_data.UNITS
        assert any(word in each.where for word in ("table", "section", "slide", "figure")), each.where
        assert each.unit == "place" or all(row.value is not None for row in each.row)


def test_schedules_are_fields_that_there_are() -> None:
    for row in (row for each in TABLES for row in each.row if row.schedule):
        Schedule.parse(row.schedule or "")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"name": "x", "value": 1.0}, "one of schedule, library"),
        ({"name": "x", "value": 1.0, "library": True, "absent": "no"}, "one of schedule, library"),
        ({"name": "x", "absent": "no"}, "has no figure"),
        ({"name": "x", "value": 1.0, "count": "wishes"}, "legal schedules"),
    ],
)
def test_a_row_is_one_thing(row: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        paper_data._row(row)  # pyright: ignore[reportPrivateUsage]


def test_the_numbers_of_table_4_3() -> None:
    found = {row.name: row for row in table("Warp tiles").row}
    assert {name: row.value for name, row in found.items()} == {"64x64x32": 30.2, "32x64x16": 48.9}
    assert found["64x64x32"].counters["threads"] == 8192 * 8192 // (128 * 128) * 4 * 32


def test_predictions_of_his_warp_tiles_are_in_his_order() -> None:
    tiles = table("Warp tiles")
    slow, fast = (paper_model.predict(tiles, row) for row in tiles.row)
    assert slow and fast and slow.tflops and fast.tflops
    assert slow.tflops < fast.tflops and not fast.refused and not slow.refused
    assert paper_model.counted(tiles, tiles.row[0])["threads"] == 524288


def test_his_warp_tile_of_64x64_fits_a_thread_of_turing_and_not_of_volta() -> None:
    tiles = table("Warp tiles")
    fields = Schedule.parse(tiles.row[0].schedule or "")
    assert tiles.problem is not None
    made = compile_module(module(tiles.problem), chip="rtx2080ti", schedule=fields)
    used = usage(made.ptx or "", "sm_75")
    assert used.spill_bytes == 0 and 244 <= used.registers <= 255  # his takes 255
    refused = paper_model.predict(dataclasses.replace(tiles, chip="v100"), tiles.row[0])
    assert refused is not None and "registers a thread, at most 255" in refused.refused


def test_simulated_bank_conflicts_stand_where_his_do() -> None:
    """At the two tiles with rows under 128 bytes; scaled up from one block."""
    tiles = table("Block tiles")
    small = dataclasses.replace(tiles.row[0], schedule=f"{tiles.row[0].schedule},warp=16x32x16")
    conflicts = paper_model.counted(tiles, small)["bank conflicts"]
    assert conflicts == 268435456  # he: 343,989,534
    assert paper_model.counted(tiles, tiles.row[2])["bank conflicts"] == 0  # he: 7,506


def test_rank_correlation() -> None:
    assert paper_report.spearman([1, 2, 3], [10, 20, 90]) == pytest.approx(1)
    assert paper_report.spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert paper_report.spearman([1, 1, 2], [1, 2, 3]) == pytest.approx(0.866, abs=1e-3)
    assert str(paper_report.spearman([1, 1], [1, 2])) == "nan"


@pytest.mark.parametrize("key", ["faingnaert", "rise", "lift", "published"])
def test_the_page_is_current(key: str) -> None:
    measured = script("papers").newest()
    text = paper_report.section(paper(key), measured, counters=False)
    (page,) = (name for name, (_, keys) in script("papers").PAGES.items() if key in keys)
    assert text in (DOCS / page).read_text(), "run python docs/make/papers.py"


def test_the_command_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run_main(capsys, "bench", "--paper", "faingnaert", "-o", tmp_path / "out")
    assert status == 0, err
    assert "The column *measured* is empty: no NVIDIA driver" in " ".join(out.split())
    assert "| cuBLAS | 46 | - | - |" in out and "| his, WMMA | 35 | " in out
    assert (tmp_path / "out/report.md").read_text() in out
    status, out, err = run_main(capsys, "bench", "--paper", "lift", "--output", tmp_path / "x.json")
    assert status == 1 and "nothing can be measured here" in err and not (tmp_path / "x.json").exists()


def test_what_was_measured_stands_in_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = table("Beside cuBLAS").problem
    assert problem is not None
    entry = Entry(problem, {name: samples.figures(each) for name, each in (("ours", 400), ("torch", 500))}, [], None)
    pins = {problem.name: ["mma=wmma"]}
    results = dataclasses.replace(samples.results([entry]), settings={paper_report.PINS: pins})
    path = tmp_path / "papers.json"
    path.write_text(results.text())
    assert read(str(path)).settings[paper_report.PINS] == pins
    status, out, err = run_main(capsys, "bench", "--paper", "rise", "--report", path)
    assert status == 0, err
    tflops = problem.flops / 1e12
    assert f"| cuBLAS | 1 | - | {tflops / 250e-6:.1f} |" in out
    assert f"| RISE, average | 0.9 | - | {tflops / 200e-6:.1f} |" in out
    assert "Measured: 0 of 1 pairs are in the order of the text; not: cuBLAS and RISE, average." in out


class FakeBench:
    """Stands in for a GPU: the second problem fails, and a schedule of the first is refused."""

    machine: ClassVar = samples.MACHINE
    out_of_time, is_alive = False, True

    def __init__(self, settings: Settings, chip: str, torch: object) -> None:
        self.settings, self._count = settings, 0

    def prepare(self, problems: list[Problem], progress: object) -> list[tuple[Problem, str, str]]:
        return [(problems[0], self.settings.schedules[0], "too large")] if problems[0].m == 4096 else []

    def measure(self, problem: Problem, refused: list[str]) -> Entry:
        if problem.m == 512:
            raise RuntimeError("no such kernel")
        taken = [n for n, schedule in enumerate(self.settings.schedules) if schedule not in refused]
        figures = {name_of(n): samples.figures(1000 + n) for n in taken}
        return Entry(problem, figures | {"torch": samples.figures(900)}, [], None)


def test_measuring_on_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlir_gemm.tools.bench_papers.why_no_gpu", lambda: "")
    monkeypatch.setattr("mlir_gemm.bench.measure.require_gpu", lambda: None)
    monkeypatch.setattr("mlir_gemm.bench.measure.Bench", FakeBench)
    monkeypatch.setattr("mlir_gemm.bench.paper_space.section", lambda space: ["### All of his configurations"])
    path = tmp_path / "results/papers.json"
    status, out, err = run_main(capsys, "bench", "--paper", "faingnaert,hofstra,rise", "--chip", "h200", "-o", path)
    assert status == 0, err
    found = read(str(path))
    assert [entry.problem.m for entry in found.entries] == [8192, 4096, 1024]
    assert {reason for _, _, reason in found.refused} == {
        "too large",
        "measuring it failed: RuntimeError: no such kernel",
    }
    assert "Measured on Test GPU" in out and "### All of his" in out and f"wrote {path}" in out
    rate = 2 * 8192**3 / 450e-6 / 1e12
    assert f"| cuBLAS | 46 | - | {rate:.1f} |" in out
    status, again, err = run_main(capsys, "bench", "--paper", "faingnaert,hofstra,rise", "--report", path)
    assert status == 0 and again.strip() in out


def test_what_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main(capsys, "bench", "--paper", "rise", "--mnk", "1,1,1")[0] == 2
    status, _, err = run_main(capsys, "bench", "--paper", "knuth")
    assert status == 1 and "'knuth' is not one of the works" in err
    other = tmp_path / "results.json"
    other.write_text(samples.SAMPLE.text())
    status, _, err = run_main(capsys, "bench", "--paper", "rise", "--report", other)
    assert status == 1 and "holds other results" in err


def test_a_damaged_file_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_data, "__file__", str(tmp_path / "paper_data.py"))
    paper_data._read.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        with pytest.raises(Error, match="does not hold the tables of a work"):
            paper("rise")
    finally:
        paper_data._read.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_each_problem_is_measured_once_with_all_its_schedules() -> None:
    wanted = paper_report.pins_of([paper(key) for key in PAPERS])
    assert len(wanted) == 6
    assert sum(map(len, wanted.values())) < 65, "one run measures all of them in some minutes"
    assert all(len(set(pins)) == len(pins) for pins in wanted.values())
    assert "" in next(pins for problem, pins in wanted.items() if problem.m == 1024 and problem.dtype == "f16")
