"""What a function should compute in one tile of its results, by NumPy in float64: as `reference`, but from only the
rows and columns of the arguments that the tile depends on. For problems of which a sample of blocks is simulated.

It knows plain products only: one linalg.matmul, fills, copies and elementwise linalg.generic whose maps are the
identity. Nothing is rounded in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import Error
from mlir_gemm.tools.reference import Array

Window = tuple[slice, slice]
ALL = slice(None)


def _exactly(value: Any) -> Any:
    """Casts are exact here: everything is float64."""
    return value


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "arith.extf": _exactly,
    "arith.truncf": _exactly,
    "arith.negf": np.negative,
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.maxnumf": np.fmax,
    "arith.minimumf": np.minimum,
    "arith.minnumf": np.fmin,
    "math.absf": np.abs,
    "math.exp": np.exp,
    "math.sqrt": np.sqrt,
    "math.tanh": np.tanh,
}


class _WindowError(Exception):
    """Some value is needed in two different windows."""


def reference_tile(source: str, arguments: Sequence[Array], tile: tuple[slice, ...]) -> list[Array]:
    """The function's arguments after it has run, then its results, each cut to the window that a tile of the results
    depends on (for what is written: the tile itself), all float64.

    Raises Error where a value is needed in two windows, as the matrix of A A is, and for operations that it does not
    know.
    """
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        function = next(f for f in named(module, "func.func") if len(f.regions[0].blocks))
        inside = in_block(body(function))
        if len(tile) != 2 or not all(map(_is_plain, inside)):
            raise Error("an operation that is no plain product; a tile of the results cannot be checked alone")
        rows, columns = tile
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
                _evaluate(operation, values)
    raise Error("the function has no return")


_BESIDE = ("arith.constant", "tensor.empty", "memref.alloc", "memref.dealloc", "memref.copy", "linalg.fill",
           "linalg.copy", "func.return")  # fmt: skip
_MATMUL = ("(d0, d1, d2) -> (d0, d2)", "(d0, d1, d2) -> (d2, d1)", "(d0, d1, d2) -> (d0, d1)")


def _is_plain(operation: Any) -> bool:
    """Whether an operation is a matmul without a transposition, elementwise with identity maps, or beside them."""
    op = operation.operation
    if op.name in ("linalg.matmul", "linalg.generic"):
        maps = [str(each.value) for each in op.attributes["indexing_maps"]] if "indexing_maps" in op.attributes else []
        identities = set(maps) == {"(d0, d1) -> (d0, d1)"}
        return tuple(maps) in ((), _MATMUL) if op.name == "linalg.matmul" else identities
    return op.name in _BESIDE


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


def _evaluate(operation: Any, values: dict[Any, Any]) -> None:
    """Computes one operation of the function's body: on memrefs in place, on tensors into new arrays."""
    name: str = operation.operation.name
    if name == "arith.constant":
        values[operation.result] = _constant(operation)
    elif name in ("tensor.empty", "memref.alloc"):
        shape = ir.ShapedType(operation.operation.results[0].type).shape
        values[operation.operation.results[0]] = np.full(shape, np.nan)
    elif name == "memref.copy":
        source, target = operation.operation.operands
        values[target][...] = values[source]
    elif name.startswith("linalg."):
        inputs, outputs = _split(operation)
        computed = _linalg(operation, [values[i] for i in inputs], [values[o] for o in outputs], values)
        for output, value in zip(outputs, computed, strict=True):
            if not len(operation.operation.results):
                values[output][...] = value
        values.update(zip(operation.operation.results, computed, strict=False))
    elif name != "memref.dealloc":
        raise Error(f"there is no NumPy reference for '{name}', so a run cannot be checked")


def _split(operation: Any) -> tuple[list[Any], list[Any]]:
    operands = list(operation.operation.operands)
    count, _ = ir.DenseI32ArrayAttr(operation.operation.attributes["operandSegmentSizes"])
    return operands[:count], operands[count:]


def _linalg(operation: Any, inputs: list[Any], outputs: list[Array], around: dict[Any, Any]) -> list[Array]:
    name: str = operation.operation.name
    if name == "linalg.matmul":
        return [inputs[0] @ inputs[1] + outputs[0]]
    if name in ("linalg.fill", "linalg.copy"):
        return [np.broadcast_to(inputs[0], outputs[0].shape).copy()]
    if name == "linalg.generic":
        return _elementwise(body(operation), inputs, outputs, around)
    raise Error(f"there is no NumPy reference for '{name}', so a run cannot be checked")


def _elementwise(block: Any, inputs: list[Any], outputs: list[Array], around: dict[Any, Any]) -> list[Array]:
    """A linalg.generic whose maps are all the identity: its body, on whole arrays; `around` holds outer constants."""
    values = {**around, **dict(zip(block.arguments, [*inputs, *outputs], strict=True))}
    for operation in in_block(block):
        name: str = operation.operation.name
        operands = [values[operand] for operand in operation.operation.operands]
        if name == "linalg.yield":
            return [np.broadcast_to(value, outputs[0].shape).copy() for value in operands]
        if name == "arith.constant":
            values[operation.result] = _constant(operation)
        elif name in _ARITHMETIC:
            values[operation.operation.results[0]] = _ARITHMETIC[name](*operands)
        else:
            raise Error(f"there is no NumPy reference for '{operation}', so a run cannot be checked")
    raise Error("a linalg.generic has no linalg.yield")


def _constant(operation: Any) -> float | Array:
    value = operation.operation.attributes["value"]
    if isinstance(value, ir.DenseElementsAttr):
        shape = ir.ShapedType(value.type).shape
        return np.broadcast_to(np.array(list(value) if not value.is_splat else value.get_splat_value().value), shape)
    return float(value.value)
