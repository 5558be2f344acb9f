"""What a kernel takes as an array, as types: NumPy's, PyTorch's, CuPy's, JAX's and Numba's arrays fit one of these."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias


class SupportsDLPack(Protocol):
    """An array that gives its memory by DLPack."""

    def __dlpack__(self) -> Any: ...


class SupportsCudaArrayInterface(Protocol):
    """An array on the GPU that tells where it lies by `__cuda_array_interface__`."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


Array: TypeAlias = SupportsDLPack | SupportsCudaArrayInterface
