"""The cost of `wgmma`: that its terms follow what they stand for, that it chooses the kernels that were fastest on an
H200, and which mma is chosen for what."""

from __future__ import annotations

import dataclasses
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mma_order import choose_anew

from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants
from mlir_gemm.parts.mma.wgmma.cost import WgmmaCost, norm
from mlir_gemm.parts.mma.wgmma.work import Work, in_two_steps, work_of
from mlir_gemm.parts.registry import mmas
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.invariance import invariant
from mlir_gemm.tile_model.relayout import best_mma, relaid, relayout_advice
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import WORTH, candidates, estimate, select

H200 = target("sm_90a")
PLAIN = target("sm_90")


def aligned(size: int, bytes_: int = 2) -> int:
    """Bits of the widest vector that rows of `size` elements are aligned to."""
    bits = 8 * size * bytes_
    return min(128, bits & -bits)


def problem(m: int, n: int, k: int, b_order: str = "nk", **fields: Any) -> Problem:
    """An f16 product of dense arrays."""
    vectors = {"a_vector": aligned(k), "b_vector": aligned(k if b_order == "nk" else n), "out_vector": aligned(n)}
    given = {"out": "f16", "reads_c": False, "b_order": b_order, **vectors, **fields}
    return Problem(m, n, k, **given)


