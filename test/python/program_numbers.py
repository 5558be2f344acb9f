"""Evaluating linalg with NumPy, on tensors and in programs of kernels on memrefs: what the tests of passes compare.

Everything is computed in 64-bit floating point, so data must be small integers for results to be exact. Memory starts
as NaN, and each buffer is one flat array that kernels see through the strides of their arguments' types.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.tensors import place_of_tensor, reassociation
from mlir_gemm.dialect.outlining.views import View, view_of_type
from mlir_gemm.dialect.walk import body, in_block

Array = np.ndarray[Any, Any]

BODY: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.mulf": np.multiply, "arith.muli": np.multiply,
    "arith.subf": np.subtract, "arith.maximumf": np.maximum, "arith.extf": np.positive, "arith.truncf": np.positive,
    "arith.extsi": np.positive, "arith.extui": np.positive, "arith.negf": np.negative,
}  # fmt: skip
MATH: dict[str, Callable[..., Any]] = {
    "arith.divf": np.divide, "math.exp": np.exp, "math.tanh": np.tanh, "math.erf": np.vectorize(math.erf),
    "math.fpowi": np.power, "math.powf": np.power,
    "math.sqrt": np.sqrt, "math.rsqrt": lambda x: 1 / np.sqrt(x), "arith.select": np.where, "arith.cmpf": np.greater,
}  # fmt: skip
"""Beyond whole numbers; of comparisons only `greater`."""


def constant(op: Any, name: str = "value") -> Any:
    """The number, or the array, that a constant stands for."""
    value = op.attributes[name]
    if isinstance(value, ir.FloatAttr | ir.IntegerAttr):
        return value.value if isinstance(value.type, ir.IntegerType) else float(value.value)
    shape = tuple(ir.ShapedType(value.type).shape)
    if not isinstance(value, ir.DenseElementsAttr):  # a resource: any numbers, the same each time
        return np.arange(math.prod(shape)).reshape(shape) % 7 - 3.0
    elements = ir.DenseElementsAttr(value)
    if elements.is_splat:
        return np.full(shape, float(elements.get_splat_value().value))
    typed = ir.DenseFPElementsAttr(value)
    return np.array([float(each) for each in typed]).reshape(shape)


def evaluate(operation: Any, arrays: list[Any], scalars: dict[Any, Any]) -> list[Array]:
    """What a generic writes to its outputs, from arrays for its operands as they are indexed."""
    generic = structured.read(operation)
    sizes = structured.sizes_of(generic)
    outer = [n for n, parallel in enumerate(generic.parallel) if parallel]
    inner = [n for n, parallel in enumerate(generic.parallel) if not parallel]
    grid = np.indices([sizes[n] for n in outer])
    inputs = len(generic.inputs)
    outputs = [np.array(array) for array in arrays[inputs:]]
    for point in itertools.product(*(range(sizes[n]) for n in inner)):
        index: dict[int, Any] = {**dict(zip(outer, grid, strict=True)), **dict(zip(inner, point, strict=True))}
        seen = []
        for array, indices in zip([*arrays[:inputs], *outputs], structured.linear_accesses(generic), strict=True):
            if not isinstance(array, np.ndarray):
                seen.append(array)
                continue
            places = [sum(index[n] * f for n, f in each.terms.items()) + each.constant for each in indices]
            seen.append(array[tuple(places)])
        values: dict[Any, Any] = dict(zip(generic.body.arguments, seen, strict=True))
        for op in in_block(generic.body):
            name = op.operation.name
            operands = [values[v] if v in values else scalars[v] for v in op.operation.operands]
            if name == "arith.constant":
                values[op.operation.results[0]] = constant(op)
            elif name == "linalg.yield":
                accesses = structured.linear_accesses(generic)[inputs:]
                for output, indices, value in zip(outputs, accesses, operands, strict=True):
                    places = [sum(index[n] * f for n, f in each.terms.items()) + each.constant for each in indices]
                    output[tuple(places)] = value
            else:
                values[op.operation.results[0]] = BODY[name](*operands)
    return outputs


def run_tensors(function: Any, arrays: list[Array]) -> list[Array]:
    """The results of a function on tensors; `arrays` are for its arguments, those of memrefs flat and written."""
    arguments = list(body(function).arguments)
    memory = dict(zip(arguments, arrays, strict=True))
    values: dict[Any, Any] = {a: m for a, m in memory.items() if isinstance(a.type, ir.RankedTensorType)}
    for op in [each.operation for each in in_block(body(function))]:
        name = op.name
        if name == "arith.constant":
            values[op.results[0]] = constant(op)
        elif name == "tensor.empty":
            values[op.results[0]] = np.full(op.results[0].type.shape, np.nan)
        elif name == "linalg.fill":
            values[op.results[0]] = np.full(op.results[0].type.shape, values[op.operands[0]])
        elif name in ("tensor.collapse_shape", "tensor.expand_shape"):
            assert reassociation(op) is not None
            values[op.results[0]] = values[op.operands[0]].reshape(op.results[0].type.shape)
        elif name == "tensor.extract_slice":
            flat = np.arange(values[op.operands[0]].size).reshape(values[op.operands[0]].shape)
            view = place_of_tensor(op.results[0])[1]
            base = place_of_tensor(op.operands[0])[1]
            assert base.is_dense
            values[op.results[0]] = values[op.operands[0]].reshape(-1)[strided(flat.reshape(-1), view)]
        elif name == "bufferization.to_tensor":
            values[op.results[0]] = strided(memory[op.operands[0]], view_of_type(op.operands[0].type, op)).copy()
        elif name == "bufferization.materialize_in_destination":
            target = op.operands[1]
            strided(memory[target], view_of_type(target.type, op))[...] = values[op.operands[0]]
        elif name == "func.return":
            return [values[value] for value in op.operands]
        else:
            arrays_ = [values[value] for value in op.operands]
            for result, value in zip(op.results, evaluate(op, arrays_, values), strict=True):
                values[result] = value
    raise AssertionError("no return")


def strided(flat: Array, view: View) -> Array:
    """A flat array as a view; checks that it stays within."""
    last = view.offset + sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True))
    assert 0 in view.shape or last < flat.size, (view, flat.size)
    steps = [stride * flat.itemsize for stride in view.strides]
    return np.lib.stride_tricks.as_strided(flat[view.offset :], view.shape, steps)


def elements_of(type_: Any) -> int:
    """Elements from the start of a memref's buffer to its last one."""
    view = view_of_type(type_, None)
    if 0 in view.shape:
        return 0
    return view.offset + sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)) + 1


