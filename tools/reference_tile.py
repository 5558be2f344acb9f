"""What a function should compute in one tile of its results, by NumPy in float64: as `reference`, but from only the
rows and columns of the arguments that the tile depends on. For problems of which a sample of blocks is simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import Error
from mlir_gemm.tools.reference import Array, evaluate

Window = tuple[slice, slice]
ALL = slice(None)


class _WindowError(Exception):
    """Some value is needed in two different windows."""


def reference_tile(source: str, arguments: Sequence[Array], rows: slice, columns: slice) -> list[Array]:
    """The function's arguments after it has run, then its results, each cut to the window that a tile of the results
    depends on (for what is written: the tile itself), all float64.

    Raises Error where a value is needed in two windows, as the matrix of A A is.
    """
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        function = next(f for f in named(module, "func.func") if len(f.regions[0].blocks))
        inside = in_block(body(function))
        try:
            windows = _windows(inside, (rows, columns))
        except _WindowError:
            raise Error("a matrix is needed in two places; a tile of the results cannot be checked alone") from None
        values: dict[Any, Any] = {}
        for value, array in zip(body(function).arguments, arguments, strict=True):
            values[value] = array[windows.get(value, (rows, columns))].astype(np.float64)
        memory = list(values.values())
        for operation in inside:
            name = operation.operation.name
            if name == "func.return":
                return [*memory, *(values[operand] for operand in operation.operands)]
            if name in ("tensor.empty", "memref.alloc"):
                result = operation.operation.results[0]
                shape = ir.ShapedType(result.type).shape
                values[result] = np.full([_length(*each) for each in _pairs(windows.get(result), shape)], np.nan)
            else:
                evaluate(operation, values)
    raise Error("the function has no return")


def _pairs(window: Window | None, shape: Sequence[int]) -> list[tuple[slice, int]]:
    return list(zip(window or (ALL, ALL), shape, strict=True))


def _length(part: slice, size: int) -> int:
    return len(range(*part.indices(size)))


def _windows(inside: list[Any], tile: Window) -> dict[Any, Window]:
    """The window of each matrix, from the last operation to the first: a product takes rows of A and columns of B,
    everything elementwise takes what it gives."""
    windows: dict[Any, Window] = {}

    def need(value: Any, window: Window) -> Window:
        if isinstance(value.type, ir.ShapedType) and windows.setdefault(value, window) != window:
            raise _WindowError
        return window

    for operation in reversed(inside):
        operands = list(operation.operation.operands)
        name: str = operation.operation.name
        if name == "memref.copy":
            need(operands[0], need(operands[1], windows.get(operands[1], tile)))
        if not name.startswith("linalg."):
            continue
        output = operands[-1]
        given = next((windows[v] for v in [*operation.operation.results, output] if v in windows), tile)
        for value in [*operation.operation.results, output]:
            need(value, given)
        if name == "linalg.matmul":
            need(operands[0], (given[0], ALL))
            need(operands[1], (ALL, given[1]))
        else:
            for value in operands[:-1]:
                need(value, given)
    return windows
