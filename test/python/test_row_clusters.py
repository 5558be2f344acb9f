"""Rows that the blocks of a cluster share: the same numbers at each stage, and in the simulator with all checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from row_cases import odd_softmax, quantised, reduced, residual_norm, wide_norm
from row_kernels import Case, check_stages, compiled, fields, measured, pinned, run

import mlir_gemm
from mlir_gemm.spec.stages import STAGES

PROGRAMS = Path(__file__).parent.parent / "modules" / "front"

WHOLE = STAGES[STAGES.index("tensorize") : STAGES.index("lower")]
CASES: dict[str, tuple[Callable[[], Case], str]] = {
    "whole rows": (lambda: measured("softmax", 3, 1000, "f16"), fields(64, 64, 8, "1, 512", "cluster = 2 : i64")),
    "a block with nothing": (
        lambda: measured("softmax", 2, 90, "f32"),
        fields(32, 32, 1, "1, 32", "cluster = 4 : i64"),
    ),
    "in passes": (lambda: measured("layer_norm", 2, 1000, "f32"), fields(64, 64, 2, "1, 128", "cluster = 2 : i64")),
    "kept in shared memory": (
        lambda: measured("log_softmax", 2, 1001, "f16"),
        fields(64, 64, 1, "1, 128", "staged = true, cluster = 4 : i64"),
    ),
    "between aligned addresses": (
        lambda: measured("softmax", 5, 701, "f16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, cluster = 4 : i64"),
    ),
    "between aligned addresses, in passes": (
        lambda: measured("rms_norm", 3, 1301, "bf16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, staged = true, cluster = 2 : i64"),
    ),
    "between aligned addresses, tiles together": (
        lambda: measured("layer_norm", 3, 1301, "bf16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, staged = true, unroll = 2 : i64, cluster = 4 : i64"),
    ),
    "between aligned addresses, read again": (
        lambda: measured("softmax", 3, 1301, "f16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, unroll = 2 : i64, cluster = 2 : i64"),
    ),
    "between aligned addresses, blocks with fewer tiles": (
        lambda: measured("layer_norm", 3, 1301, "bf16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, staged = true, unroll = 3 : i64, cluster = 4 : i64"),
    ),
    "between aligned addresses, fewer tiles read again": (
        lambda: measured("softmax", 3, 1301, "f16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, unroll = 3 : i64, cluster = 4 : i64"),
    ),
    "several rows, several results": (lambda: quantised(7, 260), fields(64, 32, 4, "4, 128", "cluster = 4 : i64")),
    "both results wide": (lambda: residual_norm(3, 260), fields(64, 32, 4, "2, 128", "cluster = 2 : i64")),
    "sums of f64": (lambda: wide_norm(3, 100), fields(32, 32, 2, "1, 64", "cluster = 2 : i64")),
    "the greatest byte": (lambda: reduced("arith.maxsi", 5, 90, "i8"), fields(64, 32, 2, "2, 64", "cluster = 2 : i64")),
    "eight blocks": (lambda: reduced("arith.mulf", 3, 150, "f32"), fields(32, 8, 4, "4, 32", "cluster = 8 : i64")),
    "odd values": (lambda: odd_softmax(7, 150), fields(32, 32, 4, "1, 128", "cluster = 2 : i64")),
}


def of(name: str) -> Case:
    make, schedule = CASES[name]
    return pinned(make(), schedule)


@pytest.mark.parametrize("name", CASES)
def test_every_stage_gives_the_same_numbers(name: str) -> None:
    case = of(name)
    kernel = compiled(case, *WHOLE, "lower")
    check_stages(case, kernel, WHOLE)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    assert not report.stopped
    case.check(arrays)


def test_two_runs_give_the_same_bits() -> None:
    case = of("several rows, several results")
    kernel = compiled(case)
    first, second = (run(case, kernel)[0] for _ in range(2))
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_few_rows_of_open_length_go_to_clusters() -> None:
    norm, sizes = PROGRAMS / "open_group_norm.mlir", {"s0": 128, "s1": 128}
    kernel = mlir_gemm.compile(norm, device="simulator", chip="sm_90a", sizes=sizes)
    (record,) = kernel.kernels
    assert record.rows is not None
    assert record.rows.cluster == 8
    shapes = (2, 4, 5, 7), (4,), (4,)
    given = [np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in shapes]
    x, weight, bias = (each.astype(np.float64) for each in given)
    groups = x.reshape(2, 2, 70)
    normal = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    wanted = normal.reshape(x.shape) * weight[:, None, None] + bias[:, None, None]
    assert np.allclose(np.asarray(kernel(*given)), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("divisors", "vector", "length"), [({}, 1, 39), ({"s0": 4}, 4, 44)])
def test_iterations_within_a_row_of_open_length_have_no_tests(
    divisors: dict[str, int], vector: int, length: int
) -> None:
    norm = PROGRAMS / "open_instance_norm.mlir"
    kernel = mlir_gemm.compile(norm, device="simulator", chip="sm_90a", sizes={"s0": 16}, divisors=divisors)
    (record,) = kernel.kernels
    assert record.rows is not None
    assert (record.rows.vector, record.rows.tile[1]) == (vector, 16)
    x = np.random.default_rng(1).standard_normal((2, 4, length)).astype(np.float32)
    wide = x.astype(np.float64)
    wanted = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    assert np.allclose(np.asarray(kernel(x)), wanted, rtol=1e-5, atol=1e-6)


def test_a_call_reads_rows_in_vectors_where_its_sizes_allow() -> None:
    kernel = mlir_gemm.compile(PROGRAMS / "open_instance_norm.mlir", device="simulator", chip="sm_90a")
    assert [each.rows and each.rows.vector for each in kernel.at(s0=40).kernels] == [4]
    assert [each.rows and each.rows.vector for each in kernel.at(s0=41).kernels] == [1]
    assert sorted(kernel.variants) == ["s0~32", "s0~32, s0%4", "s0~512"]


def test_a_call_divides_rows_as_its_sizes_ask() -> None:
    """Eight rows of 30,001 elements are shared by clusters, of half a million by the grid if vectors divide them; of
    near lengths there is one variant."""
    kernel = mlir_gemm.compile(PROGRAMS / "open_instance_norm.mlir", device="simulator", chip="sm_90a")
    assert [each.rows and (each.rows.cluster, each.rows.grid) for length in (512, 30_001, 500_000, 500_004, 500_001)
            for each in kernel.at(s0=length).kernels] == [(1, 0), (8, 0), (1, 16), (1, 16), (8, 0)]  # fmt: skip
    assert sorted(kernel.variants) == ["s0~32768", "s0~512", "s0~512, s0%4", "s0~524288", "s0~524288, s0%4"]
    steps = [step for length in (30_001, 500_000) for step in kernel.at(s0=length).launch.steps]
    assert [(step.grid[0], step.cluster[0], step.cooperative) for step in steps] == [(64, 8, False), (128, 1, True)]
