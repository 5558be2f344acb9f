"""Stand-ins for the compiler, the driver and PyTorch, for tests of the runtime without a GPU.

The driver has the functions of the real one on the host's memory, and its launch multiplies with NumPy what the kernel
parameters point to. So calls run from end to end; what only hardware can show is in test/gpu/check_runtime.py.
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mlir_gemm.runtime import device
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule

M, N, K = 32, 48, 16
TEXT = "func.func @matmul() { return }\n"
A = Argument("A", (M, K), "f16", "in")
B = Argument("B", (K, N), "f16", "in")
C = Argument("C", (M, N), "f32", "inout")
D = Argument("result0", (M, N), "f32", "result")
IN_PLACE = Launch.of_kernel("matmul", (2, 3, 1), (128, 1, 1), (1, 1, 1), 65536, (A, B, C), (2, 0, 1))
ALPHA = Argument("alpha", (), "f32", "in", scalar=True)
SCALED = Launch.of_kernel("matmul", (2, 3, 1), (128, 1, 1), (1, 1, 1), 65536, (A, ALPHA, B, C), (3, 1, 0, 2))
"""With a number between the arrays."""
RETURNING = Launch.of_kernel("matmul", (2, 3, 1), (128, 1, 1), (1, 1, 1), 65536, (A, B, D), (0, 1, 2))


class FakeCompilation:
    def __init__(self, launch: Launch, chip: str, schedule: Any) -> None:
        self.code = self.ptx = f"// {chip}"
        self.kernels = (KernelRecord("matmul", "product", Problem(M, N, K), Schedule(**(schedule or {})), 0),)
        self.launch = launch
        self.target = types.SimpleNamespace(chip=chip or "sm_70")
        self.stages = ("import", "tile")
        self.divisors = None

    def ir(self, stage: str, locations: bool = False) -> str:
        return f"// after {stage}"


class Compiler:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.launch = IN_PLACE
        self.calls: list[dict[str, Any]] = []

    def __call__(self, source: str, *, filename: str, chip: str, schedule: Any, **kept: Any) -> FakeCompilation:
        self.calls.append({"source": source, "filename": filename, "chip": chip, "schedule": schedule})
        return FakeCompilation(self.launch, chip, schedule)


def memory(pointer: int, shape: tuple[int, ...], dtype: str) -> Any:
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * count).from_address(pointer), dtype=dtype).reshape(shape)


class FakeDriver:
    """The driver's functions, on memory of the host."""

    CUcontext = int
    CUstream = int

    CUevent_flags = types.SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUstream_flags = types.SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUstreamCaptureMode = types.SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)

    def __init__(self, launch: Launch) -> None:
        self.captures: dict[int, list[Callable[[], None]]] = {}
        """What has been launched on each stream that is captured."""
        self.graphs: list[list[Callable[[], None]]] = []
        self.graph_launches: list[int] = []
        self.allocated: dict[int, Any] = {}
        """Memory that is kept for workspaces, by address."""
        self.launch = launch
        self.context = 0x1000
        self.launches: list[int] = []
        self.places: list[tuple[int, Any]] = []
        """The context and the function of each launch."""
        self.waits: list[tuple[int, int]] = []
        self.recorded = 0
        self.status = 0

    def perform(self, stream: int, work: Callable[[], None]) -> None:
        """Does at once what is launched on a stream, or keeps it where the stream is captured."""
        if stream in self.captures:
            self.captures[stream].append(work)
        else:
            work()

    def cuStreamIsCapturing(self, stream: int) -> tuple[int, int]:  # noqa: N802 the driver's names
        return 0, int(stream in self.captures)

    def cuThreadExchangeStreamCaptureMode(self, mode: int) -> tuple[int, int]:  # noqa: N802
        return 0, 0

    def cuStreamCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, 7700

    def cuStreamDestroy(self, stream: int) -> tuple[int]:  # noqa: N802
        assert stream not in self.captures, "the capture must have ended"
        return (0,)

    def cuStreamBeginCapture(self, stream: int, mode: int) -> tuple[int]:  # noqa: N802
        self.captures[stream] = []
        return (0,)

    def cuStreamEndCapture(self, stream: int) -> tuple[int, int]:  # noqa: N802
        self.graphs.append(self.captures.pop(stream))
        return 0, len(self.graphs) - 1

    def cuGraphInstantiate(self, graph: int, flags: int) -> tuple[int, int]:  # noqa: N802
        return self.status, 100 + graph

    def cuGraphDestroy(self, graph: int) -> tuple[int]:  # noqa: N802
        return (0,)

    cuGraphExecDestroy = cuGraphDestroy  # noqa: N815

    def cuGraphLaunch(self, graph: int, stream: int) -> tuple[int]:  # noqa: N802
        self.graph_launches.append(stream)
        for work in self.graphs[graph - 100]:
            work()
        return (self.status,)

    def cuMemAllocAsync(self, size: int, stream: int) -> tuple[int, int]:  # noqa: N802
        buffer = FakeBuffer(size)
        self.allocated[buffer.handle] = buffer
        return 0, buffer.handle

    def cuMemFreeAsync(self, address: int, stream: int) -> tuple[int]:  # noqa: N802
        del self.allocated[address]
        return (0,)

    def cuDeviceGetCount(self) -> tuple[int, int]:  # noqa: N802
        return 0, 1

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

    def cuLaunchKernelEx(self, config: Any, function: Any, parameters: int, extra: int) -> tuple[int]:  # noqa: N802 the driver's name
        raise AssertionError("no step of this test may overlap")

    def cuLaunchKernel(self, function: Any, *shape_and_rest: int) -> tuple[int]:  # noqa: N802
        *shape, stream, parameters, _ = shape_and_rest
        assert tuple(shape) == (*self.launch.grid, *self.launch.block, self.launch.shared_bytes)
        if self.status:
            return (self.status,)
        self.launches.append(stream)
        self.places.append((self.context, function))
        slots = (ctypes.c_void_p * len(self.launch.parameters)).from_address(parameters)
        by_name: dict[str, Any] = {}
        for slot, index in zip(slots, self.launch.parameters, strict=True):
            argument = self.launch.arguments[index]
            if argument.scalar:
                by_name[argument.name] = ctypes.c_float.from_address(slot or 0).value
                continue
            address = ctypes.c_uint64.from_address(slot or 0).value
            by_name[argument.name] = memory(address, argument.shape, {"f16": "f2", "f32": "f4"}[argument.dtype])
        product = by_name["A"].astype("f4") @ by_name["B"].astype("f4") * by_name.get("alpha", 1.0)
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
    """A machine with stand-in GPUs. Their contexts are 0x1000 and the numbers after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, launch: Launch) -> None:
        self.driver = FakeDriver(launch)
        self.loads: list[int] = []
        self.places: dict[int, int | None] = {}
        monkeypatch.setattr(device, "find_driver", lambda: self.driver)
        monkeypatch.setattr(device, "ordinal_of", lambda _, pointer: self.places.get(pointer, 0))
        monkeypatch.setattr(device, "chip_of", lambda *_: "sm_90a")
        monkeypatch.setattr(device, "load", self.load)

    def load(self, ptx: str, launch: Launch, ordinal: int) -> device.LoadedKernel:
        self.loads.append(ordinal)
        gpu = FakeGpu(ordinal, self.driver, 0x1000 + ordinal)
        gpu.places = self.places
        return device.LoadedKernel(gpu, (f"function of cuda:{ordinal}",), launch)


def aligned(shape: tuple[int, ...], dtype: str, offset: int = 0) -> Any:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 512, np.uint8)
    start = -raw.ctypes.data % 256 + offset
    return raw[start : start + size].view(dtype).reshape(shape)


def operands() -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    a, b, c = aligned((M, K), "f2"), aligned((K, N), "f2"), aligned((M, N), "f4")
    a[...], b[...], c[...] = (random.integers(-3, 4, x.shape) for x in (a, b, c))
    return a, b, c


def product(a: Any, b: Any) -> Any:
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

    def __init__(
        self, array: Any, where: int = 0, negated: bool = False, requires_grad: bool = False, tangent: Any = None
    ) -> None:
        self.array = array
        self.where = where
        self.negated = negated
        self.requires_grad = requires_grad
        self.tangent = tangent
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


def fake_torch() -> Any:
    """A module with what the runtime asks of PyTorch."""
    module: Any = types.ModuleType("torch")
    for name in ("float16", "float32", "float64", "uint8"):
        setattr(module, name, FakeDtype(name))
    module.Tensor, module.Size = FakeTensor, tuple
    module.nn = types.SimpleNamespace(Parameter=FakeTensor)
    module.current = 5
    module.device = lambda kind, ordinal: f"{kind}:{ordinal}"
    module.elsewhere = {}
    """The current streams of GPUs where that is not `current`."""

    def current_stream(ordinal: int) -> int:
        return module.elsewhere.get(ordinal, module.current)

    def empty(shape: tuple[int, ...] | int, dtype: Any, device: str) -> FakeTensor:
        shape = (shape,) if isinstance(shape, int) else shape
        return FakeTensor(aligned(shape, dtype.name), where=int(device.partition(":")[2]))

    module.empty = empty
    module.cuda = types.SimpleNamespace(
        current_stream=lambda ordinal: types.SimpleNamespace(cuda_stream=current_stream(ordinal))
    )
    module._C = types.SimpleNamespace(_cuda_getCurrentRawStream=current_stream)
    module.grad_mode = True
    module.is_grad_enabled = lambda: module.grad_mode
    forward_ad = types.SimpleNamespace(
        _current_level=-1, unpack_dual=lambda tensor: types.SimpleNamespace(tangent=tensor.tangent)
    )
    module.autograd = types.SimpleNamespace(forward_ad=forward_ad)
    return module
