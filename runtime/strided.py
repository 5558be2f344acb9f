"""Calls of kernels whose arguments have strides that the source leaves open.

Code is made for dense memory first. A call with other strides takes code for these, which is compiled when they are
first seen, and kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime.launcher import GpuLauncher
from mlir_gemm.runtime.request import Variant
from mlir_gemm.runtime.torch_path import shortest
from mlir_gemm.spec import binding
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument, Launch, dense

if TYPE_CHECKING:
    from mlir_gemm.runtime.host_launcher import HostLauncher
    from mlir_gemm.runtime.simulated import SimulatorLauncher

MOST_STRIDES = 64
"""Combinations of strides for which code is kept; a call with yet another one is refused."""
Make = Callable[
    [Variant, Launch, tuple[KernelRecord, ...], "int | None"], "GpuLauncher | SimulatorLauncher | HostLauncher"
]
Strides = tuple[tuple[int, ...], ...]
"""Of each argument whose strides are open, in order."""


def with_strides(
    plain: GpuLauncher | SimulatorLauncher | HostLauncher, first: Variant, launch: Launch, make: Make
) -> GpuLauncher | SimulatorLauncher | HostLauncher | StridedLauncher:
    """What calls the kernel: the launcher itself, unless strides are open."""
    passed = binding.passed(launch)
    if not any(argument.open_strides for argument in passed):
        return plain
    return StridedLauncher(plain, first, passed, make)


class StridedLauncher:
    """Finds the code for the strides of a call."""

    def __init__(
        self,
        plain: GpuLauncher | SimulatorLauncher | HostLauncher,
        first: Variant,
        passed: tuple[Argument, ...],
        make: Make,
    ) -> None:
        self._plain = plain
        self._first = first
        self._passed = passed
        self._make = make
        self._open = [number for number, argument in enumerate(passed) if argument.open_strides]
        own = tuple(passed[number].strides or dense(_numbers(passed[number].shape)) for number in self._open)
        self._made: dict[Strides, GpuLauncher | SimulatorLauncher | HostLauncher] = {tuple(map(_numbers, own)): plain}

    @property
    def device(self) -> str:
        """Where the kernel runs, in words."""
        return self._plain.device

    @property
    def short(self) -> Callable[[tuple[Any, ...], Any], Any] | None:
        """The short way, for the strides that code was made for first."""
        return self._plain.short

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks, launches, and returns the results: None, an array, or a tuple of them."""
        binding.check_count(given, self._passed)
        launcher = self._at(tuple(self._strides(number, given[number]) for number in self._open))
        return shortest(launcher, given, stream)

    def _strides(self, number: int, array: Any) -> tuple[int, ...]:
        """The strides of an array in elements; those of dimensions of one element as in dense memory."""
        shape = tuple(_numbers(self._passed[number].shape))
        found = _of_array(array)
        plain = dense(shape)
        if found is None or len(found) != len(shape):
            return plain  # dense; or no array of this rank, which the launcher says
        if min(found, default=1) < 1 and 0 not in shape:
            raise ArgumentError(
                f"{binding.label(number, self._passed[number])}: strides {found} given (in elements); expected 1 or "
                "more"
            )
        return tuple(own if size == 1 else step for size, step, own in zip(shape, found, plain, strict=True))

    def _at(self, strides: Strides) -> GpuLauncher | SimulatorLauncher | HostLauncher:
        if strides not in self._made:
            if len(self._made) >= MOST_STRIDES:
                raise ArgumentError(f"strides {strides} given; code for {MOST_STRIDES} other combinations is kept")
            pairs = zip(self._open, strides, strict=True)
            text = ";".join(f"{number}:{','.join(map(str, steps))}" for number, steps in pairs)
            variant = Variant(dataclasses.replace(self._first.request, strides=text))
            artifact = variant.artifact
            ordinals = getattr(self._plain, "ordinals", ())
            self._made[strides] = self._make(
                variant, artifact.launch, artifact.kernels, ordinals[0] if len(ordinals) == 1 else None
            )
        return self._made[strides]


def _numbers(sizes: Sequence[Any]) -> tuple[int, ...]:
    return tuple(int(size) for size in sizes)


def _of_array(array: Any) -> tuple[int, ...] | None:
    """The strides of an array in elements; None where it does not say, or is dense."""
    stride: Any = getattr(array, "stride", None)
    if callable(stride):
        steps: Any = stride()
        return _numbers(steps)
    bytes_ = getattr(array, "strides", None)
    item = getattr(array, "itemsize", 0)
    if bytes_ is None and hasattr(array, "__cuda_array_interface__"):
        interface = array.__cuda_array_interface__
        bytes_, item = interface.get("strides"), int(interface["typestr"][2:])
    if bytes_ is None or not item or any(step % item for step in bytes_):
        return None
    return tuple(step // item for step in bytes_)
