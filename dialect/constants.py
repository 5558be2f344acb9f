"""Making and recognising constants."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir


def index(value: int) -> Any:
    """An index constant at the insertion point."""
    return dialect("arith").ConstantOp(ir.IndexType.get(), value).result


def integer(value: int) -> Any:
    """The attribute of a number of 64 bits."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def number(element: Any, value: float | int) -> Any:
    """The attribute of a number of an element type."""
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, float(value))
    return ir.IntegerAttr.get(element, int(value))


def number_of(operation: Any, name: str, otherwise: int = 0) -> int:
    """The integer attribute `name` of an operation, or `otherwise` where it has none."""
    attributes = operation.operation.attributes
    return ir.IntegerAttr(attributes[name]).value if name in attributes else otherwise


def splat(type_: Any, element: Any) -> Any:
    """A vector constant of `type_` with every element equal to the attribute `element`."""
    return dialect("arith").ConstantOp(type_, ir.DenseElementsAttr.get_splat(type_, element)).result


def zero(type_: Any) -> Any:
    """A vector of zeros."""
    return splat(type_, number(ir.VectorType(type_).element_type, 0))


def splat_of(value: Any) -> Any | None:
    """The element of a vector constant whose elements are all equal, as an attribute; else None."""
    owner = value.owner
    if getattr(owner, "name", None) != "arith.constant" or not isinstance(value.type, ir.VectorType):
        return None
    attribute = owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr):  # a resource, which nobody looks into
        return None
    return ir.DenseElementsAttr(attribute).get_splat_value() if attribute.is_splat else None


def integer_of(value: Any) -> int | None:
    """The number that an integer or index constant stands for; None for any other value."""
    owner = value.owner
    if getattr(owner, "name", "") != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def zero_of(type_: Any) -> Any:
    """The attribute of a number, or a vector of numbers, that is zero."""
    element = getattr(type_, "element_type", type_)
    is_float = isinstance(element, ir.FloatType)
    zero = ir.FloatAttr.get(element, 0.0) if is_float else ir.IntegerAttr.get(element, 0)
    return ir.DenseElementsAttr.get_splat(type_, zero) if isinstance(type_, ir.VectorType) else zero
