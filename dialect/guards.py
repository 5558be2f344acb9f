"""Conditions, and doing something only where one holds: an i1 value, or None for a condition that always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir


def less(left: Any, right: Any) -> Any:
    """Whether an index value is less than another, which may be a Python integer; neither is negative."""
    arith = dialect("arith")
    bound = constants.index(right) if isinstance(right, int) else right
    return arith.CmpIOp(arith.CmpIPredicate.ult, left, bound).result


def both(conditions: Sequence[Any | None]) -> Any | None:
    """Whether all conditions hold."""
    result: Any | None = None
    for condition in conditions:
        if condition is not None:
            result = condition if result is None else dialect("arith").AndIOp(result, condition).result
    return result


def do(condition: Any | None, action: Callable[[], None]) -> None:
    """Does something where a condition holds."""
    if condition is None:
        action()
        return
    scf = dialect("scf")
    branch = scf.IfOp(condition)
    with ir.InsertionPoint(branch.then_block):
        action()
        scf.YieldOp([])


def value_or_zero(condition: Any | None, type_: Any, make: Callable[[], Any]) -> Any:
    """A number or vector of `type_` where a condition holds, zero elsewhere."""
    return either(condition, type_, make, lambda: zero(type_))


def either(condition: Any | None, type_: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """One of two numbers or vectors of `type_`: which is built where a condition holds, and which elsewhere."""
    return either_of(condition, [type_], lambda: [then()], lambda: [otherwise()])[0]


def either_of(
    condition: Any | None, types: Sequence[Any], then: Callable[[], list[Any]], otherwise: Callable[[], list[Any]]
) -> list[Any]:  # fmt: skip
    """The same of several."""
    if condition is None:
        return then()
    scf = dialect("scf")
    branch = scf.IfOp(condition, list(types), has_else=True)
    for block, build in ((branch.then_block, then), (branch.else_block, otherwise)):
        with ir.InsertionPoint(block):
            scf.YieldOp(build())
    return list(branch.results)


def zero(type_: Any) -> Any:
    """The zero of a number type or of a vector type."""
    is_vector = isinstance(type_, ir.VectorType)
    element = type_.element_type if is_vector else type_
    whole = isinstance(element, ir.IntegerType)
    attribute = ir.IntegerAttr.get(element, 0) if whole else ir.FloatAttr.get(element, 0.0)
    if is_vector:
        return constants.splat(type_, attribute)
    return dialect("arith").ConstantOp(element, attribute).result
