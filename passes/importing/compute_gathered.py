"""compute-gathered: elements that are read at computed places are computed there, instead of the whole tensor.

Expects `tile.kernel` on what is computed (`group-kernels`, `group-rows`). Where a tensor is only read by
tensor.extract, in bodies that take fewer of its elements than it has, and is computed element by element, each such
body computes its elements itself: from what other kernels have in memory, and what is smaller in the same kernel. So
the kernel of rows before a cross entropy stores the maximum and the logarithm of the sum of each row, and not the
logarithm of every probability, of which one in a row is read. Elements are computed by the same operations in the same
types. Leaves a tensor alone where that needs something as large from the kernel that computes it, or more loads than it
has elements, or where anything else reads it. A second run changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, positions
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.generics import ONE, Generic, erase_dead, inline, owner_of, producer, writes_once
from mlir_gemm.dialect.outlining import cuts
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.group_kernels import mark_of, source_of
from mlir_gemm.spec.attributes import KERNEL


@dataclass(frozen=True)
class ComputeGathered(Pass):
    """Compute gathered elements where they are gathered."""

    name: ClassVar[str] = "compute-gathered"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if not len(function.regions[0].blocks):
                continue
            found = [op.operation for op in in_block(body(function)) if structured.is_generic(op)]
            done = [_compute(result) for op in found for result in op.results]
            if any(done):
                erase_dead(function)
                _number(function)


def _compute(tensor: Any) -> bool:
    """Whether what reads a tensor computes its elements now."""
    reads = [use.owner.operation for use in tensor.uses]
    source = _source(tensor)
    if source is None or not reads or any(read.name != "tensor.extract" for read in reads):
        return False
    number = mark_of(source.operation)
    stored = _stored(source, number)
    if number is None or stored is None:
        return False
    elements = math.prod(tensor.type.shape)
    bodies = [read.parent.operation for read in reads]
    if any(not structured.is_generic(op) or mark_of(op) in (None, number) for op in bodies):
        return False
    points = sum(math.prod(structured.sizes_of(structured.read(op))) for op in bodies)
    own = [value for value in stored if _mark(value) == number]
    if points * len(stored) > elements or any(math.prod(value.type.shape) >= elements for value in own):
        return False
    for read in reads:
        with ir.InsertionPoint(read), read.location:
            value = _element(source, list(read.operands)[1:], number)
        read.results[0].replace_all_uses_with(value)
        read.erase()
    return True


def _source(tensor: Any) -> Generic | None:
    """What computes a tensor element by element from tensors."""
    source = producer(tensor)
    if source is None or not writes_once(source):
        return None
    return source if all(isinstance(value.type, ir.RankedTensorType) for value in source.inputs) else None


def _mark(tensor: Any) -> int | None:
    """The kernel that computes a tensor, if any."""
    owner = owner_of(source_of(tensor))
    return None if owner is None else mark_of(owner)


def _inner(value: Any, source: Generic, number: int | None) -> Generic | None:
    """What computes an operand element by element in the same kernel, unless it has fewer elements than the result."""
    if _mark(value) != number or math.prod(value.type.shape) < math.prod(source.sizes):
        return None
    return _source(value)


def _stored(source: Generic, number: int | None) -> list[Any] | None:
    """The tensors from whose elements one of the result is computed, each of another kernel or not elementwise; one as
    often as it is loaded. None where that would take more than a few operations."""
    found: list[Any] = []
    for value in source.inputs:
        inner = _inner(value, source, number)
        if positions.is_position(value) and positions.size_in(value):
            return None  # a number of the call, which is no element
        below = [value] if inner is None else _stored(inner, number)
        found += [each for each in below or [] if not positions.is_position(each)]
        if below is None or len(found) > _MOST_LOADS:
            return None
    return found


_MOST_LOADS = 16
"""Of one element. Chains of work on elements read the same tensors again and again, and none has been seen longer."""


def _element(source: Generic, at: Sequence[Any], number: int | None) -> Any:
    """An element of what a generic computes, at the insertion point in another body; `at` are its indices."""
    (written,) = source.output_maps
    values: list[Any] = []
    for value, map_ in zip(source.inputs, source.maps, strict=False):
        places = [constants.index(0) if loop == ONE else at[written.index(loop)] for loop in map_]
        inner = _inner(value, source, number)
        if inner is not None:
            values.append(_element(inner, places, number))
        elif positions.is_position(value):
            values.append(dialect("arith").IndexCastOp(positions.number(), places[0]).result)
        else:
            values.append(dialect("tensor").ExtractOp(value, places).result)
    return inline(source, [*values, None])[0]


def _number(function: Any) -> None:
    """Numbers the kernels that are left from 0, in the order that they had."""
    operations = [op.operation for op in in_block(body(function))]
    marked = [(op, number) for op in operations if (number := mark_of(op)) is not None]
    order = sorted({number for _, number in marked})
    cuts.renumbered([op for op, _ in marked], {number: place for place, number in enumerate(order)})
    for op, number in marked:
        op.attributes[KERNEL] = constants.integer(order.index(number))
