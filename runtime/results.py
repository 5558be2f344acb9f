"""Memory for the results that the runtime makes, in the library of the caller's first argument."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from mlir_gemm.pipeline.launch import Argument
from mlir_gemm.runtime.arguments import dense, size_bytes
from mlir_gemm.runtime.arrays import NAMES
from mlir_gemm.runtime.device import LEGACY_STREAM, Gpu

_TYPE_STRINGS = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i8": "|i1", "i32": "<i4"}


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
        self._buffer = gpu.allocate(size_bytes(argument), LEGACY_STREAM)
        gpu.wait(stream, LEGACY_STREAM)

    def launched(self) -> None:
        """Tells that the kernel which writes it has been launched: it is not to be freed before that has run."""
        self._gpu.wait(LEGACY_STREAM, self._stream)

    @property
    def pointer(self) -> int:
        """Its address on the device."""
        return int(self._buffer.handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": _TYPE_STRINGS[self._argument.dtype],
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
        strides = dense(self.shape)
        view = utils.StridedMemoryView.from_buffer(
            self._buffer, self.shape, strides, dtype=numpy.dtype(NAMES[self._argument.dtype])
        )
        return view.__dlpack__(stream=-1, **options)

    def __repr__(self) -> str:
        return f"DeviceArray({self._gpu}, shape={self.shape}, dtype={self.dtype})"


def allocate(library: str, argument: Argument, gpu: Gpu, stream: int) -> tuple[Any, int]:
    """An array for one result, and its address on the device.

    For NumPy the array is a DeviceArray still, to be brought to the host by `download` after the launch.
    """
    module: Any = sys.modules.get(library)
    if library == "torch":
        dtype = getattr(module, NAMES[argument.dtype])
        on = f"cuda:{gpu.ordinal}"
        if stream == int(module.cuda.current_stream(gpu.ordinal).cuda_stream):
            tensor = module.empty(argument.shape, dtype=dtype, device=on)
        else:  # PyTorch must know on which stream the memory is used before it gives it to someone else
            with module.cuda.stream(module.cuda.ExternalStream(stream, device=on)):
                tensor = module.empty(argument.shape, dtype=dtype, device=on)
        return tensor, tensor.data_ptr()
    if library == "cupy":
        with module.cuda.Device(gpu.ordinal), module.cuda.ExternalStream(stream, gpu.ordinal):
            array = module.empty(argument.shape, dtype=NAMES[argument.dtype])
        return array, array.data.ptr
    result = DeviceArray(gpu, argument, stream)
    return result, result.pointer


def download(result: DeviceArray, gpu: Gpu, stream: int) -> Any:
    """A NumPy array that the result is being copied to; complete once the stream is synchronised."""
    numpy: Any = importlib.import_module("numpy")
    array = numpy.empty(result.shape, dtype=result.dtype)
    gpu.download(array.ctypes.data, result.pointer, array.nbytes, stream)
    return array
