"""Loops of a source, of the dialects affine and scf, and indices computed from their induction variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.affine import Linear, linear_of_expr
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body

LOOPS = ("affine.for", "affine.parallel", "scf.for", "scf.parallel", "scf.forall")
BRANCHES = ("affine.if", "scf.if", "scf.while", "scf.index_switch", "scf.execute_region")


@dataclass(eq=False)
class Loop:
    """One loop that counts from 0 in steps of 1; the induction variable is a linear function of it."""

    op: Any
    trips: int
    """How often it runs; 0 where only `extent` is known."""
    extent: tuple[Any, int] | None = None
    """Where its number of trips is known at run time only: the memref whose size it is, and of which dimension."""
    parallel: bool = False
    """Whether the operation says that its iterations do not depend on each other."""

    @property
    def name(self) -> str:
        """How a message calls it."""
        return f"'{self.op.name}'"


@dataclass
class Indices:
    """What index values are, as linear functions of the loops around them."""

    known: dict[Any, Linear]

    def of(self, value: Any) -> Linear | None:
        """A value as a sum of loops times numbers; None for any other."""
        if value in self.known:
            return self.known[value]
        found = self._computed(value)
        if found is not None:
            self.known[value] = found
        return found

    def through(self, map_: Any, operands: Sequence[Any]) -> list[Linear | None]:
        """The results of an affine map of some values."""
        given = [self.of(value) for value in operands]
        return [_of_expr(expression, given, map_.n_dims) for expression in map_.results]

    def _computed(self, value: Any) -> Linear | None:
        owner = value.owner
        name = getattr(owner, "name", "")
        if name == "arith.constant":
            number = constants.integer_of(value)
            return None if number is None else Linear({}, number)
        if name == "affine.apply":
            return self.through(owner.attributes["map"].value, owner.operands)[0]
        if name in _CASTS:
            found = self.of(owner.operands[0])
            return found if found is not None and _fits(found, owner.operands[0].type, name) else None
        if name not in ("arith.addi", "arith.subi", "arith.muli"):
            return None
        left, right = (self.of(each) for each in owner.operands)
        if left is None or right is None:
            return None
        if name != "arith.muli":
            return left + right.scaled(1 if name == "arith.addi" else -1)
        if left.terms and right.terms:
            return None
        return left.scaled(right.constant) if not right.terms else right.scaled(left.constant)


_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")
_ENOUGH = 32
"""Bits of integers that hold every index into a size known at run time only."""


def limits(index: Linear) -> tuple[int, int] | None:
    """The least and the greatest value that an index takes; None where a loop's trips are not known."""
    if any(loop.extent is not None for loop in index.terms):
        return None
    spans = [step * (loop.trips - 1) for loop, step in index.terms.items()]
    return index.constant + sum(min(span, 0) for span in spans), index.constant + sum(max(span, 0) for span in spans)


def _fits(index: Linear, type_: Any, cast: str) -> bool:
    """Whether an integer that is extended has not wrapped: a type holds all that the index takes."""
    if isinstance(type_, ir.IndexType):
        return True
    found = limits(index)
    if found is None:
        return type_.width >= _ENOUGH
    least = 0 if cast.endswith("ui") else -(1 << (type_.width - 1))
    return least <= found[0] and found[1] < 1 << (type_.width - 1)


def _of_expr(expression: Any, given: Sequence[Linear | None], dims: int) -> Linear | None:
    """An affine expression of values, its symbols after its dimensions."""
    if isinstance(expression, ir.AffineSymbolExpr):
        symbol: int = expression.position
        return given[dims + symbol]
    if isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        left, right = (_of_expr(side, given, dims) for side in (expression.lhs, expression.rhs))
        if left is None or right is None:
            return None
        if isinstance(expression, ir.AffineAddExpr):
            return left + right
        if left.terms and right.terms:
            return None
        return left.scaled(right.constant) if not right.terms else right.scaled(left.constant)
    if isinstance(expression, ir.AffineDimExpr):
        position: int = expression.position
        return given[position]
    return linear_of_expr(expression, [])


def read_loop(op: Any, indices: Indices) -> list[Loop]:
    """The loops that an operation is, whose induction variables `indices` then knows.

    Raises InputError for bounds and steps that are not constants; an upper bound may be a memref.dim.
    """
    read = {
        "affine.for": _affine_for, "scf.for": _scf_for, "affine.parallel": _affine_parallel,
        "scf.parallel": _scf_parallel, "scf.forall": _scf_forall,
    }[op.name]  # fmt: skip
    found: list[Loop] = []
    for variable, (lower, upper, step) in zip(body(op).arguments, read(op, indices), strict=False):
        loop = _loop(op, lower, upper, step)
        found.append(loop)
        indices.known[variable] = Linear({loop: step}, lower)
    return found


Bounds = list[tuple[int, "int | tuple[Any, int]", int]]
"""For each loop its first index, the one after its last (or which size that is), and its step."""


