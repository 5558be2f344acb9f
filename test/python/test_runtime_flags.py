"""Memory that is zero between launches, on a driver that is a stand-in: whose it is, and where a launch gets it."""

from __future__ import annotations

import ctypes
import types
from typing import Any

import pytest

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime import device
from mlir_gemm.runtime.flags import Flags
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.spec.launch import Argument, Buffer, Launch, Step

ONE = (1, 1, 1)
SIZE = 512
X = Argument("x", (64,), "f32", "inout")
LAUNCH = Launch(
    (X,),
    (Step("kernel", ONE, ONE, ONE, 0, (0, 1, 2)),),
    buffers=(Buffer(0, 4096, "parts"), Buffer(256, 256, "flags")),
    workspace_bytes=4096,
    zeroed_bytes=SIZE,
)


class Driver:
    """Streams that may be captured, and memory of the host."""

    CUstreamCaptureMode = types.SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)
    CUstream_flags = types.SimpleNamespace(CU_STREAM_NON_BLOCKING=1)

    def __init__(self) -> None:
        self.memory: list[Any] = []
        self.cleared: list[tuple[int, int, int]] = []
        self.captures: dict[int, int] = {}
        self.mode, self.modes = 0, list[int]()
        self.out_of_memory = False
        self.launched: list[list[int]] = []

    def cuStreamIsCapturing(self, stream: int) -> tuple[int, int]:  # noqa: N802 the driver's names
        return 0, int(stream in self.captures)

    def cuStreamGetCaptureInfo(self, stream: int) -> tuple[int, int, int, None]:  # noqa: N802
        return 0, 1, self.captures[stream], None

    def cuStreamGetId(self, stream: int) -> tuple[int, int]:  # noqa: N802
        return (900, 0) if stream in self.captures else (0, 100 + stream)

    def cuThreadExchangeStreamCaptureMode(self, mode: int) -> tuple[int, int]:  # noqa: N802
        before, self.mode = self.mode, mode
        self.modes.append(mode)
        return 0, before

    def cuMemAlloc(self, size: int) -> tuple[int, int]:  # noqa: N802
        assert self.mode == 2, "allocating must be allowed while something is captured"
        if self.out_of_memory:
            return 2, 0
        self.memory.append(ctypes.create_string_buffer(b"\xff" * size, size))
        return 0, ctypes.addressof(self.memory[-1])

    def cuStreamCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        assert flags == 1
        return 0, 77

    def cuMemsetD8Async(self, pointer: int, value: int, size: int, stream: int) -> tuple[int]:  # noqa: N802
        ctypes.memset(pointer, value, size)
        self.cleared.append((pointer, size, stream))
        return (0,)

    def cuStreamSynchronize(self, stream: int) -> tuple[int]:  # noqa: N802
        assert stream == 77, "the caller's streams are left alone"
        return (0,)

    def cuStreamDestroy(self, stream: int) -> tuple[int]:  # noqa: N802
        return (0,)

    def cuGetErrorName(self, status: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"CUDA_ERROR_OUT_OF_MEMORY"

    def cuGetErrorString(self, status: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"out of memory"

    def cuLaunchKernel(self, function: Any, *rest: int) -> tuple[int]:  # noqa: N802
        *_, parameters, _ = rest
        slots = (ctypes.c_void_p * 3).from_address(parameters)
        self.launched.append([ctypes.c_uint64.from_address(slot or 0).value for slot in slots])
        return (0,)


@pytest.fixture
def driver() -> Driver:
    return Driver()


def gpu(driver: Driver) -> device.Gpu:
    return device.Gpu(0, driver, 0x1000)


def test_each_stream_has_its_own(driver: Driver):
    flags = Flags(driver, SIZE)
    one, two = flags.at(1), flags.at(2)
    assert one != two
    assert (flags.at(1), flags.at(2)) == (one, two)
    assert [ctypes.string_at(address, SIZE) for address in (one, two)] == [b"\0" * SIZE] * 2
    assert driver.mode == 0, "the mode of captures is what it was"


def test_each_capture_has_its_own(driver: Driver):
    flags = Flags(driver, SIZE)
    plain = flags.at(1)
    found = {plain}
    for number in (5, 6):
        driver.captures = {1: number}
        found.add(flags.at(1))
        assert flags.at(1) in found
    assert len(found) == 3
    driver.captures = {}
    assert flags.at(1) == plain


def test_so_has_each_stream_of_a_capture(driver: Driver):
    flags = Flags(driver, SIZE)
    driver.captures = {1: 5, 2: 5}
    assert flags.at(1) != flags.at(2)


def test_no_memory_is_an_error_and_asked_for_again(driver: Driver):
    flags = Flags(driver, SIZE)
    driver.out_of_memory = True
    with pytest.raises(DeviceError, match="allocating flags failed: CUDA_ERROR_OUT_OF_MEMORY"):
        flags.at(1)
    assert driver.mode == 0
    driver.out_of_memory = False
    assert flags.at(1)


def test_a_launch_gets_the_flags_of_its_stream_and_its_part_of_the_workspace(driver: Driver):
    loaded = device.LoadedKernel(gpu(driver), ("function",), LAUNCH)
    assert loaded.flags is not None
    parameters = Parameters(LAUNCH)
    parameters.write([0x10000])
    parameters.place(0x20000)
    for stream in (1, 2, 1):
        loaded.start(parameters, stream)
        assert driver.launched[-1] == [0x10000, 0x20000, loaded.flags.at(stream) + 256]


def test_a_launch_without_flags_asks_for_none(driver: Driver):
    launch = Launch((X,), (Step("kernel", ONE, ONE, ONE, 0, (0,)),))
    assert device.LoadedKernel(gpu(driver), ("function",), launch).flags is None
