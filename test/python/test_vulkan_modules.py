"""Vulkan: modules of the tests and random products, right on a device; the same for OpenCL when asked for.

`MLIR_GEMM_SPIRV_DEVICE=opencl` runs all of this there.
"""

import dataclasses
import os
from pathlib import Path

import pytest
from draws import draws
from vulkan_products import check_module, compiled, random_product, wrong_elements

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime import opencl_device, vulkan_device

MODULES = Path(__file__).parents[1] / "modules"
DEVICE = os.environ.get("MLIR_GEMM_SPIRV_DEVICE", "vulkan")
PARTS = 4
"""In which random products are run, by as many workers."""
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


@pytest.mark.parametrize("part", range(PARTS))
def test_random_products_are_right(part: int):
    """Most are small, for drivers that compile slowly: every tenth is of up to 70 in each size."""
    for seed in range(part, draws(100), PARTS):
        case = random_product(seed, largest=70 if seed % 10 == 0 else 16)
        case = dataclasses.replace(case, is_open=case.is_open and seed % 10 == 0)
        assert wrong_elements(case, compiled(case, None, device=DEVICE), seed) == 0, case
