"""Which operands of a product are triangular, read from how they are computed, or promised by attributes, and which
results are one number on one side of their diagonals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.products import Factor, Product
from mlir_gemm.dialect.linalg.structured import Generic

LOWER, UPPER = "lower", "upper"
"""A matrix that is zero above its diagonal, and one that is zero below it."""
_GREATER = ("sgt", "sge", "ugt", "uge")
_LESS = ("slt", "sle", "ult", "ule")
_EXTENDING = ("arith.extf", "arith.extsi", "arith.extui", "arith.index_cast", "arith.index_castui")


def zeros_of(product: Product, promised: Mapping[Any, str]) -> str:
    """Where an operand is known to be zero: `k>m` or `k<m` of A, `k>n` or `k<n` of B; empty where nothing is known.
    `promised` are memories that are said to be lower or upper triangles."""
    if product.algebra is not None or any(len(each) != 1 for each in (product.m, product.n, product.k)):
        return ""
    for factor, name, (across,) in ((product.a, "m", product.m), (product.b, "n", product.n)):
        relation = _promised(product, factor, across, promised) or _computed(product, factor, across)
        if relation:
            return f"k{relation}{name}"
    return ""


def _promised(product: Product, factor: Factor, across: int, promised: Mapping[Any, str]) -> str:
    """`>` or `<` where a factor is a matrix of which that is promised."""
    if not factor.plain:
        return ""
    number = factor.operands[0]
    which, along = promised.get(product.generic.operands[number], ""), _loops(product, number)[-2:]
    if not which or sorted(along) != sorted([across, product.k[0]]):
        return ""
    return ">" if (which == LOWER) == (along[0] == across) else "<"


def _computed(product: Product, factor: Factor, across: int) -> str:
    """`>` or `<` where a factor is a number where positions along it compare so, and zero elsewhere."""
    select = _owner(factor.core)
    if select is None or select.name != "arith.select":
        return ""
    condition, then, otherwise = select.operands
    compare = _owner(condition)
    if compare is None or compare.name != "arith.cmpi":
        return ""
    places = [_place(product.generic, value) for value in compare.operands]
    if sorted(places) != sorted([across, product.k[0]]):
        return ""
    predicate = _predicate(compare)
    if predicate not in (*_GREATER, *_LESS):
        return ""
    # Zero where the condition holds, or where it does not.
    holds = _is_zero(then)
    if holds == _is_zero(otherwise):
        return ""
    k_first = places[0] == product.k[0]
    greater = (predicate in _GREATER) == k_first
    return ">" if greater == holds else "<"


def _owner(value: Any) -> Any | None:
    owner: Any = value.owner
    return None if hasattr(owner, "operations") else owner.operation


def _predicate(compare: Any) -> str:
    names: tuple[str, ...] = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    number: int = ir.IntegerAttr(compare.attributes["predicate"]).value
    return names[number]


def mask_of(generic: Generic) -> str:
    """`n>m` where what an elementwise operation computes is one number in all columns after that of the row, `n<m`
    where it is in all before; n and m are its last loops. Empty for others."""
    value = generic.yielded[0]
    while True:
        owner = _owner(value)
        if owner is None:
            return ""
        if owner.name == "arith.select" and (found := _mask(generic, owner)):
            return found
        value = _only_variable(owner)
        if value is None:
            return ""


def masked_value(value: Any) -> Any | None:
    """The select that `mask_of` found, and its constant, from the value that is stored; by the same way back."""
    while (owner := _owner(value)) is not None:
        if owner.name == "arith.select":
            fills = [each for each in list(owner.operands)[1:] if _is_constant(each)]
            compare = _owner(owner.operands[0])
            if len(fills) == 1 and compare is not None and compare.name == "arith.cmpi":
                return owner.results[0], fills[0]
        value = _only_variable(owner)
        if value is None:
            return None
    return None


def _only_variable(operation: Any) -> Any | None:
    """The operand of arithmetic whose others are constants."""
    if not operation.name.startswith(("arith.", "math.")) or len(operation.results) != 1:
        return None
    found = [each for each in operation.operands if not _is_constant(each)]
    return found[0] if len(found) == 1 else None


def _mask(generic: Generic, select: Any) -> str:
    condition, then, otherwise = select.operands
    compare, (*_, m, n) = _owner(condition), range(len(generic.parallel))
    if compare is None or compare.name != "arith.cmpi" or _is_constant(then) == _is_constant(otherwise):
        return ""
    places, predicate = [_place(generic, value) for value in compare.operands], _predicate(compare)
    if sorted(places) != [m, n] or predicate not in (*_GREATER, *_LESS):
        return ""
    greater = (predicate in _GREATER) == (places[0] == n)
    return "n>m" if greater == _is_constant(then) else "n<m"


def _is_constant(value: Any) -> bool:
    owner = _owner(value)
    return owner is not None and owner.name == "arith.constant"


def _place(generic: Generic, value: Any) -> int:
    """The loop that a value is the position along; -1 for other values."""
    while (owner := _owner(value)) is not None and owner.name in _EXTENDING:
        value = owner.operands[0]
    arguments = list(generic.body.arguments)
    if value not in arguments:
        return -1
    number = arguments.index(value)
    memory = generic.operands[number]
    along = [getattr(each, "position", -1) for each in generic.maps[number].results]
    if not positions.is_position(memory) or len(along) != 1 or memory.type.get_strides_and_offset() != ([1], 0):
        return -1
    return along[0]


def _is_zero(value: Any) -> bool:
    owner = _owner(value)
    if owner is None or owner.name != "arith.constant":
        return False
    attribute = owner.attributes["value"]
    return isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr)) and attribute.value == 0


def _loops(product: Product, number: int) -> list[int]:
    return [getattr(each, "position", -1) for each in product.generic.maps[number].results]
