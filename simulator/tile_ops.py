"""Linalg and tile operations that compute, on whole arrays: exact products of f16 operands, summed in f32 or wider."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.simulator import tile_numbers
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.tile_program import Decoder, Frame, Function, Maker, PerUnit, Step, StepMaker, run_steps

_MATMUL_MAPS = ["(d0, d1, d2) -> (d0, d2)", "(d0, d1, d2) -> (d2, d1)", "(d0, d1, d2) -> (d0, d1)"]


def product(lhs: Any, rhs: Any, acc: Any) -> Any:
    """acc + lhs rhs. The product of two f16 is exact in f32, in which the sums are kept, as tensor cores do; a narrower
    accumulator is rounded once, at the end."""
    wide = np.result_type(acc.dtype, np.float32)
    return (lhs.astype(wide) @ rhs.astype(wide) + acc).astype(acc.dtype, copy=False)


def _mma(operation: Any) -> Function:
    order = ir.StringAttr(operation.operation.attributes["b"]).value
    if order not in ("kn", "nk"):
        raise unsupported(operation, f"b = '{order}'; expected kn or nk")
    return _product_by_rows if order == "nk" else product


def _product_by_rows(lhs: Any, rhs: Any, acc: Any) -> Any:
    return product(lhs, rhs.T, acc)


def _linalg(compute: Any) -> StepMaker:
    """The step of a linalg operation with one output: in place on a memref, a new array on tensors."""

    def make(decoder: Decoder, operation: Any) -> Step:
        function = compute(decoder, operation)
        operands = decoder.slots(operation.operation.operands)
        results = decoder.slots(operation.operation.results)

        def step(frame: Frame) -> None:
            *inputs, output = [frame[slot] for slot in operands]
            computed = np.broadcast_to(function(frame, inputs, output), output.shape)
            if results:
                frame[results[0]] = computed.astype(output.dtype)
            else:
                output[...] = computed

        return step

    return make


def _fill(_: Decoder, __: Any) -> Any:
    def fill(_: Frame, inputs: list[Any], __: Any) -> Any:
        return inputs[0]

    return fill


def _matmul(_: Decoder, operation: Any) -> Any:
    if "indexing_maps" in operation.operation.attributes:
        maps = [str(map_.value) for map_ in operation.operation.attributes["indexing_maps"]]
        if maps != _MATMUL_MAPS:
            raise unsupported(operation, "indexing maps of its own (a transpose or broadcast)")

    def multiply(_: Frame, inputs: list[Any], output: Any) -> Any:
        return product(inputs[0], inputs[1], output)

    return multiply


def _generic(decoder: Decoder, operation: Any) -> Any:
    attributes = operation.operation.attributes
    for map_ in attributes["indexing_maps"]:
        if map_.value != ir.AffineMap.get_identity(map_.value.n_dims):
            raise unsupported(operation, f"indexing map {map_.value}; expected the identity")
    if {str(i) for i in attributes["iterator_types"]} - {"#linalg.iterator_type<parallel>"}:
        raise unsupported(operation, "a reduction; expected elementwise operations")
    block = body(operation)
    arguments = decoder.slots(block.arguments)
    *inside, terminator = in_block(block)
    steps = decoder.steps(inside)
    (yielded,) = decoder.slots(terminator.operation.operands)

    def compute(frame: Frame, inputs: list[Any], output: Any) -> Any:
        for slot, value in zip(arguments, [*inputs, output], strict=True):
            frame[slot] = value
        run_steps(steps, frame)
        return frame[yielded]

    return compute


def _broadcast(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    dtype, shape = tile_numbers.dtype_of(type_, operation), tuple(type_.shape)
    rank = len(shape) if isinstance(operation.operation.operands[0].type, ir.VectorType) else 0

    def broadcast(value: Any) -> Any:
        source = np.asarray(value, dtype)
        if source.ndim > rank:  # a scalar of each lane
            source = source.reshape(-1, *[1] * len(shape))
            return np.broadcast_to(source, (len(source), *shape))
        return np.broadcast_to(source, shape)

    return broadcast


def _unit_id(decoder: Decoder, operation: Any) -> Step:
    slot, state = decoder.slot(operation.operation.results[0]), decoder.state

    def step(frame: Frame) -> None:
        if not state.units:
            raise unsupported(operation, "how many warps a block has is not known: there is no tile.schedule or launch")
        frame[slot] = PerUnit(range(state.units))

    return step


def _constant(decoder: Decoder, operation: Any) -> Step:
    value = tile_numbers.constant(operation)
    slot = decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        frame[slot] = value

    return step


def _nothing(_: Decoder, __: Any) -> None:
    """Operations that only order others: warps run in lockstep here, so everything is in order."""


FUNCTIONS: dict[str, Maker] = {"tile.mma": _mma, "vector.broadcast": _broadcast, "vector.splat": _broadcast}
STEPS: dict[str, StepMaker] = {
    "arith.constant": _constant,
    "linalg.fill": _linalg(_fill), "linalg.copy": _linalg(_fill), "linalg.matmul": _linalg(_matmul),
    "linalg.generic": _linalg(_generic),
    "tile.unit_id": _unit_id,
    "gpu.barrier": _nothing, "nvvm.bar.warp.sync": _nothing, "nvvm.barrier0": _nothing,
}  # fmt: skip
