"""Reading the body of a linalg operation as sums of products of its elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.spec.bilinear import Number

_EXTENSIONS = ("arith.extf", "arith.extsi")
_SUMS = {"arith.addf": 1, "arith.addi": 1, "arith.subf": -1, "arith.subi": -1}
_PRODUCTS = ("arith.mulf", "arith.muli")
Polynomial = Mapping[tuple[int, ...], Number]
"""By the numbers of the operands that are multiplied, in the order in which they are: how often that is added."""


@dataclass(frozen=True)
class Term:
    """A product of the elements of two operands, and how often it is added."""

    left: int
    right: int
    times: Number


def polynomial_of(value: Any, generic: Generic) -> Polynomial | None:
    """A value of a body as a sum of products of at most two elements; None where it is something else."""
    arguments = list(generic.body.arguments)
    if value in arguments:
        return {(arguments.index(value),): 1}
    op = None if hasattr(value.owner, "operations") else value.owner.operation
    if op is None:
        return None
    if op.name == "arith.constant":
        attribute = op.attributes["value"]
        return {(): attribute.value} if isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr)) else None
    parts = [polynomial_of(each, generic) for each in op.operands]
    given = [part for part in parts if part is not None]
    if len(given) < len(parts):
        return None
    if op.name in _EXTENSIONS:
        return given[0] if op.operands[0] in arguments else None
    if op.name in _SUMS:
        total = dict(given[0])
        for key, number in given[1].items():
            total[key] = total.get(key, 0) + _SUMS[op.name] * number
        return total
    if op.name == "arith.negf":
        return {key: -number for key, number in given[0].items()}
    if op.name not in _PRODUCTS:
        return None
    found: dict[tuple[int, ...], Number] = {}
    for one, first in given[0].items():
        for other, second in given[1].items():
            key = (*one, *other)
            if len(key) > 2:
                return None
            found[key] = found.get(key, 0) + first * second
    return found


def terms_of(generic: Generic) -> list[Term] | None:
    """The products that an operation with one result adds up; None where its body is something else."""
    if generic.elementwise or len(generic.outputs) != 1:
        return None
    found = polynomial_of(generic.yielded[0], generic)
    output = (len(generic.inputs),)
    if found is None or found.get(output) != 1:
        return None
    terms: dict[tuple[int, int], Number] = {}
    for key, number in found.items():
        if key == output or not number:
            continue
        if len(key) != 2 or output[0] in key:
            return None
        pair = (min(key), max(key))
        terms[pair] = terms.get(pair, 0) + number
    given = [Term(*pair, number) for pair, number in terms.items() if number]
    return given if given and all(_is_product(term, generic) for term in given) else None


def _is_product(term: Term, generic: Generic) -> bool:
    """Whether the loops are those of a product of matrices."""
    maps = [generic.maps[number] for number in (term.left, term.right, len(generic.inputs))]
    if not all(map_.is_projected_permutation for map_ in maps):
        return False
    left, right, result = ({each.position for each in map_.results} for map_ in maps)
    reduced = {loop for loop, parallel in enumerate(generic.parallel) if not parallel}
    whole = left | right == result | reduced == set(range(len(generic.parallel)))
    return whole and reduced <= left & right and bool(left - right) and bool(right - left)
