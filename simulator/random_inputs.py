"""Arguments to run a kernel with: random numbers that keep what the source promises, and memory that nobody wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mlir_gemm.simulator.expected import Array
from mlir_gemm.spec.element_types import TYPES, numpy_dtype, spread
from mlir_gemm.spec.launch import Argument, dense


def random_arrays(arguments: Sequence[Argument], seed: int, promises: Mapping[int, str] | None = None) -> list[Array]:
    """An array for each argument: random numbers where it is read, NaN where it is only written or between rows.

    Matrices are `symmetric`, `lower` or `upper` triangles where the source promises it of an argument, by its number.
    """
    random = np.random.default_rng(seed)
    found = [_random_array(argument, random) for argument in arguments]
    for number, promise in (promises or {}).items():
        if arguments[number].role in ("in", "inout"):
            _keep(found[number], promise)
    return found


def _keep(array: Array, promise: str) -> None:
    """Changes matrices so that they are what the source promises."""
    if promise == "upper":
        array[...] = np.triu(array)
        return
    lower = np.tril(array)
    array[...] = lower if promise == "lower" else lower + np.swapaxes(np.tril(array, -1), -1, -2)


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
