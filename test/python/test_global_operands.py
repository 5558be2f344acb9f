"""A and B in shared memory each by itself, or not at all: what is not staged is read where it lies."""

from __future__ import annotations

import random
import re

import pytest
from assembled import usage
from draws import draws
from test_other_tensor_cores import EPILOGUES, Product, check

from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select
from mlir_gemm.tuner.space import explore

STAGED = ("promote_a=off", "promote_b=off", "promote=off")
LOOPS = ("mainloop=direct", "mainloop=register_prefetch,stages=2", "mainloop=cp_async,stages=3")
MMAS = {
    "mma_sync f16": ("sm_80", "f16", "mma=mma_sync,block=32x32x32,warp=16x16x16"),
    "mma_sync i8": ("sm_80", "i8", "mma=mma_sync,block=32x32x32,warp=16x16x32"),
    "mma_sync f64": ("sm_90", "f64", "mma=mma_sync,block=32x32x16,warp=16x16x8,instruction=16x8x8"),
    "mma_sync tf32": ("sm_80", "f32", "mma=mma_sync,precision=tf32,block=32x32x16,warp=16x16x8"),
    "sm_75": ("sm_75", "f16", "mma=mma_sync,block=32x32x16,warp=16x16x8"),
    "m8n8k4": ("sm_70", "f16", "mma=mma_m8n8k4,block=32x32x16,warp=16x16x4"),
    "simt f32": ("sm_80", "f32", "mma=simt,block=32x32x16,warp=16x16x4"),
    "dp4a": ("sm_70", "i8", "mma=dp4a,block=32x32x16,warp=16x16x4"),
    "wmma": ("sm_80", "f16", "mma=wmma,block=32x32x32,warp=16x16x16"),
}
OUTS = {"i8": ("i32",), "f64": ("f64",)}


def loops(name: str) -> list[str]:
    """The main loops of an mma's chip. Lanes that prefetch into registers have none left for bounds."""
    found = LOOPS if MMAS[name][0] in ("sm_80", "sm_90") else LOOPS[:2]
    return [loop for loop in found if name not in ("simt f32", "dp4a") or "prefetch" not in loop]


def drawn(name: str, number: int) -> tuple[Product, str, str]:
    """A product whose tiles divide it, for the sides that are not staged; a chip and a schedule."""
    chip, kind, tiles = MMAS[name]
    rng = random.Random(f"{name} {number}")
    staged = STAGED[number % len(STAGED)]
    able = loops(name)
    loop = LOOPS[0] if staged == "promote=off" else able[number // 2 % len(able)]
    m, n = rng.choice((32, 64)), rng.choice((32, 96))
    plain = name == "wmma"
    if not plain:
        m += rng.choice((0, 5)) * (staged == "promote_b=off")
        n += rng.choice((0, 3)) * (staged == "promote_a=off")
    product = Product(
        m, n, rng.choice((32, 96)), kind, out=rng.choice(OUTS.get(kind, ("f32", "f16"))),
        a_order=rng.choice(("mk", "km")), b_order=rng.choice(("kn", "nk")),
        batch=0 if plain else rng.choice((0, 2)), pad=rng.choice((None, 8)),
        epilogue="relu" if plain else rng.choice(EPILOGUES),
    )  # fmt: skip
    return product, chip, f"{tiles},{loop},{staged}"


@pytest.mark.parametrize("name", MMAS)
@pytest.mark.parametrize("number", range(draws(3)))
def test_random_products_are_exact(name: str, number: int):
    check(*drawn(name, number))


TILES = {
    "sm_70": "mma=mma_m8n8k4,block=128x128x32,warp=64x32x4,mainloop=register_prefetch",
    "sm_75": "mma=mma_sync,block=128x128x32,warp=64x32x8,mainloop=register_prefetch",
    "sm_80": "mma=mma_sync,block=128x128x64,warp=64x32x16,mainloop=cp_async,stages=3",
    "sm_90": "mma=simt,block=128x128x16,warp=32x64x8,mainloop=cp_async,stages=3",
}


@pytest.mark.parametrize("chip", TILES)
def test_large_tiles_spill_nothing_and_take_less_shared_memory(chip: str):
    kind = "f32" if "simt" in TILES[chip] else "f16"
    text = Product(1024, 1024, 512, kind, b_order="nk").module()
    made = compile_module(text, chip=chip, schedule=Schedule.parse(f"{TILES[chip]},promote_a=off"))
    taken = usage(made.ptx or "", chip)
    assert taken.spill_bytes == 0
    schedule = made.kernels[0].schedule
    problem = Problem(1024, 1024, 512, kind, kind, b_order="nk", out="f32")
    assert smem_bytes(problem, schedule) == smem_bytes(problem, schedule.replace(promote_a=True)) // 2


@pytest.mark.parametrize("staged", STAGED[:2])
@pytest.mark.parametrize("more", ["", ",persistent=2", ",fragments_ahead=on,tiles_per_block=2"])
def test_a_ring_brings_one_alone(staged: str, more: str):
    product = Product(
        128, 192, 128, out="f16", b_order="nk" if staged == STAGED[1] else "kn", epilogue="bias_relu_residual"
    )
    schedule = f"mma=mma_sync,mainloop=tma,block=64x64x64,warp=32x32x16,stages=2,{staged}{more}"
    check(product, "sm_90a", schedule)


REFUSALS = (
    (
        "sm_90a",
        "mma=wgmma,promote_a=off",
        "from shared memory by descriptors: expected promote_a=on",
    ),
    ("sm_80", "mma=mma_sync,promote_a=off,promote_b=off", "with neither in shared memory expected promote=off"),
    ("sm_80", "mma=mma_sync,promote=off,mainloop=direct,promote_b=off", "promote_b=off with promote=off, which is for"),
    ("sm_80", "mma=mma_sync,block=128x128x64,promote_a=off", "m of 128 does not divide M=1000; expected promote_a=on"),
    ("sm_80", "mma=mma_sync,block=128x128x64,promote=off,mainloop=direct", "m of 128 does not divide M=1000"),
)


@pytest.mark.parametrize(("chip", "fields", "reason"), REFUSALS)
def test_refusals(chip: str, fields: str, reason: str):
    with pytest.raises(ScheduleError) as refused:
        select(Problem(1000, 1024, 1024), target(chip), Schedule.parse(fields))
    assert re.search(reason, "\n".join([str(refused.value), *refused.value.notes]))


def test_other_operands_are_refused():
    for problem, reason in (
        (Problem(128, 128, 128, a_memory="i8"), "A is computed from i8"),
        (Problem(128, 128, 128, dynamic="m"), r"sizes are known at run time only \(m\)"),
    ):
        with pytest.raises(ScheduleError, match=reason):
            pinned = Schedule.parse("mma=mma_sync,mainloop=direct,block=128x128x64,warp=64x32x16,promote_a=off")
            select(problem, target("sm_80"), pinned)


def test_the_model_stages_both_and_the_tuner_tries_the_others():
    problem = Problem(32, 32, 64, reads_c=False)
    chosen = select(problem, target("sm_70")).schedule
    assert chosen.promote and chosen.promote_a and chosen.promote_b
    texts = [trial.schedule for trial in explore(problem, target("sm_70"), factor=10.0).trials]
    assert "promote_a" not in texts[0]
    for wanted in ("promote_a=off", "promote_b=off", "promote=off"):
        assert any(wanted in text for text in texts), wanted
