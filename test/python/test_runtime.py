"""The runtime without a GPU: sources, devices, argument checks, caches, and calls on a driver that is a stand-in.

The stand-in has the driver's functions on the host's memory, and its launch multiplies with NumPy what the kernel
parameters point to. So calls run from end to end; what only hardware can show is in test/gpu/check_runtime.py.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.errors import ArgumentError, DeviceError, InputError, ScheduleError
from mlir_gemm.pipeline.launch import Argument, Launch
from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.runtime import cache, device, info, kernel, launcher

M, N, K = 32, 48, 16
TEXT = "func.func @matmul() { return }\n"
A = Argument("A", (M, K), "f16", "in")
B = Argument("B", (K, N), "f16", "in")
C = Argument("C", (M, N), "f32", "inout")
D = Argument("result0", (M, N), "f32", "result")
IN_PLACE = Launch("matmul", (2, 3, 1), (128, 1, 1), (1, 1, 1), 65536, (A, B, C), (2, 0, 1))
RETURNING = Launch("matmul", (2, 3, 1), (128, 1, 1), (1, 1, 1), 65536, (A, B, D), (0, 1, 2))


# The compiler, stood in for.


class FakeCompilation:
    def __init__(self, launch: Launch, chip: str, schedule: Any) -> None:
        self.ptx = f"// {chip}"
        self.schedule = Schedule(**(schedule or {}))
        self.problem = Problem(M, N, K)
        self.launch = launch
        self.target = types.SimpleNamespace(chip=chip or "sm_70")
        self.stages = ("import", "tile")

    def ir(self, stage: str, locations: bool = False) -> str:
        return f"// after {stage}"


class Compiler:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.launch = IN_PLACE
        self.calls: list[dict[str, Any]] = []

    def __call__(self, source: str, *, filename: str, chip: str, schedule: Any) -> FakeCompilation:
        self.calls.append({"source": source, "filename": filename, "chip": chip, "schedule": schedule})
        return FakeCompilation(self.launch, chip, schedule)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    fake = Compiler()
    monkeypatch.setattr(kernel, "_compile_module", fake)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    cache.forget()
    yield fake
    cache.forget()


# The driver, stood in for.


def _memory(pointer: int, shape: tuple[int, ...], dtype: str) -> Any:
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * count).from_address(pointer), dtype=dtype).reshape(shape)


class FakeDriver:
    """The driver's functions, on memory of the host."""

    CUcontext = int

    class CUevent_flags:  # noqa: N801 - the driver's name
        CU_EVENT_DISABLE_TIMING = 2

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.context = 0x1000
        self.launches: list[int] = []
        self.waits: list[tuple[int, int]] = []
        self.recorded = 0
        self.status = 0

    def cuCtxGetCurrent(self) -> tuple[int, int]:  # noqa: N802
        return 0, self.context

    def cuCtxSetCurrent(self, context: int) -> tuple[int]:  # noqa: N802
        self.context = int(context)
        return (0,)

    def cuGetErrorName(self, status: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"

    def cuGetErrorString(self, status: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"too many resources requested for launch"

    def cuMemcpyHtoDAsync(self, pointer: int, host: int, size: int, stream: int) -> tuple[int]:  # noqa: N802
        ctypes.memmove(pointer, host, size)
        return (0,)

    cuMemcpyDtoHAsync = cuMemcpyHtoDAsync  # noqa: N815

    def cuStreamSynchronize(self, stream: int) -> tuple[int]:  # noqa: N802
        return (0,)

    def cuEventCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, 7

    def cuEventRecord(self, event: int, stream: int) -> tuple[int]:  # noqa: N802
        self.recorded = stream
        return (0,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[int]:  # noqa: N802
        self.waits.append((stream, self.recorded))
        return (0,)

    def cuEventDestroy(self, event: int) -> tuple[int]:  # noqa: N802
        return (0,)

    def cuLaunchKernel(self, function: Any, *shape_and_rest: int) -> tuple[int]:  # noqa: N802
        *shape, stream, parameters, _ = shape_and_rest
        assert tuple(shape) == (*self.launch.grid, *self.launch.block, self.launch.shared_bytes)
        if self.status:
            return (self.status,)
        self.launches.append(stream)
        slots = (ctypes.c_void_p * len(self.launch.parameters)).from_address(parameters)
        by_name: dict[str, Any] = {}
        for slot, index in zip(slots, self.launch.parameters, strict=True):
            argument = self.launch.arguments[index]
            address = ctypes.c_uint64.from_address(slot or 0).value
            by_name[argument.name] = _memory(address, argument.shape, {"f16": "f2", "f32": "f4"}[argument.dtype])
        product = by_name["A"].astype("f4") @ by_name["B"].astype("f4")
        if "C" in by_name:
            by_name["C"][...] += product
        else:
            by_name["result0"][...] = product
        return (0,)


class FakeBuffer:
    def __init__(self, size: int) -> None:
        self.memory = ctypes.create_string_buffer(size + 256)
        self.handle = (ctypes.addressof(self.memory) + 255) // 256 * 256


class FakeGpu(device.Gpu):
    places: dict[int, int | None]

    def allocate(self, size: int, stream: int) -> Any:
        return FakeBuffer(size)

    def ordinal_of(self, pointer: int) -> int | None:
        return self.places.get(pointer, self.ordinal)


class Machine:
    """A machine with one stand-in GPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, launch: Launch) -> None:
        self.driver = FakeDriver(launch)
        self.places: dict[int, int | None] = {}
        monkeypatch.setattr(device, "find_driver", lambda: self.driver)
        monkeypatch.setattr(device, "ordinal_of", lambda _, pointer: self.places.get(pointer, 0))
        monkeypatch.setattr(device, "load", self.load)

    def load(self, ptx: str, launch: Launch, ordinal: int) -> device.LoadedKernel:
        gpu = FakeGpu(ordinal, self.driver, 0x1000)
        gpu.places = self.places
        return device.LoadedKernel(gpu, "function", launch)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch, IN_PLACE)


@pytest.fixture
def returning(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch, RETURNING)


def _aligned(shape: tuple[int, ...], dtype: str, offset: int = 0) -> Any:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 512, np.uint8)
    start = -raw.ctypes.data % 256 + offset
    return raw[start : start + size].view(dtype).reshape(shape)


def _operands() -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    a, b, c = _aligned((M, K), "f2"), _aligned((K, N), "f2"), _aligned((M, N), "f4")
    a[...], b[...], c[...] = (random.integers(-3, 4, x.shape) for x in (a, b, c))
    return a, b, c


def _product(a: Any, b: Any) -> Any:
    return a.astype("f4") @ b.astype("f4")


class DeviceLike:
    """An array that shows `__cuda_array_interface__`, on memory of the host."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self.array = array
        self.changes = changes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        shown = {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, False),
            "strides": None if self.array.flags.c_contiguous else self.array.strides,
            "version": 3,
        }
        return {**shown, **self.changes}


class FakeTensor:
    """What the runtime reads of a PyTorch tensor."""

    def __init__(self, array: Any, where: int = 0, negated: bool = False) -> None:
        self.array = array
        self.where = where
        self.negated = negated
        self.shape = tuple(array.shape)
        self.dtype = sys.modules["torch"].__dict__[array.dtype.name]
        self.layout = "torch.strided"

    @property
    def is_cuda(self) -> bool:
        return self.where >= 0

    def get_device(self) -> int:
        return self.where

    def is_neg(self) -> bool:
        return self.negated

    def is_conj(self) -> bool:
        return False

    def is_contiguous(self) -> bool:
        return self.array.flags.c_contiguous

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def data_ptr(self) -> int:
        return self.array.ctypes.data


class FakeDtype:
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = types.ModuleType("torch")
    for name in ("float16", "float32", "float64"):
        setattr(module, name, FakeDtype(name))
    module.Tensor, module.Size = FakeTensor, tuple
    module.nn = types.SimpleNamespace(Parameter=FakeTensor)
    module.current = 5
    module.device = lambda kind, ordinal: f"{kind}:{ordinal}"
    module.empty = lambda shape, dtype, device: FakeTensor(_aligned(shape, dtype.name))
    module.cuda = types.SimpleNamespace(
        current_stream=lambda ordinal: types.SimpleNamespace(cuda_stream=module.current)
    )
    module._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: module.current)
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


# Sources.


def test_text_goes_to_the_compiler_as_it_is(compiler: Compiler) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_90")
    assert compiler.calls == [{"source": TEXT, "filename": "-", "chip": "sm_90", "schedule": None}]
    assert (made.ptx, made.launch, made.problem) == ("// sm_90", IN_PLACE, Problem(M, N, K))
    assert "32x48x16" in repr(made) and "sm_90" in repr(made) and "auto" in repr(made)


@pytest.mark.parametrize("name", ["a.mlir", "module", "func{"])
@pytest.mark.parametrize("form", [str, Path])
def test_a_file_is_read_whatever_its_name(compiler: Compiler, tmp_path: Path, name: str, form: Any) -> None:
    path = tmp_path / name
    path.write_text(TEXT)
    mlir_gemm.compile(form(path), chip="sm_80")
    assert compiler.calls[0]["source"] == TEXT
    assert compiler.calls[0]["filename"] == str(path)


def test_one_line_of_text_is_text(compiler: Compiler) -> None:
    mlir_gemm.compile("func.func private @f()", chip="sm_80")
    assert compiler.calls[0]["source"] == "func.func private @f()"


def test_text_saved_after_a_stage_keeps_its_chip(compiler: Compiler) -> None:
    saved = 'module attributes {tile.chip = "sm_70", tile.stage = "tile"} {}'
    assert mlir_gemm.compile(saved).chip == "sm_70"
    assert compiler.calls[0]["chip"] is None


def test_a_module_is_printed_with_its_locations(compiler: Compiler) -> None:
    operation = types.SimpleNamespace(get_asm=lambda enable_debug_info: f"module {{}} loc({enable_debug_info})")
    mlir_gemm.compile(types.SimpleNamespace(operation=operation), chip="sm_80")
    assert compiler.calls[0]["source"] == "module {} loc(True)"


def test_sources_that_cannot_be_read_are_named(compiler: Compiler, tmp_path: Path) -> None:
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "zero.mlir").write_bytes(b"module {\0}")
    (tmp_path / "code.mlir").write_bytes(b"ML\xefR\x01")
    for source, reason in [
        (tmp_path / "absent.mlir", "No such file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "bytes.mlir", "not UTF-8 at byte 0"),
        (tmp_path / "zero.mlir", "zero byte at 8"),
        (tmp_path / "code.mlir", "bytecode"),
    ]:
        for form in (str, Path):
            with pytest.raises(InputError, match=reason) as caught:
                mlir_gemm.compile(form(source))
            assert str(source) in str(caught.value)
    for source, reason in [("nothing", "neither a file nor"), ("a\0b", "neither"), (b"module", "bytes"), (3, "int")]:
        with pytest.raises(InputError, match=reason):
            mlir_gemm.compile(source)
    assert compiler.calls == []


# Schedules, chips, devices.


def test_a_schedule_may_have_any_of_its_forms(compiler: Compiler) -> None:
    for schedule in ("stages=2", {"stages": 2}, Schedule(stages=2)):
        assert mlir_gemm.compile(TEXT, chip="sm_80", schedule=schedule).schedule == Schedule(stages=2)
    given = [call["schedule"] for call in compiler.calls]
    assert given[0] == {"stages": 2}  # the dict found the text's entry in the cache
    assert len(given) == 2 and given[1]["block"] == (128, 128, 64)
    for schedule in ("stagez=2", {"stages": 0}, 3):
        with pytest.raises(ScheduleError):
            mlir_gemm.compile(TEXT, schedule=schedule)  # type: ignore[arg-type]


def test_the_default_chip_without_a_driver(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> None:
    def absent() -> Any:
        raise DeviceError("none")

    monkeypatch.setattr(device, "find_driver", absent)
    assert device.default_chip() == "sm_80"
    assert mlir_gemm.compile(TEXT).chip == "sm_80"
    assert info.describe_devices() == []


def test_the_default_chip_is_the_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    attributes = types.SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=76
    )
    driver = types.SimpleNamespace(
        CUdevice_attribute=attributes,
        cuDeviceGet=lambda ordinal: (0, ordinal),
        cuDeviceGetAttribute=lambda attribute, handle: (0, {75: 9, 76: 0}[attribute]),
        cuDeviceGetCount=lambda: (0, 1),
        cuDeviceGetName=lambda size, handle: (0, b"NVIDIA H200\0\0"),
        cuDeviceTotalMem=lambda handle: (0, 150_000_000_000),
        cuDriverGetVersion=lambda: (0, 13020),
    )
    hashable = type("Driver", (), {**vars(driver), "__getattribute__": object.__getattribute__})
    monkeypatch.setattr(device, "find_driver", lambda: hashable)
    assert device.default_chip() == "sm_90"
    assert info.describe_devices() == [
        {"ordinal": 0, "name": "NVIDIA H200", "chip": "sm_90", "memory_bytes": 150_000_000_000, "driver": "13.2"}
    ]


def test_devices_that_do_not_exist(compiler: Compiler) -> None:
    for given in ("tpu", "cuda:x", -1, True):
        with pytest.raises(DeviceError, match=r"expected 'auto', 'gpu', 'simulator', a number or 'cuda:N'"):
            mlir_gemm.compile(TEXT, device=given)
    for given in (1, "cuda:1"):
        assert "on cuda:1" in repr(mlir_gemm.compile(TEXT, chip="sm_80", device=given))


def test_a_call_without_a_driver_says_so(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> None:
    def absent(name: str) -> Any:
        raise OSError(name)

    device.find_driver.cache_clear()
    monkeypatch.setattr(device.ctypes, "CDLL", absent)
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    with pytest.raises(DeviceError, match="no NVIDIA driver was found"):
        made(*_operands())


class RefusingDriver:
    """A driver that compiles nothing."""

    class CUjit_option:  # noqa: N801 - the driver's name
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 5, 6

    class CUresult:
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX = 222, 209, 218

    def __init__(self, status: int, log: bytes = b"") -> None:
        self.status = status
        self.log = log

    def cuModuleLoadDataEx(self, ptx: bytes, count: int, keys: Any, values: Any) -> tuple[int, None]:  # noqa: N802
        values[0][: len(self.log)] = self.log
        return self.status, None

    def cuGetErrorName(self, status: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, f"CUDA_ERROR_{status}".encode()

    def cuGetErrorString(self, status: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"refused"

    def cuDriverGetVersion(self) -> tuple[int, int]:  # noqa: N802
        return 0, 12080


@pytest.mark.parametrize(
    ("status", "log", "message"),
    [
        (222, b"", "CUDA_ERROR_222 (refused); the kernel is PTX 8.8, newer than this driver (CUDA 12.8) reads"),
        (209, b"", "the kernel was compiled for sm_90 and this GPU is sm_80: compile with chip='sm_80'"),
        (218, b"ptxas fatal : line 3\n\0", "CUDA_ERROR_218 (refused)\n  note: ptxas fatal : line 3"),
    ],
)
def test_code_that_the_driver_refuses(monkeypatch: pytest.MonkeyPatch, status: int, log: bytes, message: str) -> None:
    monkeypatch.setattr(device, "chip_of", lambda driver, ordinal: "sm_80")
    gpu = device.Gpu(0, RefusingDriver(status, log), 0x1000)
    ptx = "// comment\n.version 8.8\n.target sm_90\n"
    assert message in str(device._refusal(gpu, ptx, "matmul", RuntimeError("refused")))


@pytest.mark.parametrize(("count", "message"), [(0, "no GPU was found"), (1, "only cuda:0"), (2, "cuda:0 to cuda:1")])
def test_gpus_that_do_not_exist(monkeypatch: pytest.MonkeyPatch, count: int, message: str) -> None:
    monkeypatch.setattr(device, "find_driver", lambda: None)
    monkeypatch.setattr(device, "device_count", lambda: count)
    device.open_gpu.cache_clear()
    with pytest.raises(DeviceError, match=message):
        device.open_gpu(9)


# Calls.


def test_numpy_arrays_are_copied_there_and_back(compiler: Compiler, machine: Machine) -> None:
    a, b, c = _operands()
    expected = c + _product(a, b)
    assert mlir_gemm.compile(TEXT, chip="sm_80")(a, b, c) is None
    np.testing.assert_array_equal(c, expected)
    assert machine.driver.launches == [0]


def test_numpy_results_are_numpy_arrays(compiler: Compiler, returning: Machine) -> None:
    compiler.launch = RETURNING
    a, b, _ = _operands()
    a.flags.writeable = False  # it is only read
    result = mlir_gemm.compile(TEXT, chip="sm_80")(a, b)
    assert isinstance(result, np.ndarray) and result.dtype == np.float32
    np.testing.assert_array_equal(result, _product(a, b))


def test_arrays_with_the_cuda_array_interface(compiler: Compiler, machine: Machine) -> None:
    a, b, c = _operands()
    expected = c + _product(a, b)
    mlir_gemm.compile(TEXT, chip="sm_80")(DeviceLike(a), DeviceLike(b, stream=9), DeviceLike(c), stream=4)
    np.testing.assert_array_equal(c, expected)
    assert machine.driver.launches == [4]
    assert machine.driver.waits == [(4, 9), (9, 4)]


def test_results_for_libraries_unknown(compiler: Compiler, returning: Machine) -> None:
    compiler.launch = RETURNING
    a, b, _ = _operands()
    result = mlir_gemm.compile(TEXT, chip="sm_80")(DeviceLike(a), DeviceLike(b))
    interface = result.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["stream"]) == ((M, N), "<f4", 1)
    assert result.__dlpack_device__() == (2, 0)
    np.testing.assert_array_equal(_memory(interface["data"][0], (M, N), "f4"), _product(a, b))


def test_tensors_take_the_short_way_from_the_second_call_on(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    a, b, c = _operands()
    expected = c.copy()
    tensors = [FakeTensor(x) for x in (a, b, c)]
    for call in range(4):
        if call == 1:
            assert made._launcher.short is not None
            made._launcher._run = None  # type: ignore[assignment]  # the long way would fail now
        torch.current = 5 + call
        assert made(*tensors) is None
        expected += _product(a, b)
        np.testing.assert_array_equal(c, expected)
    other = _aligned((M, N), "f4")
    made(tensors[0], tensors[1], FakeTensor(other), stream=3)
    np.testing.assert_array_equal(other, _product(a, b))
    assert machine.driver.launches == [5, 6, 7, 8, 3]


def test_results_of_tensors_are_tensors(compiler: Compiler, returning: Machine, torch: Any) -> None:
    compiler.launch = RETURNING
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    a, b, _ = _operands()
    results = [made(FakeTensor(a), FakeTensor(b)) for _ in range(3)]
    for result in results:
        assert isinstance(result, FakeTensor)
        np.testing.assert_array_equal(result.array, _product(a, b))
    assert len({result.data_ptr() for result in results}) == 3


def test_threads_have_parameters_of_their_own(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    made(*map(FakeTensor, _operands()))
    wrong: list[int] = []

    def work(seed: int) -> None:
        a, b, _ = _operands()
        a *= seed
        for _ in range(50):
            c = _aligned((M, N), "f4")
            made(FakeTensor(a), FakeTensor(b), FakeTensor(c))
            if not np.array_equal(c, _product(a, b)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_another_current_context_is_put_back(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    tensors = [FakeTensor(x) for x in _operands()]
    for _ in range(2):
        machine.driver.context = 0x2000
        made(*tensors)
        assert machine.driver.context == 0x2000
    machine.driver.context = 0
    made(*tensors)
    assert machine.driver.context == 0x1000
    assert len(machine.driver.launches) == 3


def test_a_launch_that_the_driver_refuses(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    tensors = [FakeTensor(x) for x in _operands()]
    made(*tensors)
    machine.driver.status = 701
    for stream in (None, 0):
        with pytest.raises(DeviceError, match=r"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES.*65536 bytes"):
            made(*tensors, stream=stream)


@pytest.mark.parametrize(
    "stream",
    [
        6,
        types.SimpleNamespace(cuda_stream=6),
        types.SimpleNamespace(ptr=6),
        types.SimpleNamespace(__cuda_stream__=lambda: (0, 6)),
        types.SimpleNamespace(__cuda_stream__=(0, 6)),
        np.int64(6),
    ],
)
def test_streams_of_every_kind(compiler: Compiler, machine: Machine, stream: Any) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")(*_operands(), stream=stream)
    assert machine.driver.launches == [6]


@pytest.mark.parametrize("stream", ["default", True, -1, object(), 1.0])
def test_what_is_no_stream(compiler: Compiler, machine: Machine, stream: Any) -> None:
    with pytest.raises(ArgumentError, match="is no CUDA stream"):
        mlir_gemm.compile(TEXT, chip="sm_80")(*_operands(), stream=stream)
    assert machine.driver.launches == []


# Refusals. Each is tried on a fresh kernel and on one that has taken the short way before.


def _refused(machine: Machine, given: tuple[Any, ...], pattern: str, before: tuple[Any, ...] | None = None) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    if before is not None:
        made(*before)
    launches = len(machine.driver.launches)
    with pytest.raises(ArgumentError, match=pattern) as caught:
        made(*given)
    assert isinstance(caught.value, TypeError)
    assert len(machine.driver.launches) == launches


def test_the_number_of_arguments(compiler: Compiler, machine: Machine) -> None:
    a, b, c = _operands()
    _refused(machine, (a, b), r"argument 2 \('C'\) is missing: 2 given, the kernel takes 3 arguments: A \(32x16 f16\)")
    _refused(machine, (a, b, c, c), r"argument 3: one too many; 4 given, the kernel takes 3")


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("value", [None, 3, [1.0], "text"])
def test_what_is_no_array(compiler: Compiler, machine: Machine, index: int, value: Any) -> None:
    given: list[Any] = list(_operands())
    given[index] = value
    _refused(machine, tuple(given), rf"argument {index} \('{'ABC'[index]}'\): an? {type(value).__name__} given")


def _variants(wrap: Any) -> list[tuple[str, tuple[Any, ...], str]]:
    a, b, c = _operands()
    skewed = _aligned((K, N), "f2", offset=8)
    joined = _aligned((M, N), "f4")
    inside = joined.view("f2").reshape(-1)[: K * N].reshape(K, N)
    return [
        ("shape", (a, wrap(_aligned((K, N + 1), "f2")), c), r"argument 1 \('B'\): shape \(16, 49\) .* \(16, 48\)"),
        ("rank", (wrap(_aligned((M * K,), "f2")), b, c), r"argument 0 \('A'\): shape \(512,\) given"),
        ("dtype", (a, wrap(_aligned((K, N), "f4")), c), r"argument 1 \('B'\): float32 given.*float16 \(f16\)"),
        ("strides", (a, wrap(_aligned((N, K), "f2").T), c), r"argument 1 \('B'\): strides \(1, 16\).*\(48, 1\)"),
        ("alignment", (a, wrap(skewed), c), r"argument 1 \('B'\): .*8 bytes past a multiple of 16"),
        ("overlap", (a, wrap(inside), wrap(joined)), r"argument 2 \('C'\): .*overlaps that of argument 1 \('B'\)"),
    ]


def _wrapped(given: tuple[Any, ...], wrap: Any) -> tuple[Any, ...]:
    return tuple(wrap(x) if isinstance(x, np.ndarray) else x for x in given)


@pytest.mark.parametrize("name", ["shape", "rank", "dtype", "strides", "alignment", "overlap"])
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", ["torch", "interface", "numpy"])
def test_arrays_that_do_not_fit(
    compiler: Compiler, machine: Machine, torch: Any, kind: str, warm: bool, name: str
) -> None:
    wrap = {"torch": FakeTensor, "interface": DeviceLike, "numpy": lambda x: x}[kind]
    given, pattern = next((given, pattern) for found, given, pattern in _variants(wrap) if found == name)
    before = _wrapped(_operands(), wrap) if warm else None
    if kind == "numpy" and name == "alignment":
        mlir_gemm.compile(TEXT, chip="sm_80")(*given)  # it is copied to memory that is aligned
        return
    _refused(machine, _wrapped(given, wrap), pattern, before)


@pytest.mark.parametrize("warm", [False, True])
def test_tensors_on_the_wrong_device(compiler: Compiler, machine: Machine, torch: Any, warm: bool) -> None:
    a, b, c = map(FakeTensor, _operands())
    before = (a, b, c) if warm else None
    _refused(
        machine, (a, FakeTensor(b.array, where=-1), c), r"argument 1 \('B'\): .*on the CPU.*\.to\('cuda:0'\)", before
    )
    _refused(machine, (a, b, FakeTensor(c.array, where=1)), r"argument 2 \('C'\): .*on cuda:1.*runs on cuda:0", before)
    _refused(machine, (a, FakeTensor(b.array, negated=True), c), r"argument 1 \('B'\): .*pending negation", before)


def test_a_tensor_without_memory(compiler: Compiler, machine: Machine, torch: Any) -> None:
    a, b, c = map(FakeTensor, _operands())
    empty = FakeTensor(b.array)
    empty.data_ptr = lambda: 0  # type: ignore[method-assign]
    _refused(machine, (a, empty, c), r"argument 1 \('B'\): it has no memory", before=(a, b, c))


def test_other_arrays_on_the_wrong_device(compiler: Compiler, machine: Machine) -> None:
    a, b, c = _operands()
    machine.places = {b.ctypes.data: None}
    _refused(machine, (DeviceLike(a), DeviceLike(b), DeviceLike(c)), r"argument 1 \('B'\): its memory is on the CPU")
    machine.places = {b.ctypes.data: 1}
    _refused(machine, (DeviceLike(a), DeviceLike(b), DeviceLike(c)), r"argument 1 \('B'\): its memory is on cuda:1")
    exporter = types.SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (1, 0))
    _refused(machine, (a, exporter, c), r"argument 1 \('B'\): its memory is on the CPU")


def test_auto_takes_the_gpu_of_the_first_array(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    made(*(FakeTensor(x, where=1) for x in _operands()))
    assert "on cuda:1" in repr(made)


def test_arrays_that_may_not_be_written(compiler: Compiler, machine: Machine) -> None:
    a, b, c = _operands()
    readonly = DeviceLike(c, data=(c.ctypes.data, True))
    _refused(machine, (DeviceLike(a), DeviceLike(b), readonly), r"argument 2 \('C'\): .*read-only")
    c.flags.writeable = False
    _refused(machine, (a, b, c), r"argument 2 \('C'\): .*read-only")
    swapped = a.astype(">f2")
    _refused(machine, (swapped, b, _operands()[2]), r"argument 0 \('A'\): float16 with swapped bytes given")
    plain = np.ma.masked_array(a, mask=False)
    _refused(machine, (plain, b, _operands()[2]), r"argument 0 \('A'\): an array with a mask")
    masked = DeviceLike(a, mask=DeviceLike(a))
    _refused(machine, (masked, DeviceLike(b), DeviceLike(_operands()[2])), r"argument 0 \('A'\): an array with a mask")


# The caches.


def _entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*"))


def test_a_kernel_is_found_again(compiler: Compiler, tmp_path: Path) -> None:
    first = mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")
    mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")  # in memory
    cache.forget()
    again = mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")  # on disk
    assert len(compiler.calls) == 1
    assert again._artifact == first._artifact
    assert [path.suffix for path in _entries(tmp_path)] == [".json"]


def test_everything_that_goes_in_is_in_the_key(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    mlir_gemm.compile(TEXT + " ", chip="sm_80")
    mlir_gemm.compile(TEXT, chip="sm_90")
    mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")
    monkeypatch.setattr(cache, "compiler_fingerprint", lambda: "another compiler")
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 5


def test_the_fingerprint_knows_the_sources_and_the_bindings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1")
    monkeypatch.setattr(cache, "_sources", lambda package: iter([tmp_path / "a.py"]))
    cached = cache.compiler_fingerprint
    seen = {cached.__wrapped__()}
    (tmp_path / "a.py").write_text("a = 2")
    seen.add(cached.__wrapped__())
    monkeypatch.setattr(cache, "_version", lambda package: "99")
    seen.add(cached.__wrapped__())
    monkeypatch.setattr(mlir_gemm, "__version__", "99")
    seen.add(cached.__wrapped__())
    assert len(seen) == 4


def test_ir_is_compiled_again_when_the_kernel_came_from_the_cache(compiler: Compiler) -> None:
    assert mlir_gemm.compile(TEXT, chip="sm_80").ir("tile") == "// after tile"
    assert len(compiler.calls) == 1
    again = mlir_gemm.compile(TEXT, chip="sm_80")
    assert again.ir("tile") == again.ir("tile") == "// after tile"
    assert len(compiler.calls) == 2
    with pytest.raises(InputError, match="no stage 'tiles'; the stages are import, tile"):
        again.ir("tiles")


def _flip(text: str) -> str:
    return text.replace("// sm_80", "// sm_81")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "null",
        lambda text: "{}",
        _flip,
        lambda text: text.replace('"format": 1', '"format": 0'),
        lambda text: text.replace("inout", "\udcff"),
    ],
)
def test_a_damaged_entry_counts_as_absent(compiler: Compiler, tmp_path: Path, damage: Any) -> None:
    first = mlir_gemm.compile(TEXT, chip="sm_80")
    (entry,) = _entries(tmp_path)
    whole = entry.read_text()
    entry.write_text(damage(whole), errors="surrogateescape")
    cache.forget()
    assert mlir_gemm.compile(TEXT, chip="sm_80")._artifact == first._artifact
    assert len(compiler.calls) == 2
    assert entry.read_text() == whole


def test_an_entry_with_fields_of_another_version(compiler: Compiler, tmp_path: Path) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    (entry,) = _entries(tmp_path)
    content = json.loads(entry.read_text())
    content["kernel"]["schedule"]["wings"] = 2
    content["digest"] = cache._digest(json.dumps(content["kernel"], sort_keys=True))
    entry.write_text(json.dumps(content))
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 2


def test_a_cache_that_cannot_be_written_is_no_error(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file" / "below"))
    assert mlir_gemm.compile(TEXT, chip="sm_80").ptx == "// sm_80"


def test_the_disk_can_be_turned_off(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, "off")
    monkeypatch.setenv("HOME", str(tmp_path))
    mlir_gemm.compile(TEXT, chip="sm_80")
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 2
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv(cache.VARIABLE, "")
    assert cache.cache_directory() == tmp_path / ".cache" / "mlir-gemm"


def test_many_writers_of_one_entry(compiler: Compiler, tmp_path: Path) -> None:
    artifact = mlir_gemm.compile(TEXT, chip="sm_80")._artifact
    seen: list[Any] = []

    def work() -> None:
        for _ in range(20):
            cache.keep("entry", artifact)
            seen.append(cache._read("entry"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [artifact] * 80
    assert len(_entries(tmp_path)) == 2  # no temporary file stays


def test_a_hit_needs_neither_the_bindings_nor_numpy(compiler: Compiler, tmp_path: Path) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    program = (
        "import sys, mlir_gemm\n"
        f"kernel = mlir_gemm.compile({TEXT!r}, chip='sm_80')\n"
        "assert kernel.ptx == '// sm_80'\n"
        "heavy = [name for name in sys.modules if name.startswith(('mlir.', 'numba_cuda_mlir', 'numpy', 'cuda'))]\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_short_way_declines_what_it_does_not_know(torch: Any) -> None:
    driver = FakeDriver(IN_PLACE)
    loaded = device.LoadedKernel(FakeGpu(0, driver, 0x1000), "function", IN_PLACE)
    call = launcher.torch_path(IN_PLACE, loaded, torch)
    a, b, c = map(FakeTensor, _operands())
    assert call((a, b), None) is launcher.DECLINED
    assert call((a, b, c.array), None) is launcher.DECLINED

    class Subclass(FakeTensor):
        pass

    assert call((a, Subclass(b.array), c), None) is launcher.DECLINED
    assert call((a, b, c), None) is None
    assert driver.launches == [5]
