"""As much of PyTorch as the checks on the GPU use, on NumPy arrays: for tests of those checks without a GPU."""

# ruff: noqa: N802 - names are PyTorch's

from __future__ import annotations

import contextlib
import types
from typing import Any

import ml_dtypes
import numpy as np


class Tensor:
    """An array with PyTorch's names for what is done with it."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def T(self) -> Tensor:
        return Tensor(self.array.T)

    def is_floating_point(self) -> bool:
        return bool(np.issubdtype(self.array.dtype, np.floating))

    def max(self) -> Any:
        return self.array.max()

    def view(self, dtype: Any) -> Tensor:
        return Tensor(self.array.view(dtype))

    def as_strided(self, shape: list[int], steps: list[int], start: int) -> Tensor:
        size = self.array.itemsize
        return Tensor(np.lib.stride_tricks.as_strided(self.array[start:], shape, [step * size for step in steps]))

    def to(self, dtype: Any) -> Tensor:
        return Tensor(self.array.astype(dtype))

    def double(self) -> Tensor:
        return self.to(np.float64)

    def float(self) -> Tensor:
        return self.to(np.float32)

    def element_size(self) -> int:
        return self.array.itemsize

    def copy_(self, other: Tensor) -> None:
        self.array[...] = other.array

    def fill_(self, value: float) -> None:
        self.array[...] = value

    def zero_(self) -> None:
        self.fill_(0)

    def transpose(self, first: int, second: int) -> Tensor:
        return Tensor(np.swapaxes(self.array, first, second))

    def clamp(self, min: float) -> Tensor:
        return Tensor(np.maximum(self.array, min))

    def abs(self) -> Tensor:
        return Tensor(np.abs(self.array))

    def any(self) -> Any:
        return self.array.any()

    def all(self) -> Any:
        return self.array.all()

    def sum(self) -> Any:
        return self.array.sum()

    def norm(self) -> Tensor:
        return Tensor(np.linalg.norm(self.array))

    def nonzero(self) -> Tensor:
        return Tensor(np.argwhere(self.array))

    def tolist(self) -> Any:
        return self.array.tolist()

    def item(self) -> Any:
        return self.array.item()

    def numel(self) -> int:
        return self.array.size

    def contiguous(self) -> Tensor:
        return Tensor(np.ascontiguousarray(self.array))

    def clone(self) -> Tensor:
        return Tensor(self.array.copy())

    def __getitem__(self, place: Any) -> Tensor:
        return Tensor(self.array[place])

    def __len__(self) -> int:
        return len(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __matmul__(self, other: Tensor) -> Tensor:
        return Tensor(self.array @ other.array)

    def __add__(self, other: Any) -> Tensor:
        return Tensor(self.array + _plain(other))

    def __sub__(self, other: Any) -> Tensor:
        return Tensor(self.array - _plain(other))

    def __mul__(self, other: Any) -> Tensor:
        return Tensor(self.array * _plain(other))

    def __truediv__(self, other: Any) -> Tensor:
        return Tensor(self.array / _plain(other))

    def __le__(self, other: Any) -> Tensor:
        return Tensor(self.array <= _plain(other))

    def __eq__(self, other: Any) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Tensor(self.array == _plain(other))

    def __ne__(self, other: Any) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Tensor(self.array != _plain(other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __invert__(self) -> Tensor:
        return Tensor(~self.array)


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


class Generator:
    def __init__(self, device: str) -> None:
        self.random = np.random.default_rng()

    def manual_seed(self, seed: int) -> Generator:
        self.random = np.random.default_rng(seed)
        return self


class _Cuda:
    """A GPU that has always done its work."""

    def __init__(self) -> None:
        self.dead = False

    def synchronize(self) -> None:
        if self.dead:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def Stream(self) -> object:
        return object()

    def stream(self, _: object) -> Any:
        return contextlib.nullcontext()


class Torch:
    """The module."""

    float8_e4m3fn, bfloat16 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.bfloat16)
    float16, float32, float64 = (np.dtype(name) for name in ("float16", "float32", "float64"))
    uint8, int8, int16, int32, int64 = (np.dtype(name) for name in ("uint8", "int8", "int16", "int32", "int64"))

    def __init__(self) -> None:
        self.cuda = _Cuda()
        self.linalg = types.SimpleNamespace(norm=Tensor.norm)

    Generator = Generator

    def full(self, size: tuple[int, ...], fill: float, dtype: Any, device: str) -> Tensor:
        return Tensor(np.full(size, fill, dtype))

    def empty(self, size: int, dtype: Any, device: str) -> Tensor:
        return Tensor(np.empty(min(size, 16), dtype))

    def randint(self, low: int, high: int, shape: list[int], generator: Generator, device: str) -> Tensor:
        return Tensor(generator.random.integers(low, high, shape))

    def randn(self, shape: list[int], generator: Generator, device: str) -> Tensor:
        return Tensor(generator.random.standard_normal(shape))
