"""What the model adds to a chosen schedule where it is predicted to pay: results through shared memory, fragments
ahead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.offers import PAYS
from mlir_gemm.tile_model.preferring import SHALLOW
from mlir_gemm.tile_model.select import estimate, select
from mlir_gemm.tile_model.swap import swapped

SQUARE = Problem(4096, 4096, 4096, out="f16", b_order="nk", reads_c=False)
TILES = "block=128x128x64,warp=64x32x16"


def added(problem: Problem, chip: str, fields: str = "") -> tuple[bool, bool]:
    schedule = select(problem, target(chip), Schedule.parse(fields)).schedule
    return schedule.promote_result, schedule.fragments_ahead


@pytest.mark.parametrize(
    ("chip", "fields", "found"),
    [
        ("sm_80", "", (True, True)),
        ("sm_80", "mma=mma_sync", (True, True)),
        ("sm_80", "promote_result=off", (False, True)),
        ("sm_80", "fragments_ahead=off", (True, False)),
        ("sm_80", TILES, (False, False)),
        ("sm_80", f"{TILES},promote_result=on", (True, False)),
        ("sm_90a", "", (False, False)),
        ("gfx942", "", (False, False)),
    ],
)
def test_squares_of_f16(chip: str, fields: str, found: tuple[bool, bool]):
    assert added(SQUARE, chip, fields) == found


def test_others():
    changes: dict[str, Any]
    for changes in ({"out": "f32"}, {"out_vector": 32}, {"a": "f32", "b": "f32", "out": "f32"}):
        values = {name: getattr(SQUARE, name) for name in ("m", "n", "k", "out", "b_order", "reads_c")} | changes
        assert not added(Problem(**values), "sm_80")[0], changes
    steps = Problem(8192, 8192, 64, out="f16", reads_c=False)
    assert added(steps, "sm_80") == (True, False)  # of two steps of k


def test_rows_that_start_between_pairs_leave_through_shared_memory():
    odd = Problem(1457, 311, 227, out="f16", reads_c=False, a_vector=16, b_vector=16, out_vector=16)
    for chip in ("sm_80", "sm_90a"):
        schedule = select(odd, target(chip)).schedule
        assert schedule.promote_result and schedule.mainloop == "register_prefetch"
        assert not schedule.fragments_ahead  # what is loaded one by one must be there before the last products
        apart = schedule.replace(promote_result=False)
        assert estimate(odd, schedule, target(chip)).total < PAYS * estimate(odd, apart, target(chip)).total
        even = replace(odd, out_vector=32)
        assert estimate(even, apart, target(chip)).edges < estimate(odd, apart, target(chip)).edges
    lines = explain(odd, target("sm_80")).splitlines()
    assert "  promote_result=on: lanes would store elements one by one" in lines


def test_what_is_added_is_predicted_to_pay_and_explained():
    choice = select(SQUARE, target("sm_80"))
    without = choice.schedule.replace(promote_result=False, fragments_ahead=False)
    assert choice.cost.total < PAYS**2 * estimate(SQUARE, without, target("sm_80")).total
    lines = explain(SQUARE, target("sm_80")).splitlines()
    assert "  promote_result=on: lanes would store 16 bytes of a row at once, of sectors of 32" in lines
    assert any(line.startswith("  fragments_ahead=on: ") for line in lines)
    assert any(line.startswith("  D mn: a block tile at a time through ") for line in lines)
    pinned = explain(SQUARE, target("sm_80"), Schedule.parse(f"{TILES},promote_result=on")).splitlines()
    assert not any(line.startswith("  promote_result=on:") for line in pinned)


def test_narrow_tiles_take_steps_of_one_panel_where_two_gain_little():
    few = swapped(Problem(6, 3048, 14688, "bf16", "bf16", out="bf16", b_order="nk", reads_c=False))
    choice = select(few, target("sm_90a"))
    tile = choice.schedule.block
    assert tile == choice.schedule.warp == (64, 16, 64)
    deeper = next(each for each in choice.ranking if each.schedule.block == (64, 16, 128))
    assert deeper.cost.on_gpu <= choice.compared.on_gpu < choice.cost.on_gpu < SHALLOW * choice.compared.on_gpu
    assert "close; with shorter k steps such tiles were faster" in explain(few, target("sm_90a"))
    fixed = select(few, target("sm_90a"), {"block": (64, 16, 128), "warp": (64, 16, 128)})
    assert fixed.schedule.block == (64, 16, 128) and fixed.compared == fixed.cost
