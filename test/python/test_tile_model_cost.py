"""The cost of `wmma`, against what was measured."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_done import calls

from mlir_gemm.parts.fields import normalised
from mlir_gemm.parts.layout import bank_conflicts, store_conflicts
from mlir_gemm.parts.traffic import dram_bytes
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate, select

H200 = target("sm_90")
CUBE = Problem(4096, 4096, 4096)
LEGAL = Schedule(block=(128, 128, 64), warp=(32, 64, 16))
WMMA: dict[str, Any] = {"mma": "wmma"}

MEASURED = {
    # TFLOP/s on the H200 at the squares below, f16 in, f32 out, C not read; 0 where it was not measured.
    "block=128x256x64,warp=64x64x16,stages=2": (73, 310, 357, 348),
    "block=128x256x64,warp=64x64x16": (73, 307, 354, 342),
    "block=128x128x64,warp=64x64x16,stages=2": (100, 302, 337, 329),
    "block=128x256x64,warp=128x32x16,stages=2": (70, 293, 340, 322),
    "block=128x256x64,warp=32x128x16,stages=2": (70, 288, 327, 315),
    "block=128x256x32,warp=64x64x16,stages=2": (64, 268, 306, 300),
    "block=128x128x64,warp=64x32x16,stages=2": (103, 281, 301, 282),
    "block=128x128x64,warp=32x64x16": (99, 273, 297, 274),
    "block=128x128x128,warp=64x32x16,stages=2": (112, 270, 291, 287),
    "block=64x128x64,warp=32x32x16,stages=2": (135, 216, 227, 219),
    "block=64x128x128,warp=32x32x16": (137, 212, 229, 219),
    "block=64x128x128,warp=32x32x16,stages=2": (120, 196, 211, 203),
    "block=256x64x32,warp=128x32x16,stages=2": (70, 204, 225, 218),
    "block=64x64x64,warp=32x32x16,stages=2": (132, 192, 204, 0),
    "block=32x64x64,warp=16x32x16,stages=2": (104, 129, 0, 0),
    "block=32x32x64,warp=16x16x16": (71, 85, 0, 0),
}
SQUARES = (1024, 2048, 4096, 8192)

ABLATED = {
    # TFLOP/s at 8192 with one optimisation off, as first measured.
    "block=128x256x64,warp=64x64x16,pad=0": 106,
    "block=128x128x64,warp=64x32x16,pad=0": 72,
    "block=128x256x64,warp=64x64x16,accumulate=off": 80,
    "block=128x256x64,warp=64x64x16,promote=off,mainloop=direct": 108,
    "block=128x128x64,warp=64x32x16,promote=off,mainloop=direct": 75,
}


def measured_at(size: int) -> tuple[Problem, dict[Schedule, float]]:
    """The problem of a square, and what was measured there."""
    column = SQUARES.index(size)
    found = {Schedule(**Schedule.parse(fields)): rates[column] for fields, rates in MEASURED.items()}
    return Problem(size, size, size, reads_c=False), {schedule: rate for schedule, rate in found.items() if rate}


class TestCost:
    @pytest.mark.parametrize("size", SQUARES)
    def test_within_17_percent_of_what_was_measured(self, size: int) -> None:
        problem, measured = measured_at(size)
        for schedule, rate in measured.items():
            assert estimate(problem, schedule, H200).tflops(problem) == pytest.approx(rate, rel=0.17)

    @pytest.mark.parametrize("size", SQUARES)
    def test_same_order_as_measured(self, size: int) -> None:
        problem, measured = measured_at(size)
        for faster, slower in product(measured, measured):
            if measured[faster] > 1.12 * measured[slower]:
                assert estimate(problem, faster, H200).total < estimate(problem, slower, H200).total

    @pytest.mark.parametrize("size", SQUARES)
    def test_choice_is_among_the_best_measured(self, size: int) -> None:
        problem, measured = measured_at(size)
        chosen = select(problem, H200, WMMA).schedule.replace(raster_group=Schedule.raster_group)
        assert {normalised(each, {}): rate for each, rate in measured.items()}[chosen] >= 0.95 * max(measured.values())

    @pytest.mark.parametrize("fields", ABLATED)
    def test_ablations(self, fields: str) -> None:
        problem = Problem(8192, 8192, 8192)
        predicted = estimate(problem, Schedule(**Schedule.parse(fields)), H200).tflops(problem)
        assert predicted == pytest.approx(ABLATED[fields], rel=0.12)

    def test_early_loads_pay(self) -> None:
        for stages in (1, 2):
            early = Schedule(block=(128, 256, 64), warp=(64, 64, 16), stages=stages)
            ratio = estimate(CUBE, early.replace(early=False), H200).total / estimate(CUBE, early, H200).total
            assert 1.005 < ratio < 1.15

    def test_rows_shorter_than_the_banks_conflict_when_stored(self) -> None:
        # 64 columns of f16 fill 128 bytes; 32 columns padded to 40 put the second row partly on the first's banks.
        assert [store_conflicts(2 * n, 2 * (n + 8)) for n in (16, 32, 64, 128)] == [2, 2, 1, 1]

    def test_terms_add_up(self) -> None:
        cost = estimate(CUBE, LEGAL, H200)
        assert sum(getattr(cost, term) for term in cost.ADDITIVE) == pytest.approx(cost.total)
        assert cost.overlapped >= max(cost.tensor, cost.shared, cost.l2, cost.dram)

    @pytest.mark.parametrize(
        "elements,times", [(72, 1), (136, 1), (264, 1), (64, 8), (128, 8), (256, 8), (32, 4), (16, 2)]
    )
    def test_bank_conflicts(self, elements: int, times: int) -> None:
        assert bank_conflicts(2 * elements) == times

    @pytest.mark.parametrize("changes", [{"unroll": False}, {"vector": 16}, {"accumulate": False}, {"pad": 0}])
    def test_each_optimisation_pays(self, changes: dict[str, Any]) -> None:
        assert estimate(CUBE, LEGAL.replace(**changes), H200).total > estimate(CUBE, LEGAL, H200).total

    def test_no_promotion_costs(self) -> None:
        bare = LEGAL.replace(promote=False, mainloop="direct")
        assert estimate(CUBE, bare, H200).total > estimate(CUBE, LEGAL, H200).total

    @given(size=st.integers(1, 64), factor=st.integers(2, 4), axis=st.sampled_from(["m", "n", "k"]))
    def test_more_work_takes_longer(self, size: int, factor: int, axis: str) -> None:
        small = Problem(512, 512, 128 * size)
        large = dataclasses.replace(small, **{axis: factor * getattr(small, axis)})
        assert estimate(large, LEGAL, H200).total >= estimate(small, LEGAL, H200).total

    def test_a_better_chip_is_faster(self) -> None:
        for field in ("clock_hz", "tensor_flops_clock_sm", "l2_bytes_s", "dram_bytes_s"):
            better = dataclasses.replace(H200, **{field: 2 * getattr(H200, field)})
            assert estimate(CUBE, LEGAL, better).total < estimate(CUBE, LEGAL, H200).total

    def test_grouped_raster_reads_less_from_dram(self) -> None:
        problem = Problem(16384, 16384, 16384)
        grouped, row = (dram_bytes(problem, LEGAL.replace(raster=raster), H200, 2) for raster in ("grouped", "row"))
        assert grouped < row

    def test_thousands_of_candidates_can_be_scored(self) -> None:
        """137 calls each when this was written."""
        estimate(CUBE, LEGAL, H200)  # finds the parts
        assert calls(lambda: estimate(CUBE, LEGAL, H200)) < 210
