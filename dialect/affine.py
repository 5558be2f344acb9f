"""Reading and writing affine loops and accesses through the bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.spec.attributes import LEVEL


def level_of(loop: Any) -> str | None:
    """The level that `tile-loops` gave to a loop, or None for any other operation."""
    attributes = loop.operation.attributes
    if LEVEL not in attributes or not isinstance(attributes[LEVEL], ir.StringAttr):
        return None
    return attributes[LEVEL].value


def trip_count(loop: Any) -> int | None:
    """Iterations of an affine.for with constant bounds, else None."""
    lower, upper = (loop.attributes[name].value for name in ("lowerBoundMap", "upperBoundMap"))
    if lower.n_inputs or upper.n_inputs or len(lower.results) != 1 or len(upper.results) != 1:
        return None
    low, high = (map_.results[0].value for map_ in (lower, upper))
    step = ir.IntegerAttr(loop.attributes["step"]).value
    return max(0, -(-(high - low) // step))


def bound_of(loop: Any) -> Any:
    """Iterations of an affine.for from 0 in steps of 1: an integer, or the index value that its upper bound is. None
    for any other loop."""
    if not starts_at_zero_by_one(loop):
        return None
    upper = loop.attributes["upperBoundMap"].value
    if upper.n_inputs != 1 or len(upper.results) != 1:
        return trip_count(loop)
    if not isinstance(upper.results[0], (ir.AffineDimExpr, ir.AffineSymbolExpr)):
        return None
    return loop.operation.operands[0]


def starts_at_zero_by_one(loop: Any) -> bool:
    """Whether a loop with constant bounds runs from 0 in steps of 1."""
    lower = loop.attributes["lowerBoundMap"].value
    if lower.n_inputs or len(lower.results) != 1 or ir.IntegerAttr(loop.attributes["step"]).value != 1:
        return False
    return lower.results[0].value == 0


def perfect_nest(outer: Any) -> list[Any]:
    """`outer` and the affine.for loops perfectly nested in it, outermost first."""
    nest = [outer]
    while True:
        inside = in_block(body(nest[-1]))
        if len(inside) != 2 or inside[0].operation.name != "affine.for":
            return nest
        nest.append(inside[0])


def induction_variable(loop: Any) -> Any:
    """The induction variable of a loop."""
    return body(loop).arguments[0]


def make_for(trips: Any, level: str, iter_args: Sequence[Any] = ()) -> Any:
    """An affine.for from 0 to `trips`, an integer or an index value of the function's block, at the insertion point,
    labelled, without a terminator yet."""
    if isinstance(trips, int):
        loop = dialect("affine").AffineForOp(0, trips, 1, iter_args=list(iter_args))
    else:
        upper = ir.AffineMap.get(0, 1, [ir.AffineSymbolExpr.get(0)])
        loop = dialect("affine").AffineForOp(0, upper, 1, iter_args=list(iter_args), upper_bound_operands=[trips])
    loop.operation.attributes[LEVEL] = ir.StringAttr.get(level)
    return loop


def yield_(values: Sequence[Any] = ()) -> None:
    """The terminator of an affine loop."""
    dialect("affine").AffineYieldOp(list(values))


def apply(map_: Any, operands: Sequence[Any]) -> Any:
    """An affine.apply of a map with one result, or the operand itself when the map is the identity."""
    if map_ == ir.AffineMap.get_identity(1):
        return operands[0]
    return dialect("affine").AffineApplyOp(map_, list(operands)).result


def linear(terms: Sequence[tuple[int, Any]], constant: int = 0) -> Any:
    """An index value: the sum of `coefficient * value` over `terms`, plus `constant`."""
    if not terms:
        return dialect("arith").ConstantOp(ir.IndexType.get(), constant).result
    values = [value for _, value in terms]
    expression = _expression(Linear({value: coefficient for coefficient, value in terms}, constant), values)
    return apply(ir.AffineMap.get(len(terms), 0, [expression]), values)


class Linear:
    """An index as `sum(coefficient * value) + constant`; its values are those that could not be taken apart."""

    def __init__(self, terms: dict[Any, int], constant: int = 0):
        self.terms = {value: coefficient for value, coefficient in terms.items() if coefficient}
        self.constant = constant

    def __add__(self, other: Linear) -> Linear:
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            terms[value] = terms.get(value, 0) + coefficient
        return Linear(terms, self.constant + other.constant)

    def scaled(self, factor: int) -> Linear:
        """This index times `factor`."""
        return Linear({value: c * factor for value, c in self.terms.items()}, self.constant * factor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and (self.terms, self.constant) == (other.terms, other.constant)

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def coefficient(self, value: Any) -> int:
        """What one step of `value` adds."""
        return self.terms.get(value, 0)

    def without(self, values: Sequence[Any]) -> Linear:
        """This index with the terms in `values` left out."""
        return Linear({value: c for value, c in self.terms.items() if value not in values}, self.constant)

    def build(self) -> Any:
        """The index as a value at the insertion point."""
        return linear([(coefficient, value) for value, coefficient in self.terms.items()], self.constant)


def linear_of_expr(expression: Any, operands: Sequence[Linear]) -> Linear | None:
    """An affine expression over operands that are themselves linear; None when it divides, or multiplies two."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Linear({}, expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        position: int = expression.position
        return operands[position]
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    left, right = (linear_of_expr(side, operands) for side in (expression.lhs, expression.rhs))
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return left + right
    if not right.terms:
        return left.scaled(right.constant)
    return right.scaled(left.constant) if not left.terms else None


