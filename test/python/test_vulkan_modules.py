"""Vulkan: modules of the tests and random products, right on a device; the same for OpenCL when asked for.

`MLIR_GEMM_SPIRV_DEVICE=opencl` runs all of this there; `MLIR_GEMM_DRAWS=25` draws 100 products.
"""

import os
import random
from pathlib import Path

import pytest
from draws import draws
from vulkan_products import check_module

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime import opencl_device, vulkan_device

MODULES = Path(__file__).parents[1] / "modules"
DEVICE = os.environ.get("MLIR_GEMM_SPIRV_DEVICE", "vulkan")
CHEAP = [
    "bmm",
    "conv_1x1",
    "einsum_abc_cd",
    "einsum_abcd_cdef",
    "einsum_permuted",
    "einsum_shared_batch_last",
    "int8",
    "linear_bias_bf16",
    "linear_bias_f16",
    "linear_bias_f32",
    "linear_constant_weights",
    "linear_f16",
    "linear_f32",
    "matmul_broadcast_batch",
    "matmul_f64",
    "scaled_rows",
    "front/add_arange",
    "front/alibi",
    "front/argmax",
    "front/avg_pool",
    "front/batch_norm",
    "front/bilinear_f16",
    "front/cross_entropy",
    "front/cache_row",
    "front/cat",
    "front/conv1d",
    "front/conv2d_depthwise",
    "front/conv2d_groups",
    "front/embedding",
    "front/eye",
    "front/flip",
    "front/group_norm",
    "front/max_pool",
    "front/max_pool_padded",
    "front/mul_sum_f16",
    "front/one_hot",
    "front/open_layer_norm",
    "front/open_linear",
    "front/open_rms_norm",
    "front/pad",
    "front/pad_reflect",
    "front/roll",
    "front/slice_product",
    "front/sliding_window",
    "front/stack",
    "front/tril",
    "front/triu_batch",
    "front/unfold",
    "front/upsample",
    "loops/argmax",
    "loops/backwards",
    "loops/count",
    "loops/filter",
    "loops/parallel_sum",
    "loops/parts",
    "loops/pooling",
    "loops/row_sums",
    "loops/softmax",
    "loops/swapped_parts",
    "loops/total",
    "loops/windows",
    "scalars/cache",
    "scalars/open",
    "scalars/rows",
]
"""64 that take a second or less."""


def _why_not() -> str:
    names = opencl_device.device_names if DEVICE == "opencl" else vulkan_device.device_names
    try:
        return "" if names() else f"no device of {DEVICE}"
    except DeviceError as error:
        return error.message


WHY_NOT = "" if os.environ.get("MLIR_GEMM_NEEDS_VULKAN") and DEVICE == "vulkan" else _why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


@pytest.mark.parametrize("name", CHEAP)
def test_module_is_right(name: str):
    check_module((MODULES / f"{name}.mlir").read_text(), DEVICE)


@pytest.mark.parametrize("number", range(draws(4)))
def test_random_product_is_right(number: int):
    drawn = random.Random(number)
    m, n, k = (drawn.randint(1, 70) for _ in range(3))
    element, acc = drawn.choice((("f32", "f32"), ("f16", "f32"), ("f64", "f64"), ("i8", "i32")))
    types = [f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{acc}>"]
    text = f"""func.func @f(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
      %0 = linalg.matmul ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""
    check_module(text, DEVICE)
