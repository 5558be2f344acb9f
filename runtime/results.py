"""Memory for the results that the runtime makes, in the library of the caller's first argument."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from mlir_gemm.runtime import dlpack
from mlir_gemm.runtime.arrays import torch_dtype
from mlir_gemm.runtime.device import LEGACY_STREAM, Gpu
from mlir_gemm.spec.element_types import NAMES, TYPE_STRINGS, UNSIGNED_BYTE, numpy_dtype
from mlir_gemm.spec.launch import Argument, dense


class DeviceArray:
    """A result on the GPU for callers of no library known here: dense, row-major, with DLPack and
    `__cuda_array_interface__`, so that JAX, Numba and others take it without a copy."""

    def __init__(self, gpu: Gpu, argument: Argument, stream: int) -> None:
        self.shape = argument.shape
        self.dtype = NAMES[argument.dtype]
        self._gpu = gpu
        self._argument = argument
        self._stream = stream
        # Allocated and freed in the order of the default stream: the caller's may be gone when this array is dropped.
        self._buffer = gpu.allocate(argument.span_bytes, LEGACY_STREAM)
        gpu.wait(stream, LEGACY_STREAM)

    def launched(self) -> None:
        """Tells that the kernel which writes it has been launched: it is not to be freed before that has run."""
        self._gpu.wait(LEGACY_STREAM, self._stream)

    @property
    def numpy_dtype(self) -> Any:
        """Its NumPy type."""
        return numpy_dtype(self._argument.dtype)

    @property
    def pointer(self) -> int:
        """Its address on the device."""
        return int(self._buffer.handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._argument.dtype not in TYPE_STRINGS:
            raise AttributeError(f"__cuda_array_interface__ has no way to write {self.dtype}; use DLPack")
        return {
            "shape": self.shape,
            "typestr": TYPE_STRINGS[self._argument.dtype],
            "data": (self.pointer, False),
            "strides": None,
            "version": 3,
            "stream": self._stream or LEGACY_STREAM,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._gpu.ordinal

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        if stream != -1:  # the consumer's wish that nothing be ordered
            with self._gpu.active():
                self._gpu.wait(stream or LEGACY_STREAM, self._stream)
        numpy: Any = importlib.import_module("numpy")
        utils: Any = importlib.import_module("cuda.core.utils")
        dtype = self._argument.dtype
        known = dtype in TYPE_STRINGS
        # cuda.core exports only NumPy's own types: others go as integers of their size, marked for what they are.
        sent = numpy.dtype(NAMES[dtype] if known else f"u{self._argument.item_bytes}")
        view = utils.StridedMemoryView.from_buffer(self._buffer, self.shape, dense(self.shape), dtype=sent)
        capsule = view.__dlpack__(stream=-1, **options)
        return capsule if known else dlpack.mark(capsule, dtype)

    def __repr__(self) -> str:
        return f"DeviceArray({self._gpu}, shape={self.shape}, dtype={self.dtype})"


def allocate(library: str, argument: Argument, gpu: Gpu, stream: int) -> tuple[Any, int]:
    """An array for one result, and its address on the device.

    For NumPy the array is a DeviceArray still, to be brought to the host by `download` after the launch.
    """
    if library == "torch":
        return _torch_empty(argument.shape, argument.dtype, gpu, stream)
    if library == "cupy":
        cupy: Any = sys.modules[library]
        with cupy.cuda.Device(gpu.ordinal), cupy.cuda.ExternalStream(stream, gpu.ordinal):
            array = cupy.empty(argument.shape, dtype=numpy_dtype(argument.dtype))
        return array, array.data.ptr
    result = DeviceArray(gpu, argument, stream)
    return result, result.pointer


def allocate_workspace(library: str, size: int, gpu: Gpu, stream: int) -> tuple[Any, int]:
    """Memory for a program's intermediate buffers, and its address: when dropped, it is freed after the work that is on
    `stream` by then."""
    if library == "torch":
        return _torch_empty((size,), UNSIGNED_BYTE, gpu, stream)
    buffer = gpu.allocate(size, stream)
    return buffer, int(buffer.handle)


def _torch_empty(shape: tuple[int, ...], dtype: str, gpu: Gpu, stream: int) -> tuple[Any, int]:
    torch: Any = sys.modules["torch"]
    on, element = f"cuda:{gpu.ordinal}", torch_dtype(torch, dtype)
    if stream == int(torch.cuda.current_stream(gpu.ordinal).cuda_stream):
        tensor = torch.empty(shape, dtype=element, device=on)
    else:  # PyTorch must know on which stream the memory is used before it gives it to someone else
        with torch.cuda.stream(torch.cuda.ExternalStream(stream, device=on)):
            tensor = torch.empty(shape, dtype=element, device=on)
    return tensor, tensor.data_ptr()


def download(result: DeviceArray, gpu: Gpu, stream: int) -> Any:
    """A NumPy array that the result is being copied to; complete once the stream is synchronised."""
    numpy: Any = importlib.import_module("numpy")
    array = numpy.empty(result.shape, dtype=result.numpy_dtype)
    if array.nbytes:
        gpu.download(array.ctypes.data, result.pointer, array.nbytes, stream)
    return array
