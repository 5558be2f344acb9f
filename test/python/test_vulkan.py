"""SPIR-V for Vulkan: right on a device, and refused by name where a device lacks something. That it is valid:
`test_targets.py`."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.errors import DeviceError, InputError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime import vulkan_device, vulkan_kernels
from mlir_gemm.runtime.host_launcher import run_on
from mlir_gemm.runtime.vulkan_launcher import VulkanLauncher
from mlir_gemm.simulator.expected import limits, reference, relative_error
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.spec.element_types import numpy_dtype

MODULES = Path(__file__).parents[1] / "modules"
NEEDED = bool(os.environ.get("MLIR_GEMM_NEEDS_VULKAN"))


def _why_not() -> str:
    try:
        return "" if vulkan_device.device_names() else "no Vulkan device"
    except DeviceError as error:
        return error.message


WHY_NOT = "" if NEEDED else _why_not()
on_device = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


def product(m: object, n: object, k: object, operand: str = "f32", acc: str = "f32") -> str:
    types = [f"tensor<{m}x{k}x{operand}>", f"tensor<{k}x{n}x{operand}>", f"tensor<{m}x{n}x{acc}>"]
    return f"""func.func @f(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
      %0 = linalg.matmul ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""


CASES = {
    "f32": product(33, 20, 24),
    "f16": product(32, 32, 32, "f16"),
    "i8": product(16, 16, 32, "i8", "i32"),
    "open sizes": product("?", "?", "?"),
    "softmax": (MODULES / "attention_softmax.mlir").read_text(),
    "gelu": (MODULES / "mlp_gelu_erf.mlir").read_text(),
}


@on_device
@pytest.mark.parametrize("name", CASES)
def test_is_right(name: str):
    kernel = mlir_gemm.compile(CASES[name], device="vulkan")
    if kernel.symbols:
        kernel = kernel.at(**dict(zip(kernel.symbols, (37, 21, 19), strict=True)))
    assert kernel.chip == "vulkan"
    before = random_arrays(kernel.launch.arguments, 0, {})
    after = [array.copy() for array in before]
    launcher = kernel.launcher
    assert isinstance(launcher, VulkanLauncher)
    run_on(launcher.kernels, after)
    expected = reference(CASES[name], before)
    allowed = limits(kernel.launch.arguments, kernel.kernels, CASES[name], before, expected)
    for got, wanted, limit in zip(after, expected, allowed, strict=True):
        assert relative_error(got, wanted) <= limit


@on_device
def test_a_call_takes_and_gives_numpy_arrays():
    kernel = mlir_gemm.compile(product("?", "?", "?"), device="vulkan")
    for m, n, k in ((5, 6, 7), (16, 16, 0)):  # without products, a loop that runs no turn
        a, b, c = (np.ones(shape, "f4") for shape in ((m, k), (k, n), (m, n)))
        np.testing.assert_array_equal(kernel(a, b, c), a @ b + c)


@on_device
def test_results_are_copied_where_the_host_reads_slowly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vulkan_device.VulkanDevice, "is_cached", lambda *_: False)
    kernel = mlir_gemm.compile(product(5, 6, 7), device="vulkan")
    a, b, c = (np.ones(shape, "f4") for shape in ((5, 7), (7, 6), (5, 6)))
    np.testing.assert_array_equal(kernel(a, b, c), a @ b + c)


@on_device
def test_what_a_device_lacks_is_refused_by_its_name():
    kernel = mlir_gemm.compile(product(32, 32, 33, "f16"), device="vulkan")  # rows that no vector takes whole
    device = vulkan_device.open_device()
    small = dataclasses.replace(
        device.limits, maxComputeWorkGroupInvocations=16, maxStorageBufferRange=64, maxComputeSharedMemorySize=256,
        maxPerStageDescriptorStorageBuffers=2, maxComputeWorkGroupSize=(8, 8, 8), maxComputeWorkGroupCount=(1, 1, 1),
    )  # fmt: skip
    lacking = dataclasses.replace(device, limits=small, features=frozenset())
    with pytest.raises(DeviceError) as raised:
        vulkan_kernels.check(lacking, kernel.code, kernel.launch)
    for name in (
        "storageBuffer16BitAccess", "maxComputeWorkGroupInvocations is 16", "maxStorageBufferRange is 64",
        "maxComputeSharedMemorySize is 256", "maxPerStageDescriptorStorageBuffers is 2", "maxComputeWorkGroupSize is 8",
        "maxComputeWorkGroupCount is 1", "the feature shaderFloat16",
    ):  # fmt: skip
        assert name in raised.value.message
    features = {
        "StorageBuffer16BitAccess": "storageBuffer16BitAccess", "StorageBuffer8BitAccess": "storageBuffer8BitAccess",
        "Float16": "shaderFloat16", "Float64": "shaderFloat64", "Int8": "shaderInt8", "Int16": "shaderInt16",
        "Int64": "shaderInt64",
    }  # fmt: skip
    assert lacking.missing(list(features)) == [f"the feature {each}" for each in features.values()]
    with pytest.raises(DeviceError, match="there is no Vulkan device 99"):
        vulkan_device.open_device(99)


