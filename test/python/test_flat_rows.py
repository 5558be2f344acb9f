"""Rows that are copied to shared memory and back as one line, whatever their length."""

from __future__ import annotations

import pytest
from row_cases import quantised, residual_norm
from row_kernels import CHIP, Case, check_stages, compiled, fields, measured, pinned, run

from mlir_gemm.errors import InputError, PassError, ScheduleError
from mlir_gemm.pipeline.driver import compile_module

STAGES = ("tensorize", "accumulate", "launch")
CASES: dict[str, tuple[Case, str]] = {
    "tiles that divide the rows": (
        measured("softmax", 16, 101, "f16"),
        fields(64, 8, 1, "8, 104", "flat = 1024 : i64"),
    ),
    "a last tile of fewer rows": (
        measured("layer_norm", 21, 103, "bf16"),
        fields(256, 32, 1, "8, 128", "flat = 2048 : i64, prefetch = true"),
    ),
    "threads with several rows": (measured("rms_norm", 19, 99, "f32"), fields(64, 32, 1, "4, 128", "flat = 512 : i64")),
    "two results of one type": (residual_norm(11, 35), fields(128, 16, 1, "8, 48", "flat = 1024 : i64")),
    "results of different types": (quantised(32, 21), fields(64, 4, 1, "16, 24", "flat = 1024 : i64")),
}


@pytest.mark.parametrize("name", CASES)
def test_every_stage_gives_the_same_numbers(name: str) -> None:
    case = pinned(*CASES[name])
    kernel = compiled(case, *STAGES, "lower")
    check_stages(case, kernel, STAGES)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (fields(64, 8, 1, "8, 104", "flat = 100 : i64"), "flat=100; expected 0, or a multiple of threads=64"),
        (fields(64, 64, 1, "1, 128", "flat = 1024 : i64, staged = true"), "flat=1024 with shift, staged"),
    ],
)
def test_fields_that_do_not_go_together(schedule: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        compile_module(pinned(measured("softmax", 16, 101, "f16"), schedule).text, chip=CHIP)


@pytest.mark.parametrize(
    ("case", "schedule", "message"),
    [
        (measured("softmax", 16, 101, "f16"), fields(32, 8, 1, "4, 104", "flat = 512 : i64"), "multiples of 8"),
        (measured("softmax", 16, 101, "f16"), fields(64, 8, 1, "8, 104", "flat = 512 : i64"), "at least as many"),
        (measured("softmax", 16, 101, "f16"), fields(64, 8, 1, "8, 64", "flat = 1024 : i64"), "do not hold whole rows"),
        (measured("softmax", 16, 101, "f16"), fields(64, 8, 1, "8, 104", "flat = 832 : i64"), "a multiple of 512"),
    ],
)
def test_rows_that_make_no_line(case: Case, schedule: str, message: str) -> None:
    with pytest.raises((PassError, InputError), match=message):
        compile_module(pinned(case, schedule).text, chip=CHIP)
