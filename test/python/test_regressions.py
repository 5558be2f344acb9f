"""Whole modules that once went wrong: compiled, simulated with all checks, and compared with NumPy in float64."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.reference import evaluate

DTYPES: dict[str, Any] = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
}  # fmt: skip
MAPS = """
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#k = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>
"""


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")


def small(shape: tuple[int, ...], type_: str, seed: int = 0) -> Any:
    """Whole numbers from -2 to 2: sums of their products are exact in every type."""
    return np.random.default_rng([*shape, seed]).integers(-2, 3, shape).astype(DTYPES[type_])


def same(text: str, *arrays: Any, schedule: dict[str, Any] | None = None) -> Any:
    """Checks the results and the memory written, exactly; returns the kernel."""
    wanted = evaluate(text, arrays)
    kernel = mlir_gemm.compile(text, device="simulator", schedule=schedule)
    given = [array.copy() for array in arrays]
    results = kernel(*given)
    results = [] if results is None else list(results) if isinstance(results, tuple) else [results]
    written = [array for array, argument in zip(given, kernel.launch.arguments, strict=False) if argument.role != "in"]
    for got, want in zip([*written, *results], wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(got).astype(want.dtype), want)
    return kernel


def matmul(type_: str, acc: str, m: int = 9, n: int = 7, k: int = 13) -> str:
    return f"""func.func @main(%a: tensor<{m}x{k}x{type_}>, %b: tensor<{k}x{n}x{type_}>, %c: tensor<{m}x{n}x{acc}>)
        -> tensor<{m}x{n}x{acc}> {{
      %0 = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{type_}>, tensor<{k}x{n}x{type_}>)
                         outs(%c : tensor<{m}x{n}x{acc}>) -> tensor<{m}x{n}x{acc}>
      return %0 : tensor<{m}x{n}x{acc}>
    }}"""


TYPES = [
    ("f8E4M3FN", "f32"), ("f8E5M2", "f16"), ("f8E4M3FN", "bf16"), ("i64", "i64"), ("i8", "i64"), ("i8", "i8"),
    ("i16", "i16"), ("i8", "i16"), ("i1", "i32"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "acc"), TYPES)
def test_types_that_no_mma_has_as_they_are(type_: str, acc: str) -> None:
    same(matmul(type_, acc), small((9, 13), type_), small((13, 7), type_, 1), small((9, 7), acc, 2))


def test_8_bit_floats_use_tensor_cores() -> None:
    (record,) = compile_module(matmul("f8E4M3FN", "f32", 64, 64, 64), until="select").kernels
    assert record.problem is not None and record.schedule is not None
    assert (record.problem.a, record.problem.a_memory, record.schedule.mma) == ("f16", "f8E4M3FN", "mma_sync")


def test_narrow_integers_wrap() -> None:
    a, b = np.full((9, 13), 127, np.int8), np.full((13, 7), 100, np.int8)
    same(matmul("i8", "i8"), a, b, np.full((9, 7), -128, np.int8))


@pytest.mark.parametrize("mma", ["mma_sync", "simt"])
@pytest.mark.parametrize("shape", [(1, 7), (7, 1), (33, 35)])
def test_lanes_beyond_the_edge_read_nothing_that_others_write(shape: tuple[int, int], mma: str) -> None:
    m, n = shape
    text = f"""func.func @main(%a: memref<{m}x5xf16>, %b: memref<5x{n}xf16>, %c: memref<{m}x{n}xf16>) {{
      linalg.matmul ins(%a, %b : memref<{m}x5xf16>, memref<5x{n}xf16>) outs(%c : memref<{m}x{n}xf16>)
      return
    }}"""
    same(text, small((m, 5), "f16"), small((5, n), "f16"), small(shape, "f16", 1), schedule={"mma": mma})


MASKS = f"""{MAPS}
func.func @main(%a: tensor<64x32xf16>, %keep: tensor<64x32xi1>, %b: tensor<32x64xf16>, %mask: tensor<64x64xi1>)
    -> tensor<64x64xi1> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %g = tensor.empty() : tensor<64x64xi1>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.generic {{indexing_maps = [#mk, #mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %keep, %b : tensor<64x32xf16>, tensor<64x32xi1>, tensor<32x64xf16>) outs(%f : tensor<64x64xf32>) {{
  ^bb0(%x: f16, %q: i1, %y: f16, %o: f32):
    %none = arith.constant 0.0 : f16
    %kept = arith.select %q, %x, %none : f16
    %1 = arith.extf %kept : f16 to f32
    %2 = arith.extf %y : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  }} -> tensor<64x64xf32>
  %5 = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%0, %mask : tensor<64x64xf32>, tensor<64x64xi1>) outs(%g : tensor<64x64xi1>) {{
  ^bb0(%p: f32, %q: i1, %o: i1):
    %none = arith.constant 0.0 : f32
    %6 = arith.cmpf ogt, %p, %none : f32
    %7 = arith.andi %6, %q : i1
    linalg.yield %7 : i1
  }} -> tensor<64x64xi1>
  return %5 : tensor<64x64xi1>
}}"""


@pytest.mark.parametrize("mma", ["mma_sync", "simt"])
def test_truth_values_have_a_byte_each(mma: str) -> None:
    arrays = (small((64, 32), "f16"), small((64, 32), "i1"), small((32, 64), "f16"), small((64, 64), "i1"))
    kernel = same(MASKS, *arrays, schedule={"mma": mma})
    stores = set(re.findall(r"st\.global\S*", kernel.ptx))
    assert stores and all(store.endswith("8") and ".v" not in store for store in stores)


SHARED = f"""{MAPS}
func.func @main(%x: tensor<9xf32>, %c: tensor<f32>) -> tensor<f32> {{
  %0 = linalg.generic {{indexing_maps = [#k, #k, #none], iterator_types = ["reduction"]}}
      ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%c : tensor<f32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %two = arith.constant 2.0 : f32
    %1 = arith.addf %b, %two : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  }} -> tensor<f32>
  return %0 : tensor<f32>
}}"""


def test_both_factors_may_be_computed_from_one_operand() -> None:
    same(SHARED, small((9,), "f32"), np.array(3, np.float32))


SLICES = """
func.func @main(%a: tensor<20x30xf16>, %b: tensor<30x40xf16>, %c: tensor<10x12xf32>) -> tensor<5x12xf32> {
  %x = tensor.extract_slice %a[5, 3] [10, 20] [1, 1] : tensor<20x30xf16> to tensor<10x20xf16>
  %y = tensor.extract_slice %b[0, 1] [20, 12] [1, 2] : tensor<30x40xf16> to tensor<20x12xf16>
  %0 = linalg.matmul ins(%x, %y : tensor<10x20xf16>, tensor<20x12xf16>) outs(%c : tensor<10x12xf32>)
    -> tensor<10x12xf32>
  %1 = tensor.extract_slice %0[1, 0] [5, 12] [2, 1] : tensor<10x12xf32> to tensor<5x12xf32>
  return %1 : tensor<5x12xf32>
}"""


def test_slices_of_tensors() -> None:
    same(SLICES, small((20, 30), "f16"), small((30, 40), "f16"), small((10, 12), "f32"))


def test_a_problem_that_no_mma_computes_is_refused_at_its_place_in_a_program() -> None:
    text = f"""{MAPS}
func.func @main(%a: tensor<4x8xf64>, %b: tensor<8x4xf64>, %c: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x8xf64>) {{
  %0 = linalg.generic {{indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<4x8xf64>, tensor<8x4xf64>) outs(%c : tensor<4x4xf32>) {{
  ^bb0(%x: f64, %y: f64, %o: f32):
    %1 = arith.truncf %x : f64 to f32
    %2 = arith.truncf %y : f64 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  }} -> tensor<4x4xf32>
  return %0, %a : tensor<4x4xf32>, tensor<4x8xf64>
}}"""
    with pytest.raises(Error) as caught:
        compile_module(text, filename="in.mlir", schedule={"mma": "wmma"})
    assert str(caught.value).startswith("in.mlir:11:8: error:")


def test_a_transpose_of_no_dimensions_does_not_take_the_process_down() -> None:
    text = """func.func @main(%a: tensor<f16>) -> tensor<f16> {
      %e = tensor.empty() : tensor<f16>
      %0 = linalg.transpose ins(%a : tensor<f16>) outs(%e : tensor<f16>) permutation = []
      return %0 : tensor<f16>
    }"""
    with pytest.raises(InputError, match="a transpose of no dimensions"):
        compile_module(text)


def test_the_reference_keeps_tensors_without_dimensions() -> None:
    (found,) = evaluate(SHARED, [np.arange(9, dtype=np.float32), np.array(1, np.float32)])
    assert found.shape == () and found == sum(x * (x + 2) for x in range(9)) + 1
