"""Memref arguments whose strides and offset the source leaves open: taken from the arrays of each call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlir_gemm

A = "memref<20x32xf16, strided<[?, 1], offset: ?>>"
B = "memref<32x24xf16, strided<[?, ?], offset: ?>>"
C = "memref<20x24xf32, strided<[?, 1]>>"
PRODUCT = f"""func.func @product(%A: {A}, %B: {B}, %C: {C}) {{
  linalg.matmul ins(%A, %B : {A}, {B}) outs(%C : {C})
  return
}}"""
OPEN = "memref<?x8xf32, strided<[?, 1], offset: ?>>"
ELEMENTWISE = f"""func.func @half(%A: {OPEN}, %C: {OPEN}) {{
  linalg.negf ins(%A : {OPEN}) outs(%C : {OPEN})
  return
}}"""


def _random(*shape: int, dtype: Any = np.float16) -> Any:
    return np.random.default_rng(len(shape) + shape[-1]).standard_normal(shape).astype(dtype)


def test_strides_change_from_call_to_call() -> None:
    kernel = mlir_gemm.compile(PRODUCT, device="simulator")
    a, b, c = _random(20, 48), _random(64, 48), _random(20, 40, dtype=np.float32)
    calls = (
        (a[:, :32].copy(), b[:32, :24].copy(), c[:, :24].copy()),
        (a[:, 8:40], _random(24, 32).T, c[:, :24]),
        (a[:, 1:33], b[::2, ::2], c[:, 16:]),
        (a[:, 8:40], _random(24, 32).T, c[:, :24]),
    )
    for left, right, out in calls:
        want = out + left.astype(np.float64) @ right.astype(np.float64)
        around = c[:, 24:].copy() if np.shares_memory(out, c) and out is not calls[2][2] else None
        kernel(left, right, out)
        assert np.allclose(out, want, rtol=1e-5, atol=1e-4)
        assert around is None or np.array_equal(around, c[:, 24:])  # what lies between rows stays
    assert [argument.open_strides for argument in kernel.launch.arguments] == [True] * 3


def test_strides_that_the_source_fixes_are_checked() -> None:
    kernel = mlir_gemm.compile(PRODUCT, device="simulator")
    a, b, c = _random(32, 20).T, _random(32, 24), _random(20, 24, dtype=np.float32)
    with pytest.raises(mlir_gemm.Error, match=r"argument 0 of memref<20x32xf16, strided<\[\?, 1\], offset: \?>>"):
        kernel(a, b, c)
    with pytest.raises(mlir_gemm.ArgumentError, match="expected 1 or more"):
        kernel(_random(20, 32)[::-1], b, c)
    with pytest.raises(mlir_gemm.ArgumentError, match=r"shape \(20, 31\) given"):
        kernel(_random(20, 31), b, c)


def test_beside_open_sizes_memory_is_dense_and_checked() -> None:
    kernel = mlir_gemm.compile(ELEMENTWISE, device="simulator")
    x, y = _random(5, 16, dtype=np.float32), np.zeros((5, 8), np.float32)
    kernel(x[:, :8].copy(), y)
    assert np.array_equal(y, -x[:, :8])
    with pytest.raises(mlir_gemm.ArgumentError, match="the kernel takes dense row-major memory"):
        kernel(x[:, :8], y)
