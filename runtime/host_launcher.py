"""Devices with arrays of the host: kernels and programs called with NumPy's, copied to buffers of the device that are
kept, with the checks that every device gets."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from mlir_gemm.errors import DeviceError
from mlir_gemm.pipeline import spirv_words
from mlir_gemm.runtime import arguments, arrays
from mlir_gemm.runtime.simulated import like, on_host
from mlir_gemm.spec import binding
from mlir_gemm.spec.element_types import numpy_dtype
from mlir_gemm.spec.launch import Argument, Launch, Step


class HostKernels(Protocol):
    """What was compiled, on a device, with the buffers of its calls."""

    @property
    def launch(self) -> Launch:
        """How it is launched."""
        ...

    def mapped(self, number: int) -> AbstractContextManager[Any]:
        """The bytes of an argument's buffer, which the host may read and write meanwhile."""
        ...

    def written(self, number: int) -> AbstractContextManager[Any]:
        """The bytes of an argument after a run, which the host may read meanwhile."""
        ...

    def run(self, numbers: Mapping[int, int], repeat: int = 1, fetch: bool = True) -> None:
        """Runs all steps in order, `repeat` times, and waits for them. With `fetch` the host can read what was written
        (`written`)."""
        ...


class HostLauncher(ABC):
    """Calls what was compiled on a device. It touches no device before the first call, and keeps its buffers."""

    short: Callable[[tuple[Any, ...], Any], Any] | None = None
    """There is no short way."""
    word: ClassVar[str]
    """What the user calls the device, before its number."""
    standard: ClassVar[str]
    """What its chips are programmed through, in words."""
    capability: ClassVar[int]
    """The capability of SPIR-V that all code for it has."""

    def __init__(self, code: bytes, launch: Launch, number: int, chip: str) -> None:
        """Raises DeviceError unless the code is for such devices."""
        if launch.steps and self.capability not in spirv_words.capabilities(code):
            raise DeviceError(
                f"device='{self.word}' with code for {chip}; expected a chip of {self.standard}, such as "
                f"chip='{self.word}'"
            )
        self._code, self._launch, self._number = code, launch, number
        self._passed = binding.passed(launch)
        self._kernels: HostKernels | None = None

    @property
    def device(self) -> str:
        """Where it runs."""
        return f"{self.word}:{self._number}"

    @property
    def ordinals(self) -> tuple[int, ...]:
        """The number of the device."""
        return (self._number,)

    @property
    def kernels(self) -> HostKernels:
        """The kernels on the device, made on first use. Raises DeviceError where they cannot run there."""
        if self._kernels is None:
            self._kernels = self._made()
        return self._kernels

    @abstractmethod
    def _made(self) -> HostKernels:
        """The kernels on the device."""

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


def run_on(kernels: HostKernels, memory: Sequence[Any]) -> None:
    """Runs kernels on NumPy arrays, one for each argument, results included: what is not a result is copied to the
    device, what is not only read is copied back."""
    every = list(zip(memory, kernels.launch.arguments, strict=True))
    for number, (array, argument) in enumerate(every):
        if argument.role in ("in", "inout", "out") and not argument.scalar and argument.span_bytes:
            with kernels.mapped(number) as data:
                _elements(data, argument)[...] = array
    kernels.run(numbers_in(memory, kernels.launch))
    for number, (array, argument) in enumerate(every):
        if argument.role != "in" and not argument.scalar and argument.span_bytes:
            with kernels.written(number) as data:
                array[...] = _elements(data, argument)


def memory_of(launch: Launch) -> list[int]:
    """The bytes of each argument's buffer, then of each intermediate one's and each constant's. The launch is bound to
    sizes."""
    arguments = [each.span_bytes + each.shift_bytes for each in launch.arguments]
    buffers = [each.bytes for each in launch.buffers if isinstance(each.bytes, int)]
    return [*arguments, *buffers, *(len(each.data) for each in launch.constants)]


def failed_check(device: object, step: Step, number: int) -> None:
    """Raises DeviceError with the message of an assertion that failed in a kernel, by the number that this reported,
    which is 0 for none."""
    if number:
        raise DeviceError(f"{device}: a check of the program fails in {step.entry}: {step.asserts[number - 1]}")


def numbers_in(memory: Sequence[Any], launch: Launch) -> dict[int, int]:
    """The bits of the arguments that are numbers, from arrays of one element, by place."""
    return {
        number: int.from_bytes(array.tobytes(), "little")
        for number, (array, argument) in enumerate(zip(memory, launch.arguments, strict=True))
        if argument.scalar
    }


def _elements(data: Any, argument: Argument) -> Any:
    """The elements of an argument in a buffer, as an array with its strides."""
    numpy: Any = importlib.import_module("numpy")
    dtype = numpy_dtype(argument.dtype)
    strides = None if argument.strides is None else [step * argument.item_bytes for step in argument.strides]
    return numpy.ndarray(argument.shape, dtype, data, argument.shift_bytes, strides)
