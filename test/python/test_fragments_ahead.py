"""The first fragments of the next k tile are loaded before the last products of this one."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from assembled import loads_in_flight, usage
from draws import draws
from dynamic_products import DynamicProduct
from test_global_operands import MMAS, OUTS, TILES
from test_other_tensor_cores import EPILOGUES, Product, check

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate, select
from mlir_gemm.tuner.space import explore

LOOPS = (
    "mainloop=direct", "mainloop=register_prefetch", "mainloop=register_prefetch,stages=2",
    "mainloop=cp_async,stages=2", "mainloop=cp_async,stages=3,interleave=off", "mainloop=cp_async,stages=4",
)  # fmt: skip
OTHERS = ("", "", "promote_result=on", "tiles_per_block=2", "raster=diagonal")
LANES = [name for name in MMAS if name != "wmma"]


def drawn(name: str, number: int) -> tuple[Product, str, str]:
    """A product, k steps from one on; a chip and a schedule. Lanes that prefetch have no registers for bounds."""
    chip, kind, tiles = MMAS[name]
    rng = random.Random(f"ahead {name} {number}")
    able = LOOPS if chip in ("sm_80", "sm_90") else LOOPS[:3]
    loop, other = able[number % len(able)], rng.choice(OTHERS)
    whole = "prefetch" in loop and name in ("simt f32", "dp4a")
    sides = ((32, 64), (32, 96), (16, 64, 112)) if whole else ((7, 32, 33, 64), (24, 33, 96), (8, 31, 64, 130))
    product = Product(
        *(rng.choice(sizes) for sizes in sides), kind,
        out=rng.choice(OUTS.get(kind, ("f32", "f16"))), a_order=rng.choice(("mk", "km")),
        b_order=rng.choice(("kn", "nk")), batch=rng.choice((0, 2)),
        pad=rng.choice((None, 8) if whole else (None, 1, 8)), epilogue=rng.choice(EPILOGUES),
    )  # fmt: skip
    return product, chip, f"{tiles},{loop},fragments_ahead=on{',' if other else ''}{other}"


@pytest.mark.parametrize("name", LANES)
@pytest.mark.parametrize("number", range(draws(3)))
def test_random_products_are_exact(name: str, number: int):
    check(*drawn(name, number))


@pytest.mark.parametrize("chip", TILES)
def test_the_last_step_is_taken_apart_and_nothing_spills(chip: str):
    text = Product(1024, 1024, 512, "f32" if "simt" in TILES[chip] else "f16", b_order="nk").module()
    products = r"fma\.rn" if "simt" in TILES[chip] else r"mma\.sync"
    plain, ahead = (
        compile_module(text, chip=chip, schedule=Schedule.parse(f"{TILES[chip]}{more}")).ptx or ""
        for more in ("", ",fragments_ahead=on")
    )
    # register_prefetch has taken one step apart already; the first sums of lanes start from zero.
    more = 1.5 if "prefetch" in TILES[chip] else 2
    assert len(re.findall(products, ahead)) == pytest.approx(more * len(re.findall(products, plain)), rel=0.05)
    assert usage(ahead, chip).spill_bytes == 0


RING = "mma=mma_sync,mainloop=tma,fragments_ahead=on"
WMMA = "mma=wmma,block=64x32x32,warp=32x16x16,fragments_ahead=on"


@pytest.mark.parametrize("tiles", ["block=64x64x64,warp=32x32x16,stages=2", "block=64x64x32,warp=32x32x16,stages=3"])
@pytest.mark.parametrize("more", ["", ",persistent=3", ",tiles_per_block=2", ",cluster_m=2"])
def test_a_stage_of_a_ring_is_released_before_the_next_is_waited_for(tiles: str, more: str):
    """One step, and several; the simulator follows the barriers, and what is read of a stage after its release."""
    check(Product(256, 136, 64 if "persistent" in more else 200, out="f16"), "sm_90a", f"{RING},{tiles}{more}")


@pytest.mark.parametrize("tiles", ["block=128x128x64,warp=64x32x16,stages=3", "block=128x64x32,warp=32x32x16"])
def test_no_number_of_a_block_that_walks_tiles_spills(tiles: str):
    """ptxas kept the block's number on the stack where registers move between roles that both count on from it."""
    text = Product(4096, 4096, 4096, out="f16").module()
    ptx = compile_module(text, chip="sm_90a", schedule=Schedule.parse(f"{RING},{tiles}")).ptx or ""
    assert usage(ptx, "sm_90a").spill_bytes == 0


