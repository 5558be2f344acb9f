"""SPIR-V for OpenCL: right on a device, and refused by name where a device or a driver lacks something."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from draws import draws
from vulkan_products import Product, check_module, compiled, random_product, wrong_elements

import mlir_gemm
from mlir_gemm.errors import DeviceError, InputError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime import opencl_device, opencl_kernels

MODULES = Path(__file__).parents[1] / "modules"
POCL = os.environ.get("MLIR_GEMM_POCL", "")
"""What runs a Python with a newer PoCL: what `test/newer_pocl.sh` made."""


def _device() -> tuple[str, str]:
    """A device that takes SPIR-V, or why there is none. Mesa's clover computes wrong numbers (22.3)."""
    try:
        found = opencl_device.devices()
        for number, each in enumerate(found):
            if opencl_device.open_device(number).limits.il_version and each.platform.name.strip() != "Clover":
                return f"opencl:{number}", ""
    except DeviceError as error:
        return "", error.message
    return "", f"no OpenCL device that takes SPIR-V among {len(found)}"


DEVICE, WHY_NOT = _device()
on_device = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

RIGHT = (
    "addmm", "attention_softmax", "bmm", "conv_1x1", "einsum_permuted", "front/add_arange", "front/argmax",
    "front/avg_pool", "front/batch_norm", "front/cat", "front/conv2d_depthwise",
    "front/cross_entropy", "front/embedding", "front/eye", "front/flip", "front/gather", "front/group_norm",
    "front/max_pool", "front/one_hot", "front/open_layer_norm", "front/open_rms_norm", "front/pad_reflect",
    "front/roll", "front/stack", "front/tril", "front/triu_batch", "front/unfold", "front/upsample",
    "linear_bias_bf16", "mlp_silu", "loops/argmax", "loops/backwards", "loops/count", "loops/filter",
    "loops/parallel_sum", "loops/pooling", "loops/row_sums", "loops/total", "loops/windows", "matmul_f64",
)  # fmt: skip
"""Modules whose kernels drivers compile fast."""


@on_device
@pytest.mark.parametrize("name", RIGHT)
def test_is_right(name: str):
    text = (MODULES / f"{name}.mlir").read_text()
    assert check_module(text, DEVICE).chip == "opencl"


@on_device
def test_random_products_are_right():
    for seed in range(draws(20)):
        case = random_product(seed, largest=40)
        assert wrong_elements(case, compiled(case, None, device=DEVICE), seed) == 0, case


@on_device
def test_a_call_takes_and_gives_numpy_arrays():
    kernel = mlir_gemm.compile(Product(1, 1, 1, "f32", is_open=True).text(), device=DEVICE)
    for m, n, k in ((5, 6, 7), (16, 16, 0)):  # without products, a loop that runs no turn
        a, b, c = (np.ones(shape, "f4") for shape in ((m, k), (k, n), (m, n)))
        np.testing.assert_array_equal(kernel(a, b, c), a @ b + c)


@pytest.mark.skipif(not POCL, reason="no newer PoCL (test/newer_pocl.sh, MLIR_GEMM_POCL)")
@pytest.mark.parametrize("part", range(2))
def test_is_right_on_pocl(part: int):
    """Modules and random products, in a process that loads PoCL; it has no f16."""
    script, every = str(Path(__file__).with_name("vulkan_products.py")), [MODULES / f"{name}.mlir" for name in RIGHT]
    paths = [str(each) for each in every if "xf16" not in each.read_text()][part::2]
    first, last = part * draws(10), (part + 1) * draws(10)
    command = [POCL, sys.executable, script, "opencl", f"{first}:{last}", *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(paths)} modules" in done.stdout


class FakeError(Exception):
    """An error of the driver's."""


def _fails(text: str) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise FakeError(text)

    return fail


