"""The tile model: published rules, legality, cost and choice."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import time
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlir_gemm.errors import InputError, ScheduleError, TargetError
from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.schedule import Schedule, Tile
from mlir_gemm.tile_model.chips import CHIPS, target
from mlir_gemm.tile_model.cost import ADDITIVE_TERMS, bank_conflicts, dram_bytes, estimate, store_conflicts
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.published import (
    is_square,
    published_block_tile,
    published_block_tiles,
    published_warp_tiles,
)
from mlir_gemm.tile_model.resources import occupancy, register_limit, registers, smem_bytes, storage
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import candidates, proposals, select, tile_sizes

H200 = target("sm_90")
CUBE = Problem(4096, 4096, 4096)
KB = 1024


class TestPublishedRules:
    def test_48_kb_of_2_byte_elements_give_128x128x64(self) -> None:
        assert published_block_tile(48 * KB, 2) == (128, 128, 64)

    def test_warp_tiles_of_128x128x64(self) -> None:
        # At most half the block tile, at least 16; 16x16 would take 64 warps, which are 2048 threads.
        expected = [(m, n, k) for m, n, k in product((64, 32, 16), (64, 32, 16), (32, 16)) if not (m == n == 16)]
        assert published_warp_tiles((128, 128, 64)) == expected

    def test_rules_leave_more_than_one_tile_and_our_order_decides(self) -> None:
        tiles = published_block_tiles(48 * KB, 2)
        assert {(128, 128, 64), (256, 256, 32), (256, 128, 32)} <= set(tiles)
        assert (128, 128, 128) not in tiles  # 5.2
        assert (256, 256, 64) not in tiles  # 5.3: 64 KB
        squares = [tile for tile in tiles if is_square(tile)]
        assert tiles[: len(squares)] == squares

    @pytest.mark.parametrize(
        ("smem", "element", "expected"),
        [
            (96 * KB, 2, (256, 256, 64)),
            (64 * KB, 2, (256, 256, 64)),
            (48 * KB, 4, (128, 128, 32)),
            (2 * KB, 2, (32, 32, 16)),
        ],
    )
    def test_other_capacities(self, smem: int, element: int, expected: Tile) -> None:
        assert published_block_tile(smem, element) == expected

    def test_too_little_memory(self) -> None:
        with pytest.raises(ValueError, match="no block tile"):
            published_block_tile(1024, 2)

    def test_warp_tiles_need_room_for_half(self) -> None:
        assert published_warp_tiles((16, 128, 64)) == []

    @given(smem=st.integers(2 * KB, 256 * KB), element=st.sampled_from([1, 2, 4]))
    def test_every_tile_meets_the_inequalities(self, smem: int, element: int) -> None:
        for m, n, k in published_block_tiles(smem, element):
            assert min(m, n) >= 2 * k
            assert (m * k + n * k) * element <= smem


class TestChips:
    def test_all_named_chips_are_there(self) -> None:
        assert {f"sm_{number}" for number in (70, 75, 80, 86, 89, 90, 100, 120)} <= set(CHIPS)

    @pytest.mark.parametrize(("spelt", "chip"), [("sm_90a", "sm_90"), ("sm_100a", "sm_100"), ("sm_120f", "sm_120")])
    def test_architecture_specific_spellings(self, spelt: str, chip: str) -> None:
        assert target(spelt) is CHIPS[chip]

    @pytest.mark.parametrize("chip", ["sm_60", "sm_80a", "sm90", "", "gfx942"])
    def test_unknown_chip(self, chip: str) -> None:
        with pytest.raises(TargetError, match="known chips: sm_70, sm_75"):
            target(chip)

    def test_unknown_chip_hints(self) -> None:
        with pytest.raises(TargetError, match="did you mean 'sm_90'"):
            target("sm90")

    @pytest.mark.parametrize("chip", CHIPS)
    def test_rows_are_sane(self, chip: str) -> None:
        row = CHIPS[chip]
        assert row.chip == chip
        assert row.smem_static <= row.smem_block <= row.smem_sm - row.smem_reserved
        assert row.threads_block <= row.threads_sm
        assert 0.3e9 < row.clock_hz < 3e9
        assert row.dram_bytes_s < row.l2_bytes_s < row.sms * 128 * row.clock_hz

    def test_h200(self) -> None:
        assert (H200.sms, H200.smem_block, H200.smem_sm) == (132, 232448, 228 * KB)


class TestResources:
    def test_shared_memory_is_the_padded_buffers(self) -> None:
        schedule = Schedule(block=(128, 256, 64), warp=(64, 64, 16))
        assert smem_bytes(CUBE, schedule) == 2 * (128 * 72 + 64 * 264)
        assert smem_bytes(CUBE, schedule.replace(stages=2)) == 2 * 2 * (128 * 72 + 64 * 264)
        assert smem_bytes(CUBE, schedule.replace(promote=False, copy="plain")) == 0

    def test_epilogue_scratch_shares_the_memory(self) -> None:
        narrow = Problem(4096, 4096, 4096, out="f16")
        small = Schedule(block=(128, 128, 16), warp=(32, 64, 16), pad=0)
        assert smem_bytes(narrow, small) == 8 * 16 * (64 + 4) * 4
        large = Schedule(block=(128, 256, 64), warp=(64, 64, 16))
        assert smem_bytes(narrow, large) == smem_bytes(CUBE, large)

    def test_storage(self) -> None:
        small, large = Schedule(), Schedule(block=(128, 256, 64), warp=(64, 64, 16))
        assert [storage(CUBE, schedule, H200) for schedule in (small, large)] == ["static", "dynamic"]
        assert storage(CUBE, small.replace(storage="dynamic"), H200) == "dynamic"

    @pytest.mark.parametrize(
        ("chip", "fields", "measured"),
        [
            ("sm_70", "block=128x128x64,warp=32x64x16", 172),
            ("sm_75", "block=128x128x64,warp=32x64x16", 172),
            ("sm_80", "block=128x128x64,warp=32x64x16", 126),
            ("sm_90", "block=128x128x64,warp=32x64x16", 128),
            ("sm_90", "block=128x256x64,warp=64x64x16,stages=2", 246),
            ("sm_90", "block=256x128x64,warp=128x32x16,stages=2", 246),
            ("sm_90", "block=64x128x128,warp=32x32x16", 124),
            ("sm_90", "block=64x128x64,warp=32x32x16,stages=2", 96),
        ],
    )
    def test_registers_against_measured_ones(self, chip: str, fields: str, measured: int) -> None:
        schedule = Schedule(**Schedule.parse(fields))
        assert registers(CUBE, schedule, target(chip)) == pytest.approx(measured, rel=0.1)

    def test_nine_warps_have_the_registers_of_twelve(self) -> None:
        assert register_limit(Schedule(block=(144, 144, 48), warp=(48, 48, 16)), H200) == 168
        assert register_limit(Schedule(block=(128, 256, 64), warp=(64, 64, 16)), H200) == 255
        assert register_limit(Schedule(block=(128, 256, 64), warp=(64, 64, 16), resident=2), H200) == 128

    def test_l1_is_what_shared_memory_leaves(self) -> None:
        one = Schedule(block=(128, 256, 64), warp=(64, 64, 16), stages=2)
        assert occupancy(CUBE, one, H200).l1 == (256 - 132) * KB
        assert all(occupancy(CUBE, LEGAL, chip).l1 >= 0 for chip in CHIPS.values())

    def test_occupancy_names_its_limit(self) -> None:
        taken = occupancy(CUBE, Schedule(block=(128, 128, 64), warp=(32, 64, 16)), H200)
        assert (taken.blocks, taken.limit) == (2, "registers")
        taken = occupancy(CUBE, Schedule(block=(64, 64, 128), warp=(32, 64, 16), stages=2), target("sm_86"))
        assert (taken.blocks, taken.limit) == (1, "shared memory")


LEGAL = Schedule(block=(128, 128, 64), warp=(32, 64, 16))


class TestRules:
    def test_a_legal_schedule(self) -> None:
        assert violations(CUBE, LEGAL, H200) == []

    def test_published_rules_are_no_legality(self) -> None:
        one_warp = Schedule(block=(64, 64, 64), warp=(64, 64, 16), copy="plain")
        assert violations(CUBE, one_warp, H200) == []

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"block": (96, 128, 64)}, r"block=96x128x64: its m of 96 must divide M=4096 .* the nearest: 64 or 128"),
            ({"block": (128, 128, 40)}, r"its k of 40 must be a multiple of the warp tile's 16 .*: 32 or 48"),
            (
                {"warp": (24, 64, 16)},
                r"warp=24x64x16: its m of 24 must be a multiple of the instruction's 16.*: 16 or 32",
            ),
            ({"warp": (16, 16, 16)}, r"64 warps are 2048 threads, a block has at most 1024"),
            ({"warp": (128, 128, 16)}, r"registers a thread, at most 255"),
            ({"instruction": (8, 32, 16)}, r"instruction=8x32x16: operator wmma has 16x16x16"),
            ({"stages": 3}, r"stages=3: expected 1 or 2"),
            ({"promote": False, "copy": "plain", "stages": 2}, r"stages=2 with promote=off"),
            ({"promote": False}, r"copy=prefetch with promote=off.*expected copy=plain"),
            ({"pad": 4}, r"pad=4: rows must stay aligned to the 128-bit vectors.*the nearest: 0 or 8"),
            ({"pad": 4, "vector": 64}, r"pad=4: WMMA needs rows .* multiple of 8 elements .*the nearest: 0 or 8"),
            ({"block": (128, 128, 16), "warp": (16, 32, 16)}, r"vector=128: the 128x16 tile of A .*nearest: vector=32"),
            (
                {"stages": 2, "storage": "static"},
                r"storage=static: .*71680 bytes.* at most 49152; expected storage=dynamic",
            ),
            ({"block": (256, 256, 128), "warp": (64, 64, 16), "stages": 2}, r"the block needs 274432 bytes .*232448"),
            (
                {"block": (256, 256, 64), "warp": (64, 64, 16)},
                r"registers a thread, but 512 threads have 128 each on an SM",
            ),
            ({"resident": 3}, r"resident=3, .* but 3 blocks of 256 threads have 80 each .* fewer resident blocks"),
            ({"resident": 20}, r"resident=20: .* places for 6 blocks of 256 threads .* the nearest: 6"),
        ],
    )
    def test_refusals_hold_value_rule_and_nearest(self, changes: dict[str, Any], reason: str) -> None:
        found = violations(CUBE, LEGAL.replace(**changes), H200)
        assert any(re.search(reason, line) for line in found), found

    def test_accumulate_off_needs_f32(self) -> None:
        schedule = LEGAL.replace(accumulate=False)
        assert violations(CUBE, schedule, H200) == []
        assert "must be f32" in violations(Problem(4096, 4096, 4096, out="f16"), schedule, H200)[0]

    def test_operators_and_copies_are_the_chips(self) -> None:
        bare = dataclasses.replace(H200, operators=(), copies=("plain",))
        assert [
            "operator=wmma" in violations(CUBE, LEGAL, bare)[0],
            "copy=prefetch" in violations(CUBE, LEGAL, bare)[1],
        ]

    def test_grid(self) -> None:
        huge = Problem(2**20, 2**20, 16)
        tiny = Schedule(block=(16, 16, 16), warp=(16, 16, 16))
        assert "4294967296 blocks in the grid" in violations(huge, tiny, H200)[0]


SPILLED = (
    # Kernels that spill when assembled for sm_90, with f32 or f16 results: sizes, schedule.
    ((256, 128, 128), "block=128x128x64,warp=64x64x16,stages=2"),
    ((640, 512, 192), "block=128x256x64,warp=32x64x16,stages=2"),
    ((512, 256, 256), "block=128x256x64,warp=32x32x16,stages=2,copy=plain"),
    ((1024, 384, 192), "block=128x128x96,warp=32x128x16"),
    ((1024, 1024, 1024), "block=256x128x128,warp=64x64x16,stages=2"),
    ((4096, 4096, 4096), "block=64x256x128,warp=32x128x16"),
    ((1024, 384, 192), "block=128x64x48,warp=64x64x16"),
    ((4096, 4096, 4096), "block=128x128x64,warp=64x32x16,stages=2,resident=2"),
    ((8192, 8192, 8192), "block=128x256x64,warp=64x64x16,vector=16"),
)


@pytest.mark.parametrize(("sizes", "fields"), SPILLED)
def test_what_spilled_is_illegal(sizes: tuple[int, int, int], fields: str) -> None:
    found = violations(Problem(*sizes), Schedule(**Schedule.parse(fields)), H200)
    assert found and "registers a thread" in found[0]


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
    "block=128x256x64,warp=64x64x16,promote=off,copy=plain": 108,
    "block=128x128x64,warp=64x32x16,promote=off,copy=plain": 75,
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
        chosen = select(problem, H200).schedule.replace(group=Schedule.group)
        assert measured[chosen] >= 0.95 * max(measured.values())

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
        assert sum(getattr(cost, term) for term in ADDITIVE_TERMS) == pytest.approx(cost.total)
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
        bare = LEGAL.replace(promote=False, copy="plain")
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

    def test_thousands_of_candidates_a_tenth_of_a_second(self) -> None:
        start = time.process_time()
        for _ in range(3000):
            estimate(CUBE, LEGAL, H200)
        assert time.process_time() - start < 0.1


SIZES = (16, 48, 80, 1008, 8192)
SIXTEENTHS = st.integers(1, 512).map(lambda count: 16 * count)


class TestSelect:
    @pytest.mark.parametrize("out", ["f16", "f32"])
    @pytest.mark.parametrize("chip", CHIPS)
    def test_every_chip_and_problem_gets_a_legal_schedule(self, chip: str, out: str) -> None:
        for m, n, k in product(SIZES, SIZES, SIZES):
            problem = Problem(m, n, k, out=out)
            assert violations(problem, select(problem, CHIPS[chip]).schedule, CHIPS[chip]) == []

    @settings(max_examples=200, deadline=None)
    @given(
        m=SIXTEENTHS,
        n=SIXTEENTHS,
        k=SIXTEENTHS,
        chip=st.sampled_from(sorted(CHIPS)),
        out=st.sampled_from(["f16", "f32"]),
    )
    def test_never_illegal(self, m: int, n: int, k: int, chip: str, out: str) -> None:
        problem = Problem(m, n, k, out=out)
        choice = select(problem, CHIPS[chip])
        for candidate in choice.ranking:
            assert violations(problem, candidate.schedule, CHIPS[chip]) == []

    @settings(max_examples=200, deadline=None)
    @given(
        m=SIXTEENTHS,
        n=SIXTEENTHS,
        k=SIXTEENTHS,
        chip=st.sampled_from(sorted(CHIPS)),
        pinned=st.fixed_dictionaries(
            {},
            optional={
                "block": st.tuples(*3 * [st.sampled_from([16, 32, 48, 64, 100, 128])]),
                "warp": st.tuples(*2 * [st.sampled_from([16, 32, 64])], st.just(16)),
                "stages": st.integers(1, 3),
                "promote": st.booleans(),
                "copy": st.sampled_from(["plain", "prefetch"]),
                "pad": st.sampled_from([0, 4, 8, 16]),
                "vector": st.sampled_from([16, 32, 64, 128]),
                "storage": st.sampled_from(["auto", "static", "dynamic"]),
                "unroll": st.booleans(),
            },
        ),
    )
    def test_pinned_fields_stay_or_it_refuses(self, m: int, n: int, k: int, chip: str, pinned: dict[str, Any]) -> None:
        problem = Problem(m, n, k)
        try:
            choice = select(problem, CHIPS[chip], pinned)
        except ScheduleError as error:
            assert error.message.startswith("no legal schedule for")
            return
        assert {name: getattr(choice.schedule, name) for name in pinned} == pinned
        assert violations(problem, choice.schedule, CHIPS[chip]) == []

    def test_choice_is_the_least(self) -> None:
        choice = select(CUBE, H200)
        totals = [estimate(CUBE, schedule, H200).total for schedule in candidates(CUBE, H200, {})]
        assert choice.cost.total <= min(totals) * 1.001
        assert choice.ranking[0].schedule == choice.schedule
        assert choice.considered == len(totals)

    def test_choice_is_at_least_as_good_as_the_published_tile(self) -> None:
        problem = Problem(4096, 4096, 4096, reads_c=False)
        published = min(
            estimate(problem, Schedule(block=(128, 128, 64), warp=warp), H200).total
            for warp in published_warp_tiles((128, 128, 64))
        )
        assert select(problem, H200).cost.total <= published

    def test_the_same_question_gets_the_same_answer(self) -> None:
        assert select(CUBE, H200).schedule == select(CUBE, H200).schedule

    def test_exact_schedule_is_refused_with_its_own_reasons(self) -> None:
        with pytest.raises(ScheduleError) as caught:
            select(CUBE, H200, {"block": (128, 128, 64), "warp": (16, 16, 16)})
        assert "block=128x128x64, warp=16x16x16: 64 warps are 2048 threads" in caught.value.message

    @pytest.mark.parametrize(
        ("pinned", "reason"),
        [
            ({"block": (100, 128, 64)}, "its m of 100"),
            ({"block": (256, 256, 128)}, "registers"),
            ({"warp": (24, 16, 16)}, "the nearest: 16 or 32"),
            ({"pad": 4}, "the nearest: 0 or 8"),
            ({"stages": 3}, "stages=3"),
            ({"promote": False, "copy": "prefetch"}, "expected copy=plain"),
        ],
    )
    def test_refusals_blame_the_pinned_field(self, pinned: dict[str, Any], reason: str) -> None:
        with pytest.raises(ScheduleError) as caught:
            select(CUBE, H200, pinned)
        assert reason in caught.value.message

    @pytest.mark.parametrize(
        ("problem", "reason"),
        [
            (
                Problem(100, 128, 128),
                "M=100 is not supported: sizes must be multiples of 16 for now.*nearest: 96 or 112",
            ),
            (Problem(128, 8, 128), "N=8 .*nearest: 16"),
            (Problem(128, 128, 0), "K=0"),
            (Problem(128, 128, 128, a="bf16", b="bf16"), "types bf16,bf16"),
            (Problem(128, 128, 128, out="f64"), "result type f64"),
        ],
    )
    def test_problems_it_cannot_do(self, problem: Problem, reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            select(problem, H200)

    def test_prefetch_gives_way_when_registers_end(self) -> None:
        assert select(CUBE, H200, {"block": (256, 128, 128)}).schedule.copy == "plain"

    def test_tile_sizes(self) -> None:
        assert tile_sizes(4096) == [256, 128, 64, 32, 16]
        assert tile_sizes(48) == [48, 16]
        assert tile_sizes(1008) == [144, 112, 48, 16]

    @pytest.mark.parametrize(
        ("tiles", "group"),
        [
            # The square root of the blocks in flight, times that of the tile's width over its height.
            ({"block": (128, 256, 64), "warp": (64, 64, 16)}, 16),
            ({"block": (256, 128, 64), "warp": (64, 64, 16)}, 8),
            ({"block": (128, 128, 64), "warp": (64, 64, 16)}, 16),
        ],
    )
    def test_group_makes_the_blocks_in_flight_a_square(self, tiles: dict[str, Any], group: int) -> None:
        problem = Problem(8192, 8192, 8192)
        chosen = select(problem, H200, tiles).schedule
        assert chosen.group == group
        least = min(range(1, 65), key=lambda g: dram_bytes(problem, chosen.replace(group=g), H200, 1))
        assert dram_bytes(problem, chosen, H200, 1) <= 1.1 * dram_bytes(problem, chosen.replace(group=least), H200, 1)

    def test_groups_share_the_tile_rows_evenly(self) -> None:
        for m in (128 * count for count in range(1, 40)):
            schedule = select(Problem(m, 4096, 4096), H200).schedule
            rows = m // schedule.block[0]
            groups = -(-rows // schedule.group)
            assert groups * schedule.group - rows < groups

    def test_users_group_stays(self) -> None:
        assert select(CUBE, H200, {"group": 3}).schedule.group == 3
        assert {candidate.schedule.group for candidate in select(CUBE, H200, {"group": 3}).ranking} == {3}

    @pytest.mark.parametrize(
        ("chip", "sizes"),
        [
            # Problems whose choice spilled once: short loops, copies that are not even, 9 warps.
            ("sm_75", (960, 960, 960)),
            ("sm_80", (4096, 4096, 128)),
            ("sm_87", (960, 960, 960)),
            ("sm_87", (1008, 1008, 1008)),
            ("sm_90", (1024, 384, 192)),
        ],
    )
    def test_choice_does_not_spill(self, chip: str, sizes: tuple[int, int, int]) -> None:
        m, n, k = sizes
        a, b, c = f"memref<{m}x{k}xf16>", f"memref<{k}x{n}xf16>", f"memref<{m}x{n}xf32>"
        ptx = compile_module(
            f"func.func @f(%A: {a}, %B: {b}, %C: {c}) {{ linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {c}) return }}",
            chip=chip,
        ).ptx
        assert ptx is not None
        usage = assembler.usage(ptx, chip)
        if usage is None:
            pytest.skip(f"no ptxas that knows {chip}")
        assert usage.spill_bytes == 0

    def test_rejections_have_reasons(self) -> None:
        rejected = select(CUBE, H200).rejected
        assert {"registers_fit", "threads_fit"} <= {rejection.rule for rejection in rejected}
        assert all(rejection.reason for rejection in rejected)

    def test_wide_search_holds_the_narrow_one(self) -> None:
        problem = Problem(1008, 512, 80)
        assert set(proposals(problem, H200, {})) <= set(proposals(problem, H200, {}, wide=True))

    @pytest.mark.parametrize("size", [512, 960, 4096])
    def test_takes_less_than_100_ms(self, size: int) -> None:
        problem = Problem(size, size, size)
        times: list[float] = []
        for _ in range(3):
            start = time.process_time()
            select(problem, H200)
            times.append(time.process_time() - start)
        assert min(times) < 0.1

    def test_imports_neither_numpy_nor_bindings(self) -> None:
        code = (
            "import sys, mlir_gemm.tile_model.explain; print({'numpy', 'numba_cuda_mlir', 'mlir'} & set(sys.modules))"
        )
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout.strip() == "set()"


class TestExplain:
    def test_holds_every_section(self) -> None:
        text = explain(Problem(4096, 4096, 4096), H200, {"stages": 1})
        choice = select(Problem(4096, 4096, 4096), H200, {"stages": 1})
        for part in (
            "4096x4096x4096 f16,f16->f32",
            str(choice.schedule),
            "pinned    stages",
            "tensor cores",
            "registers a thread",
            "waves",
            "lost because",
            "registers_fit",
            "the published rules alone, for 48 KB: block 128x128x64",
        ):
            assert part in text

    @pytest.mark.parametrize("chip", CHIPS)
    def test_every_chip(self, chip: str) -> None:
        assert chip in explain(Problem(48, 80, 1008, out="f16"), CHIPS[chip])

    def test_published_tile_that_does_not_fit_says_why(self) -> None:
        assert "not legal here: block=128x128x64: its m of 128 must divide M=48" in explain(Problem(48, 80, 1008), H200)

    def test_lines_are_bare_of_trailing_blanks(self) -> None:
        text = explain(CUBE, H200)
        assert all(line == line.rstrip() for line in text.splitlines())
