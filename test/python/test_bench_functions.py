"""`mlir-gemm bench --group rows,blocks` without a GPU: the list, wrong usage, what compiles, and reports."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.bench import function_report, plots
from mlir_gemm.bench.block_functions import BLOCKS
from mlir_gemm.bench.function_measure import FunctionBench
from mlir_gemm.bench.function_results import Entry, Results, read
from mlir_gemm.bench.functions import RANDOM, SEED, Drawn, Function, Rows, drawn_rows, of_rows, select
from mlir_gemm.bench.preparing import Work, prepare
from mlir_gemm.bench.row_modules import KINDS
from mlir_gemm.bench.timing import Spread
from mlir_gemm.errors import Error
from mlir_gemm.tools.main import main

FOLDER = Path(__file__).parents[2] / "examples" / "blocks"


def spread(microseconds: float) -> Spread:
    return Spread.of([microseconds / 1e6] * 3)


def entry(name: str, group: str = "rows", right: bool = True, bytes_: int = 64_000_000, **microseconds: float) -> Entry:
    spreads = {who: spread(value) for who, value in microseconds.items()}
    errors = {"ours": 2e-4, "eager": 2e-4}
    return Entry(group, name, bytes_, 1, errors, right, spreads, spreads, ["compile: not installed"])


SAMPLE = Results(
    {"device": "Test GPU", "copy_bytes_s": 4.3e12}, "2026-11-23T12:00:00", "mlir-gemm bench", {"rounds": 8},
    [
        entry("softmax 8x100 f16", ours=10, eager=20, compile=15, copy=9),
        entry("softmax 9x100 f16", ours=10, eager=9, copy=9, bytes_=1000),
        entry("head", "blocks", bytes_=0, ours=100, eager=571, compile=638),
    ],
    [("blocks", "bert", "not today")],
)  # fmt: skip


def run_main(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["bench", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_list_has_each_function_once_and_the_random_ones():
    names = [(each.group, each.name) for each in select(["rows", "blocks"], FOLDER)]
    assert len(set(names)) == len(names)
    assert {("rows", each.name) for each in drawn_rows(RANDOM, SEED)} <= set(names)
    assert [name for group, name in names if group == "blocks"] == list(BLOCKS)


def test_every_block_was_exported():
    assert [each.name for each in select(["blocks"], FOLDER) if not each.source] == []
    assert all(each.source == "" for each in select(["blocks"], FOLDER / "nowhere"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_every_kind_of_rows_compiles_to_one_kernel(kind: str, element: str):
    kernel = mlir_gemm.compile(of_rows(Rows(kind, 9, 100, element)).source, chip="sm_90a")
    assert [each.kind for each in kernel.kernels] == ["rows"]


def test_what_is_refused_is_said():
    found = select(["blocks"], FOLDER)
    chosen = [each for each in found if each.name in ("int8_linear1", "residual_ln")]
    works = [Work(each.source, "sm_90a", "", load=False) for each in chosen] + [Work("func.func", "sm_90a", "", False)]
    reasons = prepare(works, 1, lambda done, of: None)
    assert reasons[:2] == ["", ""] and reasons[2]


def test_bytes_are_what_is_read_and_written():
    assert of_rows(Rows("layer_norm", 4, 8, "f16")).bytes == (2 * 4 * 8 + 2 * 8) * 2
    assert of_rows(Rows("column_sum", 4, 8, "f32")).bytes == 4 * 8 * 4 + 8 * 4


def test_list(capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, "--list", "--group", "rows,blocks", "--only", "softmax 256")
    assert (status, err) == (0, "")
    assert "softmax 256x50257 f16" in out and "log_softmax 256x50257 f16" in out and "encoder" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--group", "rows,large"], "--group rows measures functions, not products: leave out 'large'"),
        (["--group", "blocks", "--types", "f16"], "--types is for products"),
        (["--group", "rows", "--random", "5"], "--random is for products"),
        (["--group", "rows", "--only", "gemm", "--list"], "no function of rows has this in its name"),
        (["--only", "head"], "--only is for --group rows and --group blocks"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str):
    status, _, err = run_main(capsys, *arguments)
    assert status == 2
    assert said in err


def test_results_are_read_as_they_were_written(tmp_path: Path):
    path = tmp_path / "results.json"
    path.write_text(SAMPLE.text())
    assert read(str(path)) == SAMPLE
    path.write_text(f'{{"device": "Test GPU", "results": {SAMPLE.text()}}}')  # as files in bench/results are kept
    assert read(str(path)) == SAMPLE
    path.write_text('{"format": "mlir-gemm bench 1"}')
    assert read(str(path)) is None
    path.write_text("{")
    with pytest.raises(Error, match="does not hold results"):
        read(str(path))


def test_ratios_are_to_the_better():
    first, second, _ = SAMPLE.entries
    assert first.ratio("cold") == pytest.approx(1.5)
    assert second.ratio("sustained") == pytest.approx(0.9)
    assert first.ratio("cold", ("copy",)) == pytest.approx(0.9)
    assert SAMPLE.entries[2].ratio("cold", ("copy",)) is None


def test_the_report_says_what_was_measured_and_what_was_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "results.json"
    path.write_text(SAMPLE.text())
    status, out, _ = run_main(capsys, "--report", path)
    assert status == 0
    assert "3 measured, 0 wrong, 1 refused" in out
    text = (tmp_path / "report.md").read_text()
    assert "| softmax 9x100 f16" in text and "bert: not today" in text and "compile: not installed" in text
    assert "below 1 | below 0.9" in text and "errors: at most 1.00 times eager PyTorch's" in text
    if plots.available():
        assert {each.name for each in tmp_path.glob("*.png")} == {"rows.png", "blocks.png"}
        assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")


def test_errors_that_are_larger_than_pytorchs_are_named():
    worse = dataclasses.replace(SAMPLE.entries[0], errors={"ours": 1.2e-7, "eager": 1e-7})
    text = function_report.summary(dataclasses.replace(SAMPLE, entries=[worse, *SAMPLE.entries[1:]]))
    assert "errors: at most 1.20 times eager PyTorch's; more than 1.1 for 1: 1.20 (softmax 8x100 f16)" in text


class Array:
    """What the measurement asks of a tensor, by NumPy."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values, self.shape = values, values.shape

    def double(self) -> Array:
        return Array(self.values.astype(np.float64))

    def norm(self) -> float:
        return float(np.linalg.norm(self.values))

    def reshape(self, shape: tuple[int, ...]) -> Array:
        return Array(self.values.reshape(shape))

    def fill_(self, value: float) -> None:
        self.values.fill(value)

    def __sub__(self, other: Array) -> Array:
        return Array(self.values - other.values)


