"""What a module should compute: its source, evaluated by NumPy in float64, before any pass has seen it.

Floating-point values are float64 throughout, integers are exact and wrap as their types do. The source is interpreted
as it is written, linalg on tensors or memrefs; nothing here knows of tiles or threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.sizes import symbol_values
from mlir_gemm.dialect.walk import body, in_block, operations
from mlir_gemm.errors import ArgumentError
from mlir_gemm.simulator.memory import strided
from mlir_gemm.simulator.stages import FUNCTIONS, STEPS, entry
from mlir_gemm.simulator.tile_numbers import dtype_of, in_float64, is_float
from mlir_gemm.simulator.tile_program import Decoder, State, run_steps
from mlir_gemm.spec.attributes import ROLE

_VIEWS = (
    "memref.subview", "memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.reinterpret_cast",
    "memref.transpose", "memref.view", "memref.assume_alignment", "memref.memory_space_cast", "bufferization.to_tensor",
    "memref.extract_aligned_pointer_as_index",
)  # fmt: skip
_WRITES = (
    "memref.copy", "memref.store", "affine.store", "vector.store", "bufferization.materialize_in_destination",
    "memref.tensor_store",
)  # fmt: skip
"""Operations that write to their second operand."""


def evaluate(module: Any, arrays: Sequence[Any], *, exact: bool = True) -> list[Any]:
    """The arguments that a module (MLIR text, or an ir.Module) writes, in order, then its results.

    `arrays` are NumPy arrays for the function's arguments and stay as they are. Floating-point results are float64,
    integers have their own types. With `exact` nothing is rounded; otherwise `arith.truncf` and operations whose
    output has a narrow type round to it. Raises SimulationError for an operation that is not known, ArgumentError for
    arrays that do not fit.
    """
    memory, results, written = evaluate_all(module, arrays, exact=exact)
    return [*(memory[number] for number in written), *results]


def evaluate_all(
    module: Any, arrays: Sequence[Any], *, exact: bool = True
) -> tuple[list[Any], list[Any], tuple[int, ...]]:
    """All arguments as they are afterwards, the results, and the numbers of the arguments that are written."""
    if isinstance(module, str):
        module = parse_module(module, "-", new_context())
    with module.context, ir.Location.unknown(), in_float64(rounded=not exact):
        function = entry(module)
        arguments = list(body(function).arguments)
        memory = [_argument(number, array, arguments) for number, array in enumerate(arrays)]
        if len(memory) != len(arguments):
            raise ArgumentError(f"{len(memory)} arrays given; the function has {len(arguments)} arguments")
        state = State(None)
        state.sizes = symbol_values(function, [np.shape(array) for array in memory])
        decoder = Decoder(module.operation, state, FUNCTIONS, STEPS)
        places = decoder.slots(arguments)
        steps = decoder.block(body(function))
        frame: list[Any] = [None] * decoder.size
        for place, array in zip(places, memory, strict=True):
            frame[place] = array
        with np.errstate(all="ignore"):
            run_steps(steps, frame)
        return memory, [np.asarray(value) for value in state.returned], written_arguments(function)


def _argument(number: int, array: Any, arguments: Sequence[Any]) -> Any:
    """A copy of an argument, in the type that it is computed with. Numbers stand for themselves."""
    if number >= len(arguments):
        raise ArgumentError(f"more than {len(arguments)} arrays given; the function has {len(arguments)} arguments")
    type_ = arguments[number].type
    dtype = dtype_of(type_)
    if not isinstance(type_, ir.ShapedType):
        return dtype.type(array) if is_float(dtype) else int(array)
    array = np.asarray(array)
    sizes = [-1 if type_.is_dynamic_dim(axis) else size for axis, size in enumerate(type_.shape)]
    fits = array.ndim == len(sizes)
    if not fits or any(want not in (-1, had) for want, had in zip(sizes, array.shape, strict=True)):
        raise ArgumentError(f"argument {number}: an array of {list(array.shape)} given, expected {type_}")
    return _laid_out(array.astype(dtype), type_)


def _laid_out(array: Any, type_: Any) -> Any:
    """A copy with the strides of its memref type: kernels of a program may see the same memory by other ones."""
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape or not array.size:
        return array
    strides, _ = type_.get_strides_and_offset()
    if ir.ShapedType.get_dynamic_stride_or_offset() in strides or min(strides, default=0) < 0:
        return array
    span = 1 + sum((size - 1) * step for size, step in zip(array.shape, strides, strict=True))
    copy = strided(np.zeros(span, array.dtype), array.shape, [step * array.itemsize for step in strides])
    copy[...] = array
    return copy


def written_arguments(function: Any) -> tuple[int, ...]:
    """The numbers of a function's memref arguments that something in it writes."""
    arguments = list(body(function).arguments)
    roots: dict[Any, int] = {
        argument: number for number, argument in enumerate(arguments) if isinstance(argument.type, ir.MemRefType)
    }
    written: set[int] = set()
    for operation in operations(function):
        op = operation.operation
        operands = list(op.operands)
        if op.name in _VIEWS and operands[0] in roots:
            roots[op.results[0]] = roots[operands[0]]
        for target in _run_targets(op, operands) if op.name == "tile.run" else _targets(op, operands):
            if target in roots:
                written.add(roots[target])
    return tuple(sorted(written))


def _run_targets(run: Any, operands: list[Any]) -> list[Any]:
    """The buffers that a kernel of a program writes, by the roles of its arguments."""
    name = ir.StringAttr(run.attributes["kernel"]).value
    kernels = {
        ir.StringAttr(each.operation.attributes["sym_name"]).value: each
        for each in in_block(body(run.parent.operation.parent.operation))
        if each.operation.name == "builtin.module"
    }
    roles = argument_attributes(entry(kernels[name]))
    return [operand for operand, each in zip(operands, roles, strict=True) if _role(each) != "in"]


def _role(attributes: Any) -> str:
    return ir.StringAttr(attributes[ROLE]).value if ROLE in attributes else "inout"


def _targets(op: Any, operands: list[Any]) -> list[Any]:
    """The operands that an operation writes to, if they are memrefs."""
    if op.name in _WRITES:
        targets = operands[1:2]
    elif op.name.startswith("linalg.") and len(op.regions) and len(op.regions[0].blocks):
        outputs = len(list(in_block(op.regions[0].blocks[0])[-1].operation.operands))
        targets = operands[len(operands) - outputs :]
    else:
        return []
    return [target for target in targets if isinstance(target.type, ir.MemRefType)]
