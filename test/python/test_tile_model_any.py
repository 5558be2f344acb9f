"""The tile model for any size, layout, type, mma and copy."""

from __future__ import annotations

import dataclasses
import re
from itertools import product
from typing import Any

import pytest
from mma_order import reorder

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.parts import registry
from mlir_gemm.parts.layout import buffer, copied, element_conflicts, streamed
from mlir_gemm.parts.registry import mainloops_on, mma_of, mmas, mmas_on
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import CHIPS, target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import PEER, mmas_tried, select

H200 = target("sm_90")


def needed(problem: Problem, schedule: Schedule, chip: Target) -> int:
    """Registers that a thread needs."""
    return mma_of(schedule).registers(problem, schedule, chip)


SYNC: dict[str, Any] = {"mma": "mma_sync"}
ORDERS = (("wmma", "mma_sync", "mma_m8n8k4", "simt"), ("mma_sync", "wmma", "mma_m8n8k4", "simt"))
SWIZZLED = Schedule(
    block=(128, 256, 64), warp=(64, 64, 16), instruction=(16, 8, 16), mma="mma_sync", mainloop="cp_async", stages=3,
    layout="xor", pad=0,
)  # fmt: skip
PADDED = SWIZZLED.replace(layout="pad", pad=8)
FMA = Schedule(
    block=(128, 128, 16), warp=(32, 64, 8), instruction=(1, 1, 1), mma="simt", mainloop="cp_async", stages=3, pad=4
)
TYPES = (
    # a, b, acc, precision, mma on sm_80 and later, instruction
    ("f16", "f16", "f32", "full", "mma_sync", (16, 8, 16)),
    ("f16", "f16", "f16", "f16", "mma_sync", (16, 8, 16)),
    ("bf16", "bf16", "f32", "full", "mma_sync", (16, 8, 16)),
    ("f32", "f32", "f32", "tf32", "mma_sync", (16, 8, 8)),
    ("f64", "f64", "f64", "full", "mma_sync", (16, 8, 16)),
    ("i8", "i8", "i32", "full", "mma_sync", (16, 8, 32)),
    ("f32", "f32", "f32", "full", "simt", (1, 1, 1)),
    ("f16", "f32", "f32", "full", "simt", (1, 1, 1)),
    ("f32", "f64", "f64", "full", "simt", (1, 1, 1)),
    ("i16", "i8", "i32", "full", "simt", (1, 1, 1)),
    ("i32", "i32", "i32", "full", "simt", (1, 1, 1)),
)


def square(size: int, **fields: Any) -> Problem:
    return Problem(size, size, size, reads_c=False, **fields)


@pytest.fixture
def prefer_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    reorder(monkeypatch, ORDERS[1])


@pytest.fixture(params=ORDERS, ids=["wmma first", "mma_sync first"])
def either_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    reorder(monkeypatch, request.param)