def run_program(module: Any, arrays: list[Array]) -> None:
    """Runs a program, or a flat kernel, on flat arrays for its arguments, which it writes."""
    mains = [op for op in in_block(body(module)) if op.operation.name == "func.func"]
    assert len(mains) == 1
    memory: dict[Any, Array] = dict(zip(body(mains[0]).arguments, arrays, strict=True))
    modules = programs.kernel_modules(module)
    constants = {op.attributes["sym_name"].value: op for op in in_block(body(module)) if "global" in op.operation.name}
    if not programs.runs_of(mains[0]):
        run_kernel(mains[0], memory)
        return
    for op in [each.operation for each in in_block(body(mains[0]))]:
        if op.name == "memref.alloc":
            memory[op.results[0]] = np.full(elements_of(op.results[0].type), np.nan)
        elif op.name == "memref.get_global":
            found = constants[str(op.attributes["name"]).lstrip("@")]
            memory[op.results[0]] = constant(found, "initial_value").reshape(-1)
        elif op.name == "tile.run":
            function = programs.function_of(modules[programs.kernel_of(op)])
            buffers = [memory[buffer] for buffer in programs.buffers_of(op)]
            run_kernel(function, dict(zip(body(function).arguments, buffers, strict=True)))
        else:
            assert op.name in ("memref.extract_aligned_pointer_as_index", "func.return"), op.name


def run_kernel(function: Any, memory: dict[Any, Array]) -> None:
    """Runs a kernel on flat arrays for its arguments."""
    scalars: dict[Any, Any] = {}

    def seen(value: Any) -> Any:
        if not isinstance(value.type, ir.MemRefType):
            return scalars[value]
        root = value
        while getattr(root.owner, "name", "") == "memref.reinterpret_cast":
            root = root.owner.operands[0]
        return strided(memory[root], view_of_type(value.type, value.owner))

    for op in [each.operation for each in in_block(body(function))]:
        if op.name == "arith.constant":
            scalars[op.results[0]] = constant(op)
        elif op.name == "memref.alloc":
            memory[op.results[0]] = np.full(elements_of(op.results[0].type), np.nan)
        elif op.name == "linalg.fill":
            seen(op.operands[1])[...] = scalars[op.operands[0]]
        elif op.name == "linalg.copy":
            seen(op.operands[1])[...] = seen(op.operands[0])
        elif op.name == "linalg.generic":
            generic = structured.read(op)
            arrays = [seen(value) for value in op.operands]
            outputs = evaluate(op, [array.copy() for array in arrays], scalars)
            for target, value in zip(arrays[len(generic.inputs) :], outputs, strict=True):
                target[...] = value
        else:
            assert op.name in ("memref.reinterpret_cast", "func.return"), op.name
