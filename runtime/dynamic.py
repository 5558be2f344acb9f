"""Calls of kernels with sizes that are known at run time only.

Sizes are read from the arrays, and for each combination of sizes there is a launcher that knows them as numbers, so
that a call with sizes seen before costs one look-up more than one with sizes from the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime.launcher import GpuLauncher, device_names
from mlir_gemm.runtime.torch_path import DECLINED
from mlir_gemm.spec import binding
from mlir_gemm.spec.launch import Launch

if TYPE_CHECKING:
    from mlir_gemm.runtime.host_launcher import HostLauncher
    from mlir_gemm.runtime.simulated import SimulatorLauncher

MOST_SIZES = 1024
"""Combinations of sizes that are kept; then the oldest goes."""
Values = tuple[int, ...]
"""Sizes in the order of `Launch.symbols`."""


class DynamicLauncher:
    """Finds the launcher for the sizes of a call. `make` makes one for sizes, and for a GPU if one was asked for."""

    def __init__(
        self,
        launch: Launch,
        make: Callable[[Values, int | None], GpuLauncher | SimulatorLauncher | HostLauncher],
        ordinal: int | None,
        device: str | int,
    ) -> None:
        self._launch = launch
        self._make = make
        self._ordinal = ordinal
        self._elsewhere = str(device) if str(device).startswith(("simulator", "vulkan", "opencl")) else ""
        """What is no GPU of NVIDIA's, as the user called it."""
        self._passed = binding.passed(launch)
        self._made: dict[Values, GpuLauncher | SimulatorLauncher | HostLauncher] = {}
        self.short: Callable[[tuple[Any, ...], Any], Any] | None = self._short_way()
        """The short way, for sizes of which a call has shown that there is one."""

    @property
    def device(self) -> str:
        """Where the kernel runs, in words; `auto` before a first call."""
        if self._elsewhere:
            return self._elsewhere
        if self._ordinal is not None:
            return device_names((self._ordinal,))
        made = [each for each in list(self._made.values()) if isinstance(each, GpuLauncher)]
        return device_names(sorted({ordinal for each in made for ordinal in each.ordinals}))

    def at(self, values: Values) -> GpuLauncher | SimulatorLauncher | HostLauncher:
        """The launcher for these sizes."""
        made = self._made.get(values)
        if made is None:
            made = self._make(values, self._ordinal)
            while len(self._made) >= MOST_SIZES:
                self._made.pop(next(iter(self._made)), None)
            self._made[values] = made
        return made

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks, launches, and returns the results: None, an array, or a tuple of them."""
        binding.check_count(given, self._passed)
        shapes = [self._shape(index, array) for index, array in enumerate(given)]
        return self.at(binding.bind(shapes, self._launch))(given, stream)

    def _shape(self, index: int, array: Any) -> Sequence[int]:
        if self._passed[index].scalar:
            return ()
        shape = getattr(array, "shape", None)
        if shape is None and hasattr(array, "__cuda_array_interface__"):
            shape = array.__cuda_array_interface__["shape"]
        if shape is None:
            kind = type(array).__name__
            raise ArgumentError(
                f"{binding.label(index, self._passed[index])}: {'an' if kind[0] in 'aeiou' else 'a'} {kind} given, "
                "which has no shape: expected an array"
            )
        return tuple(shape)

    def _short_way(self) -> Callable[[tuple[Any, ...], Any], Any]:
        made, binding = self._made, self._launch.binding
        plain = tuple((index, axis) for index, axis, factor in binding if factor == 1)

        def multiples(arrays: tuple[Any, ...]) -> Values:
            return tuple([arrays[index].shape[axis] // factor for index, axis, factor in binding])

        def call(arrays: tuple[Any, ...], stream: Any) -> Any:
            try:
                if len(plain) == len(binding):
                    values = tuple([arrays[index].shape[axis] for index, axis in plain])
                else:
                    values = multiples(arrays)
                short = made[values].short
            except (LookupError, AttributeError, TypeError):  # sizes not seen yet, or something wrong: the long way
                return DECLINED
            return DECLINED if short is None else short(arrays, stream)

        return call
