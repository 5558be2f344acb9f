"""Calls with tensor maps and overlapping launches, on a driver that is a stand-in: its maps say where memory is, and
its kernels multiply what they point to."""

# ruff: noqa: N802, N815 - names are the driver's

from __future__ import annotations

import ctypes
import dataclasses
import types
from typing import Any

import numpy as np
import pytest
from runtime_fakes import (
    TEXT,
    Compiler,
    DeviceLike,
    FakeDriver,
    FakeDtype,
    FakeGpu,
    FakeTensor,
    Machine,
    aligned,
    memory,
)

import mlir_gemm
from mlir_gemm.errors import ArgumentError, DeviceError
from mlir_gemm.runtime import cache, dependent_launch, device, tensor_maps
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.spec.launch import Argument, Buffer, Constant, Launch, Step, TensorMap

M, N, K = 16, 32, 8
ONE = (1, 1, 1)
X, W = Argument("x", (M, K), "f32", "in"), Argument("w", (K, N), "f32", "in")
R = Argument("result0", (M, N), "f32", "result")
C = Argument("c", (M, N), "f32", "inout")


def map_of(number: int, shape: tuple[int, ...], offset: int = 0) -> TensorMap:
    """A map of dense f32 memory."""
    return TensorMap(number, "f32", shape, (4 * shape[-1],), (8, 8), "none", offset)


IN_PLACE = Launch.of_kernel("k", ONE, ONE, ONE, 0, (X, W, C), (map_of(1, (K, N)), map_of(0, (M, K)), 2))
RETURNING = Launch.of_kernel(
    "k", ONE, ONE, ONE, 0, (X, W, R), (map_of(1, (K, N)), map_of(0, (M, K)), map_of(2, (M, N)))
)
OVERLAPPED = dataclasses.replace(IN_PLACE, steps=(dataclasses.replace(IN_PLACE.steps[0], dependent_launch=True),))
PROGRAM = Launch(
    (X, R),
    (
        Step("k", ONE, ONE, ONE, 0, (map_of(3, (K, N)), map_of(0, (M, K)), 2), dependent_launch=True),
        Step("k", ONE, ONE, (2, 1, 1), 0, (map_of(4, (N, N)), map_of(2, (M, N)), 1)),
    ),
    (Buffer(0, 4 * M * N),),
    tuple(
        Constant(f"constant_{number}", (rows, N), "f32", data.tobytes())
        for number, (rows, data) in enumerate(
            [(K, np.eye(K, N, dtype="f4")), (N, 2 * np.eye(N, dtype="f4"))]
        )
    ),
    4 * M * N,
)  # fmt: skip


class FakeMap:
    """Eight words: address, sizes (innermost first), the distance of rows."""

    def __init__(self, *words: int) -> None:
        self.words = (ctypes.c_uint64 * 16)(*words)

    def getPtr(self) -> int:
        return ctypes.addressof(self.words)


class Config:
    """A launch configuration."""

    hStream = attrs = None


class Attribute:
    """A launch attribute."""

    def __init__(self) -> None:
        self.id = None
        self.value = types.SimpleNamespace(programmaticStreamSerializationAllowed=0)


def names(prefix: str, *all_: str) -> Any:
    return types.SimpleNamespace(**{prefix + each: prefix + each for each in all_})


