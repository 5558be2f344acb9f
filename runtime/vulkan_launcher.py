"""Vulkan as a device: kernels and programs called with arrays of the host, with the checks that every device gets."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime import arguments, arrays
from mlir_gemm.runtime.simulated import like, on_host
from mlir_gemm.runtime.vulkan_device import open_device
from mlir_gemm.runtime.vulkan_kernels import VulkanKernels, numbers_in
from mlir_gemm.spec import binding
from mlir_gemm.spec.element_types import numpy_dtype
from mlir_gemm.spec.launch import Argument, Launch
from mlir_gemm.tile_model.chips import target


class VulkanLauncher:
    """Calls what was compiled on a Vulkan device. It touches no device before the first call, and keeps its buffers."""

    short: Callable[[tuple[Any, ...], Any], Any] | None = None
    """There is no short way."""

    def __init__(self, code: bytes, launch: Launch, number: int, chip: str) -> None:
        if launch.steps and not code:
            raise DeviceError(f"device='vulkan' with code for {chip}; expected a chip of Vulkan, such as chip='vulkan'")
        self._code, self._launch, self._number = code, launch, number
        self._subgroup = target(chip).subgroup
        self._passed = binding.passed(launch)
        self._kernels: VulkanKernels | None = None

    @property
    def device(self) -> str:
        """Where it runs."""
        return f"vulkan:{self._number}"

    @property
    def kernels(self) -> VulkanKernels:
        """The kernels on the device, made on first use. Raises DeviceError where they cannot run there."""
        if self._kernels is None:
            self._kernels = VulkanKernels(open_device(self._number), self._code, self._launch, self._subgroup)
        return self._kernels

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks the arguments, runs everything, and returns the results: None, an array, or a tuple of them.

        Raises ArgumentError for arrays that do not fit, and DeviceError where the device cannot run it.
        """
        binding.check_count(given, self._passed)
        host: list[Any] = []
        for index, (array, argument) in enumerate(zip(given, self._passed, strict=True)):
            with arguments.about(index, argument):
                host.append(on_host(array, argument))
        views = [arrays.view(array, "numpy", None, 0) for array in host]
        libraries = [arrays.library_of(host[n] if a.scalar else given[n]) for n, a in enumerate(self._passed)]
        arguments.check(views, self._passed, 0, libraries)
        results = [
            importlib.import_module("numpy").empty(argument.shape, numpy_dtype(argument.dtype))
            for argument in self._launch.arguments
            if argument.role == "result"
        ]
        memory = [*(array.view(numpy_dtype(a.dtype)) for array, a in zip(host, self._passed, strict=True)), *results]
        run_on(self.kernels, memory)
        first = next((array for array, each in zip(given, self._passed, strict=True) if not each.scalar), None)
        made = [array if first is None else like(first, array) for array in results]
        return None if not made else made[0] if len(made) == 1 else tuple(made)


def run_on(kernels: VulkanKernels, memory: Sequence[Any]) -> None:
    """Runs kernels on NumPy arrays, one for each argument, results included: what is not only written is copied to the
    device, what is not only read is copied back."""
    every = list(zip(memory, kernels.launch.arguments, kernels.arguments, strict=True))
    for array, argument, buffer in every:
        if argument.role in ("in", "inout", "out") and not argument.scalar and argument.span_bytes:
            _elements(buffer.bytes, argument)[...] = array
    kernels.run(numbers_in(memory, kernels.launch))
    for number, (array, argument, _) in enumerate(every):
        if argument.role != "in" and not argument.scalar and argument.span_bytes:
            array[...] = _elements(kernels.written(number), argument)


def _elements(data: Any, argument: Argument) -> Any:
    """The elements of an argument in a buffer, as an array with its strides."""
    numpy: Any = importlib.import_module("numpy")
    dtype = numpy_dtype(argument.dtype)
    strides = None if argument.strides is None else [step * argument.item_bytes for step in argument.strides]
    return numpy.ndarray(argument.shape, dtype, data, argument.shift_bytes, strides)
