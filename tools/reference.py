"""What a function should compute, by NumPy in float64: reads the source module itself, so it knows nothing of tiles.

It interprets the operations that may stand in a function that is compiled: one linalg.matmul, fills, copies and
elementwise linalg.generic, on tensors or memrefs. Nothing is rounded in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import Error

Array = NDArray[Any]


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

TOLERANCE = {"f32": 1e-5, "f16": 5e-4}
"""Relative error allowed in an output of each type: f16 rounds to 11 bits, f32 carries the order of the sums."""


def reference(source: str, arguments: Sequence[Array]) -> list[Array]:
    """The function's arguments as they are after it has run, then its results, all float64.

    `arguments` are in the function's order and stay unchanged. Raises Error for an operation that it does not know.
    """
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        function = next(f for f in named(module, "func.func") if len(f.regions[0].blocks))
        memory = [argument.astype(np.float64) for argument in arguments]
        values: dict[Any, Any] = dict(zip(body(function).arguments, memory, strict=True))
        for operation in in_block(body(function)):
            if operation.operation.name == "func.return":
                return [*memory, *(values[operand] for operand in operation.operands)]
            evaluate(operation, values)
    raise Error("the function has no return")


def relative_error(actual: Array, expected: Array) -> float:
    """|actual - expected| / |expected| in the Frobenius norm; infinite or NaN results count as infinitely wrong."""
    difference = float(np.linalg.norm(actual.astype(np.float64) - expected))
    size = float(np.linalg.norm(expected))
    error = difference / size if size else difference
    return error if np.isfinite(error) else float("inf")


def evaluate(operation: Any, values: dict[Any, Any]) -> None:
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