class Driver(FakeDriver):
    """Multiplies by maps, and counts what it encodes."""

    cuuint64_t = cuuint32_t = CUstream = int
    CUtensorMapDataType = names("CU_TENSOR_MAP_DATA_TYPE_", "FLOAT32")
    CUtensorMapInterleave = names("CU_TENSOR_MAP_INTERLEAVE_", "NONE")
    CUtensorMapSwizzle = names("CU_TENSOR_MAP_SWIZZLE_", "128B", "NONE")
    CUtensorMapL2promotion = names("CU_TENSOR_MAP_L2_PROMOTION_", "L2_128B")
    CUtensorMapFloatOOBfill = names("CU_TENSOR_MAP_FLOAT_OOB_FILL_", "NONE")
    CUlaunchAttributeID = names("CU_LAUNCH_ATTRIBUTE_", "PROGRAMMATIC_STREAM_SERIALIZATION")
    CUlaunchAttribute, CUlaunchConfig = Attribute, Config

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self.encoded: list[int] = []
        self.options: tuple[Any, ...] = ()
        self.configs: list[Config] = []
        self.ran = 0

    def cuTensorMapEncodeTiled(
        self, type_: str, rank: int, address: int, sizes: Any, strides: Any, box: Any, steps: Any, *options: Any
    ) -> tuple[int, FakeMap | None]:
        assert type_ == "CU_TENSOR_MAP_DATA_TYPE_FLOAT32"
        assert rank == len(sizes) == len(box) == len(steps) and set(steps) == {1}
        assert len(strides) == max(rank - 1, 1)
        if address % 16 or 0 in sizes or any(stride % 16 for stride in strides):
            return 1, None
        self.encoded.append(address)
        self.options = options
        return 0, FakeMap(address, *sizes, *strides)

    def cuLaunchKernel(self, function: Any, *shape_and_rest: int) -> tuple[int]:
        *_, stream, parameters, _ = shape_and_rest
        return self.run(stream, parameters)

    def cuLaunchKernelEx(self, config: Any, function: Any, parameters: int, extra: int) -> tuple[int]:
        self.configs.append(config)
        return self.run(config.hStream, parameters)

    def run(self, stream: int, parameters: int) -> tuple[int]:
        steps = self.launch.steps
        step = steps[self.ran % len(steps)]
        self.ran += 1
        slots = (ctypes.c_void_p * len(step.parameters)).from_address(parameters)
        right, left, out = (
            self.through(slot) if isinstance(each, TensorMap) else ctypes.c_uint64.from_address(slot).value
            for slot, each in zip(slots, step.parameters, strict=True)
        )
        if isinstance(out, int):
            out = memory(out, (len(left), right.shape[1]), "f4")
        out[...] = left @ right
        self.launches.append(stream)
        return (0,)

    def through(self, place: int) -> Any:
        assert place % 64 == 0
        address, columns, rows, stride = (ctypes.c_uint64 * 4).from_address(place)
        flat = memory(address, ((rows - 1) * stride // 4 + columns,), "f4")
        return np.lib.stride_tricks.as_strided(flat, (rows, columns), (stride, 4))


class Maps(Machine):
    """A machine whose driver knows tensor maps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, compiler: Compiler, launch: Launch) -> None:
        super().__init__(monkeypatch, launch)
        self.driver: Any = Driver(launch)
        compiler.launch = launch
        self.kernel = mlir_gemm.compile(TEXT, chip="sm_90a")

    def load(self, ptx: str, launch: Launch, ordinal: int) -> device.LoadedKernel:
        gpu = FakeGpu(ordinal, self.driver, 0x1000)
        gpu.places = self.places
        addresses, owner = device._upload(gpu, launch.constants)
        return device.LoadedKernel(gpu, ("function",) * len(launch.steps), launch, addresses, owner)


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> Any:
    return lambda launch: Maps(monkeypatch, compiler, launch)


def inputs(seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x, w = aligned((M, K), "f4"), aligned((K, N), "f4")
    x[...], w[...] = random.integers(-3, 4, x.shape), random.integers(-3, 4, w.shape)
    return x, w


def test_numpy_arrays_and_arrays_of_unknown_libraries(make: Any) -> None:
    machine = make(RETURNING)
    x, w = inputs()
    np.testing.assert_array_equal(machine.kernel(x, w), x @ w)
    result = machine.kernel(DeviceLike(x), DeviceLike(w))
    got = result.__cuda_array_interface__["data"][0]
    np.testing.assert_array_equal(memory(got, (M, N), "f4"), x @ w)
    assert machine.driver.options == (
        "CU_TENSOR_MAP_INTERLEAVE_NONE",
        "CU_TENSOR_MAP_SWIZZLE_NONE",
        "CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
        "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
    )


def test_maps_come_back_from_the_cache_on_disk(make: Any, compiler: Compiler) -> None:
    first = make(PROGRAM).kernel
    cache.forget()
    again = mlir_gemm.compile(TEXT, chip="sm_90a")
    assert len(compiler.calls) == 1
    assert again.launch == first.launch == PROGRAM


def test_tensors_have_maps_made_when_they_are_first_seen(make: Any, torch: Any) -> None:
    machine = make(IN_PLACE)
    (x, w), (y, v) = inputs(0), inputs(1)
    c = aligned((M, N), "f4")
    pairs = [(x, w), (x, w), (y, w), (x, v), (x, w), (y, v)]
    made: list[int] = []
    for left, right in pairs:
        machine.kernel(FakeTensor(left), FakeTensor(right), FakeTensor(c))
        np.testing.assert_array_equal(c, left @ right)
        made.append(len(machine.driver.encoded))
    assert made == [2, 2, 3, 4, 4, 4], "one for each memory, also across the long way and the short one"


def test_results_are_followed(make: Any, torch: Any) -> None:
    machine = make(RETURNING)
    x, w = inputs()
    kept = [machine.kernel(FakeTensor(x), FakeTensor(w)) for _ in range(5)]
    for each in kept:
        np.testing.assert_array_equal(each.array, x @ w)


def test_maps_of_buffers_and_constants(make: Any, torch: Any) -> None:
    torch.uint8 = FakeDtype("uint8")
    machine = make(PROGRAM)
    keep: list[Any] = []
    torch.empty = lambda shape, dtype, device: (
        keep.append(FakeTensor(aligned(shape if isinstance(shape, tuple) else (shape,), dtype.name))) or keep[-1]
    )
    for seed in range(4):
        x, _ = inputs(seed)
        got = machine.kernel(FakeTensor(x))
        np.testing.assert_array_equal(got.array, 2 * x @ np.eye(K, N, dtype="f4"))
    assert len(machine.driver.configs) == 4 and len(machine.driver.launches) == 8
    np.testing.assert_array_equal(machine.kernel(x), got.array)


def test_maps_are_forgotten_one_by_one(make: Any, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_maps, "MOST_ADDRESSES", 2)
    machine = make(IN_PLACE)
    c = aligned((M, N), "f4")
    pairs = [inputs(seed) for seed in range(4)]
    for left, right in pairs * 3:
        machine.kernel(FakeTensor(left), FakeTensor(right), FakeTensor(c))
        np.testing.assert_array_equal(c, left @ right)
    assert len(machine.driver.encoded) == 2 * 12


def test_overlapping_launches_have_one_configuration_for_each_stream(make: Any, torch: Any) -> None:
    machine = make(OVERLAPPED)
    x, w = inputs()
    c = aligned((M, N), "f4")
    for stream in (5, 5, 7, 5):
        torch.current = stream
        machine.kernel(FakeTensor(x), FakeTensor(w), FakeTensor(c))
        np.testing.assert_array_equal(c, x @ w)
    assert machine.driver.launches == [5, 5, 7, 5]
    first, second, third, last = machine.driver.configs
    assert first is second is last and third is not first
    assert (first.gridDimX, first.blockDimZ, first.sharedMemBytes, first.numAttrs) == (1, 1, 0, 1)
    (attribute,) = first.attrs
    assert attribute.id == "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
    assert attribute.value.programmaticStreamSerializationAllowed == 1


def test_configurations_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependent_launch, "MOST_STREAMS", 2)
    kept = dependent_launch.Configurations(Driver(OVERLAPPED), OVERLAPPED.steps[0])
    assert [kept[stream].hStream for stream in (1, 2, 3, 1)] == [1, 2, 3, 1]
    assert list(kept) == [3, 1]


def test_memory_of_one_dimension(make: Any) -> None:
    machine = make(IN_PLACE)
    flat = TensorMap(0, "f32", (64,), (), (32,), "128")
    tensor_maps.Encoder(machine.load("", IN_PLACE, 0).gpu, flat, IN_PLACE).at(0x1000)
    assert machine.driver.encoded == [0x1000]


# What there can be no map of.


def test_a_first_element_that_is_not_aligned(make: Any, torch: Any) -> None:
    odd = dataclasses.replace(X, strides=(K, 1), offset=2)
    machine = make(Launch.of_kernel("k", ONE, ONE, ONE, 0, (odd, W, C), (map_of(1, (K, N)), map_of(0, (M, K), 2), 2)))
    _, w = inputs()
    shifted = aligned((M, K), "f4", offset=8)
    c = aligned((M, N), "f4")
    message = (
        r"argument 0 \('x'\): its first element lies 8 bytes after its address; the copy engine needs a multiple of 16"
    )
    with pytest.raises(ArgumentError, match=message):
        machine.kernel(FakeTensor(shifted), FakeTensor(w), FakeTensor(c))
    assert not machine.driver.launches


def test_an_address_that_is_not_aligned(make: Any) -> None:
    machine = make(IN_PLACE)
    loaded = machine.load("", IN_PLACE, 0)
    parameters = Parameters(IN_PLACE)
    parameters.write([0x1000, 0x2008, 0x3000])
    message = (
        r"argument 1 \('w'\): its first element lies at 0x2008, 8 bytes past a multiple of 16; the kernel reads and "
        "writes it by the tensor copy engine, which needs 16-byte alignment: pass a copy"
    )
    with pytest.raises(ArgumentError, match=message):
        loaded.start(parameters, 0)
    x, _ = inputs()
    with pytest.raises(ArgumentError, match=r"argument 1 \('w'\): its memory starts at .*; the kernel needs 16-byte"):
        machine.kernel(DeviceLike(x), DeviceLike(aligned((K, N), "f4", offset=8)), DeviceLike(aligned((M, N), "f4")))


def test_other_refusals_tell_what_was_asked(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = make(IN_PLACE)
    monkeypatch.setattr(machine.driver, "cuTensorMapEncodeTiled", lambda *_: (801, None))
    message = (
        r"making the tensor map of argument 1 \('w'\) on cuda:0 failed: CUDA_ERROR_LAUNCH.*; sizes \(8, 32\), strides "
        r"of \(128,\) bytes, box \(8, 8\), at 0x"
    )
    with pytest.raises(DeviceError, match=message):
        machine.kernel(*inputs(), aligned((M, N), "f4"))


def test_a_map_of_nothing_reads_zeros(make: Any) -> None:
    empty = Argument("x", (M, 0), "f32", "in"), Argument("w", (0, N), "f32", "in")
    launch = Launch.of_kernel("k", ONE, ONE, ONE, 0, (*empty, R), (map_of(1, (0, N)), map_of(0, (M, 0)), 2))
    machine = make(launch)
    loaded = machine.load("", launch, 0)
    for each in [encoder.at(0) for encoder in loaded.encoders]:
        np.testing.assert_array_equal(machine.driver.through(each.address), [[0]])


def test_sizes_known_at_run_time_only() -> None:
    described = TensorMap(0, "f16", ("s0", "s1"), (("mul", "s1", 2),), (64, 32), "128", 8)
    x = Argument("x", ("s0", "s1"), "f16", "in")
    launch = Launch((x,), (Step("k", ONE, ONE, ONE, 0, (described, "s1", 0), True),))
    bound = launch.at((1, 3))
    assert bound.steps[0].parameters == (TensorMap(0, "f16", (1, 3), (6,), (64, 32), "128", 8), 1, 0)
    assert bound.values == (3,) and bound.steps[0].dependent_launch
    assert bound.tensor_maps[0].strides == (16,), "of one row, no distance means anything"
    assert bound.tensor_maps[0].problem() is None
    assert launch.at((2, 3)).tensor_maps[0].problem() is not None
