"""f32 by multiply-adds of lanes: operands that are transposed on their way to shared memory."""

from __future__ import annotations

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import select

PINNED = "mma=simt,mainloop=cp_async,block=64x64x16,warp=32x32x8,stages=3,layout=mn_major,pad=4"


def source(orders: str, m: int, n: int, k: int) -> str:
    """A product of f32; of the orders, `t` is km, or nk."""
    sizes = [(k, m) if orders[0] == "t" else (m, k), (n, k) if orders[1] == "t" else (k, n), (m, n)]
    left, right, result = (f"tensor<{rows}x{columns}xf32>" for rows, columns in sizes)
    names = ["(k, m)" if orders[0] == "t" else "(m, k)", "(n, k)" if orders[1] == "t" else "(k, n)", "(m, n)"]
    maps = ", ".join(f"affine_map<(m, n, k) -> {each}>" for each in names)
    return f"""func.func @product(%a: {left}, %b: {right}, %c: {result}) -> {result} {{
      %d = linalg.contract indexing_maps = [{maps}] ins(%a, %b : {left}, {right}) outs(%c : {result}) -> {result}
      return %d : {result}
    }}"""


@pytest.mark.parametrize(("orders", "m", "n", "k"), [("nn", 64, 64, 48), ("nt", 65, 68, 33), ("tt", 96, 40, 20)])
def test_operands_along_k_are_transposed(orders: str, m: int, n: int, k: int) -> None:
    generator = np.random.default_rng(7)
    kernel = mlir_gemm.compile(source(orders, m, n, k), chip="sm_90a", device="simulator", schedule=PINNED)
    left, right = (generator.integers(-4, 5, size).astype(np.float32) for size in ((m, k), (k, n)))
    c = generator.integers(-4, 5, (m, n)).astype(np.float32)
    given = [np.ascontiguousarray(left.T) if orders[0] == "t" else left]
    given.append(np.ascontiguousarray(right.T) if orders[1] == "t" else right)
    assert np.array_equal(kernel(*given, c), c + left @ right)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("layout=mn_major,mma=mma_sync,precision=tf32", "layout=mn_major with mma=mma_sync: .*, or mma=simt"),
        ("layout=mn_major,mma=simt,mainloop=register_prefetch", "mainloop=register_prefetch: .* or mainloop=cp_async"),
        ("layout=mn_major,mma=simt,mainloop=cp_async,pad=3", "pad=3: the rows of A"),
    ],
)
def test_refusals(fields: str, reason: str) -> None:
    with pytest.raises(ScheduleError, match=reason):
        mlir_gemm.compile(source("nn", 128, 128, 128), chip="sm_90a", device="simulator", schedule=fields)


@pytest.mark.parametrize(("a_order", "layout"), [("mk", "mn_major"), ("km", "pad")])
def test_two_blocks_share_an_sm(a_order: str, layout: str) -> None:
    problem = Problem(4096, 4096, 4096, "f32", "f32", out="f32", reads_c=False, a_order=a_order)
    schedule = select(problem, target("h200")).schedule
    assert (schedule.layout, schedule.min_blocks, schedule.interleave) == (layout, 2, True)
