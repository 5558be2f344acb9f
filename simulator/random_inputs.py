"""Arguments to run a kernel with: random numbers that keep what the source promises, and memory that nobody wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mlir_gemm.simulator.expected import Array
from mlir_gemm.spec.element_types import TYPES, numpy_dtype, spread
from mlir_gemm.spec.launch import Argument, dense
from mlir_gemm.spec.zeros import AFTER, APART, BEFORE, SYMMETRIC_MATRIX, Condition, parse


def random_arrays(arguments: Sequence[Argument], seed: int, promises: Mapping[int, str] | None = None) -> list[Array]:
    """An array for each argument: random numbers where it is read, NaN where it is only written or between rows.

    Matrices are `symmetric`, or zero at some places, where the source promises it of an argument, by its number: by
    conditions on their columns k and rows m (`spec/zeros.py`).
    """
    random = np.random.default_rng(seed)
    found = [_random_array(argument, random) for argument in arguments]
    for number, promise in (promises or {}).items():
        if arguments[number].role in ("in", "inout"):
            _keep(found[number], promise)
    return found


def _keep(array: Array, promise: str) -> None:
    """Changes matrices so that they are what the source promises."""
    if promise == SYMMETRIC_MATRIX:
        lower = np.tril(array)
        array[...] = lower + np.swapaxes(np.tril(array, -1), -1, -2)
        return
    height: int = array.shape[-2]
    width: int = array.shape[-1]
    rows = np.arange(height).reshape(height, 1)
    columns = np.arange(width).reshape(1, width)
    for condition in parse(promise):
        array[..., holds_at(condition, rows, columns)] = 0


def holds_at(condition: Condition, rows: Array, columns: Array) -> Array:
    """Where a condition holds, of positions across (rows) and along (columns)."""
    if condition.kind in (AFTER, BEFORE):
        beside = rows + condition.offset
        return columns > beside if condition.kind == AFTER else columns < beside
    down, along = rows // condition.high, columns // condition.wide
    if condition.kind == APART:
        return down != along
    there = np.zeros((down.max() + 1, along.max() + 1), np.bool_)
    for row, bits in enumerate(condition.listed[: len(there)]):
        there[row] = [bits >> column & 1 for column in range(there.shape[1])]
    return ~there[down, along]


def _random_array(argument: Argument, random: np.random.Generator) -> Array:
    dtype = numpy_dtype(argument.dtype)
    array = unwritten(argument)
    if argument.role in ("in", "inout") and array.size:
        array[...] = _random(argument.shape, argument.dtype, random).astype(dtype)
        if argument.scalar and not TYPES[argument.dtype].is_float:
            array[...] = array % 2  # it may be an offset, which must lie within a tensor
    return array


def _random(shape: tuple[int, ...], dtype: str, random: np.random.Generator) -> Array:
    if TYPES[dtype].is_float:
        return random.standard_normal(shape, dtype=np.float32)
    if dtype == "i1":
        return random.integers(0, 2, shape)
    return random.integers(-128, 128, shape) if dtype == "i8" else random.integers(-1000, 1001, shape)


def unwritten(argument: Argument) -> Array:
    """Memory for an argument, all NaN or the least integer, the gaps between strided rows too."""
    dtype = numpy_dtype(argument.dtype)
    filler = np.nan if TYPES[argument.dtype].is_float else 0 if argument.dtype == "i1" else np.iinfo(dtype).min
    memory = np.full(argument.span_bytes // dtype.itemsize, filler, dtype)
    strides = argument.strides if argument.strides is not None else dense(argument.shape)
    if not memory.size:
        return memory.reshape(argument.shape)
    return spread(memory, argument.shape, strides)
