"""The runtime without a GPU: sources, devices, and calls on a driver that is a stand-in."""

from __future__ import annotations

import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_fakes import (
    IN_PLACE,
    RETURNING,
    SCALED,
    TEXT,
    Compiler,
    DeviceLike,
    FakeDriver,
    FakeGpu,
    FakeTensor,
    K,
    M,
    Machine,
    N,
    aligned,
    memory,
    operands,
    product,
)

import mlir_gemm
from mlir_gemm.errors import ArgumentError, DeviceError, InputError, ScheduleError
from mlir_gemm.runtime import device, info, launcher, own_chip
from mlir_gemm.runtime.torch_path import torch_path
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule

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


def test_a_byte_order_mark_is_no_part_of_the_text(compiler: Compiler, tmp_path: Path) -> None:
    path = tmp_path / "marked.mlir"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    for source in (path, "\ufeff" + TEXT):
        mlir_gemm.compile(source, chip="sm_80")
    assert [call["source"] for call in compiler.calls] == [TEXT, TEXT]


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
    for schedule in ("stages=2", {"stages": 2}, {"stages": "2"}, Schedule(stages=2)):
        assert mlir_gemm.compile(TEXT, chip="sm_80", schedule=schedule).schedule == Schedule(stages=2)
    given = [call["schedule"] for call in compiler.calls]
    assert given[0] == {"stages": 2}  # the dicts found the text's entry in the cache
    assert len(given) == 2 and given[1]["block"] == (128, 128, 64)
    made = mlir_gemm.compile(TEXT, chip="sm_80", schedule={"block": "64x64x32", "promote": "off", "mainloop": "direct"})
    assert made.schedule == Schedule(block=(64, 64, 32), promote=False, mainloop="direct")
    with pytest.raises(ScheduleError, match="'block=128x128': expected three positive sizes MxNxK"):
        mlir_gemm.compile(TEXT, schedule={"block": "128x128"})
    for schedule in ("stagez=2", {"stages": 0}, {"stages": "two"}, {"block": "128xx64"}, 3):
        with pytest.raises(ScheduleError):
            mlir_gemm.compile(TEXT, schedule=schedule)  # type: ignore[arg-type]


