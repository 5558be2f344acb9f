"""NumPy arrays on the GPU: copied there before a launch and, where they are written, back after it."""

from __future__ import annotations

import importlib
from typing import Any

from mlir_gemm.runtime.arguments import WRITTEN
from mlir_gemm.runtime.arrays import View
from mlir_gemm.runtime.device import Gpu
from mlir_gemm.spec.element_types import spread
from mlir_gemm.spec.launch import Argument


class Staged:
    """One array's memory on the GPU, at the distances that the kernel expects."""

    def __init__(self, view: View, argument: Argument, gpu: Gpu, stream: int) -> None:
        self._array = view.owner
        self._argument = argument
        self._gpu = gpu
        self._stream = stream
        self._size = argument.span_bytes
        self._buffer = gpu.allocate(argument.shift_bytes + self._size, stream)
        self._spread: Any = None
        """An array with gaps, spread out in memory of our own: what lies in the gaps of the caller's is not ours."""
        self._memory: Any = None

    @property
    def address(self) -> int:
        """What the kernel takes."""
        return int(self._buffer.handle)

    def upload(self) -> None:
        """Copies the array to the GPU, unless the kernel only writes it."""
        if self._size and self._argument.role != "out":
            self._gpu.upload(self.address + self._argument.shift_bytes, self._host(), self._size, self._stream)

    def download(self) -> None:
        """Starts the copy back, if the kernel writes it."""
        if self._size and self._argument.role in WRITTEN:
            self._gpu.download(self._host(), self.address + self._argument.shift_bytes, self._size, self._stream)

    def finish(self) -> None:
        """Puts what came back into the array, once the stream is synchronised."""
        if self._spread is not None and self._argument.role in WRITTEN:
            self._array[...] = self._spread

    def _host(self) -> int:
        strides = self._argument.strides
        if strides is None:
            return int(self._array.ctypes.data)
        if self._spread is None:
            numpy: Any = importlib.import_module("numpy")
            self._memory = numpy.zeros(self._size // self._argument.item_bytes, self._array.dtype)
            self._spread = spread(self._memory, self._argument.shape, strides)
            self._spread[...] = self._array
        return int(self._memory.ctypes.data)