def _fake(*devices: Any, **parts: Any) -> SimpleNamespace:
    """The package with one platform and these devices."""
    platform = SimpleNamespace(get_devices=lambda: list(devices), name="Fake")
    for each in devices:
        each.platform = platform
    made = {
        "Error": FakeError, "get_platforms": lambda: [platform], "Context": lambda _: None,
        "CommandQueue": lambda *_: None, "Buffer": lambda *_: None, "enqueue_copy": lambda *_, **__: None,
        "mem_flags": SimpleNamespace(READ_WRITE=1, ALLOC_HOST_PTR=2),
        "device_fp_config": SimpleNamespace(CORRECTLY_ROUNDED_DIVIDE_SQRT=128),
        "kernel_work_group_info": SimpleNamespace(WORK_GROUP_SIZE=0, LOCAL_MEM_SIZE=1),
    }  # fmt: skip
    return SimpleNamespace(**{**made, **parts})


def _gpu(name: str = "Arc", **fields: Any) -> SimpleNamespace:
    """A device as the package shows it, which takes all that kernels need."""
    made = {
        "name": name, "max_work_group_size": 1024, "max_work_item_sizes": [1024, 1024, 1024], "local_mem_size": 65536,
        "max_mem_alloc_size": 1 << 30, "global_mem_size": 1 << 32, "max_parameter_size": 1024,
        "address_bits": 64, "single_fp_config": 0,
        "il_version": "SPIR-V_1.0 SPIR-V_1.2", "profile": "FULL_PROFILE", "extensions": "cl_khr_fp16 cl_khr_fp64",
    }  # fmt: skip
    return SimpleNamespace(**{**made, **fields})


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Puts something in the place of the package; no other test sees it, or its devices."""

    def put(made: Any) -> None:
        opencl_device.api.cache_clear()
        opencl_device.open_device.cache_clear()
        monkeypatch.setitem(sys.modules, opencl_device.PACKAGE, made)

    yield put
    opencl_device.api.cache_clear()
    opencl_device.open_device.cache_clear()


@pytest.fixture(scope="module")
def call() -> tuple[Any, ...]:
    """A product of f16, as code and with how it is launched."""
    kernel = mlir_gemm.compile(Product(32, 32, 33, "f16").text(), device="opencl:0")
    return kernel.launcher, kernel.code, kernel.launch


def _refusal(package: Any, made: Any, code: bytes, launch: Any) -> str:
    """What is said where a kernel is put on the first device of a package."""
    package(made)
    with pytest.raises(DeviceError) as raised:
        opencl_kernels.OpenclKernels(opencl_device.open_device(), code, launch)
    return raised.value.message


def test_what_is_not_installed_is_refused(package: Any):
    kernel = mlir_gemm.compile(Product(4, 4, 4, "f32").text(), device="opencl")
    arrays = [np.ones((4, 4), "f4") for _ in range(3)]
    package(None)
    with pytest.raises(DeviceError, match=r"needs the package 'pyopencl'.*mlir-gemm\[opencl\]"):
        kernel(*arrays)
    package(_fake(get_platforms=_fails("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")))
    with pytest.raises(DeviceError, match=r"no OpenCL platform .*PLATFORM_NOT_FOUND_KHR"):
        kernel(*arrays)
    package(_fake())
    with pytest.raises(DeviceError, match="there is no OpenCL device 0; found: none"):
        kernel(*arrays)


def test_devices_are_found_by_letters_of_their_names(package: Any):
    package(_fake(_gpu("Iris"), _gpu("Arc A770")))
    assert mlir_gemm.compile(Product(4, 4, 4, "f32").text(), device="opencl:arc").launcher.device == "opencl:1"
    with pytest.raises(DeviceError, match=r"no OpenCL device 'mali'; found: opencl:0 \(Iris, Fake\); opencl:1 \(Arc"):
        opencl_device.number_of("mali")


def test_what_a_device_lacks_is_refused_by_its_name(package: Any, call: tuple[Any, ...]):
    _, code, launch = call
    poor = _gpu(
        il_version="", max_work_group_size=16, max_work_item_sizes=[8, 8, 8], max_parameter_size=8,
        max_mem_alloc_size=64, address_bits=32, extensions="", local_mem_size=256, global_mem_size=100,
    )  # fmt: skip
    said = _refusal(package, _fake(poor), code, launch)
    for name in (
        "opencl:0 (Arc, Fake) cannot run", "cl_khr_il_program: CL_DEVICE_IL_VERSION is empty", "CL_DEVICE_ADDRESS_BITS",
        "the extension cl_khr_fp16", "CL_DEVICE_MAX_WORK_GROUP_SIZE is 16", "CL_DEVICE_MAX_WORK_ITEM_SIZES is 8",
        "CL_DEVICE_MAX_PARAMETER_SIZE is 8", "CL_DEVICE_MAX_MEM_ALLOC_SIZE is 64", "CL_DEVICE_GLOBAL_MEM_SIZE is 100",
        "bytes of local memory (f_kernel): CL_DEVICE_LOCAL_MEM_SIZE is 256",  # before the driver builds anything
    ):  # fmt: skip
        assert name in said
    old = _gpu()
    del old.il_version  # a device of OpenCL 1.2 does not know the question
    assert "cl_khr_il_program" in _refusal(package, _fake(old), code, launch)
    kernel = mlir_gemm.compile((MODULES / "matmul_f64.mlir").read_text(), device="opencl")
    lacking = _fake(_gpu(extensions="cl_khr_fp16"))
    assert "the extension cl_khr_fp64" in _refusal(package, lacking, kernel.code, kernel.launch)
    package(_fake(_gpu()))
    assert not opencl_device.open_device().missing((1, 0), [6, 9, 10])
    assert opencl_device.open_device().missing((1, 4), [1]) == [
        "SPIR-V 1.4: CL_DEVICE_IL_VERSION is SPIR-V_1.0 SPIR-V_1.2",
        "the capability 1",
    ]


def test_what_a_driver_makes_of_kernels_is_checked(package: Any, call: tuple[Any, ...]):
    _, code, launch = call
    program = SimpleNamespace(build=_fails("clBuildProgram failed: BUILD_PROGRAM_FAILURE"))
    said = _refusal(package, _fake(_gpu(), Program=lambda *_: program), code, launch)
    assert "does not take this module of SPIR-V: clBuildProgram failed" in said
    made = SimpleNamespace(get_work_group_info=lambda which, _: (32, 1 << 20)[which])
    program = SimpleNamespace(build=lambda *_, **__: None)
    said = _refusal(package, _fake(_gpu(), Program=lambda *_: program, Kernel=lambda *_: made), code, launch)
    assert "CL_KERNEL_WORK_GROUP_SIZE is 32" in said
    assert "1048576 bytes of local memory (f_kernel): CL_DEVICE_LOCAL_MEM_SIZE is 65536" in said


def test_too_many_elements_are_refused(package: Any, call: tuple[Any, ...]):
    _, code, launch = call
    large = dataclasses.replace(launch.arguments[0], shape=(1 << 16, 1 << 15), strides=None)
    launch = dataclasses.replace(launch, arguments=(large, *launch.arguments[1:]))
    said = _refusal(package, _fake(_gpu(max_mem_alloc_size=1 << 40)), code, launch)
    assert "an argument of 2147483648 elements: indices have 32 bits" in said


def test_code_for_another_chip_is_refused():
    for chip in ("sm_80", "vulkan"):
        with pytest.raises(DeviceError, match="expected a chip of OpenCL, such as chip='opencl'"):
            mlir_gemm.compile(Product(4, 4, 4, "f32").text(), chip=chip, device="opencl")


def test_outputs_are_those_of_the_back_end():
    with pytest.raises(InputError, match="there is no stage 'ptx' for opencl"):
        compile_module(Product(4, 4, 4, "f32").text(), chip="opencl", until="ptx")
