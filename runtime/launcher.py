"""From a call with arrays to launches on the GPU: the long way, which takes arrays of any library, checks everything
and explains what is wrong. PyTorch tensors take the short way (`torch_path`) once a call has shown that there is one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.pipeline.launch import Launch
from mlir_gemm.runtime import arguments, arrays, device, results
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.staging import Staged
from mlir_gemm.runtime.torch_path import DECLINED, outcome_of, torch_path

__all__ = ["DECLINED", "GpuLauncher"]


class GpuLauncher:
    """Calls what was compiled on one GPU, which it first touches at the first call."""

    def __init__(self, ptx: str, launch: Launch, ordinal: int | None, whole: Launch | None = None) -> None:
        """`launch` has sizes that are numbers. Where it is bound to sizes, `whole` is what it comes from: the code is
        loaded once for all of them."""
        self.short: Callable[[tuple[Any, ...], Any], Any] | None = None
        """The short way, once a call has shown that there is one."""
        self._ptx = ptx
        self._launch = launch
        self._whole = launch if whole is None else whole
        self._ordinal = ordinal
        self._passed = arguments.passed(launch)
        self._results = tuple(argument for argument in launch.arguments if argument.role == "result")
        self._loaded: device.LoadedKernel | None = None

    @property
    def ordinal(self) -> int | None:
        """The number of the GPU that the kernel runs on; None until a first call has decided."""
        return self._ordinal

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
            self._loaded = device.load(self._ptx, self._whole, self._ordinal)
            if self._whole is not self._launch:
                self._loaded = self._loaded.at(self._launch)
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
        staged = [
            Staged(view, argument, gpu, stream) if view.library == "numpy" else None
            for view, argument in zip(views, self._passed, strict=True)
        ]
        library = libraries[0] if libraries else "other"
        made = [results.allocate(library, argument, gpu, stream) for argument in self._results]
        parameters = Parameters(self._launch, loaded.constants)
        parameters.write(
            [
                *(
                    view.pointer - argument.shift_bytes if copy is None else copy.address
                    for view, argument, copy in zip(views, self._passed, staged, strict=True)
                ),
                *(pointer for _, pointer in made),
            ]
        )
        workspace = None  # kept until everything is launched
        if self._launch.workspace_bytes:
            workspace, address = results.allocate_workspace(library, self._launch.workspace_bytes, gpu, stream)
            parameters.place(address)
        copies = [copy for copy in staged if copy is not None]
        for copy in copies:
            copy.upload()
        for other in others:
            gpu.wait(stream, other)
        loaded.start(parameters, stream)
        del workspace
        for other in others:
            gpu.wait(other, stream)
        for result, _ in made:
            if isinstance(result, results.DeviceArray):
                result.launched()
        for copy in copies:
            copy.download()
        arrived = [result for result, _ in made]
        if library == "numpy":
            arrived = [results.download(result, gpu, stream) for result in arrived]
        if "numpy" in libraries:
            gpu.synchronize(stream)
            for copy in copies:
                copy.finish()
        return outcome_of(arrived)
