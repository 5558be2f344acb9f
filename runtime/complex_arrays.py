"""Arrays of complex numbers, which kernels take as arrays of real ones with a last dimension of 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mlir_gemm.runtime.torch_path import shortest
from mlir_gemm.spec.launch import Launch


def with_complex(launcher: Any, launch: Launch) -> Any:
    """A launcher that takes arrays of complex numbers too; itself where no argument is of such."""
    return ComplexLauncher(launcher, launch) if any(each.complex for each in launch.arguments) else launcher


class ComplexLauncher:
    """Views complex arrays as real ones in the same memory, and real results as complex ones where an array of the call
    was complex. A lazily conjugated PyTorch tensor is copied first."""

    short = None
    """There is no short way before arrays have been looked at; after that it is the launcher's own."""

    def __init__(self, launcher: Any, launch: Launch) -> None:
        self._launcher = launcher
        self._complex = [each.complex for each in launch.arguments if each.role == "result"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._launcher, name)

    def __call__(self, arrays: tuple[Any, ...], stream: Any) -> Any:
        pairs = [_as_real(array) for array in arrays]
        outcome: Any = shortest(self._launcher, tuple(real for real, _ in pairs), stream)
        back = next((back for _, back in pairs if back is not None), None)
        if back is None or outcome is None:
            return outcome
        several = isinstance(outcome, tuple)
        results: list[Any] = list(outcome) if several else [outcome]  # pyright: ignore[reportUnknownArgumentType]
        for number, is_complex in enumerate(self._complex):
            results[number] = back(results[number]) if is_complex else results[number]
        return tuple(results) if several else results[0]


def _as_real(array: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """An array as a kernel takes it, and what makes a complex array of a real one like it; None where it is real."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if not array.is_complex():
            return array, None
        return torch.view_as_real(array.resolve_conj()), torch.view_as_complex
    if "complex" not in str(getattr(array, "dtype", "")):
        return array, None
    library: Any = sys.modules[type(array).__module__.partition(".")[0]]
    part = array.real  # it shares the memory
    half = array.dtype.itemsize // 2
    strides = library.lib.stride_tricks.as_strided
    real = strides(part, (*array.shape, 2), (*array.strides, half))
    return real, lambda found: found.view(array.dtype).reshape(found.shape[:-1])