def linear_of(value: Any) -> Linear:
    """A value as a linear index, looking through affine.apply, arith.constant and arith.addi/muli/subi."""
    owner = value.owner
    name = owner.name if hasattr(owner, "name") else ""
    if name == "arith.constant":
        return Linear({}, ir.IntegerAttr(owner.attributes["value"]).value)
    if name == "affine.apply":
        found = linear_of_expr(owner.attributes["map"].value.results[0], [linear_of(v) for v in owner.operands])
        if found is not None:
            return found
    if name in ("arith.addi", "arith.muli"):
        left, right = (linear_of(v) for v in owner.operands)
        if name == "arith.addi":
            return left + right
        if not left.terms or not right.terms:
            return right.scaled(left.constant) if not left.terms else left.scaled(right.constant)
    return Linear({value: 1})


def access(operation: Any) -> tuple[Any, list[Linear] | None]:
    """The memref and the indices of an affine.load or affine.store; indices None when one is not linear."""
    operands = list(operation.operation.operands)
    position = 0 if operation.operation.name == "affine.load" else 1
    inner = [linear_of(value) for value in operands[position + 1 :]]
    indices = [linear_of_expr(e, inner) for e in operation.attributes["map"].value.results]
    linear_indices = [index for index in indices if index is not None]
    return operands[position], linear_indices if len(linear_indices) == len(indices) else None


def substitute(index: Linear, replacement: dict[Any, Linear]) -> Linear:
    """`index` with some of its values replaced by linear indices."""
    result = Linear({}, index.constant)
    for value, coefficient in index.terms.items():
        result = result + replacement.get(value, Linear({value: 1})).scaled(coefficient)
    return result


def rebuild_access(operation: Any, memory: Any, indices: Sequence[Linear]) -> Any:
    """Replaces an affine.load or affine.store by one of `memory` at `indices`; returns the new operation."""
    values = list(dict.fromkeys(value for index in indices for value in index.terms))
    expressions = [_expression(index, values) for index in indices]
    map_ = ir.AffineMap.get(len(values), 0, expressions)
    old = operation.operation
    with ir.InsertionPoint(old), old.location:
        if old.name == "affine.load":
            new = dialect("affine").AffineLoadOp(old.results[0].type, memory, values, map_)
            old.results[0].replace_all_uses_with(new.result)
        else:
            new = dialect("affine").AffineStoreOp(old.operands[0], memory, values, map_)
    old.erase()
    return new


def _expression(index: Linear, values: Sequence[Any]) -> Any:
    expression: Any = ir.AffineConstantExpr.get(index.constant)
    for value, coefficient in index.terms.items():
        expression = expression + ir.AffineDimExpr.get(values.index(value)) * coefficient
    return expression


def extent_of(value: Any) -> int:
    """Values that an induction variable takes: the trip count of its loop, 0 when that is not known."""
    owner = value.owner.owner if hasattr(value.owner, "operations") else None
    if owner is None or owner.operation.name != "affine.for":
        return 0
    return trip_count(owner.opview) or 0


def limit_of(value: Any) -> Any:
    """What the induction variable of an affine.for from 0 in steps of 1 stays below: an integer or an index value; None
    for any other value."""
    owner = value.owner.owner if hasattr(value.owner, "operations") else None
    if owner is None or owner.operation.name != "affine.for" or value.arg_number:
        return None
    return bound_of(owner.opview)


def furthest(index: Linear) -> int | None:
    """The largest value that an index takes as the loops around it run; None when that is not known."""
    most = index.constant
    for value, coefficient in index.terms.items():
        trips = extent_of(value)
        if not trips:
            return None
        most += max(coefficient, 0) * (trips - 1)
    return most


def is_point(value: Any) -> bool:
    """Whether a value is the induction variable of a point loop."""
    owner = value.owner.owner if hasattr(value.owner, "operations") else None
    return owner is not None and level_of(owner) == "point"
