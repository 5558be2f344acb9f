"""Products whose sides have changed places: what stands in registers leaves transposed, by the copy engine."""

from __future__ import annotations

import numpy as np
import pytest
from group_products import GroupProduct
from test_hopper_groups import check

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.schedule import Schedule

TILES = (
    "block=128x128x64,warp=64x128x64",
    "block=192x96x64,warp=64x96x64",
    "block=64x144x64,warp=64x144x64",
    "block=64x40x64,warp=64x40x64",
    "block=128x48x64,warp=128x48x64,ping_pong=on,persistent=3",
    "block=64x128x64,warp=64x128x64,split_k_cluster=2,cluster_m=2",
    "block=128x160x64,warp=128x80x64",
)


@pytest.mark.parametrize(
    ("out", "tiles"),
    [
        (out, tiles)
        for number, tiles in enumerate(TILES)
        for turn, out in enumerate(["f16", "f32"])
        if number > 3 or (number + turn) % 2
    ],
)
def test_results_are_exact_and_nothing_is_found(tiles: str, out: str):
    check(GroupProduct(328, 264 if "cluster" not in tiles else 256, 200, out=out, a="mk", b="kn"),
          f"swap_ab=on,{tiles}")  # fmt: skip


@pytest.mark.parametrize("mma", ["mma_sync", "simt"])
@pytest.mark.parametrize("epilogue", [(), ("bias", "residual")])
def test_other_mmas_take_exchanged_products_too(mma: str, epilogue: tuple[str, ...]):
    product = GroupProduct(96, 160, 64, epilogue=epilogue)
    kernel = mlir_gemm.compile(product.source(), chip="sm_80", device="simulator", schedule=f"mma={mma},swap_ab=on")
    random = np.random.default_rng(0)
    a, b, bias, residual = (
        random.integers(-3, 4, shape).astype(np.float16) for shape in ((96, 64), (64, 160), (160,), (96, 160))
    )
    more = [bias, residual] if epilogue else []
    d = np.full((96, 160), np.nan, np.float16)
    kernel(a, b, *more, d)
    want = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(d, (want + sum(each.astype(np.float32) for each in more)).astype(np.float16))


@pytest.mark.parametrize("sizes", [(256, 264, 72), (20, 264, 72), (256, 6, 72), (1, 64, 64), (64, 1, 64)])
def test_odd_rows_are_right_too(sizes: tuple[int, int, int]):
    m, n, k = sizes
    check(GroupProduct(m, n, k, a="mk", b="nk"), "swap_ab=on")


@pytest.mark.parametrize(("out", "matrices"), [("f16", True), ("f32", False)])
def test_sixteen_bits_leave_through_shared_memory(out: str, matrices: bool):
    kernel = mlir_gemm.compile(
        GroupProduct(256, 256, 64, out=out).source(), chip="sm_90a", schedule="mma=wgmma,swap_ab=on"
    )
    assert ("stmatrix" in kernel.ptx and ".trans" in kernel.ptx) == matrices
    assert kernel.schedule is not None and kernel.schedule.swap_ab
    assert kernel.problem is not None and kernel.problem.out_order == "nm"
    (record,) = kernel.kernels
    assert "changed places" in record.note and "as the schedule says" in record.note


def test_the_sides_stay_where_they_are_when_asked_for():
    thin = GroupProduct(16, 4096, 4096, b="nk").source()
    free, fixed = (mlir_gemm.compile(thin, chip="sm_90a", schedule=text) for text in (None, "swap_ab=off"))
    for kernel, swapped in ((free, True), (fixed, False)):
        assert isinstance(kernel.schedule, Schedule) and kernel.schedule.swap_ab == swapped


def test_an_exchange_that_cannot_be_is_refused():
    added = """
func.func @main(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}
"""
    with pytest.raises(ScheduleError, match="swap_ab=on: the sides of the product cannot change places"):
        mlir_gemm.compile(added, chip="sm_90a", schedule="swap_ab=on")
    dynamic = """
func.func @main(%A: tensor<?x64xf16>, %B: tensor<64x64xf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %A, %c0 : tensor<?x64xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %D = linalg.matmul ins(%A, %B : tensor<?x64xf16>, tensor<64x64xf16>)
      outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %D : tensor<?x64xf32>
}
"""
    with pytest.raises(ScheduleError, match="swap_ab=on: sizes known at run time only"):
        mlir_gemm.compile(dynamic, chip="sm_90a", schedule="swap_ab=on")
