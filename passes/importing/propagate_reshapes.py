"""propagate-reshapes: reshapes move away from between linalg.generic operations.

Expects linalg.generic on tensors, with tensor.collapse_shape and tensor.expand_shape around them, and few dimensions of
size 1 (drop-unit-dims). A generic that reads a collapsed tensor, or whose result is expanded, gets the finer loops
instead: its other operands are expanded, its results collapsed again, until neighbouring generics read each other's
results as they are. Then reshapes stand only at arguments, constants and results, where they are views, and where two
ways of dividing a dimension exclude each other (the first stays, the other is reached by a reshape). Fills and empty
tensors are made anew. A second run changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import ONE, Generic, Map, erase_dead, generics, read, rebuild
from mlir_gemm.dialect.linalg.reshapes import NAMES, chain, cuts, leaves, reshape, root_of, shorten, sizes_between
from mlir_gemm.dialect.linalg.structured import is_free
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class PropagateReshapes(Pass):
    """Give generics the finer loops, so that reshapes move to arguments and results."""

    name: ClassVar[str] = "propagate-reshapes"

    def run(self, module: Any) -> None:
        _straighten(module)
        changed = True
        while changed:
            changed = False
            for operation in generics(module):
                generic = read(operation, free=True)
                if generic is not None:
                    changed |= _refine(generic)
            _straighten(module)


def _straighten(module: Any) -> None:
    """Every tensor that a reshape gives to something else is reached from its root by as few reshapes as do."""
    for operation in named(module, *NAMES):
        value = operation.operation.results[0]
        if all(use.owner.operation.name in NAMES for use in value.uses) or 0 in list(value.type.shape):
            continue
        shorter = shorten(value)
        if shorter is not None:
            value.replace_all_uses_with(shorter)
    erase_dead(module)


def _refine(generic: Generic) -> bool:
    """Divides loops where a neighbour's dimensions do; whether any was divided."""
    if 0 in generic.sizes:
        return False
    divided = {loop: _divisions(generic, loop) for loop in range(len(generic.sizes))}
    if not any(divided.values()):
        return False
    sizes = {loop: sizes_between(found, generic.sizes[loop]) for loop, found in divided.items()}
    first: dict[int, int] = {}
    for loop in range(len(generic.sizes)):
        first[loop] = sum(len(sizes[other]) for other in range(loop))
    places = {loop: tuple(range(first[loop], first[loop] + len(sizes[loop]))) for loop in sizes}
    maps: list[Map] = [tuple(i for loop in map_ for i in places.get(loop, (ONE,))) for map_ in generic.maps]
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        operands = [
            reshape(value, [size for loop in map_ for size in sizes.get(loop, [1])]) if map_ else value
            for value, map_ in zip(generic.operands, generic.maps, strict=True)
        ]
    count = len(generic.inputs)
    reductions = [kind for loop, kind in enumerate(generic.reductions) for _ in sizes[loop]]
    new = rebuild(generic, inputs=operands[:count], outputs=operands[count:], maps=maps, reductions=reductions)
    with ir.InsertionPoint(generic.operation), generic.operation.location:
        for old, result in zip(generic.results, new.results, strict=True):
            old.replace_all_uses_with(reshape(result, old.type.shape))
    generic.operation.erase()
    return True


def _divisions(generic: Generic, loop: int) -> set[int]:
    """The cuts at which a loop should be divided so that neighbours are read and written as they are.

    Inputs come first: where one division excludes another, the first found stays. What reads at places that it
    computes only follows those that read it: most of its inputs are positions, which may be divided anywhere.
    """
    size = generic.sizes[loop]
    found: set[int] = set()
    for value, map_ in zip(generic.operands, generic.maps, strict=True) if not is_free(generic.operation) else ():
        if loop in map_ and root_of(value) != value:
            found = _added(found, _inside(root_of(value), value.type.shape, map_.index(loop)), size)
    for value, map_ in zip(generic.results, generic.output_maps, strict=True):
        for leaf in leaves(value) if loop in map_ else ():
            found = _added(found, _inside(leaf, value.type.shape, map_.index(loop)), size)
    return found


def _added(found: set[int], more: Iterable[int], size: int) -> set[int]:
    for cut in sorted(more):
        if chain({*found, cut}, size):
            found = {*found, cut}
    return found


def _inside(other: Any, shape: list[int], position: int) -> list[int]:
    """The cuts of another tensor's sizes that lie inside one dimension of `shape`, as cuts of that dimension."""
    below = math.prod(shape[position + 1 :])
    size = shape[position]
    inside = [cut for cut in cuts(list(other.type.shape)) if below < cut < below * size]
    return [cut // below for cut in inside if cut % below == 0 and (below * size) % cut == 0]
