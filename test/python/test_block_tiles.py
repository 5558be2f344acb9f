"""C through shared memory: what the sums start from, what the epilogue adds, and the result, a block tile at a time."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from assembled import usage
from draws import draws
from dynamic_products import DynamicProduct
from test_global_operands import MMAS, OUTS, loops
from test_other_tensor_cores import EPILOGUES, Product, check

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.resources import occupancy, smem_bytes
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.select import estimate, select
from mlir_gemm.tuner.space import explore

WAYS = (
    "promote_result=on", "promote_c=on", "promote_c=on,promote_result=on", "promote_result=on,tiles_per_block=2",
    "promote_c=on,prefetch_c=on",
)  # fmt: skip

ADDED = ("accumulate", "residual", "bias_relu_residual")
"""Epilogues that read a matrix."""


def drawn(name: str, number: int) -> tuple[Product, str, str]:
    """A product of any size; a chip and a schedule."""
    chip, kind, tiles = MMAS[name]
    rng = random.Random(f"c {name} {number}")
    plain, way = name == "wmma", WAYS[number % len(WAYS)]
    epilogues = ADDED[: 1 if plain else 3] if "promote_c" in way else ("none",) if plain else EPILOGUES
    if plain:
        way = way.replace(",tiles_per_block=2", "")
    if "prefetch_c" in way and not (chip >= "sm_80" and not plain):
        way = "promote_c=on"
    able = loops(name)
    sizes = (32, 64, 96) if plain else (8, 32, 40, 64, 96) if "prefetch_c" in way else (7, 32, 33, 64, 97)
    m, n, k = (rng.choice(sizes) for _ in range(3))
    product = Product(
        m, n, k, kind, out="f32" if plain else rng.choice(OUTS.get(kind, ("f32", "f16"))),
        a_order="mk" if plain else rng.choice(("mk", "km")), b_order="kn" if plain else rng.choice(("kn", "nk")),
        batch=0 if plain else rng.choice((0, 2)),
        pad=8 if plain else rng.choice((None, 8, 1)[: 2 if "prefetch_c" in way else 3]),
        epilogue=rng.choice(epilogues),
    )  # fmt: skip
    return product, chip, f"{tiles},{able[number % len(able)]},{way}"


@pytest.mark.parametrize("name", MMAS)
@pytest.mark.parametrize("number", [*range(draws(3)), 4])
def test_random_products_are_exact(name: str, number: int):
    check(*drawn(name, number))


@pytest.mark.parametrize("fields", ["promote_result=on", "promote_result=on,fragments_ahead=on"])
def test_rows_known_at_run_time_only(fields: str):
    product = DynamicProduct({"n": 40, "k": 48}, bias=True)
    schedule = f"{MMAS['mma_sync f16'][2]},mainloop=cp_async,stages=2,{fields}"
    kernel = mlir_gemm.compile(product.source(), chip="sm_80", device="simulator", schedule=schedule)
    rng = np.random.default_rng(4)
    for m in (65, 5):
        left, right = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, 48), (48, 40)))
        bias = rng.integers(-2, 3, 40).astype(np.float16)
        got = kernel(left, right, bias)
        np.testing.assert_array_equal(got, (left.astype(float) @ right.astype(float) + bias).astype(np.float16))


C_IN_HALVES = "\n".join((
    "func.func @product(%A: tensor<65x40xf16>, %B: tensor<40x72xf16>, %C: tensor<65x72xf16>) -> tensor<65x72xf16> {",
    "  %D = linalg.matmul ins(%A, %B : tensor<65x40xf16>, tensor<40x72xf16>) outs(%C : tensor<65x72xf16>)"
    " -> tensor<65x72xf16>",
    "  return %D : tensor<65x72xf16>",
    "}",
))  # fmt: skip


BESIDE = "mma=wgmma,block=64x64x64,warp=64x64x64,stages=2,promote_c=on"


@pytest.mark.parametrize(
    ("chip", "schedule"),
    [("sm_80", "mma=mma_sync,block=32x32x32,warp=16x16x16,promote_c=on"), ("sm_90a", BESIDE)],
)
def test_c_of_16_bits_is_added_from_shared_memory(chip: str, schedule: str):
    kernel = mlir_gemm.compile(C_IN_HALVES, chip=chip, device="simulator", schedule=schedule)
    rng = np.random.default_rng(5)
    a, b, c = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((65, 40), (40, 72), (65, 72)))
    np.testing.assert_array_equal(kernel(a, b, c), (a.astype(float) @ b.astype(float) + c).astype(np.float16))


TILES = {
    "sm_70": "mma=mma_m8n8k4,block=128x64x32,warp=64x32x4,mainloop=register_prefetch",
    "sm_75": "mma=mma_sync,block=128x64x32,warp=64x32x8,mainloop=register_prefetch",
    "sm_80": "mma=mma_sync,block=128x128x64,warp=64x32x16,mainloop=cp_async,stages=3",
    "sm_90": "mma=simt,block=128x128x16,warp=32x64x8,mainloop=cp_async,stages=3",
}


@pytest.mark.parametrize("chip", TILES)
def test_stores_are_whole_vectors_and_nothing_spills(chip: str):
    product = Product(1024, 1024, 512, "f32" if "simt" in TILES[chip] else "f16", b_order="nk")
    made = compile_module(product.module(), chip=chip, schedule=Schedule.parse(f"{TILES[chip]},promote_result=on"))
    ptx = made.ptx or ""
    stores = set(re.findall(r"st\.global\.\S+", ptx))
    assert stores == {"st.global.v4.b32"} or stores == {"st.global.v4.f32"}, stores
    assert usage(ptx, chip).spill_bytes == 0


def test_the_result_lies_where_operands_were():
    problem = Problem(1024, 1024, 512, out="f32", reads_c=False)
    schedule = select(problem, target("sm_80"), Schedule.parse(f"{TILES['sm_80']},layout=xor")).schedule
    result = 128 * (128 + 8) * 4
    assert smem_bytes(problem, schedule) == 3 * 2 * 128 * 64 * 2
    assert smem_bytes(problem, schedule.replace(promote_result=True)) == max(result, 3 * 2 * 128 * 64 * 2)
    assert smem_bytes(problem, schedule.replace(promote_result=True, stages=2)) == result


SYNC_RING = "mma=mma_sync,mainloop=tma,block=64x64x64,warp=32x32x16,stages=2"
GROUP_RING = "mma=wgmma,block=128x64x64,warp=64x64x64,stages=2,promote_c=on"


@pytest.mark.parametrize(("ring", "out"), [(GROUP_RING, "f32"), (f"{SYNC_RING},promote_result=on", "f16"),
                                           (f"{SYNC_RING},promote_c=on,promote_result=on", "f32"),
                                           (f"{SYNC_RING},promote_c=on,promote_result=on", "f16"),
                                           (f"{SYNC_RING},promote_c=on,promote_result=on,prefetch_c=on", "f16"),
                                           (f"{GROUP_RING},prefetch_c=on", "f16"),
                                           (GROUP_RING, "f16")])  # fmt: skip
@pytest.mark.parametrize("walk", ["", ",persistent=2", ",tiles_per_block=3", ",cluster_m=2"])
def test_consumers_of_a_ring_share_a_tile(ring: str, out: str, walk: str):
    epilogue = "accumulate" if out == "f32" else "residual" if "promote_c" in ring else "relu"
    product = Product(256, 136, 72, out=out, pad=1 if walk and "prefetch" not in ring else 8, epilogue=epilogue)
    check(product, "sm_90a", f"{ring}{walk}")


def test_without_the_barrier_of_consumers_the_simulator_finds_a_race(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mlir_gemm.passes.lower.lower_warp_specialize.sync_consumers", lambda _: None)
    with pytest.raises(mlir_gemm.Error, match=r"race|proxy|uninitialized"):
        check(Product(128, 64, 64, out="f32", epilogue="accumulate"), "sm_90a", GROUP_RING)


def test_a_ring_and_the_tile_beside_it_spill_nothing():
    text = Product(1024, 1024, 512, out="f32", b_order="nk", epilogue="accumulate").module()
    for schedule in ("mma=wgmma,block=128x128x64,warp=64x128x64,stages=3,promote_c=on", f"{SYNC_RING},promote_c=on"):
        made = compile_module(text, chip="sm_90a", schedule=Schedule.parse(schedule)).ptx or ""
        assert usage(made, "sm_90a").spill_bytes == 0


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a"])
def test_what_the_epilogue_adds_is_read_in_whole_vectors_and_nothing_spills(chip: str):
    tiles = TILES.get(chip, "mma=wgmma,block=128x128x64,warp=64x128x64,stages=3")
    text = Product(1024, 1024, 512, out="f16", b_order="nk", epilogue="residual").module()
    made = compile_module(text, chip=chip, schedule=Schedule.parse(f"{tiles},promote_c=on"))
    assert set(re.findall(r"ld\.global\.\S+", made.ptx or "")) == {"ld.global.v4.b32"}
    assert usage(made.ptx or "", chip).spill_bytes == 0


@pytest.mark.parametrize("epilogue", ["residual", "accumulate"])
def test_registers_for_c_leave_the_blocks_that_the_model_counts(epilogue: str):
    """On Turing ptxas takes what there is for the copy, 166 to 180 where 96 are needed: with 180 two blocks share an
    SM, not three. It is told of three, and spills nothing."""
    text = Product(1024, 1024, 512, out="f32", b_order="nk", epilogue=epilogue).module()
    tiles = "mma=mma_sync,block=64x64x32,warp=32x32x8,mainloop=register_prefetch,promote_c=on"
    made = compile_module(text, chip="sm_75", schedule=Schedule.parse(tiles))
    schedule = Schedule.make(Schedule.parse(str(made.schedule)))
    starts = epilogue == "accumulate"
    problem = Problem(1024, 1024, 512, reads_c=starts, b_order="nk", epilogue_types="" if starts else "f32")
    held = occupancy(problem, schedule, target("sm_75"))
    used = usage(made.ptx or "", "sm_75")
    assert schedule.min_blocks == held.blocks == 3 and used.spill_bytes == 0
    assert used.registers <= held.registers and held.blocks * 32 * schedule.warps * used.registers <= 65536
    alone = occupancy(problem, schedule.replace(min_blocks=0), target("sm_75"))
    assert alone.limit == "registers" and (alone.blocks < 3 or starts)


def test_memory_of_what_the_epilogue_adds():
    """It lies where operands were, and after it the result beside it; beside a ring it has its own."""
    problem = Problem(1024, 1024, 512, out="f16", reads_c=False, epilogue_types="f16 f32 f16")
    chosen = select(problem, target("sm_80"), Schedule.parse(f"{TILES['sm_80']},layout=xor")).schedule
    schedule = chosen.replace(stages=2)
    half, word = 128 * (128 + 8) * 2, 128 * (128 + 8) * 4
    assert smem_bytes(problem, schedule.replace(promote_c=True)) == word
    assert smem_bytes(problem, schedule.replace(promote_c=True, promote_result=True)) == 2 * half + word
    ring = select(problem, target("sm_90a"), Schedule.parse(GROUP_RING)).schedule
    beside = 128 * (64 + 8) * 2 + 128 * (64 + 8) * 4
    assert smem_bytes(problem, ring) == smem_bytes(problem, ring.replace(promote_c=False)) + beside
    # By the copy engine all three have their own, and with two warpgroups in turns each of them.
    ahead = select(problem, target("sm_90a"), Schedule.parse(f"{GROUP_RING},prefetch_c=on")).schedule
    each, barriers = 128 * 64 * (2 + 4 + 2), 1024
    alone = smem_bytes(problem, ahead.replace(promote_c=False, prefetch_c=False))
    assert smem_bytes(problem, ahead) == alone + each + barriers + (2 - ahead.stages) * 16


AHEAD = "mma=mma_sync,block=64x64x32,warp=32x32x16,mainloop=cp_async,stages=2"


def test_explain_says_how_what_is_added_comes():
    problem = Problem(4096, 4096, 256, out="f16", reads_c=False, epilogue_types="f16", epilogue_ops=7)
    assert "  what the epilogue adds: by the copy engine during the products" in explain(problem, target("sm_90a"))


def test_memory_of_what_is_read_ahead():
    """It lies beside the operands, and beside the result that is stored where they were."""
    product = Product(256, 256, 256, out="f16", b_order="nk", epilogue="residual")
    ways = ("", ",promote_result=on", ",tiles_per_block=2", ",promote_result=on,tiles_per_block=2")
    every = [("sm_80", f"{AHEAD},storage=dynamic{way}") for way in ways]
    for chip, way in [*every, ("sm_90a", GROUPS_IN_TURNS), ("sm_90a", GROUP_RING)]:
        fields = way.replace(",promote_c=on", "")
        made = compile_module(
            product.module(), chip=chip, schedule=Schedule.parse(f"{fields},promote_c=on,prefetch_c=on")
        )
        problem = Problem(256, 256, 256, out="f16", reads_c=False, b_order="nk", epilogue_types="f32")
        told = smem_bytes(problem, Schedule.make(Schedule.parse(str(made.schedule))))
        assert made.launch is not None and made.launch.shared_bytes == told, way


def test_what_is_read_ahead_arrives_during_the_products():
    """By copies that pass no registers, for which the last wait is; nothing is loaded otherwise. To warpgroups the copy
    engine brings it, as it brings A and B."""
    group = "mma=wgmma,block=128x128x64,warp=128x128x64,stages=3,ping_pong=on,persistent=32"
    for chip, tiles, copy, wait in (
        ("sm_80", AHEAD, "cp.async.cg.shared.global", "cp.async.wait_group"),
        ("sm_90a", group, "cp.async.bulk.tensor.2d.shared::cluster.global", "mbarrier.try_wait"),
    ):
        text = Product(1024, 1024, 512, out="f16", b_order="nk", epilogue="residual", added="f16").module()
        made = compile_module(text, chip=chip, schedule=Schedule.parse(f"{tiles},promote_c=on,prefetch_c=on"))
        ptx = made.ptx or ""
        assert "ld.global" not in ptx and copy in ptx and (chip == "sm_80" or "cp.async.cg" not in ptx)
        last = max(ptx.rfind(name) for name in ("mma.sync", "wgmma.mma_async"))
        assert last < ptx.rfind(wait)
        assert usage(ptx, chip).spill_bytes == 0


@pytest.mark.parametrize(("place", "ring"), [
    ("prefetch_c.tile.await_", f"{SYNC_RING},promote_c=on"), ("describe.tma_load_c.rings.consumer_wait", GROUP_RING),
])  # fmt: skip
def test_without_the_wait_the_simulator_finds_a_race(place: str, ring: str, monkeypatch: pytest.MonkeyPatch):
    folder = "" if place.startswith("describe") else "parallelize."
    monkeypatch.setattr(f"mlir_gemm.passes.{folder}{place}", lambda *_: None)
    with pytest.raises(mlir_gemm.Error, match=r"race|uninitialized|in flight|async"):
        check(Product(128, 64, 64, out="f16", epilogue="residual"), "sm_90a", f"{ring},prefetch_c=on")


GROUPS_IN_TURNS = "mma=wgmma,block=64x64x64,warp=64x64x64,stages=2,ping_pong=on,persistent=2"


@pytest.mark.parametrize(("epilogue", "out"), [("residual", "f16"), ("bias_relu_residual", "f16"),
                                               ("accumulate", "f32")])  # fmt: skip
def test_each_of_two_warpgroups_in_turns_has_a_tile_of_what_is_added(epilogue: str, out: str):
    product = Product(200, 136, 72, out=out, pad=8, epilogue=epilogue)
    check(product, "sm_90a", f"{GROUPS_IN_TURNS},promote_c=on,prefetch_c=on")


REFUSED_AHEAD = (
    ({"epilogue_vector": 64}, "start at multiples of 64 bits only, the copy engine needs 128"),
    (
        {"reads_c": True, "out": "f32", "out_vector": 32},
        "start at multiples of 32 bits only, the copy engine needs 128",
    ),
    ({"epilogue_types": "f64"}, "brings elements of 2 and 4 bytes in rows of multiples of 32, not 512 bytes of f64"),
    ({"out_order": "nm"}, "rows of what the epilogue reads run down the tiles"),
    ({"a": "f32", "b": "f32", "a_order": "km", "b_order": "nk"}, "with A through registers lanes have other rows"),
)


@pytest.mark.parametrize(("fields", "reason"), REFUSED_AHEAD)
def test_what_the_copy_engine_does_not_bring(fields: dict[str, str], reason: str):
    given = {"out": "f16", "reads_c": False, "epilogue_types": "f16", "b_order": "nk", **fields}
    precision = ",precision=tf32" if "a" in fields else ""
    schedule = Schedule.parse(f"mma=wgmma,block=64x64x64,warp=64x64x64,promote_c=on,prefetch_c=on{precision}")
    with pytest.raises(ScheduleError) as refused:
        select(Problem(1024, 1024, 1024, **given), target("sm_90a"), schedule)
    assert reason in "\n".join([str(refused.value), *refused.value.notes])


REFUSALS = (
    ("sm_90a", "mma=wgmma,promote_c=on", "and no C is read; expected promote_c=off"),
    ("sm_90a", "mma=wgmma,promote_result=on", "results leave through shared memory by smem_epilogue: expected"),
    ("sm_90a", "mma=wgmma,promote_c=on,ping_pong=on", "promote_c=on with ping_pong=on: consumers share no whole tile"),
    (
        "sm_80",
        "mma=mma_sync,promote_c=on",
        "the epilogue reads no matrix of the result's shape .vectors",
    ),
    ("sm_80", "mma=wmma,promote_result=on", "mma=wmma hands rows of f16 to lanes anyway"),
    ("sm_80", "mma=mma_sync,prefetch_c=on", "the epilogue reads through shared memory .promote_c=on."),
    ("sm_75", "mma=mma_sync,block=256x128x32,promote_result=on", "the block needs 69632 bytes of shared memory"),
)


@pytest.mark.parametrize(("chip", "fields", "reason"), REFUSALS)
def test_refusals(chip: str, fields: str, reason: str):
    with pytest.raises(ScheduleError) as refused:
        select(Problem(1024, 1024, 1024, out="f16", reads_c=False), target(chip), Schedule.parse(fields))
    assert re.search(reason, "\n".join([str(refused.value), *refused.value.notes]))


def test_short_rows_are_predicted_to_gain_and_whole_ones_not():
    """mma.sync's lanes store 16 bytes of a row of f16; those of simt whole lines of f32."""
    for kind, out, mma, gains in (("f16", "f16", "mma_sync", True), ("f32", "f32", "simt", False)):
        problem = Problem(4096, 4096, 256, kind, kind, out=out, reads_c=False)
        schedule = select(problem, target("sm_80"), {"mma": mma}).schedule
        direct, staged = (
            estimate(problem, schedule.replace(promote_result=on), target("sm_80")).edges for on in (False, True)
        )
        assert (staged < direct) == gains


