"""Tile operations that compute, on whole arrays: exact products of f16 operands, summed in f32 or wider; vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect import composites, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.simulator import tile_numbers
from mlir_gemm.simulator.algebras import combined, combiner
from mlir_gemm.simulator.contraction import contract, wide_type
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.tile_program import Decoder, Frame, Function, Maker, PerUnit, Step, StepMaker
from mlir_gemm.spec.sparse_arrays import places, spread
from mlir_gemm.spec.threads import UNITS


def product(lhs: Any, rhs: Any, acc: Any) -> Any:
    """acc + lhs rhs. The product of two f16 is exact in f32, in which the sums are kept, as tensor cores do; a narrower
    accumulator is rounded once, at the end."""
    wide = wide_type(acc.dtype)
    found = contract(np.asarray(lhs)[:, None, :], np.asarray(rhs).T[None, :, :], {2: lhs.shape[1]}, acc.dtype)[:, :, 0]
    return (found + acc.astype(wide)).astype(acc.dtype, copy=False)


_GROUP_WARPS = 4
_ORDERS = {"a": ("mk", "km"), "b": ("kn", "nk")}


def multiplier(operation: Any) -> Function:
    """The product of a tile.mma, as a function of its operands."""
    attributes = operation.operation.attributes
    orders = [ir.StringAttr(attributes[name]).value for name in "ab"]
    unsigned = ir.StringAttr(attributes["unsigned"]).value if "unsigned" in attributes else ""
    for name, order in zip("ab", orders, strict=True):
        if order not in _ORDERS[name]:
            raise unsupported(operation, f"{name} = '{order}'; expected {' or '.join(_ORDERS[name])}")

    algebra = tile.algebra_of(operation)
    acc_type = ir.VectorType(operation.operation.operands[2].type).element_type
    combine = combiner(algebra, acc_type, operation.location) if algebra is not None else None

    def multiply(lhs: Any, rhs: Any, acc: Any) -> Any:
        left, right = (
            value.view(f"u{value.itemsize}").astype(acc.dtype) if name in unsigned else value
            for name, value in zip("ab", (lhs, rhs), strict=True)
        )
        left, right = left.T if orders[0] == "km" else left, right.T if orders[1] == "nk" else right
        if combine is not None:
            return combined(combine, left, right, acc)
        return product(left, right, acc)

    return multiply


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


def _transpose(operation: Any) -> Function:
    order = list(ir.DenseI64ArrayAttr(operation.operation.attributes["permutation"]))

    def transpose(value: Any) -> Any:
        ahead = value.ndim - len(order)  # lanes
        return value.transpose(*range(ahead), *(axis + ahead for axis in order))

    return transpose


def _shape_cast(operation: Any) -> Function:
    before, after = (list(v.type.shape) for v in (operation.operation.operands[0], operation.operation.results[0]))

    def cast(value: Any) -> Any:
        return value.reshape(*value.shape[: value.ndim - len(before)], *after)

    return cast


def _extract(operation: Any) -> Function:
    place = list(ir.DenseI64ArrayAttr(operation.operation.attributes["static_position"]))
    if len(list(operation.operation.operands)) > 1:
        raise unsupported(operation, "an element at a place known at run time")
    behind = len(operation.operation.operands[0].type.shape) - len(place)

    def extract(value: Any) -> Any:
        return value[(..., *place, *[slice(None)] * behind)]

    return extract


def _from_elements(operation: Any) -> Function:
    type_ = operation.operation.results[0].type
    dtype, shape = tile_numbers.dtype_of(type_, operation), tuple(type_.shape)

    def together(*values: Any) -> Any:
        parts = np.broadcast_arrays(*(np.asarray(value, dtype) for value in values))  # numbers, or one for each lane
        return np.stack(parts, axis=-1).reshape(*parts[0].shape, *shape)

    return together


def _sparse(operation: Any) -> Function:
    rows, k = operation.operation.results[0].type.shape

    def dense(values: Any, metadata: Any) -> Any:
        return spread(values, places(metadata, rows, k))

    return dense


def _composite(operation: Any) -> Function:
    table = np.asarray(composites.table_of(operation.operation))
    count = len(table)

    def blocks(source: Any) -> Any:
        elements = source.reshape(*source.shape[:-1], -1, count)  # rows, elements, components
        found = np.zeros((*elements.shape[:-2], count, *elements.shape[-2:]), source.dtype)
        with np.errstate(all="ignore"):
            for x, j, y in zip(*np.nonzero(table), strict=True):
                number = source.dtype.type(abs(table[x, j, y]))
                term = elements[..., j] if number == 1 else elements[..., j] * number
                found[..., x, :, y] += term if table[x, j, y] > 0 else -term
        return found.reshape(*source.shape[:-2], source.shape[-2] * count, source.shape[-1])

    return blocks


def _unit_id(decoder: Decoder, operation: Any) -> Step:
    slot, state = decoder.slot(operation.operation.results[0]), decoder.state

    attributes = operation.operation.attributes
    warps = UNITS[ir.StringAttr(attributes["unit"]).value] if "unit" in attributes else 1
    roles = len(named(decoder.module, "tile.warp_specialize"))

    def step(frame: Frame) -> None:
        if not state.units:
            raise unsupported(operation, "how many warps a block has is not known: there is no tile.schedule or launch")
        units = state.units
        if state.launched:  # the last warpgroup is the producer where there are roles
            units -= _GROUP_WARPS * bool(roles)
            units //= warps
        frame[slot] = PerUnit(range(units))

    return step


def _constant(decoder: Decoder, operation: Any) -> Step:
    value = tile_numbers.constant(operation)
    slot = decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        frame[slot] = value

    return step


def _step_range(decoder: Decoder, operation: Any) -> Step:
    """All steps: no tile needs others."""
    first, count = (decoder.slot(result) for result in operation.operation.results)
    steps = ir.IntegerAttr(operation.operation.attributes["steps"]).value

    def step(frame: Frame) -> None:
        frame[first], frame[count] = 0, steps

    return step


def _nothing(_: Decoder, __: Any) -> None:
    """Operations that only order others: warps run in lockstep here, so everything is in order."""


FUNCTIONS: dict[str, Maker] = {"vector.broadcast": _broadcast, "vector.splat": _broadcast,
    "vector.transpose": _transpose, "vector.shape_cast": _shape_cast, "vector.from_elements": _from_elements,
    "vector.extract": _extract, "tile.sparse": _sparse, "tile.composite": _composite,
}  # fmt: skip
STEPS: dict[str, StepMaker] = {
    "arith.constant": _constant,
    "tile.unit_id": _unit_id, "tile.step_range": _step_range,
    "gpu.barrier": _nothing, "nvvm.bar.warp.sync": _nothing, "nvvm.barrier0": _nothing,
}  # fmt: skip