class TestMmas:
    @pytest.mark.parametrize(("a", "b", "acc", "precision", "mma", "instruction"), TYPES)
    def test_each_type_has_its_mma_and_instruction(
        self, a: str, b: str, acc: str, precision: str, mma: str, instruction: Tile, prefer_sync: None
    ) -> None:
        chosen = select(square(512, a=a, b=b, acc=acc, out=acc), H200, {"precision": precision}).schedule
        assert (chosen.mma, chosen.instruction) == (mma, instruction)

    def test_plain_f16_products_stay_with_the_first_mma(self, either_order: None) -> None:
        assert select(square(512), H200).schedule.mma == next(iter(registry.mmas()))
        assert select(square(512), target("sm_75")).schedule.mma == next(iter(registry.mmas()))
        assert select(square(512), target("sm_70")).schedule.mma == "mma_m8n8k4"

    @pytest.mark.parametrize(
        "changes",
        [
            {"m": 100},
            {"batch": 3},
            {"dynamic": "m"},
            {"b_memory": "i8"},
            {"a_vector": 64},
            {"out": "bf16"},
            {"out_order": "nm"},
            {"epilogue_vector": 0},
            {"epilogue_vector": 64},
        ],
    )
    def test_wmma_leaves_what_is_not_plain_to_the_others(self, changes: dict[str, Any], either_order: None) -> None:
        problem = dataclasses.replace(square(128), **changes)
        assert select(problem, H200).schedule.mma == "mma_sync"
        assert select(problem, target("sm_75")).schedule.mma == "mma_sync"
        assert select(problem, target("sm_70")).schedule.mma == "mma_m8n8k4"
        with pytest.raises(ScheduleError, match="mma=wmma"):
            select(problem, H200, {"mma": "wmma"})

    @pytest.mark.parametrize("orders", [("mk", "kn"), ("mk", "nk"), ("km", "kn"), ("km", "nk")])
    def test_all_orders_are_plain(self, orders: tuple[str, str], either_order: None) -> None:
        problem = dataclasses.replace(square(512), a_order=orders[0], b_order=orders[1])
        for chip in ("sm_75", "sm_80"):
            assert select(problem, target(chip)).schedule.mma == next(iter(registry.mmas()))
        assert select(problem, target("sm_70"), {"mma": "wmma"}).schedule.mma == "wmma"
        assert select(problem, target("sm_70")).schedule.mma == "mma_m8n8k4"

    @pytest.mark.parametrize("size", [128, 1024, 4096])
    def test_of_two_operations_of_volta_wmma_is_taken_where_it_is_predicted_to_be_faster_by_much(
        self, size: int
    ) -> None:
        problem = square(size, b_order="nk")
        both = [select(problem, target("sm_70"), {"mma": name}).cost.on_gpu for name in ("wmma", "mma_m8n8k4")]
        chosen = select(problem, target("sm_70"))
        by_wmma = PEER * both[0] <= both[1]
        assert chosen.schedule.mma == ("wmma" if by_wmma else "mma_m8n8k4")
        assert chosen.cost.on_gpu == pytest.approx(both[0 if by_wmma else 1])

    def test_pinned_fields_that_only_one_mma_takes_decide(self, either_order: None) -> None:
        assert select(square(512), H200, {"accumulate": False, "mainloop": "direct"}).schedule.mma == "wmma"
        assert select(square(512), H200, {"stages": 3}).schedule.mma == "mma_sync"
        assert select(square(512), H200, {"instruction": (1, 1, 1)}).schedule.mma == "simt"

    def test_older_chips(self) -> None:
        for chip, own in (("sm_70", ["wmma", "mma_m8n8k4"]), ("sm_75", ["mma_sync", "wmma"])):
            assert mmas_tried(square(512), CHIPS[chip], {}) == [*own, "simt"]
            assert "cp_async" not in [each.name for each in mainloops_on(CHIPS[chip])]
        with pytest.raises(ScheduleError, match=r"mma=mma_sync: sm_70 has dp4a, wmma, mma_m8n8k4, simt"):
            select(square(512), target("sm_70"), SYNC)

    def test_rates(self) -> None:
        def rate(a: str, acc: str, mma: str = "mma_sync") -> float:
            return mmas()[mma].rate(square(1, a=a, b=a, acc=acc), H200)

        assert rate("f32", "f32") * 2 == rate("f16", "f32") == rate("bf16", "f32") == rate("i8", "i32") / 2
        # 67 TFLOP/s at 1.98 GHz for f64 on the tensor cores and f32 beside them, half of it for f64 there.
        assert rate("f64", "f64") * 132 * 1.98e9 == pytest.approx(67e12, rel=0.01)
        assert rate("f32", "f32", "simt") == 2 * rate("f64", "f64", "simt") == rate("f64", "f64")

    @pytest.mark.parametrize("chip", CHIPS)
    def test_every_form_has_a_rate_on_every_chip(self, chip: str) -> None:
        for mma in mmas_on(CHIPS[chip]):
            for form in (each for each in mma.forms if each.needs <= CHIPS[chip].capabilities):
                a = form.operands[0]
                assert mma.rate(square(1, a=a, b=a, acc=form.acc), CHIPS[chip]) > 0


