"""The first fragments of the next k tile are loaded before the last products of this one."""

from __future__ import annotations

import random
import re

import pytest
from assembled import usage
from draws import draws
from test_global_operands import MMAS, OUTS, TILES
from test_other_tensor_cores import EPILOGUES, Product, check

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


REFUSALS = (
    ("sm_90a", "mma=wgmma,fragments_ahead=on", "fragments_ahead=on with mma=wgmma: expected fragments_ahead=off"),
    ("sm_80", "mma=wmma,fragments_ahead=on", "fragments_ahead=on with mma=wmma: expected fragments_ahead=off"),
    ("sm_90a", "mma=mma_sync,mainloop=tma,fragments_ahead=on", "fragments_ahead=on with mainloop=tma"),
    ("sm_80", "mma=mma_sync,unroll=off,fragments_ahead=on", "with unroll=off: expected unroll=on"),
    ("sm_80", "mma=mma_sync,block=128x128x64,unroll_by=2,fragments_ahead=on", "unroll_by=2: expected unroll_by=0"),
)


@pytest.mark.parametrize(("chip", "fields", "reason"), REFUSALS)
def test_refusals(chip: str, fields: str, reason: str):
    with pytest.raises(ScheduleError) as refused:
        select(Problem(1024, 1024, 1024), target(chip), Schedule.parse(fields))
    assert re.search(reason, "\n".join([str(refused.value), *refused.value.notes]))


def test_steps_known_at_run_time_only_are_refused():
    with pytest.raises(ScheduleError, match="number of k steps is known at run time only"):
        select(Problem(512, 512, 512, dynamic="k"), target("sm_80"), Schedule.parse("mma=mma_sync,fragments_ahead=on"))


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
