"""The tile model: published rules, chips, resources and legality of `wmma`, and the choice as text."""

from __future__ import annotations

import dataclasses
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_gemm.errors import TargetError
from mlir_gemm.parts.registers import register_limit, registers
from mlir_gemm.parts.registry import mainloops_on, mmas_on
from mlir_gemm.parts.resources import occupancy, smem_bytes, storage
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.tile_model.chips import CHIPS, target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.published import is_square, published_block_tile, published_block_tiles, published_warp_tiles
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select

H200 = target("sm_90")
CUBE = Problem(4096, 4096, 4096)
KB = 1024
WMMA: dict[str, Any] = {"mma": "wmma"}


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

    @pytest.mark.parametrize(("spelt", "chip"), [("sm_100a", "sm_100"), ("sm_100f", "sm_100"), ("sm_120f", "sm_120")])
    def test_architecture_specific_chips_are_chips_of_their_own(self, spelt: str, chip: str) -> None:
        found = target(spelt)
        assert (found.chip, found.generation) == (spelt, CHIPS[chip].generation)
        assert dataclasses.replace(found, chip=chip) == CHIPS[chip]

    def test_sm_90a_is_sm_90_with_wgmma_and_the_copy_engine(self) -> None:
        plain, own = target("sm_90"), target("SM_90a")
        assert (own.chip, own.generation) == ("sm_90a", 90)
        assert {each.name for each in mmas_on(own)} - {each.name for each in mmas_on(plain)} == {"wgmma"}
        assert {each.name for each in mainloops_on(own)} - {each.name for each in mainloops_on(plain)} == {"tma"}
        same = {"chip": plain.chip, "capabilities": plain.capabilities, "features": plain.features}
        assert dataclasses.replace(own, **same) == plain

    @pytest.mark.parametrize("chip", ["sm_60", "sm_80a", "sm90", "", "gfx906"])
    def test_unknown_chip(self, chip: str) -> None:
        with pytest.raises(TargetError, match="known chips: sm_70, sm_72"):
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
        assert smem_bytes(CUBE, schedule.replace(promote=False, mainloop="direct")) == 0

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
        assert register_limit(Schedule(block=(128, 256, 64), warp=(64, 64, 16), min_blocks=2), H200) == 128

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
        one_warp = Schedule(block=(64, 64, 64), warp=(64, 64, 16), mainloop="direct")
        assert violations(CUBE, one_warp, H200) == []

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"block": (96, 128, 64)}, r"block=96x128x64: its m of 96 must divide M=4096 .*the nearest: 64 or 128"),
            ({"block": (128, 128, 40)}, r"its k of 40 must be a multiple of the warp tile's 16 .*: 32 or 48"),
            (
                {"warp": (24, 64, 16)},
                r"warp=24x64x16: its m of 24 must be a multiple of the instruction's 16.*: 16 or 32",
            ),
            ({"warp": (16, 16, 16)}, r"64 warps are 2048 threads, a block has at most 1024"),
            ({"warp": (128, 128, 16)}, r"registers a thread, at most 255"),
            ({"instruction": (16, 8, 16)}, r"instruction=16x8x16: mma=wmma has 16x16x16 or 32x8x16 or 8x32x16"),
            ({"instruction": (32, 8, 16), "warp": (16, 64, 16)}, r"its m of 16 must be a multiple .* 32; .*: 32"),
            ({"instruction": (8, 32, 16), "warp": (64, 16, 16)}, r"its n of 16 must be a multiple .* 32; .*: 32"),
            ({"stages": 3}, r"stages=3: expected 1 or 2 with mainloop=register_prefetch"),
            ({"promote": False, "mainloop": "direct", "stages": 2}, r"stages=2 with promote=off"),
            ({"promote": False}, r"mainloop=register_prefetch with promote=off.*expected mainloop=direct"),
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
            ({"min_blocks": 3}, r"min_blocks=3, .* but 3 blocks of 256 threads have 80 each .* fewer resident blocks"),
            ({"min_blocks": 20}, r"min_blocks=20: .* places for 6 blocks of 256 threads .* the nearest: 6"),
        ],
    )
    def test_refusals_hold_value_rule_and_nearest(self, changes: dict[str, Any], reason: str) -> None:
        found = violations(CUBE, LEGAL.replace(**changes), H200)
        assert any(re.search(reason, line) for line in found), found

    def test_accumulate_off_needs_f32(self) -> None:
        schedule = LEGAL.replace(accumulate=False)
        assert violations(CUBE, schedule, H200) == []
        assert "must be f32" in violations(Problem(4096, 4096, 4096, out="f16"), schedule, H200)[0]

    def test_mmas_and_copies_are_the_chips(self) -> None:
        bare = dataclasses.replace(H200, capabilities=frozenset())
        reasons = violations(CUBE, LEGAL.replace(mainloop="cp_async", stages=3), bare)
        assert reasons[0] == "mma=wmma: sm_90 has simt"
        assert reasons[1] == "mainloop=cp_async: sm_90 has register_prefetch, direct"

    def test_grid(self) -> None:
        huge = Problem(2**20, 2**20, 16)
        tiny = Schedule(block=(16, 16, 16), warp=(16, 16, 16))
        assert "4294967296 blocks in the grid" in violations(huge, tiny, H200)[0]


SPILLED = (
    # Kernels that spill when assembled for sm_90, with f32 or f16 results: sizes, schedule.
    ((256, 128, 128), "block=128x128x64,warp=64x64x16,stages=2"),
    ((640, 512, 192), "block=128x256x64,warp=32x64x16,stages=2"),
    ((512, 256, 256), "block=128x256x64,warp=32x32x16,stages=2,mainloop=direct"),
    ((1024, 384, 192), "block=128x128x96,warp=32x128x16"),
    ((1024, 1024, 1024), "block=256x128x128,warp=64x64x16,stages=2"),
    ((4096, 4096, 4096), "block=64x256x128,warp=32x128x16"),
    ((1024, 384, 192), "block=128x64x48,warp=64x64x16"),
    ((4096, 4096, 4096), "block=128x128x64,warp=64x32x16,stages=2,min_blocks=2"),
    ((8192, 8192, 8192), "block=128x256x64,warp=64x64x16,vector=16"),
)


@pytest.mark.parametrize(("sizes", "fields"), SPILLED)
def test_what_spilled_is_illegal(sizes: tuple[int, int, int], fields: str) -> None:
    found = violations(Problem(*sizes), Schedule(**Schedule.parse(fields)), H200)
    assert found and "registers a thread" in found[0]


class TestExplain:
    def test_holds_every_section(self) -> None:
        text = explain(Problem(4096, 4096, 4096), H200, {**WMMA, "stages": 1})
        choice = select(Problem(4096, 4096, 4096), H200, {**WMMA, "stages": 1})
        for part in (
            "4096x4096x4096 f16,f16->f32",
            str(choice.schedule),
            "pinned    mma, stages",
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
        assert "not legal here: block=128x128x64: its m of 128 must divide M=48" in explain(
            Problem(48, 80, 1008), H200, WMMA
        )

    def test_lines_are_bare_of_trailing_blanks(self) -> None:
        text = explain(CUBE, H200)
        assert all(line == line.rstrip() for line in text.splitlines())
