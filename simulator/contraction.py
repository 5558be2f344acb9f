"""Sums of products over some axes, as one matrix product, whatever batches, rows, columns and sums there are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_EXACT = 1 << 53
"""Integers below this are exact in float64, whose matrix products are far faster than those of integers."""


def wide_type(dtype: Any) -> Any:
    """The type in which sums of `dtype` are kept, as tensor cores do: f32 for anything narrower."""
    if dtype.kind in "iub":
        return dtype
    return np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)


def contract_all(factors: Sequence[Any], extents: Mapping[int, int], dtype: Any) -> Any:
    """As `contract`, for the product of any number of factors."""
    arrays = [np.asarray(factor) for factor in factors]
    while len(arrays) > 2:  # first those that make no larger array than one of them is
        pairs = [(i, j) for j in range(len(arrays)) for i in range(j)]
        i, j = min(pairs, key=lambda pair: _growth(arrays[pair[0]], arrays[pair[1]]))
        arrays[i] = arrays[i] * arrays.pop(j)
    rank = max(array.ndim for array in arrays)
    arrays = [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in arrays]
    return contract(arrays[0], arrays[1] if len(arrays) > 1 else np.ones((1,) * rank, arrays[0].dtype), extents, dtype)


def _growth(left: Any, right: Any) -> tuple[float, int]:
    size = math.prod(np.broadcast_shapes(left.shape, right.shape))
    return size / max(left.size, right.size), size


def contract(left: Any, right: Any, extents: Mapping[int, int], dtype: Any) -> Any:
    """The sum of left * right over the axes that are keys of `extents`, which stay with extent 1.

    The arrays have the same number of axes, of extent 1 where they do not vary; `extents` says how far the sum goes.
    Sums are kept in `wide_type(dtype)`.
    """
    wide = wide_type(dtype)
    left, right = (_ready(operand, wide) for operand in (left, right))
    rank = left.ndim
    scale = 1
    for axis, extent in extents.items():
        if left.shape[axis] == right.shape[axis] == 1:
            scale *= extent
        elif right.shape[axis] == 1:
            left = left.sum(axis, keepdims=True, dtype=left.dtype)
        elif left.shape[axis] == 1:
            right = right.sum(axis, keepdims=True, dtype=right.dtype)
    in_both = [axis for axis in range(rank) if left.shape[axis] > 1 and right.shape[axis] > 1]
    summed = [axis for axis in in_both if axis in extents]
    batch = [axis for axis in in_both if axis not in extents]
    rows = [axis for axis in range(rank) if left.shape[axis] > 1 and axis not in in_both]
    columns = [axis for axis in range(rank) if right.shape[axis] > 1 and axis not in in_both]
    a = _matrices(left, batch, rows, summed)
    b = _matrices(right, batch, summed, columns)
    kept = [*batch, *rows, *columns]
    sizes = [max(left.shape[axis], right.shape[axis]) for axis in kept]
    found = _matmul(a, b, wide).reshape(sizes)
    order = sorted(range(len(kept)), key=lambda place: kept[place])
    shape = [1] * rank
    for axis, size in zip(kept, sizes, strict=True):
        shape[axis] = size
    found = found.transpose(order).reshape(shape)
    return found if scale == 1 else found * wide.type(scale)


def _ready(operand: Any, wide: Any) -> Any:
    array = np.asarray(operand)
    return array if array.dtype == wide else array.astype(wide)


def _matrices(array: Any, *groups: list[int]) -> Any:
    """An array as a batch of matrices: axes in three groups, all others of extent 1."""
    order = [axis for group in groups for axis in group]
    rest = [axis for axis in range(array.ndim) if axis not in order]
    return array.transpose(*rest, *order).reshape([math.prod(array.shape[axis] for axis in group) for group in groups])


def _matmul(a: Any, b: Any, wide: Any) -> Any:
    if wide.kind not in "iu":
        return a @ b
    if not a.size or not b.size:
        return np.matmul(a, b)
    most = max(abs(int(a.min())), abs(int(a.max()))) * max(abs(int(b.min())), abs(int(b.max()))) * a.shape[-1]
    if most < _EXACT:
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(wide)
    return np.matmul(a, b)
