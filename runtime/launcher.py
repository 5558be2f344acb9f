"""From a call with arrays to a launch on the GPU.

Two ways lead there. `GpuLauncher.__call__` takes arrays of any library, checks everything and explains what is wrong.
`torch_path` builds the short way for PyTorch tensors: it makes the same checks with as few reads as they need, and
declines whatever is not plainly right, which then goes the long way. A call costs the host about 2 us beyond the
driver's own launch, where `torch.mm` costs about 9.

Parameters are packed once for each thread: `cuLaunchKernel` reads an array of pointers to slots, and a call writes the
slots. Each thread has its own (`threading.local`, 40 ns), so that threads never wait for each other. What was written
stays: a call with the same addresses as the last one of its thread neither checks nor writes them again. That is safe
because alignment and overlap follow from the addresses alone, the sizes being fixed; all else is checked each time.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.pipeline.launch import Launch
from mlir_gemm.runtime import arguments, arrays, device, results

DECLINED: Any = object()
"""What the short way returns for a call that must go the long way. Nothing has happened then."""


class Parameters:
    """The kernel's parameters in the form that the driver takes: pointers to slots that hold device addresses."""

    def __init__(self, launch: Launch) -> None:
        self.slots = (ctypes.c_uint64 * len(launch.arguments))()
        """One slot for each of the launch's arguments, in their order."""
        base, size = ctypes.addressof(self.slots), ctypes.sizeof(ctypes.c_uint64)
        self._pointers = (ctypes.c_void_p * len(launch.parameters))(
            *(base + size * index for index in launch.parameters)
        )
        self.address = ctypes.addressof(self._pointers)
        self.written: list[int] | None = None
        """The passed arguments' addresses that the slots hold, checked; None when they were not."""

    def write(self, pointers: Sequence[int]) -> None:
        """Sets all slots."""
        self.slots[:] = pointers


class GpuLauncher:
    """Calls one kernel on one GPU, which it first touches at the first call."""

    def __init__(self, ptx: str, launch: Launch, ordinal: int | None) -> None:
        self.short: Callable[[tuple[Any, ...], Any], Any] | None = None
        """The short way, once a call has shown that there is one."""
        self._ptx = ptx
        self._launch = launch
        self._ordinal = ordinal
        self._passed = arguments.passed(launch)
        self._results = tuple(argument for argument in launch.arguments if argument.role == "result")
        self._loaded: device.LoadedKernel | None = None

    @property
    def device(self) -> str:
        """The GPU that the kernel runs on; `auto` until a first call has decided."""
        return "auto" if self._ordinal is None else f"cuda:{self._ordinal}"

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks, launches, and returns the results: None, an array, or a tuple of them."""
        arguments.check_count(given, self._passed)
        libraries = [self._library(index, array) for index, array in enumerate(given)]
        loaded = self._load(given, libraries)
        gpu = loaded.gpu
        with gpu.active():
            handle = self._stream(libraries, stream, gpu)
            views = self._views(given, libraries, handle)
            arguments.check(views, self._passed, gpu.ordinal)
            outcome = self._run(loaded, views, libraries, handle, ordered=stream is not None)
        torch: Any = sys.modules.get("torch")
        if self.short is None and torch is not None and "torch" in libraries:
            self.short = torch_path(self._launch, loaded, torch)
        return outcome

    def _library(self, index: int, array: Any) -> str:
        library = arrays.library_of(array)
        if library is None:
            kind = type(array).__name__
            raise ArgumentError(
                f"{arguments.label(index, self._passed[index])}: {'an' if kind[0] in 'aeiou' else 'a'} {kind} given, "
                "which is no array: expected a NumPy array or what has __dlpack__ or __cuda_array_interface__, "
                "such as an array of PyTorch, CuPy, JAX or Numba on the GPU"
            )
        return library

    def _load(self, given: Sequence[Any], libraries: Sequence[str]) -> device.LoadedKernel:
        if self._loaded is None:
            gpu_of = functools.partial(device.ordinal_of, device.find_driver())
            ordinals = (
                arrays.ordinal_of(array, library, gpu_of) for array, library in zip(given, libraries, strict=True)
            )
            if self._ordinal is None:
                self._ordinal = next((ordinal for ordinal in ordinals if ordinal is not None), 0)
            self._loaded = device.load(self._ptx, self._launch, self._ordinal)
        return self._loaded

    def _stream(self, libraries: Sequence[str], stream: Any, gpu: device.Gpu) -> int:
        """The caller's: as given, else what the first library that has one works on, else the default stream."""
        if stream is not None:
            return device.stream_handle(stream)
        current = (arrays.current_stream(library, gpu.ordinal) for library in libraries)
        return next((handle for handle in current if handle is not None), 0)

    def _views(self, given: Sequence[Any], libraries: Sequence[str], handle: int) -> list[arrays.View]:
        assert self._loaded is not None
        gpu_of = self._loaded.gpu.ordinal_of
        views: list[arrays.View] = []
        for index, (array, library) in enumerate(zip(given, libraries, strict=True)):
            try:
                ordinal = arrays.ordinal_of(array, library, gpu_of)
                views.append(arrays.view(array, library, ordinal, handle))
            except ArgumentError as problem:
                raise ArgumentError(f"{arguments.label(index, self._passed[index])}: {problem.message}") from None
        return views

    def _run(
        self,
        loaded: device.LoadedKernel,
        views: Sequence[arrays.View],
        libraries: Sequence[str],
        stream: int,
        ordered: bool,
    ) -> Any:
        """Launches on checked arguments. `ordered`: the caller named the stream, and with it took charge of order
        among the streams of PyTorch and CuPy."""
        gpu = loaded.gpu
        others = {
            view.stream for view in views if view.stream is not None and not (ordered and view.library != "other")
        }
        staged = [gpu.allocate(view.size, stream) if view.library == "numpy" else None for view in views]
        library = libraries[0] if libraries else "other"
        made = [results.allocate(library, argument, gpu, stream) for argument in self._results]
        parameters = Parameters(self._launch)
        parameters.write(
            [
                *(view.pointer if copy is None else int(copy.handle) for view, copy in zip(views, staged, strict=True)),
                *(pointer for _, pointer in made),
            ]
        )
        for view, copy, argument in zip(views, staged, self._passed, strict=True):
            if copy is not None and argument.role != "out":
                gpu.upload(int(copy.handle), view.pointer, view.size, stream)
        for other in others:
            gpu.wait(stream, other)
        loaded.start(parameters.address, stream)
        for other in others:
            gpu.wait(other, stream)
        for result, _ in made:
            if isinstance(result, results.DeviceArray):
                result.launched()
        for view, copy, argument in zip(views, staged, self._passed, strict=True):
            if copy is not None and argument.role in arguments.WRITTEN:
                gpu.download(view.pointer, int(copy.handle), view.size, stream)
        arrived = [result for result, _ in made]
        if library == "numpy":
            arrived = [results.download(result, gpu, stream) for result in arrived]
        if "numpy" in libraries:
            gpu.synchronize(stream)
        return _outcome(arrived)


