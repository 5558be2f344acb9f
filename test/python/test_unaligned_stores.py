"""Results whose rows start between vectors of 16 bytes: they leave through shared memory, in whole vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from draws import draws
from dynamic_products import DynamicProduct
from group_products import GroupProduct
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dynamic import check as check_dynamic
from test_hopper_groups import check

import mlir_gemm
from mlir_gemm.parts.epilogue.unaligned_rows import rows_bytes
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target

GROUPS = (
    "block=64x64x64,warp=64x64x64",
    "block=128x96x64,warp=64x96x64,cluster_m=2",
    "block=64x136x64,warp=64x136x64",
    "block=64x256x64,warp=64x256x64,persistent=3",
    "block=128x64x64,warp=64x64x64,swap_ab=on",
    "block=64x80x64,warp=64x80x64,swap_ab=on,persistent=2",
    "block=128x128x64,warp=128x128x64,ping_pong=on,persistent=2",
    "block=64x128x64,warp=64x128x64,split_k_cluster=2,stages=3",
)
WARPS = (
    "block=64x64x32,warp=32x32x16,mainloop=cp_async,layout=xor,stages=3",
    "block=64x96x32,warp=32x48x16,mainloop=register_prefetch,stages=1",
    "block=32x64x32,warp=16x64x16,mainloop=direct",
    "block=128x64x32,warp=32x32x16,mainloop=register_prefetch,stages=2,unroll=off",
)


@pytest.mark.parametrize("number", range(len(GROUPS)))
@pytest.mark.parametrize("out", ["f16", "f32"])
def test_warpgroups_are_exact_and_nothing_is_found(number: int, out: str):
    """Rows that start at 2, 4 or 8 bytes: of a schedule two of them, in turns."""
    n = (131, 262)[(number + (out == "f32")) % 2]
    check(GroupProduct(136, n, 264, out=out, a="mk", b="nk"), GROUPS[number])


@pytest.mark.parametrize("number", range(len(WARPS)))
@pytest.mark.parametrize("out", ["f16", "f32"])
def test_warps_are_exact_and_nothing_is_found(number: int, out: str):
    k = (72, 41)[(number + (out == "f32")) % 2]
    check(GroupProduct(100, 133, k, out=out), WARPS[number], "mma_sync", "sm_80")


def test_a_ring_of_warps_stores_as_before():
    schedule = "mainloop=tma,block=64x64x64,warp=32x32x16,stages=3,persistent=2"
    check(GroupProduct(100, 139, 136, a="mk", b="nk"), schedule, "mma_sync")


@settings(max_examples=draws(20), deadline=None)
@given(
    m=st.integers(2, 200), n=st.integers(2, 300), k=st.integers(1, 24), out=st.sampled_from(["f16", "f32"]),
    swapped=st.booleans(), tile=st.sampled_from(["64x64x64", "64x40x64", "128x136x64", "64x32x64"]),
    group=st.booleans(),
)  # fmt: skip
def test_any_sizes_are_exact(m: int, n: int, k: int, out: str, swapped: bool, tile: str, group: bool):
    rows, columns, depth = map(int, tile.split("x"))
    if group:
        schedule = f"block={tile},warp=64x{columns}x{depth},swap_ab={'on' if swapped else 'off'}"
        check(GroupProduct(m, n, 8 * k, out=out, a="mk", b="nk"), schedule)
        return
    columns = columns // 32 * 32
    schedule = f"block={rows}x{columns}x32,warp=32x32x16,mainloop=register_prefetch,stages=1"
    check(GroupProduct(m, n, 8 * k, out=out, a="mk", b="nk"), schedule, "mma_sync", "sm_80")


@pytest.mark.parametrize("epilogue", [("bias", "gelu"), ("residual",)])
@pytest.mark.parametrize("schedule", ["mma=wgmma,block=128x64x64,warp=64x64x64", "mma=mma_sync"])
def test_epilogues_come_in_front(epilogue: tuple[str, ...], schedule: str):
    product = GroupProduct(130, 99, 72, a="mk", b="nk", epilogue=epilogue)
    kernel = mlir_gemm.compile(product.source(), chip="sm_90a", device="simulator", schedule=schedule)
    random = np.random.default_rng(3)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((130, 72), (99, 72)))
    more = random.integers(-3, 4, (99,) if "bias" in epilogue else (130, 99)).astype(np.float16)
    d = np.full((130, 99), np.nan, np.float16)
    kernel(a, b, more, d)
    want = a.astype(np.float64) @ b.astype(np.float64).T + more.astype(np.float64)
    if "gelu" in epilogue:
        erf = np.vectorize(math.erf)
        want = want / 2 * (1 + erf(want / np.sqrt(2)))
    np.testing.assert_allclose(d.astype(np.float64), want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("schedule", ["mma=wgmma,block=64x64x64,warp=64x64x64", "mma=mma_sync"])
def test_sums_are_added_to_what_is_there_in_a_batch_of_shifted_rows(schedule: str):
    """Rows 201 elements apart, of which the first starts at the third."""
    d = "memref<3x70x99xf32, strided<[15000, 201, 1], offset: 3>>"
    source = f"""func.func @f(%A: memref<3x70x72xf16>, %B: memref<3x72x99xf16>, %D: {d}) {{
      linalg.batch_matmul ins(%A, %B : memref<3x70x72xf16>, memref<3x72x99xf16>) outs(%D : {d})
      return
    }}"""
    if "wgmma" in schedule:
        source = source.replace("72x99xf16", "72x104xf16").replace("x99xf32", "x104xf32")
    n = 104 if "wgmma" in schedule else 99
    kernel = mlir_gemm.compile(source, chip="sm_90a", device="simulator", schedule=schedule)
    random = np.random.default_rng(5)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((3, 70, 72), (3, 72, n)))
    memory = random.integers(-9, 9, 3 + 3 * 15000).astype(np.float32)
    view = np.lib.stride_tricks.as_strided(memory[3:], (3, 70, n), (60000, 804, 4))
    before, want = memory.copy(), view + a.astype(np.float32) @ b.astype(np.float32)
    kernel(a, b, view)
    np.testing.assert_array_equal(view, want)
    view[...] = np.lib.stride_tricks.as_strided(before[3:], (3, 70, n), (60000, 804, 4))
    np.testing.assert_array_equal(memory, before)  # nothing beside the rows was written


@pytest.mark.parametrize("schedule", [*(f"mma=wgmma,{each}" for each in GROUPS), f"mma=mma_sync,{WARPS[0]}"])
def test_the_model_counts_the_buffers(schedule: str):
    kernel = mlir_gemm.compile(GroupProduct(2048, 2051, 512, b="nk").source(), chip="sm_90a", schedule=schedule)
    assert kernel.problem is not None and kernel.schedule is not None
    asked = kernel.launch.steps[-1].shared_bytes
    assert asked <= smem_bytes(kernel.problem, kernel.schedule) <= target("sm_90a").smem_block
    assert rows_bytes(kernel.problem, kernel.schedule) > 0
    assert rows_bytes(kernel.problem, kernel.schedule.replace(smem_epilogue=False)) == 0


@pytest.mark.parametrize("schedule", ["mma=wgmma,block=64x64x64,warp=64x64x64", f"mma=mma_sync,{WARPS[0]}"])
@pytest.mark.parametrize("bias", [False, True])
def test_distances_that_are_known_at_run_time_only(schedule: str, bias: bool):
    product = DynamicProduct({"k": 72}, b="nk", bias=bias)
    fields = Schedule.parse(schedule)
    done = compile_module(product.source(), chip="sm_90a", schedule=fields, keep=("describe", "lower"))
    assert "tile.unaligned_store" in str(done.ir("describe"))
    check_dynamic(product, done, [{"m": 70, "n": n} for n in (1, 63, 64, 131)])


def test_vectors_are_stored_only_where_rows_leave_so():
    source = GroupProduct(256, 259, 64, b="nk").source()
    fields = Schedule.parse("mma=wgmma,block=64x64x64,warp=64x64x64")
    by_rows, alone = (
        mlir_gemm.compile(source, chip="sm_90a", schedule={**fields, "smem_epilogue": bulk}).ptx
        for bulk in (True, False)
    )
    assert "st.global.v4" in by_rows
    assert "st.global.v4" not in alone
