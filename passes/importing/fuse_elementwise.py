"""fuse-elementwise: a chain of elementwise operations becomes one.

Expects linalg.generic on tensors (after fold-operands{extensions=true}). An elementwise generic is computed in the body
of an elementwise generic that reads it, if that is its only use, or if it only extends a value. So what several read in
a wider type is in memory in the narrow one. Where
a chain that comes from one product meets another product's, both stay apart, so that each can be the epilogue of its
own product. What reads single components of elements for an epilogue stays in front of the product. A second run
changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.linalg.components import is_scattered
from mlir_gemm.dialect.linalg.generics import (
    Generic,
    behind,
    erase_dead,
    fused,
    generics,
    one_use,
    producer,
    read,
    replace,
    writes_once,
)
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.fold_operands import is_extension


@dataclass(frozen=True)
class FuseElementwise(Pass):
    """Join chains of elementwise generics."""

    name: ClassVar[str] = "fuse-elementwise"

    def run(self, module: Any) -> None:
        # What was fused no longer reads what others wait to be the only readers of: until nothing changes.
        changed = True
        while changed:
            changed = False
            for operation in generics(module):
                changed = _fuse(operation.operation) or changed
            erase_dead(module)


def _fuse(operation: Any) -> bool:
    """Whether a generic now computes what it read from others."""
    position, found = 0, False
    while (generic := read(operation)) is not None and generic.parallel and position < len(generic.inputs):
        source = producer(generic.inputs[position])
        new = fused(generic, position, source) if source is not None and _together(generic, position, source) else None
        if new is None:
            position += 1
            continue
        replace(generic, new)
        if source is not None and not list(source.results[0].uses):
            source.operation.erase()
        operation, found = new, True
    return found


def _together(generic: Generic, position: int, source: Generic) -> bool:
    if not writes_once(source) or (_is_passed_on(generic) and not is_extension(source)):
        return False
    if _is_passed_on(source):
        return True
    reached = behind(generic.inputs[position])
    if not one_use(generic.inputs[position]):
        return is_extension(source) and not reached
    all_reached = _reached(generic)
    if not reached and all_reached and any(map(is_scattered, source.inputs)):
        return False
    return not reached or set(reached) == all_reached


def _is_passed_on(generic: Generic) -> bool:
    """Whether a generic extends what is computed in each elementwise one that reads it: in several, or in one that does
    not stay with what is extended."""
    if not is_extension(generic):
        return False
    readers = [read(use.owner) for use in generic.results[0].uses]
    elementwise = [each for each in readers if each is not None and each.parallel and writes_once(each)]
    if len(elementwise) < len(readers):
        return False
    return len(readers) > 1 or any(_reached(each) != _reached(generic) for each in elementwise)


def _reached(generic: Generic) -> set[Any]:
    return {each for value in generic.inputs for each in behind(value)}
