"""Rows that blocks of the grid share, all of which run at the same time: the same numbers at each stage, in the
simulator with all checks, and how such kernels are chosen and launched."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from row_cases import chosen, odd_norm, odd_softmax, residual_norm, two_sums, wide_norm
from row_kernels import Case, Rows, check_stages, close, compiled, fields, measured, nothing, numbers, pinned, run

from mlir_gemm.errors import DeviceError, ScheduleError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime.cooperative_launch import check_together
from mlir_gemm.simulator.kernel import Options
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.spec.binding import bind
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tile_model import rows
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


def test_few_rows_of_an_open_length_are_gone_over_by_all_blocks() -> None:
    """Nobody can hold them: a block has its part of each tile, however long the row of a call is."""
    chip, problem = target("sm_90a"), dataclasses.replace(FEW, rows=4, length=262144, lines=2, fixed=False)
    schedule = select_rows(problem, chip)
    assert (schedule.grid, schedule.staged, schedule.front, schedule.groups) == (33, False, 0, 0)
    check_rows(problem, schedule, chip)
    assert "33 blocks of the grid" in explain_rows(problem, schedule)
    for other in ({"length": 1000}, {"rows": 64}, {"aligned": 2}):
        assert select_rows(dataclasses.replace(problem, **other), chip).grid == 0


@pytest.mark.parametrize("changed", [{}, {"fixed": False}, {"rows": 100}])
def test_of_an_open_number_of_rows_some_are_taken_at_a_time(changed: dict[str, Any]) -> None:
    """All blocks run at the same time, whatever a call has: as many as suit what is typical."""
    chip, problem = target("sm_90a"), dataclasses.replace(FEW, open_rows=True, **changed)
    schedule = select_rows(problem, chip)
    assert 0 < schedule.groups <= problem.rows
    for rows_of_a_call in (1, problem.rows, 10**6):
        check_rows(dataclasses.replace(problem, rows=rows_of_a_call), schedule, chip)
    with pytest.raises(ScheduleError, match="blocks do not fit on sm_90a at once"):
        check_rows(problem, dataclasses.replace(schedule, groups=300), chip)


@pytest.mark.parametrize(("dynamic", "schedule"), [
    ("m", fields(32, 32, 1, "1, 32", "grid = 3 : i64, groups = 2 : i64, staged = true, front = 1 : i64")),
    ("m", fields(32, 32, 1, "2, 32", "grid = 2 : i64, groups = 3 : i64")),
    ("mn", fields(32, 32, 1, "1, 32", "grid = 2 : i64, groups = 3 : i64")),
])  # fmt: skip
def test_an_open_number_of_rows_in_turns(dynamic: str, schedule: str) -> None:
    given = Rows({"m": 5, "n": 130}, dynamic=dynamic)
    given.argument("A", "mn", "f32")
    given.argument("R", "mn", "f32")
    given.reduce("sum", "A", "0.0", "%r = arith.addf %x0, %a : f32")
    given.map("R", "A sum", "%r = arith.divf %x0, %x1 : f32")
    kernel = compiled(pinned(Case(given.text(), [], []), schedule))
    for m, n in ((5, 130), (1, 130), (13, 130), (0, 130), (4, 7), (2, 1333))[: 4 if dynamic == "m" else 6]:
        arrays = [np.abs(numbers(np.random.default_rng(m), (m, n), "f32")), nothing((m, n), "f32")]
        at = kernel.launch.at(bind([array.shape for array in arrays], kernel.launch))
        report = simulate_launch(kernel.ir("lower"), at, arrays, Options(checks=True))
        assert not report.findings and not report.stopped
        wide = arrays[0].astype(np.float64)
        close(arrays[1], wide / wide.sum(-1, keepdims=True))


OPEN_NORM = (Path(__file__).parents[1] / "modules" / "front" / "open_group_norm.mlir").read_text()


def group_norm(x: Any, w: Any, b: Any) -> Any:
    """Of two groups."""
    rows = x.astype(np.float64).reshape(x.shape[0], 2, -1)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    return rows.reshape(x.shape) * w[:, None, None] + b[:, None, None]


@pytest.mark.parametrize(("vector", "unroll", "grid"), [(1, 1, 5), (1, 3, 2), (4, 2, 7)])
def test_rows_of_an_open_length_by_blocks_of_the_grid(
    vector: int, unroll: int, grid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = RowSchedule(64, 64, vector, (1, 64 * vector), unroll=unroll, grid=grid)
    monkeypatch.setattr(rows, "of_open", lambda *_: schedule)
    kernel = compile_module(OPEN_NORM, chip="sm_90a", keep=("lower",), divisors={"s0": vector, "s1": vector})
    assert [(step.cooperative, step.grid) for step in kernel.launch.steps] == [(True, (4 * grid, 1, 1))]
    for h, w in ((5, 7), (1, 1), (33, 40), (1, 1000)):
        shape, rng = (2, 4, h * vector, w * vector), np.random.default_rng([h, w])
        arrays = [numbers(rng, each, "f32") for each in (shape, (4,), (4,))] + [nothing(shape, "f32")]
        at = kernel.launch.at(bind([array.shape for array in arrays[:3]], kernel.launch))
        report = simulate_launch(kernel.ir("lower"), at, arrays, Options(checks=True))
        assert not report.findings and not report.stopped
        close(arrays[-1], group_norm(*arrays[:3]), 2e-5 if vector == h == w == 1 else 2**-20)


@pytest.mark.parametrize("changed", [{"updated": True}, {"again": False}, {"length": 1000}])
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
