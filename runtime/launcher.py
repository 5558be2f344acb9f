"""From a call with arrays to launches on the GPU: the long way, which takes arrays of any library, checks everything
and explains what is wrong. PyTorch tensors take the short way (`torch_path`) once a call has shown that there is one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime import arguments, arrays, device, graphs, results
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.staging import Staged
from mlir_gemm.runtime.torch_path import DECLINED, outcome_of, torch_path
from mlir_gemm.spec import binding
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.scalars import bits_of

__all__ = ["DECLINED", "GpuLauncher"]


class GpuLauncher:
    """Calls what was compiled on the GPU that holds the arguments, or on a certain one. It touches no GPU before a call
    runs there."""

    def __init__(
        self,
        ptx: str,
        launch: Launch,
        ordinal: int | None,
        whole: Launch | None = None,
        records: Sequence[KernelRecord] = (),
    ) -> None:
        """`launch` has sizes that are numbers. Where it is bound to sizes, `whole` is what it comes from: the code is
        loaded once for all of them. `ordinal` is the GPU to run on, None for that of the arguments. `records` tell what
        its kernels compute."""
        self.short: Callable[[tuple[Any, ...], Any], Any] | None = None
        """The short way, once a call has shown that there is one."""
        self._ptx = ptx
        self._launch = launch
        self._whole = launch if whole is None else whole
        self._ordinal = ordinal
        self._records = records
        self._given = binding.passed(launch)
        self._passed = tuple(argument for argument in self._given if not argument.scalar)
        """Those that are arrays; numbers are passed by value."""
        self._places = [index for index, argument in enumerate(self._given) if not argument.scalar]
        self._results = tuple(argument for argument in launch.arguments if argument.role == "result")
        self._loaded: dict[int, device.LoadedKernel] = {}
        """By the number of the GPU."""
        self._shorts: dict[int, Callable[[tuple[Any, ...], Any], Any]] = {}
        """The short ways, by the number of the GPU."""

    @property
    def ordinals(self) -> tuple[int, ...]:
        """The GPU that was asked for, else those that calls have run on so far."""
        return tuple(sorted(self._loaded)) if self._ordinal is None else (self._ordinal,)

    @property
    def device(self) -> str:
        """These GPUs, in words; `auto` before a first call."""
        return device_names(self.ordinals)

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks, launches, and returns the results: None, an array, or a tuple of them."""
        binding.check_count(given, self._given)
        numbers = self._numbers(given)
        given = tuple(value for value, argument in zip(given, self._given, strict=True) if not argument.scalar)
        libraries = [self._library(index, array) for index, array in enumerate(given)]
        ordinals = self._ordinals_of(given, libraries)
        loaded = self._load(ordinals)
        gpu = loaded.gpu
        with gpu.active():
            handle = self._stream(libraries, stream, gpu)
            views = self._views(given, libraries, ordinals, handle)
            arguments.check(views, self._passed, gpu.ordinal, None, self._places)
            outcome = self._run(loaded, views, numbers, libraries, handle, ordered=stream is not None)
        torch: Any = sys.modules.get("torch")
        if gpu.ordinal not in self._shorts and torch is not None and "torch" in libraries and self._is_for(torch):
            as_graph = graphs.pays(self._launch, self._records, lambda: device.chip_of(gpu.driver, gpu.ordinal))
            self._shorts[gpu.ordinal] = torch_path(self._launch, loaded, torch, as_graph)
            self.short = self._shorts[gpu.ordinal] if len(self._shorts) == 1 else self._short_on_its_gpu
        return outcome

    def _numbers(self, given: Sequence[Any]) -> dict[int, int]:
        """The bits of the arguments that are numbers, by their places."""
        found: dict[int, int] = {}
        for index, (value, argument) in enumerate(zip(given, self._given, strict=True)):
            if argument.scalar:
                with arguments.about(index, argument):
                    found[index] = bits_of(argument, value)
        return found

    def _is_for(self, torch: Any) -> bool:
        """Whether all arguments may be tensors."""
        return all(arrays.torch_has(torch, argument.dtype) for argument in self._launch.arguments)

    def _short_on_its_gpu(self, tensors: tuple[Any, ...], stream: Any) -> Any:
        """The short way where calls run on several GPUs."""
        try:
            short = self._shorts[tensors[0].get_device()]
        except (LookupError, AttributeError):  # a GPU not seen yet, or no tensor
            return DECLINED
        return short(tensors, stream)

    def _library(self, index: int, array: Any) -> str:
        with arguments.about(self._places[index], self._passed[index]):
            library = arrays.library_of(array)
        if library is None:
            kind = type(array).__name__
            raise ArgumentError(
                f"{binding.label(self._places[index], self._passed[index])}: {_article(kind)} {kind} given, "
                "which is not an array: expected a NumPy array or an object with __dlpack__ or __cuda_array_interface__"
                ", such as an array of PyTorch, CuPy, JAX or Numba on the GPU"
            )
        return library

    def _ordinals_of(self, given: Sequence[Any], libraries: Sequence[str]) -> list[int | None]:
        """The GPU that holds each array; None for memory of the host."""
        gpu_of = functools.partial(device.ordinal_of, device.find_driver())
        ordinals: list[int | None] = []
        for index, (array, library) in enumerate(zip(given, libraries, strict=True)):
            with arguments.about(self._places[index], self._passed[index]):
                ordinals.append(arrays.ordinal_of(array, library, gpu_of))
        return ordinals

    def _load(self, ordinals: Iterable[int | None]) -> device.LoadedKernel:
        """The kernel on the GPU that was asked for, else on the GPU of the first array that is on one, else on the
        first GPU. Arrays elsewhere are refused later."""
        ordinal = self._ordinal
        if ordinal is None:
            ordinal = next((each for each in ordinals if each is not None), 0)
        loaded = self._loaded.get(ordinal)
        if loaded is None:
            loaded = device.load(self._ptx, self._whole, ordinal)
            if self._whole is not self._launch:
                loaded = loaded.at(self._launch)
            loaded = self._loaded.setdefault(ordinal, loaded)
        return loaded

    def _stream(self, libraries: Sequence[str], stream: Any, gpu: device.Gpu) -> int:
        """The caller's: as given, else what the first library that has one works on, else the default stream."""
        if stream is not None:
            return device.stream_handle(stream)
        current = (arrays.current_stream(library, gpu.ordinal) for library in libraries)
        return next((handle for handle in current if handle is not None), 0)

    def _views(
        self, given: Sequence[Any], libraries: Sequence[str], ordinals: Sequence[int | None], handle: int
    ) -> list[arrays.View]:
        views: list[arrays.View] = []
        for index, (array, library, ordinal) in enumerate(zip(given, libraries, ordinals, strict=True)):
            with arguments.about(self._places[index], self._passed[index]):
                views.append(arrays.view(array, library, ordinal, handle))
        return views

    def _run(
        self,
        loaded: device.LoadedKernel,
        views: Sequence[arrays.View],
        numbers: dict[int, int],
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
        pointers = iter(
            view.pointer - argument.shift_bytes if copy is None else copy.address
            for view, argument, copy in zip(views, self._passed, staged, strict=True)
        )
        own = [numbers[place] if place in numbers else next(pointers) for place in range(len(self._given))]
        parameters.write([*own, *(pointer for _, pointer in made)])
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


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def device_names(ordinals: Sequence[int]) -> str:
    """How GPUs are named to the user; `auto` for none yet."""
    return " and ".join(f"cuda:{ordinal}" for ordinal in ordinals) or "auto"
