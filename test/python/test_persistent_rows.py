"""Blocks that take tiles of rows in turn: the same numbers at each stage, and in the simulator with all checks."""

from __future__ import annotations

import pytest
from row_cases import residual_norm
from row_kernels import Case, check_stages, compiled, fields, measured, pinned, run

from mlir_gemm.errors import Error
from mlir_gemm.spec.stages import STAGES

WHOLE = STAGES[STAGES.index("tensorize") : STAGES.index("lower")]
CASES: list[tuple[Case, str]] = [
    (measured("layer_norm", 7, 301, "f16"), fields(64, 64, 1, "1, 320", "persistent = 3 : i64")),
    (measured("softmax", 11, 200, "f32"), fields(64, 32, 4, "2, 256", "persistent = 2 : i64, min_blocks = 4 : i64")),
    (measured("rms_norm", 3, 90, "bf16"), fields(32, 32, 2, "1, 128", "persistent = 5 : i64, prefetch = true")),
    (measured("row_sum", 9, 77, "f32"), fields(32, 8, 1, "4, 80", "persistent = 2 : i64")),
    (residual_norm(5, 260), fields(64, 64, 4, "1, 512", "persistent = 2 : i64")),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_every_stage_gives_the_same_numbers(number: int) -> None:
    case = pinned(*CASES[number])
    kernel = compiled(case, *WHOLE, "lower")
    check_stages(case, kernel, WHOLE)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    case.check(arrays)


def test_only_tiles_of_whole_rows_are_taken_in_turn() -> None:
    case = pinned(measured("layer_norm", 7, 301, "f16"), fields(64, 64, 1, "1, 128", "persistent = 3 : i64"))
    with pytest.raises(Error, match="expected tiles that hold whole rows"):
        compiled(case)
