"""OpenCL as a device."""

from __future__ import annotations

from typing import ClassVar

from mlir_gemm.pipeline import spirv_words
from mlir_gemm.runtime.host_launcher import HostKernels, HostLauncher
from mlir_gemm.runtime.opencl_device import open_device
from mlir_gemm.runtime.opencl_kernels import OpenclKernels


class OpenclLauncher(HostLauncher):
    """Calls what was compiled on an OpenCL device."""

    word: ClassVar[str] = "opencl"
    standard: ClassVar[str] = "OpenCL"
    capability: ClassVar[int] = spirv_words.KERNEL

    def _made(self) -> HostKernels:
        return OpenclKernels(open_device(self._number), self._code, self._launch)
