"""What warps' tensor cores are given to multiply, where measurements on an H100 and an H200 decided."""

from __future__ import annotations

import pytest

from mlir_gemm.parts.warp_level.search import LONG_K
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate, select

CHIP = target("sm_90a:h100sxm")
SLICES = Problem(40, 24, 2264, a="bf16", b="bf16", acc="f32", out="f32", batch=208)


@pytest.mark.parametrize(("k", "step"), [(1760, 32), (LONG_K - 8, 16)])
def test_small_tiles_of_f64_take_deeper_steps_where_k_is_long(k: int, step: int) -> None:
    product = Problem(680, 184, k, a="f64", b="f64", acc="f64", out="f64", b_order="nk")
    assert select(product, CHIP).schedule.block[2] == step


def test_slices_of_a_long_k_stream_by_the_copy_engine() -> None:
    pinned = {"split_k_workspace": 208, "split_k_cluster": 1, "mma": "mma_sync"}
    assert select(SLICES, CHIP, pinned).schedule.mainloop == "tma"


def test_cp_async_takes_longer_than_dram_for_slices_alone() -> None:
    """Only slices of a long k were measured so."""
    copied = Schedule.parse("mma=mma_sync,mainloop=cp_async,block=64x32x64,warp=32x32x16,stages=6")
    alone, sliced = (Schedule.make({**copied, "split_k_workspace": parts}) for parts in (1, 208))
    assert estimate(SLICES, alone, CHIP).dram < estimate(SLICES, sliced, CHIP).dram


@pytest.mark.parametrize(("k", "step"), [(89, 32), (120, 64)])
def test_a_short_k_of_bytes_takes_the_steps_that_reach_least_beyond_it(k: int, step: int) -> None:
    product = Problem(968, 1300, k, a="i8", b="i8", acc="i32", out="i32", b_order="nk", a_vector=8, b_vector=8)
    assert select(product, CHIP).schedule.block[2] == step
