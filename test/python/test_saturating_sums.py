"""Sums that saturate: added up whole where no sum can leave its type, and limited once; else as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlir_gemm


def _saturating(c: Any, t: Any) -> Any:
    return np.minimum(c + t, 255)


@pytest.mark.parametrize("chip", ["h200", "sm_80"])
def test_a_sum_that_saturates_needs_no_init(chip: str) -> None:
    """Bytes without a sign are not among the types of arrays: their lowest 8 bits are."""
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 4, shape, np.int8) for shape in ((40, 96), (96, 24)))
    a[3], a[4] = -1, 127  # 255 without a sign

    def bits(x: Any) -> Any:
        return x.astype("i32") & 255

    found = mlir_gemm.einsum(
        "mk,kn->mn", a, b, plus=_saturating, prologue=(bits, bits), epilogue=lambda d: d * 2, chip=chip,
        device="simulator",
    )  # fmt: skip
    wide = a.view(np.uint8).astype(np.int64) @ b
    assert (wide > 255).any() and (wide < 255).any()
    np.testing.assert_array_equal(found, np.minimum(wide, 255) * 2)


TEXT = """func.func @f(%A: tensor<8x{k}x{type}>, %B: tensor<{k}x16x{type}>) -> tensor<8x16xi32> {{
  %limit = arith.constant 1000 : i32
  %start = arith.constant {start} : i32
  %e = tensor.empty() : tensor<8x16xi32>
  %i = linalg.fill ins(%start : i32) outs(%e : tensor<8x16xi32>) -> tensor<8x16xi32>
  %d = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %B : tensor<8x{k}x{type}>, tensor<{k}x16x{type}>) outs(%i : tensor<8x16xi32>) {{
  ^bb0(%a: {type}, %b: {type}, %c: i32):
    %x = arith.{extension} %a : {type} to i32
    %y = arith.{extension} %b : {type} to i32
    %t = arith.muli %x, %y : i32
    %s = arith.addi %t, %c : i32
    %m = arith.minsi %limit, %s : i32
    linalg.yield %m : i32
  }} -> tensor<8x16xi32>
  return %d : tensor<8x16xi32>
}}
"""


@pytest.mark.parametrize(("type_", "extension", "k", "start", "kind"), [
    ("i8", "extui", 64, 900, "product"),
    ("i8", "extsi", 64, 0, "elementwise"),  # terms may be negative, and a sum may fall again from the limit
    ("i16", "extui", 4, 0, "elementwise"),  # a sum may leave i32
])  # fmt: skip
def test_only_what_cannot_overflow_changes(type_: str, extension: str, k: int, start: int, kind: str) -> None:
    text = TEXT.format(type=type_, extension=extension, k=k, start=start)
    kernel = mlir_gemm.compile(text, device="simulator", chip="h200")
    assert [each.kind for each in kernel.kernels] == [kind]
    a, b = (np.random.default_rng(1).integers(-3, 4, shape).astype(type_.replace("i", "int"))
            for shape in ((8, k), (k, 16)))  # fmt: skip
    wide = [each.view(f"u{each.dtype}") if extension == "extui" else each for each in (a, b)]
    wanted = np.full((8, 16), start, np.int64)
    for step in range(k):
        with np.errstate(over="ignore"):
            term = (wide[0][:, step, None].astype(np.int32) * wide[1][None, step].astype(np.int32)).astype(np.int64)
        wanted = np.minimum((wanted + term).astype(np.int32), 1000).astype(np.int64)
    np.testing.assert_array_equal(kernel(a, b), wanted)
