"""Rows that blocks of the grid share, all of which run at the same time: the same numbers at each stage, in the
simulator with all checks, and how such kernels are chosen and launched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from row_cases import chosen, odd_norm, odd_softmax, residual_norm, two_sums, wide_norm
from row_kernels import Case, check_stages, compiled, fields, measured, pinned, run

from mlir_gemm.errors import DeviceError, ScheduleError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime.cooperative_launch import check_together
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rows import check_rows, explain_rows, select_rows

WHOLE = STAGES[STAGES.index("tensorize") : STAGES.index("lower")]
CASES: dict[str, tuple[Callable[[], Case], str]] = {
    "whole rows": (lambda: measured("softmax", 2, 500, "f16"), fields(64, 64, 4, "1, 256", "grid = 2 : i64")),
    "a number that is no power of two": (
        lambda: measured("layer_norm", 2, 700, "f32"),
        fields(32, 32, 4, "1, 256", "grid = 3 : i64"),
    ),
    "more blocks than lanes": (
        lambda: measured("rms_norm", 1, 1301, "f32"),
        fields(32, 32, 1, "1, 32", "grid = 41 : i64"),
    ),
    "in shared memory": (
        lambda: measured("softmax", 2, 1000, "f32"),
        fields(64, 64, 2, "1, 128", "staged = true, grid = 3 : i64"),
    ),
    "some in registers": (
        lambda: measured("layer_norm", 1, 3001, "f32"),
        fields(64, 64, 1, "1, 64", "staged = true, grid = 5 : i64, front = 2 : i64, unroll = 3 : i64"),
    ),
    "in turns": (
        lambda: measured("softmax", 5, 701, "f32"),
        fields(32, 32, 1, "1, 32", "staged = true, grid = 3 : i64, groups = 2 : i64, front = 1 : i64"),
    ),
    "from aligned addresses on, in turns": (
        lambda: measured("log_softmax", 3, 701, "f16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, staged = true, grid = 2 : i64, groups = 1 : i64"),
    ),
    "several rows at once, in turns": (
        lambda: measured("layer_norm", 5, 700, "f32"),
        fields(64, 64, 2, "2, 128", "staged = true, grid = 3 : i64, groups = 2 : i64, front = 1 : i64"),
    ),
    "read again": (lambda: measured("layer_norm", 2, 700, "f32"), fields(32, 32, 4, "1, 128", "grid = 2 : i64")),
    "both results wide": (lambda: residual_norm(3, 260), fields(32, 32, 4, "1, 128", "grid = 3 : i64")),
    "two reductions at once": (
        lambda: two_sums(3, 500),
        fields(32, 32, 2, "1, 64", "staged = true, grid = 3 : i64, groups = 2 : i64"),
    ),
    "two of different types at once": (
        lambda: two_sums(2, 300, wide=True),
        fields(32, 32, 4, "1, 128", "grid = 3 : i64"),
    ),
    "sums of f64": (lambda: wide_norm(3, 100), fields(32, 32, 2, "1, 64", "grid = 2 : i64")),
    "places": (lambda: chosen(4, 400, "f32", False), fields(32, 32, 2, "1, 64", "grid = 3 : i64")),
    "a pair, whole rows": (
        lambda: measured("softmax", 2, 500, "f16"),
        fields(64, 64, 4, "1, 256", "grid = 2 : i64, paired = true"),
    ),
    "a pair in shared memory, blocks with nothing": (
        lambda: measured("log_softmax", 2, 300, "f32"),
        fields(32, 32, 2, "1, 64", "staged = true, grid = 7 : i64, paired = true"),
    ),
    "a pair, some in registers": (
        lambda: measured("layer_norm", 1, 3001, "f32"),
        fields(64, 64, 1, "1, 64", "staged = true, grid = 5 : i64, front = 2 : i64, unroll = 3 : i64, paired = true"),
    ),
    "a pair from aligned addresses on, in turns": (
        lambda: measured("layer_norm", 3, 701, "bf16"),
        fields(32, 32, 8, "1, 256", "shift = 8 : i64, staged = true, grid = 2 : i64, groups = 1 : i64, paired = true"),
    ),
    "a pair, several rows at once, in turns": (
        lambda: measured("layer_norm", 5, 700, "f32"),
        fields(64, 64, 2, "2, 128", "staged = true, grid = 3 : i64, groups = 2 : i64, front = 1 : i64, paired = true"),
    ),
    "a pair, exponentials in registers": (
        lambda: measured("softmax", 1, 3001, "f32"),
        fields(64, 64, 1, "1, 64", "staged = true, grid = 5 : i64, front = 2 : i64, unroll = 3 : i64, paired = true"),
    ),
    "a pair of f64": (lambda: wide_norm(3, 100), fields(32, 32, 2, "1, 64", "grid = 2 : i64, paired = true")),
    "a pair, odd values": (
        lambda: odd_softmax(7, 150),
        fields(32, 32, 2, "1, 64", "grid = 3 : i64, groups = 2 : i64, paired = true"),
    ),
    "a pair, odd norms": (
        lambda: odd_norm(7, 150),
        fields(32, 32, 2, "1, 64", "grid = 4 : i64, groups = 2 : i64, paired = true"),
    ),
    "a pair in a cluster, odd norms": (
        lambda: odd_norm(7, 150),
        fields(32, 32, 2, "1, 64", "cluster = 4 : i64, paired = true"),
    ),
    "a pair in a cluster": (
        lambda: measured("softmax", 3, 500, "f32"),
        fields(64, 64, 4, "1, 256", "cluster = 2 : i64, paired = true"),
    ),
    "a pair in a cluster, two rows a tile": (
        lambda: measured("layer_norm", 4, 500, "f16"),
        fields(64, 64, 4, "2, 256", "cluster = 2 : i64, paired = true"),
    ),
    "a pair in a cluster, odd values": (
        lambda: odd_softmax(7, 150),
        fields(32, 32, 2, "1, 64", "cluster = 4 : i64, paired = true"),
    ),
    "odd values": (lambda: odd_softmax(7, 150), fields(32, 32, 2, "1, 64", "grid = 3 : i64, groups = 2 : i64")),
}


@pytest.mark.parametrize("name", CASES)
def test_every_stage_gives_the_same_numbers(name: str) -> None:
    make, schedule = CASES[name]
    case = pinned(make(), schedule)
    kernel = compiled(case, *WHOLE, "lower")
    check_stages(case, kernel, WHOLE)
    arrays, report = run(case, kernel)
    assert not report.findings, report.findings[0]
    assert not report.stopped
    case.check(arrays)


def test_two_runs_give_the_same_bits() -> None:
    case = pinned(*(each() if callable(each) else each for each in CASES["in turns"]))
    kernel = compiled(case)
    first, second = (run(case, kernel)[0] for _ in range(2))
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_two_reductions_that_do_not_need_one_another_are_exchanged_at_once() -> None:
    case = pinned(two_sums(2, 300, wide=True), fields(32, 32, 4, "1, 128", "grid = 3 : i64"))
    (words,) = compile_module(case.text, chip="sm_90a").launch.buffers
    assert words.bytes == 2 * 3 * (1 + 2) * 8


def test_the_launch_says_so_and_has_words() -> None:
    case = pinned(*(each() if callable(each) else each for each in CASES["in shared memory"]))
    launch = compile_module(case.text, chip="sm_90a").launch
    (step,) = launch.steps
    assert (step.cooperative, step.grid) == (True, (6, 1, 1))
    assert [(each.scratch, each.bytes) for each in launch.buffers] == [("words", 2 * 3 * 8)] * 2
    assert (launch.workspace_bytes, launch.zeroed_bytes) == (0, 512)
    assert Launch.from_json(launch.to_json()) == launch


FEW = RowProblem(8, 1000000, 4, 4, read=4, again=True, even=True)


def test_few_long_rows_are_read_once() -> None:
    chip = target("sm_90a")
    schedule = select_rows(FEW, chip)
    assert (schedule.grid, schedule.staged, schedule.front > 0) == (16, True, True)
    assert schedule.kept(FEW.length) * FEW.read <= chip.smem_block
    said = explain_rows(FEW, schedule)
    assert "in each of 16 blocks of the grid, all of which run at the same time" in said
    assert "of its elements in registers" in said
    assert select_rows(FEW, target("gfx942")).grid == 0


@pytest.mark.parametrize(
    "changed", [{"open_rows": True}, {"updated": True}, {"again": False}, {"length": 1000}, {"fixed": False}]
)
def test_other_rows_are_not(changed: dict[str, Any]) -> None:
    problem = RowProblem(**{**FEW.__dict__, **changed})
    assert select_rows(problem, target("sm_90a")).grid == 0


def test_rows_that_no_cluster_holds_are_taken_in_turns() -> None:
    chip = target("sm_90a")
    problem = RowProblem(100, 1000000, 4, 4, read=4, again=True, even=True)
    schedule = select_rows(problem, chip)
    check_rows(problem, schedule, chip)
    assert schedule.groups * schedule.grid <= 2 * chip.sms
    assert schedule.min_blocks == 2


def test_turns_leave_few_blocks_idle() -> None:
    """64 rows in 8 turns of 8, not in 10 of 7, of which the last would have one row."""
    schedule = select_rows(replace(FEW, rows=64), target("sm_90a"))
    assert (schedule.grid, schedule.groups, schedule.min_blocks) == (33, 8, 2)


def test_what_few_long_rows_read_leaves_l2_first() -> None:
    chip = target("sm_90a")
    whole, shorter, turns = (
        select_rows(each, chip) for each in (FEW, replace(FEW, length=400000), replace(FEW, rows=64))
    )
    assert [each.grid > 0 for each in (whole, shorter, turns)] == [True] * 3
    assert [each.evict_first for each in (whole, shorter, turns)] == [True, False, False]


def test_odd_rows_in_turns_are_read_from_aligned_addresses_on() -> None:
    problem = replace(FEW, rows=37, length=1500001, narrowest=2, aligned=1, read=2, element="f16")
    schedule = select_rows(problem, target("sm_90a"))
    assert (schedule.vector, schedule.shift) == (8, 8)
    assert schedule.groups


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"grid": 33}, "264 blocks do not fit on sm_90a at once: 1 on each of 132 SMs; expected fewer"),
        ({"grid": 1}, "grid=1; expected 0, or 2 to 1024 with tiles of up to 8 rows"),
        ({"cluster": 2, "grid": 16}, "grid=16; expected 0, or 2 to 1024 with tiles of up to 8 rows"),
        ({"staged": False, "front": 1}, "front=1; expected 0, or tiles with staged=true"),
        ({"grid": 0, "groups": 2}, "groups=2 with grid=0"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    common = {"threads": 1024, "across": 1024, "vector": 4, "tile": (1, 4096), "staged": True, "grid": 16}
    with pytest.raises(ScheduleError, match=said):
        check_rows(FEW, RowSchedule.make({**common, **given}), target("sm_90a"))


class Driver:
    """A driver of a GPU with so many SMs, on each of which so many blocks fit."""

    def __init__(self, sms: int, each: int, can: int = 1) -> None:
        self.CUdevice_attribute = SimpleNamespace(
            CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH=can, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=sms
        )
        self._each = each

    def cuDeviceGet(self, ordinal: int) -> tuple[int, int]:  # noqa: N802
        return 0, ordinal

    def cuDeviceGetAttribute(self, attribute: int, _: int) -> tuple[int, int]:  # noqa: N802
        return 0, attribute

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, *_: Any) -> tuple[int, int]:  # noqa: N802
        return 0, self._each


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        (Driver(132, 1), ""),
        (Driver(114, 1), "has 132 blocks that wait for each other, and cuda:0 cannot run them: 114 fit at once: 1 on"),
        (Driver(132, 0), "0 fit at once"),
        (Driver(132, 1, can=0), "it has no cooperative launches"),
    ],
)
def test_blocks_that_do_not_fit_are_refused_when_the_code_is_loaded(driver: Driver, said: str) -> None:
    launch = Launch.of_kernel("rows_kernel", (132, 1, 1), (512, 1, 1), (1, 1, 1), 221568, (), ())
    if not said:
        check_together(driver, 0, None, launch.steps[0])
        return
    with pytest.raises(DeviceError, match=said):
        check_together(driver, 0, None, launch.steps[0])