def test_what_the_epilogue_adds_is_predicted_to_cost_more_so():
    """It moves twice more, though lanes read 16 bytes of a row of f16 at once: 1.11 of the time on an H100, f16."""
    for added in ("f16", "f32"):
        problem = Problem(4096, 4096, 256, out="f16", reads_c=False, epilogue_types=added)
        schedule = select(problem, target("sm_80"), {"mma": "mma_sync", "promote_result": False}).schedule
        direct, staged = (
            estimate(problem, schedule.replace(promote_c=on), target("sm_80")).edges for on in (False, True)
        )
        assert direct < staged < 1.5 * direct


def test_an_opaque_mma_hands_rows_to_lanes():
    problem = Problem(1024, 1024, 1024, out="f16", reads_c=False, epilogue_types="f16")
    with pytest.raises(ScheduleError, match="mma=wmma adds what the epilogue reads to rows"):
        select(problem, target("sm_80"), Schedule.parse("mma=wmma,promote_c=on"))


def test_the_tuner_tries_them():
    added = Problem(32, 32, 64, out="f16", reads_c=False, epilogue_types="f16")
    texts = [trial.schedule for trial in explore(added, target("sm_80"), factor=10.0).trials]
    assert any("promote_c=on" in text for text in texts)
    texts = [trial.schedule for trial in explore(Problem(32, 32, 64), target("sm_70"), factor=10.0).trials]
    for wanted in ("promote_result=on", "promote_c=on,promote_result=on"):
        assert any(wanted in text for text in texts), wanted