def pooled(ours: Sequence[float], eager: Sequence[float], exact: Sequence[float]) -> tuple[dict[str, float], float]:
    """The errors of a function of one result whose inputs are drawn so many times, and what is allowed."""

    def draw(_: object, seed: int) -> Drawn:
        out = Array(np.zeros(1))
        return Drawn(
            [ours[seed - 7]], [out], lambda: Array(np.array([eager[seed - 7]])), lambda: None,
            lambda: (Array(np.array([exact[seed - 7]])),), 0.5,
        )  # fmt: skip

    bench: Any = FunctionBench.__new__(FunctionBench)
    bench.settings, bench._torch = SimpleNamespace(seed=7), None
    function = Function("rows", "sum", "", 0, draw, draws=len(exact))
    return bench._errors(function, draw(None, 7), lambda given, out: out.values.__setitem__(0, given))


def test_errors_of_few_results_are_those_of_many_inputs():
    errors, allowed = pooled([3, 10, -5], [4.5, 8, -3], [3, 8, -4])
    assert errors["ours"] == pytest.approx(np.sqrt(0 + 4 + 1) / np.sqrt(9 + 64 + 16))
    assert errors["eager"] == pytest.approx(np.sqrt(1.5**2 + 0 + 1) / np.sqrt(9 + 64 + 16))
    assert allowed == pytest.approx(0.5)
    assert pooled([3, math.nan], [3, 8], [3, 8])[0]["ours"] == math.inf
    assert [of_rows(Rows(kind, 3, 5000, "f32")).draws for kind in ("softmax", "row_sum", "column_sum")] == [342, 342, 1]
    assert of_rows(Rows("softmax", 1, 10_000_000, "f32")).draws == 214  # no more elements than a second's


def test_wrong_results_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    wrong = dataclasses.replace(SAMPLE, entries=[dataclasses.replace(SAMPLE.entries[0], right=False)])
    path = tmp_path / "results.json"
    path.write_text(wrong.text())
    status, out, _ = run_main(capsys, "--report", path)
    assert status == 3
    assert "wrong: softmax 8x100 f16" in out
    assert "WRONG" in function_report.markdown(wrong, {})
