"""What L2 is told to keep of an operand: the same bits, the share that was asked for, and when the model asks."""

from __future__ import annotations

import numpy as np
import pytest
from assembled import instructions, usage
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, simulate
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain

CHIP = "sm_90a"
TILES = (
    "block=64x64x64,warp=64x64x64",
    "block=128x96x128,warp=64x96x128",
    "block=64x128x64,warp=64x128x64,cluster_m=2",
    "block=64x64x64,warp=64x64x64,split_k_cluster=2",
    "mma=mma_sync,mainloop=tma,block=64x64x64,warp=32x32x64,persistent=3",
)


def compiled(product: GroupProduct, fields: str = "", until: str = "ptx") -> Compilation:
    fields = fields if "mma" in fields else f"mma=wgmma,{fields}"
    return compile_module(product.source(), chip=CHIP, schedule=Schedule.parse(fields), until=until)


def chosen(product: GroupProduct) -> Schedule:
    """The model's choice for the product, or for the parts of it."""
    schedule = compile_module(product.source(), chip=CHIP).schedule
    assert schedule is not None
    return schedule


@pytest.mark.parametrize("tiles", TILES)
def test_the_bits_are_the_same_whatever_is_kept(tiles: str) -> None:
    m, n, k = 128, 192, 256
    product = GroupProduct(m, n, k, b="nk")
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((m, k), (n, k)))
    results = set[bytes]()
    for kept in ("", ",l2_keep_a=0,l2_keep_b=0", ",l2_keep_a=5,l2_keep_b=31", ",l2_keep_b=16"):
        d = np.full((m, n), np.nan, np.float16)
        fields = (tiles if "mma" in tiles else f"mma=wgmma,{tiles}") + kept
        mlir_gemm.compile(product.source(), chip=CHIP, device="simulator", schedule=fields)(a, b, d)
        assert np.isfinite(d).all()
        results.add(d.tobytes())
    assert len(results) == 1


@pytest.mark.parametrize(
    ("kept", "order"), [*((kept, "mk") for kept in (0, 1, 5, 16, 31, PARTS)), (5, "km"), (31, "km")]
)
def test_of_the_boxes_as_many_may_stay_as_were_asked_for(kept: int, order: str) -> None:
    """Counted in the simulator, over 32 steps of k, in which each tile has each number once."""
    m, n, k = 128, 64, 64 * PARTS
    text = compiled(GroupProduct(m, n, k, a=order), f"{TILES[0]},l2_keep_a={kept}", until="lower").ir("lower")
    rng = np.random.default_rng(0)
    shapes = ((m, k) if order == "mk" else (k, m), (k, n), (m, n))
    report = simulate(text, [rng.normal(size=shape).astype(np.float16) for shape in shapes], Options(counters=True))
    assert not report.findings
    whole = 2 * m * k
    assert report.counters.bytes["global_load"] == 2 * whole  # B has half as many columns, and two readers
    assert report.counters.bytes["global_leaving"] == whole * (PARTS - kept) // PARTS


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ("l2_keep_a=32,l2_keep_b=32", 0.0),
        ("l2_keep_a=5", 0.5),
        ("l2_keep_a=5,l2_keep_b=3", 1.0),
        ("l2_keep_a=0,l2_keep_b=3,cluster_m=2", 1.0),
    ],
)
def test_the_copies_carry_their_policies_to_the_machine_code(fields: str, part: float) -> None:
    """Of an operand's copies all do, in which a policy is a constant."""
    product = GroupProduct(8192, 64, 8192)
    ptx = compiled(product, f"block=128x64x64,warp=64x64x64,{fields}").ptx
    code = instructions(ptx, CHIP)
    copies = [each for each in code if "UTMALDG" in each]
    assert copies and sum("desc[" in each for each in copies) == part * len(copies)
    assert not any("CREATEPOLICY" in each for each in code)
    used = usage(ptx, CHIP)
    assert (used.spill_bytes, used.warnings) == (0, ())


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        ((16, 8192, 8192), {5}),  # 134 MB of weights, of which an H200 has 23 in L2
        ((8192, 32, 8192), {5}),
        ((128, 24576, 1536), {10}),
        ((128, 8192, 3072), {14}),
        ((64, 2112, 7168), {PARTS}),  # L2 holds it all, from one run to the next if it is not marked
        ((1024, 1024, 8192), {PARTS}),
        ((2048, 4096, 1024), {PARTS}),
        ((256, 8192, 8192), {0}),  # the tensor cores take longer than reading it
        ((64, 1024, 1024), {PARTS}),  # 2 MB do not matter
        ((32, 28672, 8192), {PARTS}),  # 470 MB: what is kept would be too little
        ((1024, 8192, 8192), {PARTS}),  # read in several waves
    ],
    ids=str,
)
def test_the_model_keeps_a_part_of_what_is_read_once(size: tuple[int, int, int], kept: set[int]) -> None:
    schedule = chosen(GroupProduct(*size))
    assert {schedule.l2_keep_a, schedule.l2_keep_b} == {PARTS, *kept}


def test_what_is_pinned_stays() -> None:
    (kernel,) = compiled(GroupProduct(64, 8192, 8192), "l2_keep_a=7,l2_keep_b=32").kernels
    assert kernel.schedule is not None and (kernel.schedule.l2_keep_a, kernel.schedule.l2_keep_b) == (7, PARTS)


def test_explain_says_what_is_kept() -> None:
    text = explain(Problem(64, 8192, 8192, "f16", "f16", "f32", "f16"), target(CHIP))
    assert "L2 keeps 5 of 32 parts of it, the rest leaves first" in text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("mma=mma_sync,mainloop=cp_async,l2_keep_a=5", "l2_keep_a=5: expected 32 without mainloop=tma"),
        ("l2_keep_b=33", "expected 0 to 32 parts of an operand"),
        ("l2_keep_b=-1", "expected 0 to 32 parts of an operand"),
    ],
)
def test_what_cannot_be_kept(fields: str, reason: str) -> None:
    with pytest.raises(mlir_gemm.ScheduleError, match=reason):
        compiled(GroupProduct(512, 512, 512), fields)
