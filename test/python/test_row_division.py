"""Which rows one block takes, and which a cluster: the choices that runs on an H100 decided
(`bench/results/2026-11-28-h100-row-choices.json.xz`)."""

from __future__ import annotations

import pytest

from mlir_gemm.bench.functions import Rows, of_rows
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.rows import RowSchedule

CASES = {
    ("softmax", 256, 50304, "f16"): (4, 8, 0),
    ("layer_norm", 64, 50257, "bf16"): (4, 8, 8),
    ("softmax", 2000, 20001, "f16"): (2, 8, 8),
    ("layer_norm", 512, 18000, "f32"): (2, 4, 0),
    ("softmax", 4096, 16384, "f16"): (1, 8, 0),
    ("layer_norm", 6000, 8191, "f16"): (1, 1, 0),
    ("softmax", 20000, 1999, "f16"): (1, 8, 8),
    ("softmax", 20000, 1001, "bf16"): (1, 8, 8),
    ("layer_norm", 20000, 1999, "f16"): (1, 1, 0),
    ("softmax", 64, 1999, "f16"): (1, 1, 0),
}
"""Blocks that share a row, elements of an access, and of how many the tiles start at multiples in memory."""


def chosen(rows: Rows, chip: str) -> RowSchedule:
    (kernel,) = compile_module(of_rows(rows).source, chip=chip, until="select").kernels
    assert kernel.rows is not None
    return kernel.rows


@pytest.mark.parametrize("case", CASES)
def test_an_sm_has_several_blocks_of_long_rows(case: tuple[str, int, int, str]) -> None:
    schedule = chosen(Rows(*case), "sm_90a")
    assert (schedule.cluster, schedule.vector, schedule.shift) == CASES[case]
    assert schedule.cluster == 1 or schedule.threads == 256
    assert chosen(Rows(*case), "sm_80").cluster == 1