def torch_path(launch: Launch, loaded: device.LoadedKernel, torch: Any) -> Callable[[tuple[Any, ...], Any], Any]:
    """The short way for PyTorch tensors: a function from a call's tensors and stream to its results.

    It returns DECLINED, with nothing done, for anything that is not plainly right.
    """
    passed = arguments.passed(launch)
    pairs = arguments.written_pairs(passed)
    expected = tuple((torch.Size(argument.shape), getattr(torch, arrays.NAMES[argument.dtype])) for argument in passed)
    made = tuple(
        (index, argument.shape, getattr(torch, arrays.NAMES[argument.dtype]))
        for index, argument in enumerate(launch.arguments)
        if argument.role == "result"
    )
    plain = {torch.Tensor, torch.nn.Parameter}  # a subclass may keep its memory elsewhere
    count, ordinal, context = len(passed), loaded.gpu.ordinal, loaded.gpu.context
    place = torch.device("cuda", ordinal)
    empty = torch.empty
    current_stream = _raw_stream(torch)
    launch_kernel, current_context = loaded.gpu.driver.cuLaunchKernel, loaded.gpu.driver.cuCtxGetCurrent
    function = loaded.function
    grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes = loaded.shape
    threads = threading.local()

    def call(tensors: tuple[Any, ...], stream: Any) -> Any:
        if len(tensors) != count or int(current_context()[1]) != context:
            return DECLINED
        if stream is None:
            handle = current_stream(ordinal)
        elif made:
            return DECLINED  # memory for a stream that is not PyTorch's current one takes more care
        else:
            handle = device.stream_handle(stream)
        try:
            parameters: Parameters = threads.parameters
        except AttributeError:
            parameters = threads.parameters = Parameters(launch)
        pointers: list[int] = []
        try:
            for tensor, (size, dtype) in zip(tensors, expected, strict=True):
                if (
                    type(tensor) not in plain
                    or tensor.dtype is not dtype
                    or tensor.shape != size
                    or not tensor.is_contiguous()
                    or tensor.get_device() != ordinal
                    or tensor.is_neg()
                ):
                    return DECLINED
                pointers.append(tensor.data_ptr())
        except Exception:  # a tensor without storage; the long way says which
            return DECLINED
        if pointers != parameters.written:
            if not arguments.well_placed(pointers, pairs):
                return DECLINED
            parameters.written = None
            parameters.slots[:count] = pointers
            parameters.written = pointers
        outcome = None
        if made:
            tensors_made: list[Any] = []
            for index, size, dtype in made:
                tensor = empty(size, dtype=dtype, device=place)
                parameters.slots[index] = tensor.data_ptr()
                tensors_made.append(tensor)
            outcome = _outcome(tensors_made)
        (status,) = launch_kernel(
            function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, handle, parameters.address, 0
        )
        if status:
            loaded.refuse(status)
        return outcome

    return call


def _raw_stream(torch: Any) -> Callable[[int], int]:
    """PyTorch's current stream as a handle, without making a stream object where it has a way for that."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return raw
    handle = operator.attrgetter("cuda_stream")
    return lambda ordinal: handle(torch.cuda.current_stream(ordinal))


def _outcome(arrays_made: list[Any]) -> Any:
    if not arrays_made:
        return None
    return arrays_made[0] if len(arrays_made) == 1 else tuple(arrays_made)
