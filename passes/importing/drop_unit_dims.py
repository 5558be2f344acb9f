"""drop-unit-dims: loops of one trip disappear from linalg.generic operations.

Expects linalg.generic on tensors of static sizes. Every generic loses its loops of size 1 (but a last reduction loop of
several inputs stays, so that a product with K = 1 remains one; of one input the start becomes another input) and the
dimensions of size 1 in its operands: these are read through tensor.collapse_shape, and results get their dimensions of
size 1 back by tensor.expand_shape. Maps afterwards are projected permutations, also those of a 1x1 convolution.
Generics with other maps or no elements are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    Map,
    build,
    empty,
    erase_dead,
    generics,
    inline,
    read,
    rebuild,
)
from mlir_gemm.dialect.linalg.reshapes import reshape
from mlir_gemm.dialect.linalg.structured import is_free
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class DropUnitDims(Pass):
    """Remove loops and dimensions of size 1."""

    name: ClassVar[str] = "drop-unit-dims"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            generic = read(operation, free=True)
            if generic is not None and (not is_free(operation) or max(generic.sizes, default=1) > 1):
                _drop(generic)
        erase_dead(module)


def _drop(generic: Generic) -> None:
    keep = [loop for loop, size in enumerate(generic.sizes) if size != 1]
    product = len(generic.inputs) > 1
    if product and any(generic.reductions) and not any(generic.reductions[loop] for loop in keep):
        keep = sorted([*keep, max(loop for loop, kind in enumerate(generic.reductions) if kind)])
    plain = all(loop in keep for map_ in generic.maps for loop in map_)
    if (plain and len(keep) == len(generic.sizes)) or 0 in generic.sizes:
        return
    place = {loop: position for position, loop in enumerate(keep)}
    maps: list[Map] = [tuple(place[loop] for loop in map_ if loop != ONE and loop in place) for map_ in generic.maps]
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        operands = [
            _without(value, [loop in place for loop in map_])
            for value, map_ in zip(generic.operands, generic.maps, strict=True)
        ]
    count, reductions = len(generic.inputs), [generic.reductions[loop] for loop in keep]
    if any(generic.reductions) and not any(reductions):
        new = _elementwise(generic, operands, maps)
    else:
        new = rebuild(generic, inputs=operands[:count], outputs=operands[count:], maps=maps, reductions=reductions)
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        for old, result in zip(generic.results, new.results, strict=True):
            old.replace_all_uses_with(reshape(result, old.type.shape))
    generic.operation.erase()


def _elementwise(generic: Generic, operands: list[Any], maps: list[Map]) -> Any:
    """A reduction of one element each, which combines that with what it starts from."""
    count = len(generic.inputs)
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        outputs = [empty(value.type.shape, value.type.element_type) for value in operands[count:]]
        return build(operands, outputs, [*maps, *maps[count:]], [False] * len(maps[-1]),
                     lambda arguments: inline(generic, arguments[: len(operands)]))  # fmt: skip


def _without(value: Any, keep: list[bool]) -> Any:
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    return reshape(value, [size for size, kept in zip(value.type.shape, keep, strict=True) if kept])
