"""Tensor cores of chips that are not measured here: sm_70 (mma.m8n8k4), sm_75 (m16n8k8, bytes by m8n8k16), and 8-bit
floats on sm_89 and sm_120. In all layouts, batches and odd sizes, on the simulator, and through ptxas."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from assembled import usage
from draws import draws
from dynamic_products import DynamicProduct

import mlir_gemm
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select

sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from random_products import EPILOGUES, Product

NUMPY = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}
CHIPS = {
    "sm_70": {"f16": "mma.sync.aligned.m8n8k4"},
    "sm_75": {"f16": "mma.sync.aligned.m16n8k8", "i8": "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"},
    "sm_89": {"f8": "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    "sm_120": {"f8": "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
}
"""The instruction by chip and kind of product."""
BOTH = [(chip, kind) for chip, kinds in CHIPS.items() for kind in kinds]
SIZES = (1, 7, 8, 16, 31, 33, 48, 64, 65)


def drawn(chip: str, kind: str, number: int) -> Product:
    rng = random.Random(f"{chip} {kind} {number}")
    m, n, k = (rng.choice(SIZES) for _ in range(3))
    return Product(
        m, n, k, kind,
        out=rng.choice({"i8": ("i32",)}.get(kind, ("f32", "f16"))),
        a_order=rng.choice(("mk", "km")), b_order=rng.choice(("kn", "nk")), batch=rng.choice((0, 0, 2)),
        pad=rng.choice((None, 0, 1, 8)), epilogue=rng.choice(EPILOGUES),
    )  # fmt: skip


def inputs(product: Product) -> dict[str, Any]:
    """Small integers, of which every sum is exact."""
    rng = np.random.default_rng(product.m * product.n + product.k)
    found: dict[str, Any] = {}
    for name, shape, element in product.arguments:
        padded = [*shape[:-1], shape[-1] + (product.pad or 0)]
        whole = rng.integers(-2, 3, padded).astype(NUMPY[element])
        found[name] = whole[..., : shape[-1]]
    return found


def reference(product: Product, given: dict[str, Any]) -> Any:
    a, b = given["A"].astype(float), given["B"].astype(float)
    a = a if product.a_order == "mk" else a.swapaxes(-1, -2)
    b = b if product.b_order == "kn" else b.swapaxes(-1, -2)
    result = a @ b
    if "accumulate" in product.epilogue:
        result = result + given["R"].astype(float)
    if "bias" in given:
        result = result + (given["bias"][:, None] if "bias_m" in product.epilogue else given["bias"]).astype(float)
    if product.epilogue == "scaled":
        result = result * 2
    if "relu" in product.epilogue:
        result = np.maximum(result, 0)
    if "residual" in product.epilogue:
        result = result + given["R"].astype(float)
    return result.astype(NUMPY[product.out])


def check(product: Product, chip: str, schedule: str = "") -> str:
    """Runs a product on the simulator and compares it exactly; its PTX."""
    kernel = mlir_gemm.compile(product.module(), chip=chip, device="simulator", schedule=schedule or None)
    given = inputs(product)
    if product.pad is None:
        got = kernel(*given.values())
    else:
        shape = product.shape("mn")
        got = np.full([*shape[:-1], shape[-1] + product.pad], 99).astype(NUMPY[product.out])[..., : shape[-1]]
        kernel(*given.values(), got)
    np.testing.assert_array_equal(got, reference(product, given))
    return kernel.ptx


def fields(kind: str) -> str:
    return "precision=f8" if kind == "f8" else ""


@pytest.mark.parametrize(("chip", "kind"), BOTH)
@pytest.mark.parametrize("number", range(draws(3)))
def test_random_products_are_exact(chip: str, kind: str, number: int):
    check(drawn(chip, kind, number), chip, fields(kind))


WIDE = [("mk", "nk", 0), ("km", "kn", 3)]


@pytest.mark.parametrize(("chip", "kind"), BOTH)
@pytest.mark.parametrize(("a", "b", "batch"), WIDE)
def test_large_products_are_on_tensor_cores_and_spill_nothing(chip: str, kind: str, a: str, b: str, batch: int):
    out = "i32" if kind == "i8" else "f32"
    product = Product(1000, 1024, 512, kind, out=out, a_order=a, b_order=b, batch=batch)
    made = compile_module(product.module(), chip=chip, schedule=Schedule.parse(fields(kind)))
    assert made.ptx is not None and CHIPS[chip][kind] in made.ptx
    assert usage(made.ptx, chip).spill_bytes == 0


@pytest.mark.parametrize("chip", ["sm_70", "sm_75"])
@pytest.mark.parametrize("b", ["kn", "nk"])
def test_sizes_known_at_run_time_only(chip: str, b: str):
    product = DynamicProduct({"n": 40}, b=b, bias=True)
    kernel = mlir_gemm.compile(product.source(), chip=chip, device="simulator")
    assert "mma.sync" in kernel.ptx
    rng = np.random.default_rng(4)
    for m, k in ((33, 20), (5, 41)):
        left, right = rng.integers(-2, 3, (m, k)).astype(np.float16), rng.integers(-2, 3, (k, 40)).astype(np.float16)
        bias = rng.integers(-2, 3, 40).astype(np.float16)
        got = kernel(left, np.ascontiguousarray(right if b == "kn" else right.T), bias)
        np.testing.assert_array_equal(got, (left.astype(float) @ right.astype(float) + bias).astype(np.float16))


def test_sums_in_f16_on_sm_75():
    ptx = check(Product(33, 40, 48, out="f16", b_order="nk"), "sm_75", "precision=f16")
    assert "m16n8k8.row.col.f16.f16.f16.f16" in ptx


TURNED = """func.func @f(%A: tensor<64x32xf16>, %B: tensor<32x48xf16>, %R: tensor<48x64xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x48xf16>) outs(%i : tensor<64x48xf32>)
       -> tensor<64x48xf32>
  %d = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %R : tensor<64x48xf32>, tensor<48x64xf32>)
      outs(%e : tensor<64x48xf32>) {
  ^bb0(%x: f32, %r: f32, %old: f32):
    %s = arith.addf %x, %r : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  return %d : tensor<64x48xf32>
}"""


@pytest.mark.parametrize("chip", ["sm_70", "sm_75"])
def test_a_transposed_residual_goes_to_an_operation_that_takes_it(chip: str):
    """WMMA was chosen, and refused it then."""
    rng = np.random.default_rng(6)
    a, b = rng.integers(-3, 4, (64, 32)).astype(np.float16), rng.integers(-3, 4, (32, 48)).astype(np.float16)
    r = rng.integers(-3, 4, (48, 64)).astype(np.float32)
    kernel = mlir_gemm.compile(TURNED, chip=chip, device="simulator")
    np.testing.assert_array_equal(kernel(a, b, r), (a.astype(float) @ b.astype(float) + r.T).astype(np.float32))
    with pytest.raises(mlir_gemm.Error, match="a matrix around the product that is read or written transposed"):
        mlir_gemm.compile(TURNED, chip=chip, device="simulator", schedule="mma=wmma")


@pytest.mark.parametrize(("a", "b"), [("mk", "kn"), ("mk", "nk"), ("km", "kn")])
def test_what_left_the_tensor_cores_is_predicted_several_times_faster(a: str, b: str):
    """Ragged, so that WMMA takes none of them."""
    problem = Problem(1000, 1001, 1000, reads_c=False, a_order=a, b_order=b, a_vector=64, b_vector=64)
    for chip in ("sm_70", "sm_75"):
        row = target(chip)
        lanes, chosen = select(problem, row, {"mma": "simt"}), select(problem, row)
        assert mma_of(chosen.schedule).tensor_cores and chosen.cost.total < lanes.cost.total / 2
        assert violations(problem, chosen.schedule, row) == []


def test_8_bit_floats_are_multiplied_as_they_are_only_where_that_is_allowed():
    product = Product(64, 64, 64, "f8")
    for chip in ("sm_89", "sm_120", "sm_80", "sm_90"):
        plain = compile_module(product.module(), chip=chip).ptx or ""
        assert not re.search("e4m3|e5m2", plain)
    allowed = compile_module(product.module(), chip="sm_80", schedule={"precision": "f8"}).ptx or ""
    assert "m16n8k16.row.col.f32.f16.f16.f32" in allowed
