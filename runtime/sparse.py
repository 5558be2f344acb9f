"""2:4 sparse matrices from arrays, and back, in the layout that kernels take (`spec/sparse.py`)."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.errors import InputError
from mlir_gemm.spec import sparse
from mlir_gemm.spec.sparse import DEPTH, GROUP, KEPT
from mlir_gemm.spec.sparse_arrays import crowded, pack, unpacked

_TYPES = {"float16": "f16", "bfloat16": "bf16"}


@dataclass(frozen=True, eq=False)
class Sparse24:
    """A 2:4 sparse matrix, compressed: what `sparse24` gives, and `einsum` and `matmul` take in place of an array."""

    packed: Any
    """Values and metadata, in one array of one dimension: what a kernel takes for the argument."""
    shape: tuple[int, int]
    """The rows and columns of the matrix with its zeros."""

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self.packed.dtype

    @property
    def values(self) -> Any:
        """[m, k / 2]: of each four neighbours along k the two that may be other than zero. A view."""
        m, k = self.shape
        return self.packed[: sparse.metadata_start(m, k)].reshape(m, k // KEPT)

    def dense(self) -> Any:
        """The matrix with its zeros, as a new array of the same library, on the same device."""
        return _like(unpacked(_bits(self.packed), self.shape), self.packed)


def sparse24(array: Any, *, prune: bool = False) -> Sparse24:
    """Compresses a matrix [m, k] of which each four neighbours along k have at most two that are not zero.

    Args:
        array: a NumPy or PyTorch array of f16 or bf16, on any device, whose k is a multiple of 64.
        prune: keep the two of the largest magnitude of each four, and drop the others.

    Returns:
        A `Sparse24`, for `einsum` and `matmul`. PyTorch's are on the device of the array.

    Raises:
        InputError: another type or size, or more than two of four that are not zero, with the first place.
    """
    shape = tuple(getattr(array, "shape", ()))
    if len(shape) != 2 or min(shape) < 1 or shape[1] % DEPTH:
        raise InputError(f"sparse24 of an array of shape {shape}; expected [m, k] with a k that {DEPTH} divides")
    name = str(array.dtype).removeprefix("torch.")
    if name not in _TYPES:
        raise InputError(f"sparse24 of {name}; expected {' or '.join(_TYPES)}")
    bits = _bits(array)
    place = None if prune else crowded(bits)
    if place is not None:
        row, column = place
        raise InputError(
            f"sparse24: row {row}, columns {column} to {column + GROUP - 1} have more than {KEPT} numbers that are not "
            "zero; expected at most two of each four, or prune=True, which keeps those of the largest magnitude"
        )
    return Sparse24(_like(pack(bits), array), (shape[0], shape[1]))


def _bits(array: Any) -> Any:
    """The elements of 16 bits as a dense NumPy array of their bits."""
    if hasattr(array, "data_ptr"):
        torch: Any = importlib.import_module("torch")  # it is loaded: this is one of its tensors
        array = array.detach().contiguous().view(torch.int16).cpu().numpy()
    return np.ascontiguousarray(array).view(np.uint16)


def _like(bits: Any, array: Any) -> Any:
    """Bits as an array of the library, type and device of another."""
    if hasattr(array, "data_ptr"):
        torch: Any = importlib.import_module("torch")
        return torch.from_numpy(bits.view(np.int16)).view(array.dtype).to(array.device)
    return bits.view(array.dtype)
