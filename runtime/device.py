"""GPUs through the CUDA driver: which there are, their contexts, loading a kernel, and what the runtime asks of memory.

Nothing here runs before a kernel is first called, or a chip is asked for (`own_chip`).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import itertools
import math
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, cast

from mlir_gemm.dialect.parse_guard import GUARD
from mlir_gemm.errors import ArgumentError, DeviceError
from mlir_gemm.runtime.cooperative_launch import check_together
from mlir_gemm.runtime.dependent_launch import Configurations
from mlir_gemm.runtime.flags import Flags
from mlir_gemm.runtime.line_info import object_code
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.status import checked, name_of
from mlir_gemm.runtime.tensor_maps import Encoder
from mlir_gemm.spec.launch import Constant, Launch, Step

STATIC_SHARED_BYTES = 48 * 1024
"""Most shared memory of a block without opting in (CUDA C++ Programming Guide, compute capabilities)."""
PORTABLE_CLUSTER = 8
"""Most blocks of a cluster without opting in (the same guide, thread block clusters)."""
JIT_LOG_BYTES = 8192
LEGACY_STREAM = 1
"""How CUDA's array protocols and `cuMemAllocAsync` name the default stream, whose handle is 0 in a launch."""
_CONSTANT_ALIGNMENT = 256
_INSTALL = "install both (pip install 'cuda-bindings>=12.9,<14' 'cuda-core>=1,<2')"

OWN_CODE = (9, 0)
"""The compute capability whose own instructions are worth code that no later chip runs: wgmma."""


