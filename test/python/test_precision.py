"""`precision=f16`: products of f16 with f16 results are added up in f16, from the PTX to the numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.expected import relative_error

F16_SUMS, F32_SUMS = "row.col.f16.f16.f16.f16", "row.col.f32.f16.f16.f32"
STEP = 16
"""K of an instruction."""

NAMED = """
func.func @main(%a: tensor<48x256xf16>, %b: tensor<256x40xf16>) -> tensor<48x40xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<48x40xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<48x40xf16>) -> tensor<48x40xf16>
  %0 = linalg.matmul ins(%a, %b : tensor<48x256xf16>, tensor<256x40xf16>)
                     outs(%f : tensor<48x40xf16>) -> tensor<48x40xf16>
  return %0 : tensor<48x40xf16>
}
"""
"""A product as written by hand; the module itself adds up in f16."""

EXPORTED = """
#id = affine_map<(m, n) -> (m, n)>
func.func @main(%a: tensor<48x256xf16>, %b: tensor<256x40xf16>) -> tensor<48x40xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x40xf32>) -> tensor<48x40xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<48x256xf16>, tensor<256x40xf16>)
                     outs(%f : tensor<48x40xf32>) -> tensor<48x40xf32>
  %h = tensor.empty() : tensor<48x40xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<48x40xf32>) outs(%h : tensor<48x40xf16>) {
  ^bb0(%x: f32, %y: f16):
    %2 = arith.truncf %x : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<48x40xf16>
  return %1 : tensor<48x40xf16>
}
"""
"""The same as PyTorch exports it: added up in f32, and rounded."""

IN_PLACE = """
func.func @main(%a: memref<?x256xf16>, %b: memref<256x40xf16>, %c: memref<?x40xf16>) {
  linalg.matmul ins(%a, %b : memref<?x256xf16>, memref<256x40xf16>) outs(%c : memref<?x40xf16>)
  return
}
"""

TWO = """
func.func @main(%a: tensor<32x64xf16>, %b: tensor<64x48xf16>, %c: tensor<32x64xbf16>, %d: tensor<64x48xbf16>)
    -> (tensor<32x48xf16>, tensor<32x48xbf16>) attributes {tile.schedule = {precision = "f16"}} {
  %0 = arith.constant dense<0.0> : tensor<32x48xf16>
  %1 = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x48xf16>)
                     outs(%0 : tensor<32x48xf16>) -> tensor<32x48xf16>
  %2 = arith.constant dense<0.0> : tensor<32x48xbf16>
  %3 = linalg.matmul ins(%c, %d : tensor<32x64xbf16>, tensor<64x48xbf16>)
                     outs(%2 : tensor<32x48xbf16>) -> tensor<32x48xbf16>
  return %1, %3 : tensor<32x48xf16>, tensor<32x48xbf16>
}
"""

WIDE = """
func.func @main(%a: tensor<32x64xf16>, %b: tensor<64x48xf16>) -> tensor<32x48xf32> {
  %0 = arith.constant dense<0.0> : tensor<32x48xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x48xf16>)
                     outs(%0 : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}
"""


def products(ptx: str | None) -> set[str]:
    """Layouts and types of the products in some PTX."""
    return set(re.findall(r"mma\.sync\.aligned\.m16n8k16\.(\S+)", ptx or ""))


@pytest.mark.parametrize("chip", ["sm_80", "sm_89", "sm_90", "sm_120"])
def test_the_ptx_adds_up_in_f16(chip: str):
    for text in (NAMED, EXPORTED, IN_PLACE):
        assert products(compile_module(text, chip=chip, schedule={"precision": "f16"}).ptx) == {F16_SUMS}
    assert products(compile_module(NAMED, chip=chip).ptx) == {F32_SUMS}


def test_other_products_and_wider_results_stay_exact():
    found = compile_module(TWO, chip="sm_80")
    assert products(found.ptx) == {F16_SUMS, "row.col.f32.bf16.bf16.f32"}
    assert products(compile_module(WIDE, chip="sm_80", schedule={"precision": "f16"}).ptx) == {F32_SUMS}


@pytest.mark.parametrize(("chip", "fields"), [("sm_70", {}), ("sm_80", {"mma": "simt"})])
def test_what_has_no_sums_in_f16_stays_exact(chip: str, fields: dict[str, Any]):
    found = compile_module(NAMED, chip=chip, schedule={"precision": "f16", **fields}, until="select")
    assert [kernel.problem.acc for kernel in found.kernels if kernel.problem] == ["f32"]


def stepwise(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The product as tensor cores add it up in f16: rounded after every instruction."""
    sums = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for first in range(0, a.shape[1], STEP):
        part = a[:, first : first + STEP].astype(np.float64) @ b[first : first + STEP].astype(np.float64)
        sums = (sums.astype(np.float64) + part).astype(np.float16)
    return sums


def test_wgmma_adds_up_in_f16():
    found = compile_module(EXPORTED, chip="sm_90a", schedule={"precision": "f16"})
    assert set(re.findall(r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.(\S+)", found.ptx or "")) == {"f16.f16.f16"}


@pytest.mark.parametrize(
    ("text", "chip"),
    [(NAMED, "sm_89"), (EXPORTED, "sm_89"), (EXPORTED, "sm_90a")],
    ids=["by hand", "exported", "wgmma"],
)
def test_results_are_those_of_sums_in_f16(text: str, chip: str):
    """Sums of small integers pass 2048, from where f16 holds even numbers only, so that every rounding shows."""
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 8, shape).astype(np.float16) for shape in ((48, 256), (256, 40)))
    kernel = mlir_gemm.compile(
        text, chip=chip, device="simulator", schedule="precision=f16,split_k_workspace=1,split_k_cluster=1"
    )
    exact = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    got = kernel(a, b)
    assert np.array_equal(got, stepwise(a, b))
    assert not np.array_equal(got, exact)
    assert np.array_equal(mlir_gemm.compile(text, chip=chip, device="simulator")(a, b), exact)


@pytest.mark.parametrize("fields", ["split_k_cluster=2", "split_k_workspace=2", "persistent=2,stream_k=2"])
def test_parts_of_sums_in_f16_are_added_up(fields: str):
    """Parts change places in pairs, as wgmma keeps them."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((48, 256), (256, 40)))
    schedule = f"precision=f16,block=64x48x64,warp=64x48x64,{fields}"
    got = mlir_gemm.compile(EXPORTED, chip="sm_90a", device="simulator", schedule=schedule)(a, b)
    assert relative_error(got, a.astype(np.float64) @ b.astype(np.float64)) < 2e-3
