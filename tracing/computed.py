"""Operands of `einsum` and `matmul` that are no matrices in memory: computed from their positions, or from a vector."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.errors import InputError
from mlir_gemm.tracing.element_names import element_name


@dataclass(frozen=True)
class Computed:
    """An operand each of whose elements is a function of its position: what `computed` gives."""

    shape: tuple[int, ...]
    dtype: Any
    """The type in which elements are multiplied."""
    function: Callable[..., Any]
    """Takes an element's indices, whole numbers, and gives the element."""


@dataclass(frozen=True, eq=False)
class Diagonal:
    """A matrix that is constant along diagonals: what `toeplitz`, `hankel` and `circulant` give."""

    vector: Any
    """The array that a kernel takes."""
    shape: tuple[int, int]
    index: str
    """Which element of the vector [i, j] is, as MLIR writes it, `i` and `j` in braces."""

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.vector.dtype

    @property
    def form(self) -> Hashable:
        """What a kernel depends on."""
        return Diagonal, self.shape, self.index, self.vector.__class__, self.vector.dtype


def computed(shape: Sequence[int], function: Callable[..., Any], dtype: Any) -> Computed:
    """An operand for `einsum` and `matmul` that is computed where it is multiplied, and has no memory.

    Args:
        shape: its sizes.
        function: takes the indices of an element, whole numbers, and gives the element. It is traced once, as all
            functions of `einsum` are: `computed((m, k), lambda i, j: numpy.cos(i * j * step), "f16")`.
        dtype: the type in which the elements are multiplied, as NumPy, PyTorch or MLIR name it.
    """
    sizes = tuple(int(each) for each in shape)
    if not sizes or min(sizes) < 1:
        raise InputError(f"computed of the shape {sizes}; expected at least one size, and each at least 1")
    element_name(dtype)
    return Computed(sizes, dtype, function)


def toeplitz(vector: Any, shape: Sequence[int]) -> Diagonal:
    """The matrix [m, k] whose element [i, j] is `vector[i - j + k - 1]`: the vector is the first row from its end, and
    then the rest of the first column, m + k - 1 elements. Nothing is copied here."""
    m, k = _sizes(vector, shape, "toeplitz")
    return Diagonal(vector, (m, k), f"{{i}} - {{j}} + {k - 1}")


def hankel(vector: Any, shape: Sequence[int]) -> Diagonal:
    """The matrix [m, k] whose element [i, j] is `vector[i + j]`, of m + k - 1 elements. Nothing is copied here."""
    return Diagonal(vector, _sizes(vector, shape, "hankel"), "{i} + {j}")


def circulant(vector: Any) -> Diagonal:
    """The square matrix whose element [i, j] is `vector[(i - j) mod n]`: its first column is the vector, of n elements.
    Nothing is copied here."""
    given = tuple(getattr(vector, "shape", ()))
    if len(given) != 1 or given[0] < 1:
        raise InputError(f"circulant of an array of shape {given}; expected one dimension")
    return Diagonal(vector, (given[0], given[0]), f"({{i}} - {{j}}) mod {given[0]}")


def _sizes(vector: Any, shape: Sequence[int], name: str) -> tuple[int, int]:
    given, sizes = tuple(getattr(vector, "shape", ())), tuple(int(each) for each in shape)
    if len(sizes) != 2 or min(sizes) < 1:
        raise InputError(f"{name} of the shape {sizes}; expected two sizes, each at least 1")
    if given != (sum(sizes) - 1,):
        raise InputError(f"{name} of {sizes} from an array of shape {given}; expected {sum(sizes) - 1} elements")
    return sizes[0], sizes[1]