def schedule(block: tuple[int, int, int], groups: int = 0, **fields: Any) -> Schedule:
    """A schedule of `wgmma`, with one or two warpgroups on top of each other."""
    m, n, k = block
    warp = (m // (groups or (1 if m == 64 else 2)), n, k)
    given = {"stages": 4, "persistent": 132, **fields}
    return Schedule(
        block=block, warp=warp, instruction=(64, 8, 16), mma="wgmma", mainloop="tma", layout="swizzle128", pad=0,
        storage="dynamic", **given,
    )  # fmt: skip


CUBE = problem(4096, 4096, 4096)
LARGE = schedule((128, 256, 64))
SMALL = schedule((64, 128, 64), stages=8)


class TestWork:
    def test_clocks_of_a_step(self) -> None:
        work = work_of(CUBE, LARGE, H200)
        # 2 x 4 instructions m64n256k16 of 128 clocks each; A of 2 KB and B of 8 KB for each at 128 bytes a clock.
        assert (work.tensor, work.reads, work.writes) == (1024, 640, 384)
        assert (work.rows_a, work.rows_b, work.outside) == (128, 256, 0)
        assert (work.steps, work.rounds, work.active) == (64, 4, 132)

    def test_the_type_does_not_change_the_clocks_of_bytes(self) -> None:
        wide = dataclasses.replace(CUBE, a="i8", b="i8", acc="i32", out="i32", k=8192)
        half, byte = (
            work_of(each, LARGE.replace(block=(128, 256, depth), warp=(64, 256, depth)), H200)
            for each, depth in ((CUBE, 64), (wide, 128))
        )
        assert (half.tensor, half.reads, half.writes, half.steps) == (byte.tensor, byte.reads, byte.writes, byte.steps)
        assert mmas()["wgmma"].rate(wide, H200) == 2 * mmas()["wgmma"].rate(CUBE, H200) == 8192
        assert half.useful == pytest.approx(byte.useful)

    def test_narrow_panels_have_more_rows(self) -> None:
        narrow, wide = problem(8192, 32, 8192, "kn"), problem(8192, 64, 8192, "kn")
        few, many = (work_of(each, schedule((64, n, 64)), H200) for each, n in ((narrow, 32), (wide, 64)))
        assert (few.rows_b, many.rows_b) == (64, 64)
        assert (few.bytes_b, many.bytes_b) == (64 * 64, 64 * 128)
        assert work_of(problem(8192, 96, 8192, "kn"), schedule((64, 96, 64)), H200).rows_b == 3 * 64
        assert work_of(problem(8192, 32, 8192), schedule((64, 32, 64)), H200).rows_b == 32

    @pytest.mark.parametrize(("n", "tile", "odd"), [
        (32, 32, False), (32, 64, True), (16, 16, False), (24, 32, True), (48, 16, False), (48, 32, True),
    ])  # fmt: skip
    def test_narrow_rows_lie_in_one_line(self, n: int, tile: int, odd: bool) -> None:
        assert work_of(problem(8192, n, 8192, "kn"), schedule((64, tile, 64)), H200).odd_b == odd

    def test_multicast_divides_what_is_fetched(self) -> None:
        alone, across, down = (
            work_of(CUBE, LARGE.replace(**each), H200) for each in ({}, {"cluster_n": 2}, {"cluster_m": 2})
        )
        assert (across.rows_a, across.rows_b) == (alone.rows_a / 2, alone.rows_b)
        assert (down.bytes_a, down.bytes_b) == (alone.bytes_a, alone.bytes_b / 2)
        assert across.writes == alone.writes

    def test_rows_outside_an_operand_are_counted(self) -> None:
        thin = problem(16, 8192, 8192)
        assert work_of(thin, SMALL, H200).outside == 48
        assert work_of(dataclasses.replace(thin, m=64), SMALL, H200).outside == 0

    @pytest.mark.parametrize(("k", "odd"), [(4096, False), (4088, True), (4160, False), (8191, True)])
    def test_rows_that_begin_between_lines(self, k: int, odd: bool) -> None:
        assert work_of(problem(4096, 4096, k), LARGE, H200).odd_a == odd

    @pytest.mark.parametrize(("k", "depth", "part"), [(96, 64, 2 / 3), (96, 128, 0), (128, 64, 0), (72, 64, 8 / 9)])
    def test_lines_that_two_steps_ask_for(self, k: int, depth: int, part: float) -> None:
        assert in_two_steps(problem(4096, 96, k), "a", depth) == pytest.approx(part, abs=0.01)
        assert in_two_steps(problem(4096, 96, k, a_order="km"), "a", depth) == 0

    def test_lines_that_leave_l2_between_steps_are_read_again(self) -> None:
        one = schedule((256, 128, 128), stages=2, l2_keep_a=5)
        two = schedule((256, 128, 64), l2_keep_a=5)
        rows_of_192 = problem(592704, 96, 96)
        more = work_of(rows_of_192, two, H200).dram - work_of(rows_of_192, one, H200).dram
        assert more == pytest.approx(592704 * 192 * 2 / 3 * 27 / 32 / 8)
        assert select(rows_of_192, target("h100")).schedule.block == one.block  # 89.2 us, in two steps 92.3

    def test_an_aligned_workspace_has_rows_of_whole_vectors(self) -> None:
        assert not work_of(relaid(problem(4096, 4096, 8191), {"a": "mk", "b": "nk"}), LARGE, H200).odd_a

    def test_split_divides_the_steps_and_adds_partial_sums(self) -> None:
        deep = problem(1024, 1024, 8192)
        whole = work_of(deep, LARGE.replace(block=(128, 128, 64), warp=(64, 128, 64), persistent=0), H200)
        half = work_of(
            deep, LARGE.replace(block=(128, 128, 64), warp=(64, 128, 64), persistent=0, split_k_cluster=2), H200
        )
        assert (whole.steps, half.steps) == (128, 64)
        assert (whole.splits, half.splits, half.parts) == (0, 1, 128 * 128 * 2)
        assert half.active == 2 * whole.active == 128

    def test_shared_steps_fill_the_last_wave_and_are_handed_over(self) -> None:
        left = problem(2560, 2560, 2560)  # 200 tiles: one whole wave, and 68
        whole, two, one = (work_of(left, LARGE.replace(persistent=132, stream_k=share), H200) for share in (0, 2, 3))
        assert (whole.rounds, whole.handed) == (2, 0)
        assert two.rounds == one.rounds == 1 + 68 / 132
        assert two.handed == 128 * 256 * 4 * 3
        more = work_of(left, LARGE.replace(persistent=132, stream_k=1), H200)
        assert (more.rounds, more.handed) == (200 / 132, 128 * 256 * 4 * 2)
        few = problem(1536, 1536, 1536)  # 72 tiles
        assert work_of(few, LARGE.replace(persistent=132, stream_k=1), H200).rounds == 1
        assert work_of(few, LARGE.replace(persistent=132, stream_k=2), H200).rounds == 72 / 132
        even = problem(4224, 2048, 4096)  # 264 tiles
        plain, shared = (estimate(even, LARGE.replace(persistent=132, stream_k=share), H200) for share in (0, 4))
        assert plain == shared

    def test_clusters_of_four_do_not_fill_the_chip(self) -> None:
        thin = problem(64, 2112, 7168)
        fields: dict[str, Any] = {"persistent": 0, "stages": 6}
        assert work_of(thin, schedule((64, 64, 64), split_k_cluster=4, **fields), H200).rounds == 2
        assert work_of(thin, schedule((64, 64, 64), split_k_cluster=2, **fields), H200).rounds == 1

    def test_what_stays_in_l2_takes_no_memory(self) -> None:
        assert work_of(problem(2048, 2048, 2048), LARGE, H200).dram == 0
        assert work_of(CUBE, LARGE, H200).dram >= 3 * 2 * 4096**2


class TestCost:
    @pytest.mark.parametrize("given", [CUBE, problem(1, 16, 64), problem(16, 8192, 8192), problem(4095, 4088, 4088)])
    def test_terms_add_up(self, given: Problem) -> None:
        for each in (LARGE, SMALL):
            cost = estimate(given, each, H200)
            assert sum(getattr(cost, term) for term in cost.ADDITIVE) == pytest.approx(cost.total)
            assert cost.steps >= max(getattr(cost, term) for term in cost.OVERLAPPING)
            assert min(getattr(cost, term) for term in cost.ADDITIVE) >= -1e-12

    def test_the_model_dispatches_by_mma(self) -> None:
        assert isinstance(estimate(CUBE, LARGE, H200), WgmmaCost)
        assert estimate(CUBE, LARGE, H200).tflops(CUBE) == pytest.approx(650, rel=0.1)

    @pytest.mark.parametrize(
        ("given", "better", "worse"),
        [
            # Measured on the H200: 128x256 2.0 times as fast as 64x64 at 4096, 0.43 times at 1024.
            (CUBE, LARGE, schedule((64, 64, 64), stages=12)),
            (problem(1024, 1024, 1024), SMALL.replace(persistent=0), LARGE.replace(persistent=0)),
            # Rows that begin between lines: 689 TFLOP/s with multicast, 473 without.
            (problem(4088, 4088, 4088), LARGE.replace(cluster_m=2), LARGE),
            # Few tiles and a long k: 28.9 us with the steps divided by two, 41.0 us without.
            (
                problem(1024, 1024, 8192),
                schedule((128, 128, 64), split_k_cluster=2, persistent=0),
                schedule((128, 128, 64), stages=6, persistent=0),
            ),
            # Two stages leave nothing to hide the copies with.
            (CUBE, LARGE, LARGE.replace(stages=2)),
            # 64 rows instead of 16 take less time: rows outside cost more (74 us against 39).
            (problem(64, 8192, 8192), schedule((64, 32, 64), stages=12), None),
        ],
    )
    def test_measured_orders(self, given: Problem, better: Schedule, worse: Schedule | None) -> None:
        first = estimate(given, better, H200).total
        if worse is None:
            assert first < estimate(dataclasses.replace(given, m=16), better, H200).total
        else:
            assert first < 0.95 * estimate(given, worse, H200).total

    @settings(max_examples=100, deadline=None)
    @given(size=st.integers(1, 40), factor=st.integers(2, 4), axis=st.sampled_from(["n", "k"]))
    def test_more_work_takes_longer(self, size: int, factor: int, axis: str) -> None:
        few = problem(1024, 1024, 64 * size)
        many = dataclasses.replace(few, **{axis: factor * getattr(few, axis)})
        assert estimate(many, LARGE, H200).total >= estimate(few, LARGE, H200).total

    def test_the_host_limits_small_products(self) -> None:
        cost = estimate(problem(64, 64, 64), schedule((64, 64, 64), persistent=0), H200)
        assert cost.total == pytest.approx(H200.constants(WgmmaConstants).launch, rel=0.02)
        assert cost.launch > 0.5 * cost.total

    def test_warpgroups_that_take_turns_hide_the_ends_of_tiles(self) -> None:
        one = schedule((128, 128, 64), groups=1)
        assert estimate(CUBE, one.replace(ping_pong=True), H200).epilogue < estimate(CUBE, one, H200).epilogue / 4

    def test_norm(self) -> None:
        assert norm(4.0, 3.0, 0.0) == pytest.approx(3.0)
        assert 3.0 < norm(4.0, 3.0, 2.0) < 5.0

    def test_all_work_is_numbers(self) -> None:
        # `bench/fit_wgmma_cost.py` makes columns of them.
        for field in dataclasses.fields(Work):
            assert isinstance(getattr(work_of(CUBE, LARGE, H200), field.name), int | float), field.name


MEASURED = (
    # Sizes, order of B, the fastest block tile in the sweep and those within 5 % of it (us).
    ((2048, 2048, 2048), "nk", {(128, 128, 64), (256, 128, 64), (128, 256, 64), (64, 256, 64)}),
    ((4096, 4096, 4096), "kn", {(128, 128, 64), (128, 256, 64), (256, 128, 64), (64, 256, 64)}),
    ((1024, 1024, 1024), "nk", {(64, 128, 64), (128, 64, 64)}),
    ((4088, 4088, 4088), "kn", {(128, 256, 64), (256, 128, 64)}),
    ((256, 8192, 8192), "nk", {(128, 128, 64)}),
    ((1024, 1024, 8192), "nk", {(64, 128, 64), (128, 128, 64)}),
    ((64, 2112, 7168), "nk", {(64, 32, 128), (64, 32, 64)}),
    ((128, 28672, 8192), "nk", {(128, 112, 64), (64, 224, 64), (128, 224, 64), (128, 128, 64), (64, 112, 64)}),
    ((64, 8192, 8192), "kn", {(64, 64, 64), (64, 64, 128), (64, 128, 64)}),
    ((3072, 3072, 3072), "nk", {(128, 192, 64)}),
    ((768, 3072, 768), "nk", {(192, 96, 64)}),
    ((128, 24576, 1536), "nk", {(128, 192, 64), (128, 96, 64)}),
)


class TestSelect:
    @pytest.mark.parametrize(("sizes", "b_order", "fast"), MEASURED)
    def test_chooses_what_was_fast(self, sizes: tuple[int, int, int], b_order: str, fast: set[Any]) -> None:
        chosen = select(problem(*sizes, b_order), H200).schedule
        assert chosen.mma == "wgmma"
        assert chosen.block in fast

    def test_unaligned_squares_are_copied_first(self) -> None:
        odd = problem(8191, 8191, 8191)
        advice = relayout_advice(odd, H200)
        assert advice == {"a": "mk", "b": "nk"}
        assert select(relaid(odd, advice), H200).schedule.mma == "wgmma"
        assert select(odd, H200).schedule.mma == "mma_sync"

    @pytest.mark.parametrize(
        ("kind", "acc", "precision"), [("i8", "i32", "full"), ("f32", "f32", "tf32"), ("f8E4M3FN", "f32", "f8")]
    )
    def test_of_two_operands_across_k_one_is_turned(self, kind: str, acc: str, precision: str) -> None:
        given = Problem(8192, 8192, 8192, a=kind, b=kind, acc=acc, out=acc, reads_c=False, a_order="km")
        pinned = {"precision": precision}
        advice = relayout_advice(given, H200, pinned)
        # The other one comes through registers, as A or swapped.
        assert advice in ({"a": "mk"}, {"b": "nk"})
        assert best_mma(given, H200, pinned) == "wgmma"
        small = dataclasses.replace(given, m=1024, n=1024, k=1024)  # bytes are transposed in shared memory there
        assert bool(relayout_advice(small, H200, pinned)) == (kind == "f32")
        assert best_mma(small, H200, pinned) == "wgmma"

    @pytest.mark.parametrize(("kind", "acc", "precision"), [("i8", "i32", "full"), ("f8E4M3FN", "f32", "f8")])
    @pytest.mark.parametrize(("size", "copied"), [(2048, False), (3072, True), (4096, True), (8192, True)])
    def test_bytes_across_k_are_copied_where_that_was_faster(
        self, kind: str, acc: str, precision: str, size: int, copied: bool
    ) -> None:
        """In place, copied first: i8 18.6, 20.2; 70.9, 57.6; 118.9, 107.9; 970, 749 us (H100)."""
        given = Problem(size, size, size, a=kind, b=kind, acc=acc, out=acc, reads_c=False, a_order="km")
        assert bool(relayout_advice(given, target("h100"), {"precision": precision})) == copied

    def test_what_cannot_be_computed_is_refused(self) -> None:
        given = Problem(512, 512, 512, a="f8E4M3FN", b="f8E4M3FN", acc="f32", out="f32", reads_c=False)
        pinned = {"precision": "f8", "mma": "wgmma", "block": (100, 100, 100)}
        with pytest.raises(ScheduleError, match="block=100x100x100"):
            relayout_advice(given, H200, pinned)

    def test_only_the_chip_that_has_it(self) -> None:
        assert select(CUBE, PLAIN).schedule.mma == "mma_sync"

    @pytest.mark.parametrize("dynamic", ["m", "mn", "mnk"])
    def test_sizes_known_at_run_time_only(self, dynamic: str) -> None:
        given = problem(512, 4096, 4096, dynamic=dynamic)
        chosen = select(given, H200).schedule
        assert (chosen.mma, chosen.cluster, chosen.persistent) == ("wgmma", 1, H200.sms)
        assert violations(given, chosen, H200) == []

    @pytest.mark.parametrize("b_order", ["kn", "nk"])
    def test_few_columns_have_tiles_as_narrow(self, b_order: str) -> None:
        assert select(problem(8192, 32, 8192, b_order), H200).schedule.block[1] == 32

    @pytest.mark.parametrize(
        "fields", [{"stages": 3}, {"split_k_cluster": 2}, {"cluster_n": 2}, {"block": (128, 192, 64)}]
    )
    def test_pinned_fields_stay(self, fields: dict[str, Any]) -> None:
        chosen = select(problem(1024, 3072, 4096), H200, fields).schedule
        assert {name: getattr(chosen, name) for name in fields} == fields
        assert chosen.mma == "wgmma"

    def test_a_pinned_copy_decides_the_mma(self) -> None:
        assert select(CUBE, H200, {"mainloop": "cp_async"}).schedule.mma == "mma_sync"

    def test_the_other_mma_must_be_clearly_faster(self) -> None:
        for sizes in ((300, 200, 104), (1, 4096, 4096), (96, 96, 96), (16, 8192, 8192), (512, 512, 512)):
            given = problem(*sizes)
            choice = select(given, H200)
            own = select(given, H200, {"mma": "wgmma"}).cost.on_gpu
            if choice.schedule.mma == "mma_sync":
                assert choice.cost.on_gpu < WORTH * own
            else:
                assert choice.cost.on_gpu == own

    @settings(max_examples=60, deadline=None)
    @given(
        m=st.integers(1, 5000),
        n=st.integers(1, 600).map(lambda eighths: 8 * eighths),
        k=st.integers(1, 600).map(lambda eighths: 8 * eighths),
        b_order=st.sampled_from(["kn", "nk"]),
        out=st.sampled_from(["f16", "f32"]),
    )
    def test_never_illegal(self, m: int, n: int, k: int, b_order: str, out: str) -> None:
        given = problem(m, n, k, b_order, out=out)
        for candidate in select(given, H200, {"mma": "wgmma"}).ranking:
            assert violations(given, candidate.schedule, H200) == []

    def test_takes_little_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Calls are counted, no time: 91,000, 54,000 and 42,000 of them took 22, 12 and 10 ms on a slow machine."""
        choose_anew(monkeypatch)
        select(CUBE, H200)
        for sizes, limit in (((512, 512, 512), 110_000), ((4096, 4096, 4096), 66_000), ((64, 2112, 7168), 50_000)):
            calls = 0

            def count(_frame: FrameType, event: str, _argument: object) -> None:
                nonlocal calls
                calls += event == "call"

            before = sys.getprofile()
            sys.setprofile(count)
            try:
                select(problem(*sizes), H200)
            finally:
                sys.setprofile(before)
            assert calls < limit

    def test_large_products_propose_no_small_tiles(self) -> None:
        proposed = candidates(problem(16384, 16384, 16384), H200, {"mma": "wgmma"})
        assert min(each.schedule.block[0] * each.schedule.block[1] for each in proposed) >= 64 * 128


def test_batch_invariant_choices_add_up_in_the_same_order():
    chip = target("sm_90a")
    for rows in (1, 16, 64, 100, 1024, 8192):
        problem = Problem(rows, 2112, 7168, out="f16", reads_c=False)
        free = select(problem, chip).schedule
        fixed = select(problem, chip, invariant(problem, chip, {"batch_invariant": True})).schedule
        assert (fixed.mma, fixed.split_k_cluster, fixed.batch_invariant) == ("wgmma", 1, True)
        assert not free.batch_invariant


def test_large_products_take_turns_where_there_are_tiles_enough():
    chip = target("sm_90a")
    chosen = {
        (size, work): select(
            Problem(size, size, size, out="f16", reads_c=False, epilogue_ops=work), chip
        ).schedule.ping_pong
        for size in (1024, 2048, 8192)
        for work in (0, 13)
    }
    assert all(ping_pong == (size > 1024) for (size, _), ping_pong in chosen.items())


def test_an_instruction_with_a_in_registers_takes_less_for_fewer_columns() -> None:
    product = Problem(1600, 64, 1600, a="i8", b="i8", acc="i32", out="i32", a_order="km", b_order="nk", reads_c=False)
    clocks = [work_of(product, schedule((64, n, 128)), H200).tensor / 4 for n in (16, 64, 256)]
    assert clocks == [53, 68, 176]


def test_rows_outside_pass_faster_where_blocks_are_at_other_steps() -> None:
    thin = problem(1792, 14, 6464)
    one, four = (work_of(thin, schedule((64, 32, 128), split_k_cluster=parts), H200).outside for parts in (1, 4))
    assert one == 2 * four > 0