def test_consumers_with_a_block_number_of_their_own():
    check(Product(256, 136, 72, out="f16"), "sm_90a", f"{RING},block=128x64x32,warp=32x32x16,persistent=2")


@pytest.mark.parametrize("ahead", ["", ",fragments_ahead=on"])
@pytest.mark.parametrize(
    "tiles",
    ["block=128x128x64,warp=64x32x16,stages=3", "block=64x64x64,warp=32x32x16", "block=128x128x64,warp=64x64x16"],
)
def test_a_stage_is_released_when_its_fragments_are_there(tmp_path: Path, tiles: str, ahead: str):
    """ptxas lets a warp arrive while loads are in flight, and moves loads and products: the first two gave an arrival
    before six and five of them."""
    text = Product(512, 512, 512, out="f16").module()
    schedule = Schedule.parse(f"mma=mma_sync,mainloop=tma,{tiles}{ahead}")
    found = loads_in_flight(compile_module(text, chip="sm_90a", schedule=schedule).ptx or "", "sm_90a", tmp_path)
    assert found == [0] * (2 if ahead else 1)


@pytest.mark.parametrize(("chip", "loop"), [("sm_70", LOOPS[1]), ("sm_80", LOOPS[3]), ("sm_80", LOOPS[0])])
@pytest.mark.parametrize("more", ["", ",tiles_per_block=2", ",promote_b=off"])
def test_fragments_of_wmma(chip: str, loop: str, more: str):
    product = Product(128, 96, 96, out="f16" if more else "f32", epilogue="relu" if more else "none")
    check(product, chip, f"{WMMA},{loop}{more}")


OPEN = [("mma=mma_sync,block=32x32x32,warp=16x16x16", loop) for loop in LOOPS]


@pytest.mark.parametrize(("mma", "loop"), [*OPEN, ("mma=simt,block=32x32x16,warp=16x32x4", LOOPS[3])])
def test_steps_known_at_run_time_only(mma: str, loop: str):
    product, schedule = DynamicProduct({"n": 40}, bias=True), f"{mma},{loop},fragments_ahead=on"
    kernel = mlir_gemm.compile(product.source(), chip="sm_80", device="simulator", schedule=schedule)
    product.check(kernel, {"m": 40, "n": 40, "k": 100}, {"m": 5, "n": 40, "k": 8})


REFUSALS = (
    ("sm_90a", "mma=wgmma,fragments_ahead=on", "fragments_ahead=on with mma=wgmma: expected fragments_ahead=off"),
    ("sm_80", "mma=mma_sync,unroll=off,fragments_ahead=on", "with unroll=off: expected unroll=on"),
    ("sm_80", "mma=mma_sync,block=128x128x64,unroll_by=2,fragments_ahead=on", "unroll_by=2: expected unroll_by=0"),
)


@pytest.mark.parametrize(("chip", "fields", "reason"), REFUSALS)
def test_refusals(chip: str, fields: str, reason: str):
    with pytest.raises(ScheduleError) as refused:
        select(Problem(1024, 1024, 1024), target(chip), Schedule.parse(fields))
    assert re.search(reason, "\n".join([str(refused.value), *refused.value.notes]))


def test_steps_known_at_run_time_only_are_not_offered_it():
    """Their branch was not measured."""
    assert not select(Problem(2048, 2048, 2048, dynamic="k"), target("sm_80")).schedule.fragments_ahead


def test_a_barrier_is_predicted_to_cost_less():
    problem = Problem(512, 512, 4096)
    schedule = select(problem, target("sm_80"), {"mma": "mma_sync"}).schedule
    plain, ahead = (
        estimate(problem, schedule.replace(fragments_ahead=on), target("sm_80")).total for on in (False, True)
    )
    assert ahead < plain


def test_the_tuner_tries_it():
    texts = [trial.schedule for trial in explore(Problem(33, 40, 256), target("sm_70")).trials]
    assert any("fragments_ahead=on" in text for text in texts)