def test_code_for_another_chip_is_refused():
    with pytest.raises(DeviceError, match="expected a chip of Vulkan"):
        mlir_gemm.compile(CASES["f32"], chip="sm_80", device="vulkan")


def test_stages_and_outputs_are_those_of_the_back_end():
    with pytest.raises(InputError, match="there is no stage 'ptx' for vulkan"):
        compile_module(CASES["f32"], chip="vulkan", until="ptx")
    done = compile_module(CASES["f32"], chip="vulkan", until="lower")
    with pytest.raises(InputError, match="there is no output 'cubin' for vulkan"):
        done.emit("cubin")
    with pytest.raises(InputError, match="SPIR-V is binary"):
        done.ir("spv")


@on_device
def test_a_check_that_fails_is_told_and_nothing_is_read_beyond():
    """An index outside of its table: the call fails with the message, and the next one is right."""
    kernel = mlir_gemm.compile((MODULES / "front/gather.mlir").read_text(), device="vulkan")
    table, places = (np.ones(each.shape, numpy_dtype(each.dtype)) for each in kernel.launch.arguments[:2])
    assert kernel(table, places).sum() == places.size
    for wrong, message in ((1 << 40, "must be smaller than dim size"), (-1, "must be larger or equal to 0")):
        outside = places.copy()
        outside.flat[3] = wrong
        with pytest.raises(DeviceError, match=f"a check of the program fails in .*{message}"):
            kernel(table, outside)
    assert kernel(table, places).sum() == places.size


def _converted(source: str, target: str, count: int) -> str:
    """A module that converts this many numbers."""
    kind = "arith.extf" if source in ("f8E4M3FN", "f8E5M2") else "arith.truncf"
    given, made = f"tensor<{count}x{source}>", f"tensor<{count}x{target}>"
    return f"""func.func @f(%x: {given}) -> {made} {{
      %e = tensor.empty() : {made}
      %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}} ins(%x : {given}) outs(%e : {made}) {{
      ^bb0(%a: {source}, %o: {target}):
        %y = {kind} %a : {source} to {target}
        linalg.yield %y : {target}
      }} -> {made}
      return %r : {made}
    }}"""


@on_device
def test_every_number_is_rounded_to_bf16_to_nearest_even():
    """All that bf16 holds, what is halfway between, and what is beside that; NaN and infinities among them."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    x = np.concatenate([upper | each for each in (0, 0x7FFF, 0x8000, 0x8001)]).view(np.float32)
    with np.errstate(all="ignore"):
        wanted = x.astype(ml_dtypes.bfloat16).astype("f4")
        found = mlir_gemm.compile(_converted("f32", "bf16", x.size), device="vulkan")(x).astype("f4")
        np.testing.assert_array_equal(found, wanted)
        assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()
        # f64 is rounded once: beside a number that is halfway it goes to that side, which f32 does not see.
        halfway = x[2 << 16 : 3 << 16].astype("f8")
        halfway = halfway[np.isfinite(halfway) & (np.abs(halfway) < 3e38)]
        for side in (-np.inf, np.inf):
            beside = np.nextafter(halfway, side)
            nearer = halfway.astype("f4").view(np.uint32)
            away = (np.abs(beside) > np.abs(halfway)) * np.uint32(0x10000)
            expected = ((nearer & np.uint32(0xFFFF0000)) + away.astype(np.uint32)).view(np.float32)
            found = mlir_gemm.compile(_converted("f64", "bf16", beside.size), device="vulkan")(beside)
            np.testing.assert_array_equal(found.astype("f4"), expected)


@on_device
@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2"])
def test_8_bit_floats_are_read(name: str):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    numbers = np.arange(256, dtype=np.uint8).view(
        getattr(ml_dtypes, {"f8E5M2": "float8_e5m2"}.get(name, "float8_e4m3fn"))
    )
    found = mlir_gemm.compile(_converted(name, "f32", 256), device="vulkan")(numbers)
    np.testing.assert_array_equal(found, numbers.astype("f4"))
