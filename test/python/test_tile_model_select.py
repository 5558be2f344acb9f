"""The choice of a schedule for `wmma`."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import Any

import pytest
from assembled import usage
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from work_done import calls

from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.mma.wmma.search import proposals, tile_sizes
from mlir_gemm.parts.traffic import dram_bytes
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import CHIPS, target
from mlir_gemm.tile_model.completing import best_group
from mlir_gemm.tile_model.published import published_warp_tiles
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import candidates, estimate, select

H200 = target("sm_90")
CUBE = Problem(4096, 4096, 4096)
WMMA: dict[str, Any] = {"mma": "wmma"}

SIZES = (16, 48, 80, 1008, 8192)
SIXTEENTHS = st.integers(1, 512).map(lambda count: 16 * count)


class TestSelect:
    @pytest.mark.parametrize("out", ["f16", "f32"])
    @pytest.mark.parametrize("chip", CHIPS)
    def test_every_chip_and_problem_gets_a_legal_schedule(self, chip: str, out: str) -> None:
        """Every two sizes of a product meet on each chip, every three on some."""
        shift = list(CHIPS).index(chip)
        for first, second in product(range(len(SIZES)), repeat=2):
            m, n, k = SIZES[first], SIZES[second], SIZES[(first + second + shift) % len(SIZES)]
            problem = Problem(m, n, k, out=out)
            assert violations(problem, select(problem, CHIPS[chip]).schedule, CHIPS[chip]) == []

    @settings(max_examples=draws(80), deadline=None)
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

    @settings(max_examples=draws(100), deadline=None)
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
                "mainloop": st.sampled_from(["direct", "register_prefetch"]),
                "pad": st.sampled_from([0, 4, 8, 16]),
                "vector": st.sampled_from([16, 32, 64, 128]),
                "storage": st.sampled_from(["auto", "static", "dynamic"]),
                "unroll": st.booleans(),
            },
        ),
    )
    def test_pinned_fields_stay_or_it_refuses(self, m: int, n: int, k: int, chip: str, pinned: dict[str, Any]) -> None:
        problem = Problem(m, n, k)
        pinned = {**WMMA, **pinned}
        try:
            choice = select(problem, CHIPS[chip], pinned)
        except ScheduleError as error:
            assert error.message.startswith("no legal schedule for")
            return
        assert {name: getattr(choice.schedule, name) for name in pinned} == pinned
        assert violations(problem, choice.schedule, CHIPS[chip]) == []

    def test_choice_is_the_least(self) -> None:
        choice = select(CUBE, H200, WMMA)
        totals = [candidate.cost.total for candidate in candidates(CUBE, H200, WMMA)]
        assert choice.cost.total <= min(totals) * 1.001
        assert choice.ranking[0].schedule == choice.schedule
        assert choice.considered == len(totals)

    def test_choice_is_at_least_as_good_as_the_published_tile(self) -> None:
        problem = Problem(4096, 4096, 4096, reads_c=False)
        published = min(
            estimate(problem, Schedule(block=(128, 128, 64), warp=warp), H200).total
            for warp in published_warp_tiles((128, 128, 64))
        )
        assert select(problem, H200, WMMA).cost.total <= published

    def test_the_same_question_gets_the_same_answer(self) -> None:
        assert select(CUBE, H200).schedule == select(CUBE, H200).schedule

    def test_exact_schedule_is_refused_with_its_own_reasons(self) -> None:
        with pytest.raises(ScheduleError) as caught:
            select(CUBE, H200, {**WMMA, "block": (128, 128, 64), "warp": (16, 16, 16)})
        assert "block=128x128x64, warp=16x16x16: 64 warps are 2048 threads" in caught.value.message

    @pytest.mark.parametrize(
        ("pinned", "reason"),
        [
            ({"block": (100, 128, 64)}, "its m of 100"),
            ({"block": (256, 256, 128)}, "registers"),
            ({"warp": (24, 16, 16)}, "the nearest: 16 or 32"),
            ({"pad": 4}, "the nearest: 0 or 8"),
            ({"stages": 3}, "stages=3"),
            ({"promote": False, "mainloop": "register_prefetch"}, "expected mainloop=direct"),
        ],
    )
    def test_refusals_blame_the_pinned_field(self, pinned: dict[str, Any], reason: str) -> None:
        with pytest.raises(ScheduleError) as caught:
            select(CUBE, H200, {**WMMA, **pinned})
        assert reason in caught.value.message

    def test_prefetch_gives_way_when_registers_end(self) -> None:
        assert select(CUBE, H200, {**WMMA, "block": (256, 128, 128)}).schedule.mainloop == "direct"

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
        chosen = select(problem, H200, {**WMMA, **tiles}).schedule
        assert chosen.raster_group == group
        least = min(range(1, 65), key=lambda g: dram_bytes(problem, chosen.replace(raster_group=g), H200, 1))
        assert dram_bytes(problem, chosen, H200, 1) <= 1.1 * dram_bytes(
            problem, chosen.replace(raster_group=least), H200, 1
        )

    def test_groups_share_the_tile_rows_evenly(self) -> None:
        for m in (128 * count for count in range(1, 40)):
            schedule = select(Problem(m, 4096, 4096), H200, WMMA).schedule
            rows = m // schedule.block[0]
            groups = -(-rows // schedule.raster_group)
            assert groups * schedule.raster_group - rows < groups

    @pytest.mark.parametrize(
        ("rows", "columns", "group"),
        [
            (32, 32, 8),  # 11, 11 and 10 would be nearer to a square
            (64, 64, 8),
            (33, 33, 11),
            (37, 32, 13),  # a prime number of rows is shared evenly
            (16, 16, 8),  # on an H100 0.90 to 0.95 of the time of one group
        ],
    )
    def test_groups_divide_the_tile_rows_where_they_can(self, rows: int, columns: int, group: int) -> None:
        hopper = target("sm_90a")
        fields = {"block": (128, 128, 64), "warp": (128, 128, 64), "ping_pong": True, "persistent": 132}
        schedule = select(Problem(1024, 1024, 1024, reads_c=False), hopper, fields).schedule
        assert best_group(Problem(128 * rows, 128 * columns, 1024, reads_c=False), schedule, hopper) == group

    def test_users_group_stays(self) -> None:
        assert select(CUBE, H200, {"raster_group": 3}).schedule.raster_group == 3
        assert {candidate.schedule.raster_group for candidate in select(CUBE, H200, {"raster_group": 3}).ranking} == {3}

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
            schedule=WMMA,
        ).ptx
        assert ptx is not None
        assert usage(ptx, chip).spill_bytes == 0

    def test_rejections_have_reasons(self) -> None:
        rejected = select(CUBE, H200, WMMA).rejected
        assert {"registers_fit", "threads_fit"} <= {rejection.rule for rejection in rejected}
        assert all(rejection.reason for rejection in rejected)

    def test_wide_search_holds_the_narrow_one(self) -> None:
        problem = Problem(1008, 512, 80)
        assert set(proposals(problem, H200, {}, wide=False)) <= set(proposals(problem, H200, {}, wide=True))

    @pytest.mark.parametrize("size", [512, 960, 4096])
    def test_does_little(self, size: int) -> None:
        problem = Problem(size, size, size)
        """550,000 calls at most when this was written."""
        assert calls(lambda: select(problem, H200, WMMA)) < 850_000

    def test_imports_neither_numpy_nor_bindings(self) -> None:
        code = (
            "import sys, mlir_gemm.tile_model.explain; print({'numpy', 'numba_cuda_mlir', 'mlir'} & set(sys.modules))"
        )
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout.strip() == "set()"
