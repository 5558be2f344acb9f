"""Arithmetic on complex numbers as arithmetic on their parts, in the bodies of linalg operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error


@dataclass(frozen=True)
class Pair:
    """The parts of a complex number: real values."""

    re: Any
    im: Any


@dataclass(frozen=True)
class Number:
    """A real constant, not yet built."""

    attribute: Any

    def build(self) -> Any:
        """The constant at the insertion point."""
        return ir.Operation.create(
            "arith.constant", results=[self.attribute.type], attributes={"value": self.attribute}
        ).results[0]


def is_complex(type_: Any) -> bool:
    """Whether a type is of complex numbers, or of tensors or memrefs of them."""
    return isinstance(
        getattr(type_, "element_type", type_) if isinstance(type_, ir.ShapedType) else type_, ir.ComplexType
    )


def constant_of(value: Any) -> tuple[Number, Number] | None:
    """The parts of a complex constant."""
    owner = value.owner
    if getattr(owner, "name", "") == "complex.constant":
        re, im = (Number(each) for each in owner.attributes["value"])
        return re, im
    if getattr(owner, "name", "") == "complex.create":
        parts = [getattr(each.owner, "operation", None) for each in owner.operands]
        if all(part is not None and part.name == "arith.constant" for part in parts):
            re, im = (Number(part.attributes["value"]) for part in parts if part is not None)
            return re, im
    return None


def product_of(generic: Generic) -> tuple[Any, Any] | None:
    """The factors of a sum of complex products: values of the body that are computed from different operands."""
    if generic.elementwise or len(generic.outputs) != 1 or not is_complex(generic.outputs[0].type):
        return None
    output = generic.body.arguments[len(generic.inputs)]
    term = added_to(output, generic.yielded[0])
    maker = getattr(getattr(term, "owner", None), "operation", None) if term is not None else None
    if maker is None or maker.name != "complex.mul":
        return None
    left, right = maker.operands
    sides = [operands_of(value, generic) for value in (left, right)]
    if not all(sides) or set(sides[0]) & set(sides[1]):
        return None
    loops = [{each.position for n in side for each in generic.maps[n].results} for side in sides]
    result = {each.position for each in generic.maps[len(generic.inputs)].results}
    reduced = {loop for loop, parallel in enumerate(generic.parallel) if not parallel}
    proper = all(reduced <= each for each in loops) and result <= loops[0] | loops[1]
    return (left, right) if proper else None


def added_to(output: Any, value: Any) -> Any | None:
    """What a complex.add adds to `output`; None where `value` is something else."""
    maker = None if hasattr(value.owner, "operations") else value.owner.operation
    if maker is None or maker.name != "complex.add" or len(list(output.uses)) != 1:
        return None
    terms = [each for each in maker.operands if each != output]
    return terms[0] if len(terms) == 1 else None


def operands_of(value: Any, generic: Generic) -> list[int]:
    """The numbers of the inputs that a value of the body is computed from."""
    arguments = list(generic.body.arguments)
    found: set[int] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each in arguments:
            found.add(arguments.index(each))
        elif not hasattr(each.owner, "operations") and each.owner.operation.block == generic.body:
            pending += list(each.owner.operation.operands)
    return sorted(found)


def evaluate(wanted: Sequence[Any], generic: Generic, known: dict[Any, Any]) -> list[Any]:
    """Values of a body, built at the insertion point from `known`: a complex one as a Pair."""
    return [_value(each, generic, known) for each in wanted]


def _value(value: Any, generic: Generic, known: dict[Any, Any]) -> Any:
    if value in known:
        return known[value]
    constant = constant_of(value)
    if constant is not None:
        known[value] = Pair(*(number.build() for number in constant))
        return known[value]
    op = value.owner.operation
    if op.block != generic.body:
        return value
    operands = [_value(each, generic, known) for each in op.operands]
    if any(isinstance(each, Pair) for each in operands) or is_complex(value.type):
        known[value] = built(op, operands)
        return known[value]
    clone(op, known)
    return known[value]


def built(op: Any, operands: Sequence[Any]) -> Any:
    """What an operation on complex numbers makes of parts and real values, at the insertion point."""
    arith = dialect("arith")
    name = op.name.removeprefix("complex.")
    if op.name == "arith.select":
        test, one, other = operands
        return Pair(arith.SelectOp(test, one.re, other.re).result, arith.SelectOp(test, one.im, other.im).result)
    if name == "create":
        return Pair(*operands)
    first = operands[0]
    if name == "re":
        return first.re
    if name == "im":
        return first.im
    if name == "conj":
        return Pair(first.re, arith.NegFOp(first.im).result)
    if name == "neg":
        return Pair(arith.NegFOp(first.re).result, arith.NegFOp(first.im).result)
    if name in ("add", "sub"):
        make = arith.AddFOp if name == "add" else arith.SubFOp
        return Pair(make(first.re, operands[1].re).result, make(first.im, operands[1].im).result)
    if name == "mul":
        other = operands[1]
        re = arith.SubFOp(arith.MulFOp(first.re, other.re).result, arith.MulFOp(first.im, other.im).result).result
        im = arith.AddFOp(arith.MulFOp(first.re, other.im).result, arith.MulFOp(first.im, other.re).result).result
        return Pair(re, im)
    if name in ("div", "abs", "eq", "neq"):
        return _of_both(name, first, operands[1:])
    known = "add, sub, mul, div, neg, conj, abs, eq, neq, re, im, create, constant, or arith.select"
    raise input_error(op, f"'{op.name}' on complex numbers; expected {known}")


def _of_both(name: str, first: Pair, others: Sequence[Any]) -> Any:
    """Quotients, magnitudes and comparisons."""
    arith = dialect("arith")
    if name == "abs":
        return _magnitude(first)
    (other,) = others
    if name == "div":
        return _quotient(first, other)
    predicate = arith.CmpFPredicate.OEQ if name == "eq" else arith.CmpFPredicate.UNE
    tests = [arith.CmpFOp(predicate, one, two).result for one, two in ((first.re, other.re), (first.im, other.im))]
    return (arith.AndIOp if name == "eq" else arith.OrIOp)(*tests).result


def _magnitude(number: Pair) -> Any:
    """The larger part times a root, which neither overflows nor vanishes where the magnitude does not. Infinite where a
    part is, as C's hypot."""
    arith, math = dialect("arith"), dialect("math")
    re, im = (math.AbsFOp(each).result for each in (number.re, number.im))
    most, least = arith.MaximumFOp(re, im).result, arith.MinimumFOp(re, im).result
    zero, one = (arith.ConstantOp(re.type, value).result for value in (0.0, 1.0))
    infinite = arith.ConstantOp(re.type, float("inf")).result
    ratio = arith.DivFOp(least, most).result
    root = math.SqrtOp(arith.AddFOp(arith.MulFOp(ratio, ratio).result, one).result).result
    found = arith.MulFOp(most, root).result
    equal = arith.CmpFPredicate.OEQ
    found = arith.SelectOp(arith.CmpFOp(equal, most, zero).result, zero, found).result
    tests = [arith.CmpFOp(equal, each, infinite).result for each in (re, im)]
    return arith.SelectOp(arith.OrIOp(*tests).result, infinite, found).result


def _quotient(one: Pair, other: Pair) -> Pair:
    """Smith's: the smaller part of the divisor is divided by the larger one, so that no square overflows. A quotient by
    zero is NaN."""
    arith, math = dialect("arith"), dialect("math")
    sizes = [math.AbsFOp(each).result for each in (other.re, other.im)]
    real = arith.CmpFOp(arith.CmpFPredicate.OGE, *sizes).result

    def chosen(first: Any, second: Any) -> Any:
        return arith.SelectOp(real, first, second).result

    most, least = chosen(other.re, other.im), chosen(other.im, other.re)
    ratio = arith.DivFOp(least, most).result
    below = arith.AddFOp(most, arith.MulFOp(least, ratio).result).result
    re, im = one.re, one.im
    weak_re, weak_im = (arith.MulFOp(each, ratio).result for each in (re, im))
    re_above = arith.AddFOp(chosen(re, weak_re), chosen(weak_im, im)).result
    im_above = arith.SubFOp(chosen(im, weak_im), chosen(weak_re, re)).result
    return Pair(arith.DivFOp(re_above, below).result, arith.DivFOp(im_above, below).result)
