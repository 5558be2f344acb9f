"""What an element of a linalg.generic is computed from, as a tree: two that are equal are the same number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg.generics import ONE, Generic, owner_of, producer

Tree = tuple[Any, ...]
"""An operation's name, attributes and operands; or of a tensor which, and the loop along each of its dimensions."""
LOAD = "load"


def tree_of(value: Any, generic: Generic, loops: Sequence[int]) -> Tree:
    """What a value of a generic's body is, where the generic's loops are known by these numbers. What elementwise
    generics compute before it is part of the tree."""
    arguments = list(generic.block.arguments)
    if value in arguments:
        position = arguments.index(value)
        places = tuple(ONE if loop == ONE else loops[loop] for loop in generic.maps[position])
        return element_of(generic.operands[position], places)
    owner = owner_of(value)
    if owner is None:
        return (LOAD, value, ())
    attributes = tuple(sorted((name, str(attribute)) for name, attribute in attributes_of(owner).items()))
    number = list(owner.results).index(value)
    operands = [tree_of(each, generic, loops) for each in owner.operands]
    return (owner.name, number, str(value.type), attributes, *operands)


def element_of(tensor: Any, places: tuple[int, ...]) -> Tree:
    """What the element of a tensor is at the places of some loops."""
    source = producer(tensor)
    if source is None or not source.parallel:
        return (LOAD, _same(tensor), places)
    number = source.results.index(tensor)
    written = source.output_maps[number]
    outputs = list(source.block.arguments)[len(source.inputs) :]
    if sorted(written) != list(range(len(source.sizes))) or any(True for each in outputs for _ in each.uses):
        return (LOAD, _same(tensor), places)
    known = dict(zip(written, places, strict=True))
    return tree_of(source.yielded[number], source, [known[loop] for loop in range(len(source.sizes))])


def _same(tensor: Any) -> Any:
    """A tensor; of one that another is looked at as, in another shape, how."""
    owner = owner_of(tensor)
    if owner is None or owner.name not in ("tensor.collapse_shape", "tensor.expand_shape"):
        return tensor
    return (owner.name, str(tensor.type), str(owner.attributes["reassociation"]), _same(owner.operands[0]))
