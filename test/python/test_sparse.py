"""2:4 sparse operands: compressing, products of them at every schedule and order, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from assembled import usage

import mlir_gemm
from mlir_gemm import InputError, ScheduleError, sparse24
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec import sparse
from mlir_gemm.spec.sparse_arrays import pack, places

SIM: dict[str, Any] = {"chip": "h200", "device": "simulator"}


def matrix(m: int, k: int, seed: int = 0, dtype: Any = np.float16) -> Any:
    """Whole numbers, so that products are exact; some groups of four have one or no number."""
    random = np.random.default_rng(seed)
    found = random.integers(-4, 5, (m, k // 4, 4))
    kept = np.argsort(random.random(found.shape), axis=2) < random.integers(0, 3, (m, k // 4, 1))
    return (found * kept).reshape(m, k).astype(dtype)


def test_what_is_packed_comes_back() -> None:
    a = matrix(70, 192)
    packed = sparse24(a)
    assert packed.packed.shape == (sparse.packed_elements(70, 192),)
    assert packed.values.shape == (70, 96) and packed.shape == (70, 192) and packed.dtype == np.float16
    np.testing.assert_array_equal(packed.dense(), a)


def test_pruning_keeps_the_largest_two() -> None:
    a = np.random.default_rng(1).standard_normal((20, 128)).astype(np.float16)
    pruned = sparse24(a, prune=True).dense().reshape(20, 32, 4)
    fours = a.reshape(20, 32, 4)
    assert np.all((pruned == fours) | (pruned == 0)) and np.all(np.count_nonzero(pruned, axis=2) == 2)
    np.testing.assert_array_equal(np.sort(np.abs(pruned))[:, :, 2:], np.sort(np.abs(fours))[:, :, 2:])


def test_metadata_lies_as_lanes_take_it() -> None:
    """Row 8 + 3 has its first 16 places in the upper half of the word of lane 4 * 3."""
    a = np.zeros((16, 64), np.uint16)
    a[11, :16:4] = 1  # the first of each four
    a[11, 3:16:4] = 2  # and the last
    words = pack(a)[sparse.metadata_start(16, 64) :].view(np.uint32)[: sparse.WORDS]
    assert words[12] >> 16 == 0xCCCC and words[12] & 0xFFFF == 0x4444
    at = places(words, 16, 64)
    assert at[11, :4].tolist() == [[0, 3]] * 4 and at[3, 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.ones((3, 64), np.float16), "row 0, columns 0 to 3"),
        (np.ones((3, 64), np.float32), "sparse24 of float32; expected float16 or bfloat16"),
        (np.zeros((3, 60), np.float16), "a k that 64 divides"),
        (np.zeros(64, np.float16), r"of shape \(64,\)"),
    ],
)
def test_refused_arrays(array: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        sparse24(array)


SCHEDULES = (
    "block=128x128x128", "block=128x64x64", "block=256x128x64", "block=128x256x64,stages=2", "block=128x48x192",
    "block=256x64x64,cluster_n=2", "block=128x64x128,cluster_m=2", "block=128x64x64,persistent=2",
    "block=128x64x64,warp=128x64x64,ping_pong=on,persistent=2",
)  # fmt: skip


@pytest.mark.parametrize("schedule", [None, *SCHEDULES])
@pytest.mark.parametrize("order", ["kn", "nk"])
def test_products(schedule: str | None, order: str) -> None:
    m, n, k = 328, 136, 320
    a = matrix(m, k, 2)
    b = np.random.default_rng(3).integers(-4, 5, (k, n)).astype(np.float16)
    given = b if order == "kn" else np.ascontiguousarray(b.T)
    got = mlir_gemm.einsum(f"mk,{order}->mn", sparse24(a), given, out="f32", schedule=schedule, **SIM)
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b.astype(np.float64))


SYNC = (
    ("sm_80", None), ("sm_120", None), ("sm_80", "block=64x32x64,warp=32x16x64,stages=3"),
    ("sm_80", "block=128x64x128,warp=64x32x64"), ("sm_86", "block=64x64x64,warp=16x32x64,mainloop=register_prefetch"),
    ("h200", "mma=mma_sync,block=48x64x64,warp=16x32x64,mainloop=direct,layout=pad"),
)  # fmt: skip


@pytest.mark.parametrize(("chip", "schedule"), SYNC)
@pytest.mark.parametrize("order", ["kn", "nk"])
def test_products_by_warps(chip: str, schedule: str | None, order: str) -> None:
    """mma.sp, of any size and order of B."""
    m, n, k = 152, 72, 192
    a = matrix(m, k, 2)
    b = np.random.default_rng(3).integers(-4, 5, (k, n)).astype(np.float16)
    given = b if order == "kn" else np.ascontiguousarray(b.T)
    got = mlir_gemm.einsum(f"mk,{order}->mn", sparse24(a), given, out="f32", schedule=schedule, chip=chip,
                           device="simulator")  # fmt: skip
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize("chip", ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_120"])
def test_they_assemble(chip: str) -> None:
    text = """func.func @p(%w: tensor<1024x1024xbf16> {tile.sparse = "2:4"}, %x: tensor<1024x1024xbf16>,
        %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
      %0 = linalg.matmul ins(%w, %x : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
          outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    }"""
    compiled = compile_module(text, chip=chip, schedule={"mma": "mma_sync"})
    name = "mma.sp::ordered_metadata" if chip == "sm_120" else "mma.sp"
    assert f"{name}.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32" in compiled.ptx
    assert usage(compiled.ptx, chip).spill_bytes == 0


def test_bf16_and_an_epilogue() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = matrix(40, 128, 4, ml_dtypes.bfloat16)
    b = np.random.default_rng(5).integers(-3, 4, (24, 128)).astype(ml_dtypes.bfloat16)
    v = np.arange(40, dtype=np.float32)
    got = mlir_gemm.einsum(
        "mk,nk->mn", sparse24(a), b, epilogue=lambda d, v: np.maximum(d + v, 0), out="f32", v=("m", v), **SIM
    )
    wanted = np.maximum(a.astype(np.float64) @ b.T.astype(np.float64) + v[:, None], 0)
    np.testing.assert_array_equal(got, wanted)


def test_weights_of_a_linear_layer() -> None:
    """The sparse operand may come second, and the result may lie with its rows along n."""
    w = matrix(136, 128, 6)
    x = np.random.default_rng(7).integers(-3, 4, (48, 128)).astype(np.float16)
    got = mlir_gemm.einsum("tk,mk->tm", x, sparse24(w), out="f32", **SIM)
    np.testing.assert_array_equal(got, x.astype(np.float64) @ w.T.astype(np.float64))
    got = mlir_gemm.matmul(sparse24(w), np.ascontiguousarray(x.T), out="f32", **SIM)
    np.testing.assert_array_equal(got, w.astype(np.float64) @ x.T.astype(np.float64))


def test_refused_products() -> None:
    w, x = sparse24(matrix(64, 64)), np.zeros((64, 64), np.float16)
    with pytest.raises(InputError, match="one of two operands"):
        mlir_gemm.einsum("mk,nk->mn", w, w, **SIM)
    with pytest.raises(InputError, match="no plus, times"):
        mlir_gemm.einsum("mk,kn->mn", w, x, times=lambda a, b: a + b, **SIM)
    with pytest.raises(InputError, match=r"which sm_75 has no mma \(wgmma or mma_sync\): expected the matrix"):
        mlir_gemm.einsum("mk,kn->mn", w, x, chip="sm_75", device="simulator")
    for fields, why in (
        ("mma=wgmma,block=64x64x64", "its m must be a multiple of 128"),
        ("split_k_workspace=2", "split_k_workspace"),
        ("mma=wgmma,split_k_cluster=2", "split_k_cluster=2 with a 2:4 sparse operand"),
        ("mma=simt", "expected mma=wgmma or mma_sync"),
        ("mma=mma_sync,mainloop=tma", "mainloop=tma with a 2:4 sparse operand"),
    ):
        with pytest.raises(ScheduleError, match=why):
            mlir_gemm.einsum("mk,kn->mn", w, x, schedule=fields, **SIM)
    with pytest.raises(InputError, match="is not only an operand of the one product"):
        mlir_gemm.einsum("mk,lk->ml", w, np.zeros((64, 64), np.float16), prologue=(), init=None, **SIM,
                         epilogue=lambda d, w: d + w, w=("ml", w))  # fmt: skip
