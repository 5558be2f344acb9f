"""Where an operand of a product is zero, read from how it is computed, or promised by attributes, and where a result is
one number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.products import Factor, Product
from mlir_gemm.dialect.linalg.regions import EXTENDING, holding, owner_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.spec.zeros import Condition, text_of

Promised = Mapping[Any, tuple[Condition, ...]]
"""Where matrices hold zeros by promise, by their memory: conditions on their column (`k`) and row (`m`)."""


def zeros_of(product: Product, promised: Promised) -> str:
    """Where operands are known to be zero, as conditions on k and m, of A, and on k and n, of B; empty where nothing is
    known."""
    if product.algebra is not None or any(len(each) != 1 for each in (product.m, product.n, product.k)):
        return ""
    found: list[Condition] = []
    for factor, name, (across,) in ((product.a, "m", product.m), (product.b, "n", product.n)):
        found += _promised(product, factor, name, across, promised) or _computed(product, factor, name, across)
    return text_of(dict.fromkeys(found))


def _promised(product: Product, factor: Factor, name: str, across: int, promised: Promised) -> list[Condition]:
    """The conditions of a factor that is a matrix of which some are promised."""
    if not factor.plain:
        return []
    number = factor.operands[0]
    conditions, along = promised.get(product.generic.operands[number], ()), _loops(product, number)[-2:]
    if not conditions or sorted(along) != sorted([across, product.k[0]]):
        return []
    return [(each if along[0] == across else each.turned()).other(name) for each in conditions]


def _computed(product: Product, factor: Factor, name: str, across: int) -> list[Condition]:
    """The conditions of a factor that is a number where positions along it compare so, and zero elsewhere."""
    found: list[Condition] = []
    value, names = factor.core, {across: name, product.k[0]: "k"}
    while (select := owner_of(value)) is not None and select.name == "arith.select":
        condition, then, otherwise = select.operands
        if _is_zero(then) == _is_zero(otherwise):
            break
        held = holding(condition, lambda each: _place(product.generic, each), names, "k", _is_zero(otherwise))
        found += held or []
        value = otherwise if _is_zero(then) else then
    return found


def mask_of(generic: Generic) -> str:
    """Where what an elementwise operation computes is one number, as conditions on its last loops, m and n: `n>m` where
    it is in all columns after that of the row. Empty for others."""
    value = generic.yielded[0]
    while True:
        owner = owner_of(value)
        if owner is None:
            return ""
        if owner.name == "arith.select" and (found := _mask(generic, owner)):
            return found
        value = _only_variable(owner)
        if value is None:
            return ""


def masked_value(value: Any) -> Any | None:
    """The select that `mask_of` found, and its constant, from the value that is stored; by the same way back."""
    while (owner := owner_of(value)) is not None:
        if owner.name == "arith.select":
            fills = [each for each in list(owner.operands)[1:] if _is_constant(each)]
            compare = owner_of(owner.operands[0])
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
    *_, m, n = range(len(generic.parallel))
    if _is_constant(then) == _is_constant(otherwise):
        return ""
    names = {m: "m", n: "n"}
    return text_of(holding(condition, lambda each: _place(generic, each), names, "n", _is_constant(otherwise)) or ())


def _is_constant(value: Any) -> bool:
    owner = owner_of(value)
    return owner is not None and owner.name == "arith.constant"


def _place(generic: Generic, value: Any) -> int:
    """The loop that a value is the position along; -1 for other values."""
    while (owner := owner_of(value)) is not None and owner.name in EXTENDING:
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
    owner = owner_of(value)
    if owner is None or owner.name != "arith.constant":
        return False
    attribute = owner.attributes["value"]
    return isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr)) and attribute.value == 0


def _loops(product: Product, number: int) -> list[int]:
    return [getattr(each, "position", -1) for each in product.generic.maps[number].results]