def test_the_default_chip_without_a_driver(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> None:
    def absent() -> Any:
        raise DeviceError("none")

    monkeypatch.setattr(device, "find_driver", absent)
    assert own_chip.default_chip() == "sm_80"
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
    assert own_chip.default_chip() == "sm_90a"
    assert info.describe_devices() == [
        {"ordinal": 0, "name": "NVIDIA H200", "chip": "sm_90a", "memory_bytes": 150_000_000_000, "driver": "13.2"}
    ]


def test_devices_that_do_not_exist(compiler: Compiler) -> None:
    for given in ("tpu", "cuda:x", -1, True):
        with pytest.raises(
            DeviceError,
            match=r"expected 'auto', 'gpu', 'simulator', 'vulkan', 'opencl', a number, 'cuda:N', 'vulkan:N'",
        ):
            mlir_gemm.compile(TEXT, device=given)
    for given in (1, "cuda:1"):
        assert "on cuda:1" in repr(mlir_gemm.compile(TEXT, chip="sm_80", device=given))


def test_a_call_without_a_driver_says_so(monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> None:
    def absent(name: str) -> Any:
        raise OSError(name)

    device.find_driver.cache_clear()
    monkeypatch.setattr(device.ctypes, "CDLL", absent)
    made = mlir_gemm.compile(TEXT, chip="sm_80", device="gpu")
    with pytest.raises(DeviceError, match="no NVIDIA driver was found"):
        made(*operands())


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
    a, b, c = operands()
    expected = c + product(a, b)
    assert mlir_gemm.compile(TEXT, chip="sm_80")(a, b, c) is None
    np.testing.assert_array_equal(c, expected)
    assert machine.driver.launches == [0]


def test_numpy_results_are_numpy_arrays(compiler: Compiler, returning: Machine) -> None:
    compiler.launch = RETURNING
    a, b, _ = operands()
    a.flags.writeable = False  # it is only read
    result = mlir_gemm.compile(TEXT, chip="sm_80")(a, b)
    assert isinstance(result, np.ndarray) and result.dtype == np.float32
    np.testing.assert_array_equal(result, product(a, b))


def test_arrays_with_the_cuda_array_interface(compiler: Compiler, machine: Machine) -> None:
    a, b, c = operands()
    expected = c + product(a, b)
    mlir_gemm.compile(TEXT, chip="sm_80")(DeviceLike(a), DeviceLike(b, stream=9), DeviceLike(c), stream=4)
    np.testing.assert_array_equal(c, expected)
    assert machine.driver.launches == [4]
    assert machine.driver.waits == [(4, 9), (9, 4)]


def test_results_for_libraries_unknown(compiler: Compiler, returning: Machine) -> None:
    compiler.launch = RETURNING
    a, b, _ = operands()
    result = mlir_gemm.compile(TEXT, chip="sm_80")(DeviceLike(a), DeviceLike(b))
    interface = result.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["stream"]) == ((M, N), "<f4", 1)
    assert result.__dlpack_device__() == (2, 0)
    np.testing.assert_array_equal(memory(interface["data"][0], (M, N), "f4"), product(a, b))


def test_tensors_take_the_short_way_from_the_second_call_on(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    a, b, c = operands()
    expected = c.copy()
    tensors = [FakeTensor(x) for x in (a, b, c)]
    for call in range(4):
        if call == 1:
            assert made._launcher.short is not None
            made._launcher._run = None  # type: ignore[assignment]  # the long way would fail now
        torch.current = 5 + call
        assert made(*tensors) is None
        expected += product(a, b)
        np.testing.assert_array_equal(c, expected)
    other = aligned((M, N), "f4")
    made(tensors[0], tensors[1], FakeTensor(other), stream=3)
    np.testing.assert_array_equal(other, product(a, b))
    assert machine.driver.launches == [5, 6, 7, 8, 3]


def test_numbers_go_by_value_on_both_ways(compiler: Compiler, monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:
    machine = Machine(monkeypatch, SCALED)
    compiler.launch = SCALED
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    a, b, c = operands()
    expected = c.copy()
    tensors = [FakeTensor(x) for x in (a, b, c)]
    for call, alpha in enumerate((2, 0.5, np.float32(-1), np.array(3, np.int8), 0.5)):
        if call == 1:
            made._launcher._run = None  # type: ignore[assignment]  # the long way would fail now
        made(tensors[0], alpha, tensors[1], tensors[2])
        expected += float(alpha) * product(a, b)
        np.testing.assert_array_equal(c, expected)
    other = aligned((M, N), "f4")
    made(tensors[0], 4, tensors[1], C=FakeTensor(other))  # memory elsewhere
    np.testing.assert_array_equal(other, 4 * product(a, b))
    assert len(machine.driver.launches) == 6
    with pytest.raises(ArgumentError, match=r"argument 1 .'alpha'.: FakeTensor given, the kernel takes a number"):
        made(tensors[0], tensors[0], tensors[1], tensors[2])
    with pytest.raises(ArgumentError, match=r"argument 2 .'B'.: shape"):
        made(tensors[0], 1.0, tensors[0], tensors[2])


def test_results_of_tensors_are_tensors(compiler: Compiler, returning: Machine, torch: Any) -> None:
    compiler.launch = RETURNING
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    a, b, _ = operands()
    results = [made(FakeTensor(a), FakeTensor(b)) for _ in range(3)]
    for result in results:
        assert isinstance(result, FakeTensor)
        np.testing.assert_array_equal(result.array, product(a, b))
    assert len({result.data_ptr() for result in results}) == 3


def test_threads_have_parameters_of_their_own(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    made(*map(FakeTensor, operands()))
    wrong: list[int] = []

    def work(seed: int) -> None:
        a, b, _ = operands()
        a *= seed
        for _ in range(50):
            c = aligned((M, N), "f4")
            made(FakeTensor(a), FakeTensor(b), FakeTensor(c))
            if not np.array_equal(c, product(a, b)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_another_current_context_is_put_back(compiler: Compiler, machine: Machine, torch: Any) -> None:
    made = mlir_gemm.compile(TEXT, chip="sm_80")
    tensors = [FakeTensor(x) for x in operands()]
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
    tensors = [FakeTensor(x) for x in operands()]
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
    mlir_gemm.compile(TEXT, chip="sm_80")(*operands(), stream=stream)
    assert machine.driver.launches == [6]


@pytest.mark.parametrize("stream", ["default", True, -1, object(), 1.0])
def test_what_is_no_stream(compiler: Compiler, machine: Machine, stream: Any) -> None:
    with pytest.raises(ArgumentError, match="is not a CUDA stream"):
        mlir_gemm.compile(TEXT, chip="sm_80")(*operands(), stream=stream)
    assert machine.driver.launches == []


def test_the_short_way_declines_what_it_does_not_know(torch: Any) -> None:
    driver = FakeDriver(IN_PLACE)
    loaded = device.LoadedKernel(FakeGpu(0, driver, 0x1000), ("function",), IN_PLACE)
    call = torch_path(IN_PLACE, loaded, torch)
    a, b, c = map(FakeTensor, operands())
    assert call((a, b), None) is launcher.DECLINED
    assert call((a, b, c.array), None) is launcher.DECLINED

    class Subclass(FakeTensor):
        pass

    assert call((a, Subclass(b.array), c), None) is launcher.DECLINED
    assert call((a, b, c), None) is None
    assert driver.launches == [5]
