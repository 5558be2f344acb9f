"""What the passes inside `lower` leave between tile operations: accesses by lanes, and fragments of a warp.

An array with one more dimension than its type has the 32 lanes of a warp in front. Fragments are whole matrices: which
lane holds which element does not matter here. No address is checked but for its bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import strided
from mlir_gemm.simulator.tile_memory import checked
from mlir_gemm.simulator.tile_numbers import DTYPES
from mlir_gemm.simulator.tile_ops import product
from mlir_gemm.simulator.tile_program import Function, Maker, StepMaker, uniform


def _places(memory: Any, indices: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    """Indices of `width` consecutive elements, for one place or for each lane's."""
    *outer, last = [np.asarray(index)[..., None] for index in indices]
    return checked(memory, (*outer, last + np.arange(width)))


def _vector_load(operation: Any) -> Function:
    (width,) = operation.operation.results[0].type.shape

    def load(memory: Any, *indices: Any) -> Any:
        return memory[_places(memory, indices, width)]

    return load


def _vector_store(operation: Any) -> Function:
    (width,) = operation.operation.operands[0].type.shape

    def store(value: Any, memory: Any, *indices: Any) -> None:
        memory[_places(memory, indices, width)] = value

    return store


def _extract_slice(operation: Any) -> Function:
    attributes = operation.operation.attributes
    offsets, sizes, strides = ([each.value for each in attributes[name]] for name in ("offsets", "sizes", "strides"))
    slices = [
        slice(offset, offset + (size - 1) * stride + 1, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    ]
    rank = len(operation.operation.operands[0].type.shape)

    def extract(value: Any) -> Any:
        lanes = [slice(None)] * (value.ndim - rank)
        return value[(*lanes, *slices)]

    return extract


def _fragment_of(operation: Any, value: Any) -> tuple[tuple[int, int], Any]:
    """Shape and NumPy type of an mma_matrix type: its class has no accessors in the bindings."""
    text = str(value.type).removeprefix("!gpu.mma_matrix<").partition(",")[0]
    rows, columns, element = text.split("x")
    if element not in DTYPES:
        raise unsupported(operation, f"a fragment of {element}")
    return (int(rows), int(columns)), DTYPES[element]


def _window(operation: Any, memory: Any, indices: tuple[Any, ...], shape: tuple[int, int]) -> Any:
    """The matrix that starts at a place in memory, its rows leadDimension apart."""
    lead = ir.IntegerAttr(operation.operation.attributes["leadDimension"]).value
    start = memory[tuple(slice(uniform(index, "the place of a fragment"), None) for index in indices)]
    room = memory.base if hasattr(memory.base, "strides") else memory  # the buffer that it is a view of
    steps = (lead * memory.itemsize, memory.itemsize)
    if start.size == 0 or _end(start, shape, steps) > _end(room, room.shape, room.strides):
        raise IndexError("a fragment leaves its buffer")
    return strided(start, shape, steps)


def _end(array: Any, shape: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """The address after the last element of a window that starts where an array does."""
    reach = sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    return array.ctypes.data + reach + array.itemsize


def _load_fragment(operation: Any) -> Function:
    shape, _ = _fragment_of(operation, operation.operation.results[0])
    transposed = "transpose" in operation.operation.attributes

    def load(memory: Any, *indices: Any) -> Any:
        window = _window(operation, memory, indices, (shape[1], shape[0]) if transposed else shape)
        return (window.T if transposed else window).copy()

    return load


def _store_fragment(operation: Any) -> Function:
    shape, _ = _fragment_of(operation, operation.operation.operands[0])
    transposed = "transpose" in operation.operation.attributes

    def store(value: Any, memory: Any, *indices: Any) -> None:
        window = _window(operation, memory, indices, (shape[1], shape[0]) if transposed else shape)
        window[...] = value.T if transposed else value

    return store


def _constant_fragment(operation: Any) -> Function:
    shape, dtype = _fragment_of(operation, operation.operation.results[0])

    def fill(value: Any) -> Any:
        return np.full(shape, value, dtype)

    return fill


def _compute(_: Any) -> Function:
    return product


FUNCTIONS: dict[str, Maker] = {
    "vector.load": _vector_load, "vector.store": _vector_store, "vector.extract_strided_slice": _extract_slice,
    "gpu.subgroup_mma_load_matrix": _load_fragment, "gpu.subgroup_mma_store_matrix": _store_fragment,
    "gpu.subgroup_mma_constant_matrix": _constant_fragment, "gpu.subgroup_mma_compute": _compute,
}  # fmt: skip
STEPS: dict[str, StepMaker] = {}