@functools.cache
def chip_of(driver: Any, ordinal: int) -> str:
    """The chip of one GPU by LLVM's name. Raises DeviceError."""
    attributes = driver.CUdevice_attribute
    handle = checked(driver, driver.cuDeviceGet(ordinal), f"opening cuda:{ordinal}")
    major, minor = (
        checked(driver, driver.cuDeviceGetAttribute(attribute, handle), "asking for the compute capability")
        for attribute in (
            attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    return f"sm_{major}{minor}{'a' if (major, minor) == OWN_CODE else ''}"


def gpu_name(driver: Any, ordinal: int) -> str:
    """How the driver names one GPU. Raises DeviceError."""
    handle = checked(driver, driver.cuDeviceGet(ordinal), f"opening cuda:{ordinal}")
    name = checked(driver, driver.cuDeviceGetName(256, handle), "asking for a GPU's name")
    return name.split(b"\0", 1)[0].decode(errors="replace").strip()


@functools.cache
def find_driver() -> Any:
    """The module `cuda.bindings.driver`, initialised. Raises DeviceError saying what is missing."""
    try:
        ctypes.CDLL("libcuda.so.1")  # asked first: it answers in microseconds where there is no driver
    except OSError:
        raise DeviceError("no NVIDIA driver was found (libcuda.so.1 does not load): no GPU to run on") from None
    GUARD.before_cuda()
    try:
        driver: Any = importlib.import_module("cuda.bindings.driver")
    except ImportError as problem:
        raise DeviceError(f"the CUDA bindings do not import ({problem}); {_INSTALL}") from None
    checked(driver, driver.cuInit(0), "no GPU can be used: initialising the CUDA driver")
    return driver


def device_count() -> int:
    """GPUs that the driver shows to this process. Raises DeviceError where there is no driver."""
    driver = find_driver()
    return checked(driver, driver.cuDeviceGetCount(), "counting the GPUs")


def _cuda_core() -> Any:
    try:
        core: Any = importlib.import_module("cuda.core")
    except ImportError as problem:
        raise DeviceError(f"cuda.core does not import ({problem}); {_INSTALL}") from None
    if not hasattr(core, "ObjectCode"):  # below 0.5 its names stood in cuda.core.experimental
        raise DeviceError(f"cuda.core {core.__version__} is too old; install 1.0 or newer (pip install -U cuda-core)")
    return core


class Gpu:
    """One GPU and its primary context, the one that PyTorch, CuPy, JAX and Numba use too."""

    def __init__(self, ordinal: int, driver: Any, context: int) -> None:
        self.ordinal = ordinal
        self.driver = driver
        self.context = context

    def __str__(self) -> str:
        return f"cuda:{self.ordinal}"

    @contextlib.contextmanager
    def active(self) -> Generator[None]:
        """Makes this GPU's context current. A thread that had another gets it back; one that had none keeps this."""
        driver = self.driver
        before = checked(driver, driver.cuCtxGetCurrent(), "asking for the current context")
        if int(before) == self.context:
            yield
            return
        checked(driver, driver.cuCtxSetCurrent(driver.CUcontext(self.context)), f"making {self} current")
        try:
            yield
        finally:
            if int(before):
                checked(driver, driver.cuCtxSetCurrent(before), "going back to the caller's context")

    def ordinal_of(self, pointer: int) -> int | None:
        """Which GPU the memory at `pointer` belongs to; None for memory of the host."""
        return ordinal_of(self.driver, pointer)

    def wait(self, stream: int, other: int) -> None:
        """Lets what is put on `stream` from now on run after everything that is on `other` by now."""
        driver = self.driver
        if (stream or LEGACY_STREAM) == (other or LEGACY_STREAM):
            return
        flags = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING
        event = checked(driver, driver.cuEventCreate(flags), "creating an event")
        try:
            checked(driver, driver.cuEventRecord(event, other), "recording an event")
            checked(driver, driver.cuStreamWaitEvent(stream, event, 0), "ordering two streams")
        finally:
            driver.cuEventDestroy(event)  # the driver keeps it until it has happened

    def allocate(self, size: int, stream: int) -> Any:
        """`size` bytes of device memory, ordered on `stream`: a cuda.core Buffer, freed when it is dropped."""
        core = _cuda_core()
        on = core.Stream.from_handle(stream or LEGACY_STREAM)
        device = core.Device(self.ordinal)
        device.set_current()  # cuda.core keeps its own record for each thread; the context is this GPU's already
        return device.allocate(max(size, 1), stream=on)  # the driver refuses to allocate nothing

    def zero(self) -> Any:
        """Device memory of 16 bytes that are zero."""
        buffer = self.allocate(16, LEGACY_STREAM)
        host = ctypes.create_string_buffer(16)
        self.upload(int(buffer.handle), ctypes.addressof(host), 16, LEGACY_STREAM)
        self.synchronize(LEGACY_STREAM)
        return buffer

    def upload(self, pointer: int, host: int, size: int, stream: int) -> None:
        """Copies `size` bytes of the host to the device. The host's memory may be reused when this returns."""
        checked(self.driver, self.driver.cuMemcpyHtoDAsync(pointer, host, size, stream), "copying an array to the GPU")

    def download(self, host: int, pointer: int, size: int, stream: int) -> None:
        """Copies `size` bytes of the device to the host; they are there once `synchronize` has returned."""
        checked(
            self.driver, self.driver.cuMemcpyDtoHAsync(host, pointer, size, stream), "copying an array from the GPU"
        )

    def synchronize(self, stream: int) -> None:
        """Waits for everything on `stream`. Raises DeviceError if the kernel failed while it ran."""
        checked(self.driver, self.driver.cuStreamSynchronize(stream), "running the kernel")


def ordinal_of(driver: Any, pointer: int) -> int | None:
    """Which GPU the memory at `pointer` belongs to; None for memory of the host. The runtime is asked: for the driver's
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL cuda-bindings 13.3.1 gives 0, whatever it is."""
    kinds = driver.CUpointer_attribute
    status, kind = driver.cuPointerGetAttribute(kinds.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer)
    if int(status) or int(kind) != int(driver.CUmemorytype.CU_MEMORYTYPE_DEVICE):
        return None
    return int(importlib.import_module("cuda.bindings.runtime").cudaPointerGetAttributes(pointer)[1].device)


@functools.cache
def open_gpu(ordinal: int) -> Gpu:
    """The GPU with that number. Raises DeviceError naming those that exist."""
    driver = find_driver()
    count = device_count()
    if count == 0:
        raise DeviceError("no GPU was found: the CUDA driver shows none to this process (see CUDA_VISIBLE_DEVICES)")
    if not 0 <= ordinal < count:
        have = "only cuda:0" if count == 1 else f"cuda:0 to cuda:{count - 1}"
        raise DeviceError(f"device cuda:{ordinal} was asked for; this machine has {have}")
    core = _cuda_core()
    before = checked(driver, driver.cuCtxGetCurrent(), "asking for the current context")
    core.Device(ordinal).set_current()
    context = checked(driver, driver.cuCtxGetCurrent(), "asking for the GPU's context")
    if int(before) and int(before) != int(context):
        checked(driver, driver.cuCtxSetCurrent(before), "going back to the caller's context")
    return Gpu(ordinal, driver, int(context))


@dataclass(frozen=True)
class LoadedKernel:
    """The kernels of a launch in the memory of one GPU, ready to run."""

    gpu: Gpu
    functions: tuple[Any, ...]
    """A CUfunction, of the GPU's primary context, for each step; None for one that has no blocks."""
    launch: Launch
    constants: tuple[int, ...] = ()
    """Addresses of the constants."""
    owners: Any = None
    """What keeps the code and the constants loaded."""

    def shape(self, number: int) -> tuple[int, ...]:
        """Grid, block and dynamic shared memory of a step, as `cuLaunchKernel` takes them."""
        step = self.launch.steps[number]
        return (*step.grid, *step.block, step.shared_bytes)

    def at(self, launch: Launch) -> LoadedKernel:
        """The same kernels for a launch that is bound to sizes (`Launch.at`)."""
        functions = tuple(
            None if step.is_empty else function for step, function in zip(launch.steps, self.functions, strict=True)
        )
        return LoadedKernel(self.gpu, functions, launch, self.constants, self.owners)

    @functools.cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """What makes the launch's tensor maps."""
        return tuple(Encoder(self.gpu, each, self.launch) for each in self.launch.tensor_maps)

    @functools.cached_property
    def configurations(self) -> tuple[Configurations | None, ...]:
        """For each step that asks for more than a grid, what `cuLaunchKernelEx` takes; else None."""
        return tuple(Configurations.of(self.gpu.driver, step) for step in self.launch.steps)

    @functools.cached_property
    def flags(self) -> Flags | None:
        """The memory that is zero between launches; None where they need none."""
        return Flags(self.gpu.driver, self.launch.zeroed_bytes) if self.launch.zeroed_bytes else None

    def start(self, parameters: Parameters, stream: int) -> None:
        """Launches all steps. Raises DeviceError, and ArgumentError for memory that the copy engine cannot reach."""
        driver = self.gpu.driver
        if self.flags is not None:
            parameters.place_flags(self.flags.at(stream))
        parameters.write_maps(self.encoders)
        parameters.write_moving_maps(self.encoders)
        for number, (function, overlapped) in enumerate(zip(self.functions, self.configurations, strict=True)):
            if function is None:
                continue
            address = parameters.addresses[number]
            if overlapped is None:
                result = driver.cuLaunchKernel(function, *self.shape(number), stream, address, 0)
            else:
                result = driver.cuLaunchKernelEx(overlapped[stream], function, address, 0)
            if int(result[0]):
                self.refuse(number, result[0])

    def refuse(self, number: int, status: Any) -> None:
        """Raises the DeviceError for a step that the driver refused."""
        name = name_of(self.gpu.driver, status)
        step = self.launch.steps[number]
        cluster = "" if step.cluster == (1, 1, 1) else f" in clusters of {step.cluster}"
        raise DeviceError(
            f"launching '{step.entry}' on {self.gpu} failed: {name}; "
            f"grid {step.grid}{cluster}, block {step.block}, {step.shared_bytes} bytes of dynamic shared memory"
        )


@functools.lru_cache(maxsize=256)
def load(ptx: str, launch: Launch, ordinal: int) -> LoadedKernel:
    """Loads the code and the constants onto the GPU. Raises DeviceError, with the log of the driver's compiler."""
    gpu = open_gpu(ordinal)
    with gpu.active():
        functions: dict[str, Any] = {}
        owners: list[Any] = []
        module = None
        for step in launch.steps:
            if step.is_empty or step.entry in functions:
                continue
            module = module or _module(gpu, ptx, step.entry)
            functions[step.entry] = _function(gpu, ptx, module, step, owners)
        addresses, memory = _upload(gpu, launch.constants)
    entries = tuple(None if step.is_empty else functions[step.entry] for step in launch.steps)
    return LoadedKernel(gpu, entries, launch, addresses, (module, owners, memory))


def _module(gpu: Gpu, ptx: str, entry: str) -> Any:
    core = _cuda_core()
    try:
        return object_code(core, ptx, lambda: chip_of(gpu.driver, gpu.ordinal))
    except Exception as problem:
        raise _refusal(gpu, ptx, entry, problem) from None


def _function(gpu: Gpu, ptx: str, module: Any, step: Step, owners: list[Any]) -> Any:
    try:
        kernel = module.get_kernel(step.entry)
    except Exception as problem:
        raise _refusal(gpu, ptx, step.entry, problem) from None
    owners.append(kernel)
    function = checked(gpu.driver, gpu.driver.cuKernelGetFunction(kernel.handle), f"loading '{step.entry}'")
    if step.shared_bytes > STATIC_SHARED_BYTES:
        _allow_shared(gpu, function, step)
    if math.prod(step.cluster) > PORTABLE_CLUSTER:
        _allow_cluster(gpu, function, step)
    if step.cooperative:
        check_together(gpu.driver, gpu.ordinal, function, step)
    return function


@functools.lru_cache(maxsize=256)
def _upload(gpu: Gpu, constants: tuple[Constant, ...]) -> tuple[tuple[int, ...], Any]:
    """The constants' addresses on the GPU, and what keeps them there. Variants of one program share them."""
    if not constants:
        return (), None
    data = [constant.data for constant in constants]
    starts = list(itertools.accumulate((_aligned(len(each)) for each in data), initial=0))
    memory = gpu.allocate(starts.pop(), LEGACY_STREAM)
    base = int(memory.handle)
    for each, start in zip(data, starts, strict=True):
        if each:
            host = ctypes.create_string_buffer(each, len(each))
            gpu.upload(base + start, ctypes.addressof(host), len(each), LEGACY_STREAM)
    gpu.synchronize(LEGACY_STREAM)  # every stream may read them from now on
    return tuple(base + start for start in starts), memory


def _aligned(size: int) -> int:
    return -(-size // _CONSTANT_ALIGNMENT) * _CONSTANT_ALIGNMENT


def _allow_shared(gpu: Gpu, function: Any, step: Step) -> None:
    driver = gpu.driver
    names = driver.CUfunction_attribute
    limit = names.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    asking = f"asking for {step.shared_bytes} bytes of shared memory a block on {gpu}"
    checked(driver, driver.cuFuncSetAttribute(function, limit, step.shared_bytes), asking)
    # A kernel that stages its operands has little use for L1: the largest shared-memory carve-out fits the most blocks.
    most = driver.CUshared_carveout.CU_SHAREDMEM_CARVEOUT_MAX_SHARED
    carveout = names.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    checked(driver, driver.cuFuncSetAttribute(function, carveout, int(most)), "setting the shared-memory carve-out")


def _allow_cluster(gpu: Gpu, function: Any, step: Step) -> None:
    driver = gpu.driver
    allowed = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    asking = f"asking for clusters of {step.cluster} blocks on {gpu}"
    checked(driver, driver.cuFuncSetAttribute(function, allowed, 1), asking)


def _refusal(gpu: Gpu, ptx: str, entry: str, problem: Exception) -> DeviceError:
    """Why the driver did not load the PTX: loads it again with a buffer for the log."""
    driver = gpu.driver
    log = bytearray(JIT_LOG_BYTES)
    options = driver.CUjit_option
    keys = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    status, module = driver.cuModuleLoadDataEx(ptx.encode() + b"\0", 2, keys, [log, len(log)])
    if not int(status):
        driver.cuModuleUnload(module)
        return DeviceError(f"loading '{entry}' on {gpu} failed: {problem}")
    text = log.split(b"\0", 1)[0].decode(errors="replace").strip()
    notes = tuple(line.strip() for line in text.splitlines() if line.strip())
    statuses = driver.CUresult
    version = re.search(r"^\s*\.version\s+(\S+)", ptx, re.MULTILINE)
    target = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    message = f"the driver refused the kernel '{entry}' on {gpu}: {name_of(driver, status)}"
    if int(status) == int(statuses.CUDA_ERROR_UNSUPPORTED_PTX_VERSION) and version:
        cuda = format_version(checked(driver, driver.cuDriverGetVersion(), "asking for the driver's version"))
        message += f"; the kernel is PTX {version[1]}, newer than this driver (CUDA {cuda}) reads: update the driver"
    elif int(status) == int(statuses.CUDA_ERROR_NO_BINARY_FOR_GPU) and target:
        chip = chip_of(driver, gpu.ordinal)
        message += f"; the kernel was compiled for {target[1]} and this GPU is {chip}: compile with chip='{chip}'"
    return DeviceError(message, notes=notes)


def format_version(number: int) -> str:
    """The driver's way to write a CUDA version, 13020, as 13.2."""
    return f"{number // 1000}.{number % 1000 // 10}"


def stream_handle(stream: Any) -> int:
    """The handle of a stream: an int, or what has `__cuda_stream__`, `cuda_stream`, `ptr` or `__int__`."""
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair: Any = cast("Any", protocol)() if callable(protocol) else protocol
        return int(pair[1])
    for name in ("cuda_stream", "ptr"):
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    if not isinstance(stream, (bool, int, float, str)) and hasattr(stream, "__int__"):
        return int(stream)
    raise ArgumentError(
        f"stream={stream!r} is not a CUDA stream: expected a handle (int) or an object with __cuda_stream__, "
        "cuda_stream or ptr, such as a stream of PyTorch, CuPy or cuda.core"
    )