def _loop(op: Any, lower: int, upper: int | tuple[Any, int], step: int) -> Loop:
    parallel = op.name in ("affine.parallel", "scf.parallel", "scf.forall")
    if step < 1:
        raise input_error(op, f"'{op.name}' in steps of {step}; expected 1 or more")
    if isinstance(upper, int):
        return Loop(op, max(0, -(-(upper - lower) // step)), None, parallel)
    if lower or step != 1:
        raise input_error(
            op, f"'{op.name}' from {lower} in steps of {step} up to a size known at run time only; expected 0 and 1"
        )
    return Loop(op, 0, upper, parallel)


def _bound(op: Any, value: Any, indices: Indices, what: str) -> int | tuple[Any, int]:
    """A bound that a value is: a number, or a size of a memref."""
    found = indices.of(value)
    if found is not None and not found.terms:
        return found.constant
    size = _size(value)
    if size is None or what != "upper bound":
        raise _not_constant(op, what, varies=found is not None)
    return size


def _not_constant(op: Any, what: str, *, varies: bool) -> Exception:
    why = "changes with the loops around it" if varies else "is computed"
    more = " or a memref.dim" if what == "upper bound" else ""
    return input_error(op, f"the {what} of '{op.name}' {why}; expected a constant{more}")


def _size(value: Any) -> tuple[Any, int] | None:
    """The memref and the dimension whose size a value is."""
    owner = value.owner
    if getattr(owner, "name", "") != "memref.dim":
        return None
    axis = constants.integer_of(owner.operands[1])
    return None if axis is None else (owner.operands[0], axis)


def _affine_bound(op: Any, map_: Any, operands: Sequence[Any], indices: Indices, what: str) -> int | tuple[Any, int]:
    if len(map_.results) != 1:
        raise input_error(op, f"the {what} of '{op.name}' is the minimum or maximum of several; expected one constant")
    expression = map_.results[0]
    if isinstance(expression, ir.AffineSymbolExpr):
        return _bound(op, operands[map_.n_dims + expression.position], indices, what)
    if isinstance(expression, ir.AffineDimExpr):
        return _bound(op, operands[expression.position], indices, what)
    found = indices.through(map_, operands)[0]
    if found is None or found.terms:
        raise _not_constant(op, what, varies=found is not None)
    return found.constant


def _affine_for(op: Any, indices: Indices) -> Bounds:
    lower, upper = (op.attributes[f"{side}BoundMap"].value for side in ("lower", "upper"))
    operands = list(op.operands)
    first = _affine_bound(op, lower, operands[: lower.n_inputs], indices, "lower bound")
    last = _affine_bound(op, upper, operands[lower.n_inputs : lower.n_inputs + upper.n_inputs], indices, "upper bound")
    assert isinstance(first, int)  # only upper bounds may be sizes
    return [(first, last, ir.IntegerAttr(op.attributes["step"]).value)]


def _affine_parallel(op: Any, indices: Indices) -> Bounds:
    attributes = op.attributes
    lower, upper = (attributes[f"{side}BoundsMap"].value for side in ("lower", "upper"))
    steps = [ir.IntegerAttr(step).value for step in attributes["steps"]]
    operands = list(op.operands)
    first = indices.through(lower, operands[: lower.n_inputs])
    last = indices.through(upper, operands[lower.n_inputs :])
    if len(first) != len(steps) or len(last) != len(steps):
        raise input_error(op, "a bound of 'affine.parallel' is the minimum or maximum of several; expected constants")
    found: Bounds = []
    for low, high, step in zip(first, last, steps, strict=True):
        if low is None or high is None or low.terms or high.terms:
            raise _not_constant(op, "bounds", varies=False)
        found.append((low.constant, high.constant, step))
    return found


def _scf_for(op: Any, indices: Indices) -> Bounds:
    lower, upper, step = op.operands[0], op.operands[1], op.operands[2]
    return [_scf_bounds(op, (lower, upper, step), indices)]


def _scf_bounds(op: Any, given: Sequence[Any], indices: Indices) -> tuple[int, int | tuple[Any, int], int]:
    names = ("lower bound", "upper bound", "step")
    first, last, by = (_bound(op, value, indices, what) for value, what in zip(given, names, strict=True))
    assert isinstance(first, int) and isinstance(by, int)  # only upper bounds may be sizes
    return first, last, by


def _scf_parallel(op: Any, indices: Indices) -> Bounds:
    count = len(body(op).arguments)
    given = list(op.operands)
    return [_scf_bounds(op, given[number : 3 * count : count], indices) for number in range(count)]


def _scf_forall(op: Any, indices: Indices) -> Bounds:
    dynamic = iter(op.operands)
    marker = ir.ShapedType.get_dynamic_size()
    found: list[list[int | tuple[Any, int]]] = []
    for name, what in (("LowerBound", "lower bound"), ("UpperBound", "upper bound"), ("Step", "step")):
        found.append([_bound(op, next(dynamic), indices, what) if each == marker else each
                      for each in ir.DenseI64ArrayAttr(op.attributes[f"static{name}"])])  # fmt: skip
    return [(low, high, by) for low, high, by in zip(*found, strict=True)
            if isinstance(low, int) and isinstance(by, int)]  # fmt: skip