class TestProblems:
    @pytest.mark.parametrize(
        ("problem", "pinned", "reason"),
        [
            (Problem(128, 0, 128), {}, "N=0 is not supported: a kernel needs sizes of at least 1"),
            (Problem(128, 128, 0), {}, "K=0"),
            (square(128, a="f16", b="i8"), {}, "types f16,i8 accumulated in f32 .*any of f16, bf16, f32"),
            (square(128, acc="f16"), {}, "with precision=full: expected precision=f16"),
            (square(128, out="index"), {}, "result type index is not supported"),
        ],
    )
    def test_problems_it_cannot_do(self, problem: Problem, pinned: dict[str, Any], reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            select(problem, H200, pinned)

    @pytest.mark.parametrize(
        ("problem", "mma", "reason"),
        [
            (square(100), "wmma", "M=100 .*multiples of 16 .*the nearest: 96 or 112, or mma=mma_sync or simt"),
            (square(128, a="f32", b="f32"), "mma_sync", "with precision=full: expected precision=tf32"),
            (square(128, a="f16", b="f32"), "mma_sync", "types f16,f32 .*expected f16,f16 accumulated in f32; "),
            (square(128, a="f64", b="f64", acc="f64"), "wmma", "types f64,f64"),
        ],
    )
    def test_mmas_that_cannot_when_another_can(self, problem: Problem, mma: str, reason: str) -> None:
        with pytest.raises(ScheduleError, match=f"with mma={mma}: .*{reason}"):
            select(problem, H200, {"mma": mma})


class TestRules:
    @pytest.mark.parametrize("schedule", [SWIZZLED, PADDED, FMA])
    def test_legal_at_any_size(self, schedule: Schedule) -> None:
        element = "f32" if schedule is FMA else "f16"
        for m, n, k in product((1, 7, 100, 4096, 8191), repeat=3):
            assert violations(Problem(m, n, k, a=element, b=element), schedule, H200) == []

    @pytest.mark.parametrize(
        ("base", "changes", "reason"),
        [
            (SWIZZLED, {"instruction": (16, 16, 16)}, "mma=mma_sync has 16x8x16 or 16x8x8 for f16"),
            (
                SWIZZLED,
                {"warp": (64, 20, 16)},
                "its n of 20 must be a multiple of the instruction's 8; the nearest: 16 or 24",
            ),
            (SWIZZLED, {"warp": (64, 64, 8)}, "its k of 8 must be a multiple of the instruction's 16.*nearest: 16"),
            (SWIZZLED, {"stages": 1}, "stages=1: expected 2 to 8 with mainloop=cp_async; the nearest: 2"),
            (SWIZZLED, {"stages": 9}, "stages=9: .*the nearest: 8"),
            (
                SWIZZLED,
                {"mainloop": "register_prefetch"},
                "stages=3: expected 1 or 2 with mainloop=register_prefetch; the nearest: 2",
            ),
            (
                SWIZZLED,
                {"pad": 16},
                "pad=16: a field of layout=mn_major or layout=pad, which this schedule does not have",
            ),
            (
                SWIZZLED,
                {"block": (128, 192, 80)},
                "rows of A have 160 bytes .*expected 32, 64, 96, 192 or a multiple of 128.*: 128",
            ),
            (SWIZZLED, {"promote": False, "mainloop": "direct", "stages": 1}, "layout=xor with promote=off"),
            (SWIZZLED, {"accumulate": False}, "accumulate=off with mma=mma_sync: expected accumulate=on"),
            (SWIZZLED, {"stages": 5}, "the block needs 245760 bytes .*fewer stages"),
            (SWIZZLED, {"warp": (128, 128, 16)}, "registers a thread, at most 255"),
            (PADDED, {"pad": 4}, "the rows of A, 64 elements and the pad, must be multiples of 16 bytes .*: 0 or 8"),
            (
                FMA,
                {"warp": (30, 64, 8)},
                "its m of 30 must be a multiple of the lanes of a warp, 4; the nearest: 28 or 32",
            ),
            (FMA, {"pad": 1}, "multiples of 16 bytes"),
            (FMA, {"instruction": (16, 8, 16)}, "mma=simt has 1x1x1$"),
            (Schedule(), {"layout": "xor", "pad": 0}, "layout=xor with mma=wmma: expected layout=pad"),
        ],
    )
    def test_refusals(self, base: Schedule, changes: dict[str, Any], reason: str) -> None:
        types: dict[str, Any] = {"a": "f32", "b": "f32"} if base is FMA else {}
        found = violations(square(4096, **types), base.replace(**changes), H200)
        assert any(re.search(reason, line) for line in found), found

    def test_a_prologue_needs_registers_to_pass(self) -> None:
        problem = square(512, b_memory="f8E4M3FN")
        assert "B is computed from f8E4M3FN" in violations(problem, SWIZZLED, H200)[0]
        assert (
            violations(problem, PADDED.replace(mainloop="register_prefetch", stages=2, block=(128, 128, 32)), H200)
            == []
        )
        assert select(problem, H200).schedule.mainloop in ("register_prefetch", "mixed_input")

    def test_fragments_of_f64_are_single_instructions(self) -> None:
        schedule = SWIZZLED.replace(block=(16, 8, 16), warp=(8, 8, 4), instruction=(8, 8, 4), stages=2)
        problem = square(64, a="f64", b="f64", acc="f64", out="f64")
        assert violations(problem, schedule, H200) == []

    def test_simt_may_pad_by_one_when_its_copies_are_narrow(self) -> None:
        narrow = FMA.replace(mainloop="register_prefetch", stages=1, vector=32, pad=1)
        assert violations(square(512, a="f32", b="f32"), narrow, H200) == []

    def test_grid_counts_the_batch(self) -> None:
        problem = Problem(4096, 4096, 64, batch=2**24)
        assert f"{2**24 * 512} blocks in the grid" in violations(problem, SWIZZLED, H200)[0]


class TestResources:
    def test_shared_memory_follows_types_and_orders(self) -> None:
        assert smem_bytes(square(512), SWIZZLED) == 3 * 2 * (128 * 64 + 64 * 256)
        assert smem_bytes(square(512), PADDED) == 3 * 2 * (128 * 72 + 64 * 264)
        turned = square(512, a_order="km", b_order="nk")
        assert smem_bytes(turned, PADDED) == 3 * 2 * (64 * 136 + 256 * 72)
        mixed = square(512, a="f16", b="f32")
        assert smem_bytes(mixed, FMA) == 3 * (2 * 128 * 20 + 4 * 16 * 132)
        assert smem_bytes(square(512, out="f16"), SWIZZLED) == smem_bytes(square(512), SWIZZLED)

    def test_registers(self) -> None:
        plain = needed(square(4096), SWIZZLED, H200)
        # 128 accumulators, 16 registers of A's fragments and as many of B's.
        assert 128 + 32 < plain <= 245
        half = needed(square(4096, acc="f16", out="f16"), SWIZZLED.replace(precision="f16"), H200)
        assert plain - half == 64
        double = square(4096, a="f64", b="f64", acc="f64", out="f64")
        fields: dict[str, Any] = {"instruction": (8, 8, 4), "warp": (32, 64, 4), "block": (128, 128, 16)}
        assert needed(double, SWIZZLED.replace(**fields), H200) == pytest.approx(plain, abs=16)
        assert needed(square(4095), SWIZZLED, H200) > plain
        prefetched = SWIZZLED.replace(mainloop="register_prefetch", stages=2)
        assert needed(square(4096), prefetched, H200) == plain + 48

    def test_vectors_narrow_with_alignment_and_rows(self) -> None:
        assert copied(square(512), SWIZZLED, "a").vector == 128
        assert copied(square(512, a_vector=64), SWIZZLED, "a").vector == 64
        assert copied(square(512), SWIZZLED.replace(vector=32), "b").vector == 32
        assert copied(square(512), FMA.replace(block=(128, 12, 16)), "b").vector == 64
        assert streamed(square(512, a_vector=32), SWIZZLED)
        assert not streamed(square(512, a_vector=16), SWIZZLED)

    def test_swizzled_elements_lie_in_their_rows(self) -> None:
        for element, row in product((1, 2, 4, 8), (32, 64, 128, 256)):
            for along_k in (True, False):
                assert element_conflicts(element, row, True, along_k, row) >= 1

    def test_rows_in_turn_fill_the_banks(self) -> None:
        # f64 with 16 in k: four k of eight rows; a chunk of padding shifts each row by four banks.
        assert element_conflicts(8, 128, False, True, 128) > element_conflicts(8, 144, False, True, 128)
        # 32 bits with neighbours in n: eight elements of four rows lie on 32 banks when rows are 32 bytes apart.
        assert element_conflicts(4, 1024 + 32, False, False, 1024) == 1
        assert element_conflicts(4, 1024, False, False, 1024) == 4

    def test_buffers_keep_the_order_of_memory(self) -> None:
        assert buffer(square(8), PADDED, "a")[:2] == (128, 64)
        assert buffer(square(8, a_order="km"), PADDED, "a")[:2] == (64, 128)
        assert buffer(square(8, b_order="nk"), PADDED, "b")[:2] == (256, 64)
