"""Few long rows in two kernels: parts of rows reduced side by side, and blocks that each combine the parts of a row and
compute some of its elements."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from row_kernels import CHIP, Case, check_stages, compiled, measured, run

from mlir_gemm.bench.row_modules import module
from mlir_gemm.dialect.outlining import long_rows
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.rows import RowProblem
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tile_model import row_parts
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tools.json_output import kernel_data, text_of
from mlir_gemm.tools.main import main

WHOLE = STAGES[STAGES.index("tensorize") : STAGES.index("lower")]
SIZES = [
    ("softmax", 1, 4096, "f32"),
    ("softmax", 3, 2600, "f32"),
    ("log_softmax", 2, 3001, "f16"),
    ("softmax", 4, 2050, "bf16"),
]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a thousand elements count as long, and parts of them as worth a launch."""
    monkeypatch.setattr(long_rows, "LONG", 1000)
    monkeypatch.setattr(row_parts, "LEAST_PART", 250)
    monkeypatch.setattr(row_parts, "LAUNCH", 0.0)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("kind", "m", "n", "element"), SIZES)
def test_every_stage_gives_the_same_numbers(kind: str, m: int, n: int, element: str) -> None:
    case = measured(kind, m, n, element)
    kernel = compiled(case, *WHOLE, "lower")
    assert kernel.kernels[-1].rows is not None
    assert kernel.kernels[-1].rows.part
    check_stages(case, kernel, WHOLE)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.usefixtures("short")
def test_nan_and_infinities_are_as_in_eager_pytorch() -> None:
    case = measured("softmax", 4, 2050, "f32")
    a = case.arrays[0]
    a[0, 77], a[1, 3::7], a[2, :], a[3, 5] = np.nan, -np.inf, -np.inf, np.inf
    with np.errstate(invalid="ignore"):
        e = np.exp(a.astype(np.float64) - a.max(1, keepdims=True))
    odd = Case(case.text, case.arrays, [e / e.sum(1, keepdims=True)], case.tolerance)
    arrays, report = run(odd)
    assert not report.findings, report.findings[0]
    odd.check(arrays)


@pytest.mark.parametrize(("m", "n", "kernels"), [(1, 20_000_000, 2), (1, 1_000_000, 2), (9, 1_000_000, 1)])
def test_few_long_rows_are_two_kernels(m: int, n: int, kernels: int) -> None:
    found = compile_module(measured("softmax", m, 8, "f32").text.replace("x8x", f"x{n}x"), chip=CHIP, until="select")
    assert len(found.kernels) == kernels  # 80 MB are more than the chip holds, 4 MB stay in L2


def test_explain_shows_the_kernels_that_are_compiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "rows.mlir"
    source.write_text(module("softmax", 1, 10_000_000, "f32"))
    assert main(["explain", str(source), "--chip", "sm_90a", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    kernels = compile_module(source.read_text(), chip="sm_90a", until="select").kernels
    wanted = json.loads(text_of([kernel_data(each) for each in kernels]))
    assert [(each["name"], each["row_problem"], each["rows"]) for each in shown] == [
        (each["name"], each["row_problem"], each["rows"]) for each in wanted
    ]


def test_what_is_read_again_stays_in_l2() -> None:
    """8 million f32 are most of an A100's L2; a sum alone lets them go first."""
    text = measured("softmax", 1, 8, "f32").text.replace("x8x", "x8000000x")
    found = compile_module(text, chip="sm_80", until="select")
    assert [each.rows.evict_first for each in found.kernels if each.rows] == [False, False]
    alone = compile_module(
        measured("row_sum", 8, 8, "f32").text.replace("x8x", "x1000000x"), chip="sm_80", until="select"
    )
    assert alone.kernels[0].rows is not None
    assert alone.kernels[0].rows.evict_first


def test_parts_fill_the_sms_evenly() -> None:
    chip = target(CHIP)
    for count, length in ((1, 10_000_000), (8, 1_000_000)):
        problem = RowProblem(count, length, 4, length, read=4, even=True)
        parts, depth = row_parts.parts_of_rows(problem, chip)
        assert parts * depth == length
        blocks = count * parts
        assert blocks / (-(-blocks // chip.sms) * chip.sms) > 0.8
