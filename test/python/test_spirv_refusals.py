"""What a device of Vulkan lacks is refused before anything is made on it, by its name in Vulkan's documentation, and so
is a driver that is not there, is too old, or does not take the code. No device is needed: the package is a stand-in.

OpenCL's refusals are in `test_opencl.py`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from vulkan_products import Product

import mlir_gemm
from mlir_gemm.errors import DeviceError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime import vulkan_device, vulkan_kernels
from mlir_gemm.runtime.vulkan_device import Limits, VulkanDevice

MODULES = Path(__file__).parents[1] / "modules"
LEAST = Limits(
    maxComputeWorkGroupInvocations=128, maxComputeWorkGroupSize=(128, 128, 64), maxComputeWorkGroupCount=(65535,) * 3,
    maxComputeSharedMemorySize=16384, maxStorageBufferRange=1 << 27, maxPushConstantsSize=128,
    maxPerStageDescriptorStorageBuffers=4,
)  # fmt: skip
"""The least that Vulkan's specification requires ("Required Limits")."""


def device(version: tuple[int, int] = (1, 1), extensions: frozenset[str] = frozenset(), **limits: Any) -> VulkanDevice:
    """A device with no feature."""
    return VulkanDevice(
        "old", 0, dataclasses.replace(LEAST, **limits), frozenset(), version, (0, 0), extensions, *[None] * 6
    )  # fmt: skip


def refusal(found: VulkanDevice, text: str, chip: str = "vulkan") -> str:
    """What is said of a module on a device."""
    made = compile_module(text, chip=chip)
    assert isinstance(made.code, bytes) and made.launch is not None
    with pytest.raises(DeviceError) as raised:
        vulkan_kernels.VulkanKernels(found, made.code, made.launch, 32)
    return raised.value.message


def module(name: str) -> str:
    return (MODULES / f"{name}.mlir").read_text()


@pytest.mark.parametrize(
    ("text", "chip", "expected"),
    [
        # f16 and bf16 in rows that no word divides, bytes in such rows; arithmetic of 16 bits and of bytes.
        (Product(32, 32, 33, "f16").text(), "vulkan", ["the feature storageBuffer16BitAccess",
         "the extension VK_KHR_shader_float16_int8 (its feature shaderFloat16)"]),
        (Product(33, 21, 19, "bf16", end="bias").text(), "vulkan", ["the feature storageBuffer16BitAccess",
         "the feature shaderInt16"]),
        (Product(33, 21, 19, "i8").text(), "vulkan", ["the extension VK_KHR_8bit_storage (its feature "
         "storageBuffer8BitAccess)", "the extension VK_KHR_shader_float16_int8 (its feature shaderInt8)"]),
        (module("matmul_f64"), "vulkan", ["the feature shaderFloat64"]),
        (module("front/argmax"), "vulkan", ["the feature shaderInt64"]),
        (module("attention_softmax"), "vulkan-h200", ["SPIR-V 1.5: expected Vulkan 1.2, it has 1.1",
         "the feature VK_SUBGROUP_FEATURE_SHUFFLE_BIT",
         "the extension VK_KHR_vulkan_memory_model (its feature vulkanMemoryModel)",
         "the extension VK_EXT_subgroup_size_control (its feature computeFullSubgroups)"]),
        (Product(64, 64, 64, "f16").text(), "vulkan-h200", ["SPIR-V 1.6: expected Vulkan 1.3, it has 1.1",
         "the extension VK_KHR_vulkan_memory_model (its feature vulkanMemoryModel)",
         "the extension VK_KHR_cooperative_matrix (its feature cooperativeMatrix)"]),
    ],
)  # fmt: skip
def test_features_and_extensions(text: str, chip: str, expected: list[str], package: Callable[[Any], None]) -> None:
    package(SimpleNamespace())  # whatever is made on the device ends the test
    said = refusal(device(), text, chip)
    assert said.startswith("vulkan:0 (old) cannot run this kernel: ")
    assert not [each for each in expected if each not in said], said
    if "VK_KHR_8bit_storage" in said:  # Vulkan 1.2 has it, and so may a device with the extension: but not the feature
        for found in (device((1, 2)), device(extensions=frozenset({"VK_KHR_8bit_storage"}))):
            assert "; the feature storageBuffer8BitAccess" in f"; {refusal(found, text, chip).partition(': ')[2]}"


