"""Operations on tensors, which are values: every result is an array of its own, or one that nobody writes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.tile_memory import checked
from mlir_gemm.simulator.tile_numbers import dtype_of
from mlir_gemm.simulator.tile_program import Decoder, Frame, Function, Maker, Step, StepMaker, run_steps, uniform


def _reassociate(operation: Any) -> Function:
    attributes = operation.operation.attributes
    if operation.operation.name == "tensor.expand_shape":
        static, marker = list(attributes["static_output_shape"]), ir.ShapedType.get_dynamic_size()

        def expand(value: Any, *dynamic: Any) -> Any:
            rest = iter(dynamic)
            return value.reshape([uniform(next(rest), "a size") if n == marker else n for n in static])

        return expand
    groups = [[ir.IntegerAttr(place).value for place in group] for group in attributes["reassociation"]]

    def collapse(value: Any) -> Any:
        return value.reshape([math.prod(value.shape[place] for place in group) for group in groups])

    return collapse


class _Slice:
    """The offsets, sizes and strides of a slice, with the operands for those that are not constant."""

    def __init__(self, operation: Any, sliced: Any) -> None:
        attributes = operation.operation.attributes
        self.static = [list(attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")]
        self.marker = ir.ShapedType.get_dynamic_size()
        shape = list(sliced.shape)
        self.kept: list[bool] = []
        for size in self.static[1]:
            keep = bool(shape) and shape[0] == size
            if not keep and size != 1:
                raise unsupported(operation, "which dimensions it drops cannot be told")
            self.kept.append(keep)
            if keep:
                shape.pop(0)

    def of(self, value: Any, dynamic: tuple[Any, ...]) -> tuple[slice, ...]:
        """As slices of `value`. Raises IndexError beyond its bounds."""
        rest = iter(dynamic)
        numbers = [[uniform(next(rest), "a slice") if n == self.marker else n for n in each] for each in self.static]
        for offset, size, stride, extent in zip(*numbers, value.shape, strict=True):
            if offset < 0 or (size and offset + (size - 1) * stride >= extent):
                raise IndexError(f"the slice {numbers} is outside a tensor of {list(value.shape)}")
        return tuple(
            slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride)
            for offset, size, stride in zip(*numbers, strict=True)
        )


def _extract_slice(operation: Any) -> Function:
    part = _Slice(operation, operation.operation.results[0].type)
    dropped = tuple(axis for axis, keep in enumerate(part.kept) if not keep)

    def extract(value: Any, *dynamic: Any) -> Any:
        return value[part.of(value, dynamic)].squeeze(dropped)

    return extract


def _insert_slice(operation: Any) -> Function:
    part = _Slice(operation, operation.operation.operands[0].type)
    added = tuple(slice(None) if keep else None for keep in part.kept)

    def insert(source: Any, target: Any, *dynamic: Any) -> Any:
        result = target.copy()
        result[part.of(result, dynamic)] = source[added]
        return result

    return insert


def _extract(_: Any) -> Function:
    def extract(value: Any, *indices: Any) -> Any:
        found = value[checked(value, indices)]
        return found.item() if found.dtype.kind in "iub" and not found.ndim else found

    return extract


def _insert(_: Any) -> Function:
    def insert(number: Any, value: Any, *indices: Any) -> Any:
        result = value.copy()
        result[checked(result, indices)] = number
        return result

    return insert


def _from_elements(operation: Any) -> Function:
    type_ = ir.ShapedType(operation.operation.results[0].type)
    dtype, shape = dtype_of(type_, operation), list(type_.shape)

    def together(*values: Any) -> Any:
        return np.array([np.asarray(value).astype(dtype) for value in values], dtype).reshape(shape)

    return together


def _splat(operation: Any) -> Function:
    type_ = ir.ShapedType(operation.operation.results[0].type)
    dtype, shape = dtype_of(type_, operation), list(type_.shape)

    def splat(value: Any) -> Any:
        return np.full(shape, value, dtype)

    return splat


def _concat(operation: Any) -> Function:
    axis = ir.IntegerAttr(operation.operation.attributes["dim"]).value

    def concatenate(*values: Any) -> Any:
        return np.concatenate(values, axis)

    return concatenate


def _pad(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    static = [list(op.attributes[f"static_{name}"]) for name in ("low", "high")]
    source, *dynamic = decoder.slots(op.operands)
    *inside, terminator = in_block(op.regions[0].blocks[0])
    if list(op.regions[0].blocks[0].arguments) and any(len(list(a.uses)) for a in op.regions[0].blocks[0].arguments):
        raise unsupported(operation, "padding by a value that depends on its place")
    steps = decoder.steps(inside)
    (filled,) = decoder.slots(terminator.operation.operands)
    target, marker = decoder.slot(op.results[0]), ir.ShapedType.get_dynamic_size()

    def step(frame: Frame) -> None:
        run_steps(steps, frame)
        rest = iter([frame[slot] for slot in dynamic])
        low, high = ([uniform(next(rest), "a size") if n == marker else n for n in each] for each in static)
        frame[target] = np.pad(frame[source], list(zip(low, high, strict=True)), constant_values=frame[filled])

    return step


def _materialize(operation: Any) -> Function:
    results = len(operation.operation.results)

    def materialize(source: Any, target: Any) -> Any:
        if results:
            return source
        target[...] = source
        return None

    return materialize


def _same(_: Any) -> Function:
    def same(value: Any) -> Any:
        return value

    return same


def _copy(_: Any) -> Function:
    def copy(memory: Any) -> Any:
        return memory.copy()

    return copy


def _store(_: Any) -> Function:
    def store(value: Any, memory: Any) -> None:
        memory[...] = value

    return store


FUNCTIONS: dict[str, Maker] = {
    "tensor.collapse_shape": _reassociate, "tensor.expand_shape": _reassociate,
    "tensor.extract_slice": _extract_slice, "tensor.insert_slice": _insert_slice, "tensor.extract": _extract,
    "tensor.insert": _insert, "tensor.from_elements": _from_elements, "tensor.splat": _splat,
    "tensor.concat": _concat, "tensor.cast": _same, "bufferization.to_tensor": _copy, "bufferization.to_buffer": _same,
    "bufferization.materialize_in_destination": _materialize, "memref.tensor_store": _store,
}  # fmt: skip
STEPS: dict[str, StepMaker] = {"tensor.pad": _pad}