def test_limits(package: Callable[[Any], None]) -> None:
    package(SimpleNamespace())
    text = Product(200, 200, 40, "f32", end="bias").text()
    for chip, limit, value, expected in (
        ("rx-7900-xtx", "maxComputeWorkGroupInvocations", 16, "workgroups of "),
        ("vulkan", "maxComputeWorkGroupSize", (8, 8, 8), "along x (f_kernel)"),
        ("vulkan", "maxComputeWorkGroupCount", (2, 1, 1), "workgroups along x (f_kernel)"),
        ("rx-7900-xtx", "maxComputeSharedMemorySize", 64, "bytes of shared memory (f_kernel)"),
        ("vulkan", "maxStorageBufferRange", 1 << 15, "a buffer of 160000 bytes"),
        ("vulkan", "maxPerStageDescriptorStorageBuffers", 3, "5 buffers (f_kernel)"),
    ):
        said = refusal(device(**{limit: value}), text, chip)
        assert expected in said and f"{limit} is {value[0] if isinstance(value, tuple) else value}" in said
    kernel = mlir_gemm.compile(Product(1, 1, 1, "f32", is_open=True).text(), device="vulkan").at(s0=5, s1=6, s2=7)
    with pytest.raises(DeviceError, match=r"12 bytes of numbers \(f_kernel\): maxPushConstantsSize is 8"):
        vulkan_kernels.check(device(maxPushConstantsSize=8), kernel.code, kernel.launch)


def test_another_workgroup_than_the_codes() -> None:
    made = compile_module(Product(8, 8, 8, "f32").text(), chip="vulkan")
    assert isinstance(made.code, bytes) and made.launch is not None
    x, y, z = made.launch.block
    other = dataclasses.replace(made.launch.steps[0], block=(2 * x, y, z))
    launch = dataclasses.replace(made.launch, steps=(other,))
    with pytest.raises(
        DeviceError, match=rf"workgroups of {2 * x}x1x1 \(f_kernel\): the code is for {x}x1x1, as 'block'"
    ):
        vulkan_kernels.check(device(), made.code, launch)


class IncompatibleDriverError(Exception):
    """An error of the package's."""


def fails(*_: Any, **__: Any) -> Any:
    """Stands for a function of Vulkan's that ends with an error."""
    raise IncompatibleDriverError


def nothing(*_: Any, **__: Any) -> Any:
    """Stands for a function of Vulkan's that does not matter."""


def fake(version: tuple[int, int] = (1, 1), queues: int = 2, **parts: Any) -> SimpleNamespace:
    """The package with one device."""
    properties = SimpleNamespace(
        apiVersion=version[0] << 22 | version[1] << 12, deviceName="old", limits=SimpleNamespace(
            **dataclasses.asdict(LEAST)))  # fmt: skip
    made = {
        "VK_MAKE_VERSION": nothing, "VkApplicationInfo": nothing, "VkInstanceCreateInfo": nothing,
        "vkCreateInstance": nothing, "vkEnumeratePhysicalDevices": lambda _: ["one"],
        "vkGetPhysicalDeviceProperties": lambda _: properties, "VK_QUEUE_COMPUTE_BIT": 2,
        "vkGetPhysicalDeviceQueueFamilyProperties": lambda _: [SimpleNamespace(queueFlags=queues)],
    }  # fmt: skip
    return SimpleNamespace(**{**made, **parts})


CACHED = (vulkan_device.api, vulkan_device.instance, vulkan_device.open_device)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], None]]:
    """Puts something in the place of the package; no other test sees it, or its devices."""

    def put(made: Any) -> None:
        for each in CACHED:
            each.cache_clear()
        monkeypatch.setitem(sys.modules, vulkan_device.PACKAGE, made)

    yield put
    for each in CACHED:
        each.cache_clear()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (None, r"device='vulkan' needs the package 'vulkan' and Vulkan's loader: .*pip install 'mlir-gemm\[vulkan\]'"),
        (fake(vkCreateInstance=fails), r"Vulkan does not start \(vkCreateInstance\): IncompatibleDriverError; .*Debi"),
        (fake(vkEnumeratePhysicalDevices=fails), r"no Vulkan device \(vkEnumeratePhysicalDevices\): Incompat"),
        (fake(vkEnumeratePhysicalDevices=lambda _: []), "there is no Vulkan device 0; found: none"),
        (fake((1, 0)), r"vulkan:0 \(old\) has Vulkan 1.0; expected 1.1 or later"),
        (fake(queues=1), r"vulkan:0 \(old\) has no queue with VK_QUEUE_COMPUTE_BIT"),
    ],
)
def test_drivers(made: Any, expected: str, package: Callable[[Any], None]) -> None:
    kernel = mlir_gemm.compile(Product(4, 4, 4, "f32").text(), device="vulkan")
    package(made)
    with pytest.raises(DeviceError, match=expected):
        kernel(*[np.ones((4, 4), "f4")] * 3)


def test_a_driver_that_does_not_take_the_code(package: Callable[[Any], None]) -> None:
    package(SimpleNamespace(VkShaderModuleCreateInfo=lambda **_: None, vkCreateShaderModule=fails))
    said = refusal(device(), Product(4, 4, 4, "f32").text())
    assert said.endswith("does not take this module of SPIR-V (vkCreateShaderModule): IncompatibleDriverError")
