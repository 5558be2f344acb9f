"""Algebras of products (`spec/algebra.py`) in IR: reading one off the body of a loop, and building it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.spec.algebra import COMPARISONS, NEUTRAL, OPERATIONS, A, Algebra, B, C, Call, Term

MakerOf = Callable[[Any], Any]
"""The operation of a body that computes a value; None where the value is read, or comes from outside."""
LeavesOf = Callable[[Any], frozenset[Any]]
"""What a value of a body is computed from: arguments, or loads."""


@dataclass(frozen=True)
class Reading:
    """A sum of products by an algebra, as a body computes it."""

    algebra: Algebra
    a: Any
    """The value of the body that is its `a`."""
    b: Any


def read(combiner: Any, so_far: Any, maker_of: MakerOf, leaves_of: LeavesOf) -> Reading | str:
    """The algebra by which an operation combines `so_far` with arithmetic on two values that have nothing in common;
    what is missing, in words, where it does not. Which of the two is `a` is told by the order of the arithmetic."""
    if combiner.name not in NEUTRAL:
        return f"'{combiner.name}' is no operation that combines in any order"
    terms = [value for value in combiner.operands if value != so_far]
    if len(terms) != 1:
        return "it does not combine one term with what it has so far"
    reader = _Reader(maker_of, leaves_of, terms[0].type)
    pair = reader.pair(terms[0])
    if pair is None:
        return "what it combines is not computed from two operands"
    reader.names = dict(zip(pair, (A, B), strict=True))
    times = reader.term(terms[0])
    if not isinstance(times, Call):
        return f"what it combines, {terms[0].owner.name if times is None else times}, is no arithmetic on two operands"
    return Reading(Algebra(combiner.name, times), *pair)


@dataclass
class _Reader:
    maker_of: MakerOf
    leaves_of: LeavesOf
    type_: Any
    """Of the elements."""
    names: dict[Any, str] = field(default_factory=dict[Any, str])

    def pair(self, value: Any) -> tuple[Any, Any] | None:
        """The first two operands on the way down that are computed from different things."""
        maker = self.maker_of(value)
        if maker is None:
            return None
        operands = [each for each in maker.operands if self.leaves_of(each)]
        if len(operands) == 2 and not self.leaves_of(operands[0]) & self.leaves_of(operands[1]):
            return operands[0], operands[1]
        return next((found for each in operands if (found := self.pair(each)) is not None), None)

    def term(self, value: Any) -> Term | None:
        """A value as a term, None where it is none."""
        if value in self.names:
            return self.names[value] if value.type == self.type_ else None
        constant = _number_of(value)
        if constant is not None:
            return constant
        maker = self.maker_of(value)
        if maker is None or maker.name not in OPERATIONS or _changes_type(maker):
            return None
        arguments = [self.term(each) for each in maker.operands]
        if any(each is None for each in arguments):
            return None
        predicate = ir.IntegerAttr(maker.attributes["predicate"]).value if "predicate" in maker.attributes else None
        return Call(maker.name, tuple(each for each in arguments if each is not None), predicate)


def _number_of(value: Any) -> float | int | None:
    if getattr(value.owner, "name", "") != "arith.constant":
        return None
    attribute = value.owner.attributes["value"]
    if isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr)) and attribute.type != ir.IntegerType.get_signless(1):
        return attribute.value
    return None


def _changes_type(maker: Any) -> bool:
    """Whether an operation is anything but arithmetic in one type, a comparison or a choice."""
    if len(maker.results) != 1 or not len(maker.operands):
        return True
    if maker.name in COMPARISONS:
        return False
    return any(operand.type != maker.results[0].type for operand in list(maker.operands)[maker.name == _CHOICE :])


_CHOICE = "arith.select"


def build(algebra: Algebra, a: Any, b: Any, c: Any) -> Any:
    """`c` combined with the algebra's term of `a` and `b`, numbers or vectors of one shape, at the insertion point."""
    made: dict[Call, Any] = {}
    values: Mapping[str, Any] = {A: a, B: b, C: c}
    times = algebra.times
    if algebra.plus == "arith.addf" and times.op == "arith.mulf" and isinstance(c.type, ir.VectorType):
        factors = [_built(each, values, made) for each in times.arguments]
        return dialect("vector").FMAOp(*factors, c).result
    return _built(Call(algebra.plus, (C, times)), values, made)


def _built(term: Term, values: Mapping[str, Any], made: dict[Call, Any]) -> Any:
    if isinstance(term, str):
        return values[term]
    if not isinstance(term, Call):
        return _constant(values[A].type, term)
    if term not in made:
        made[term] = _operation(term, [_built(each, values, made) for each in term.arguments])
    return made[term]


def _operation(term: Call, arguments: list[Any]) -> Any:
    type_ = arguments[0].type
    if term.op == "math.ctpop" and isinstance(type_, ir.VectorType):
        # LLVM would make a dozen instructions of a vector's, and one of a number's.
        vector, places = dialect("vector"), range(type_.shape[0])
        numbers = [vector.ExtractOp(arguments[0], [], [place]).result for place in places]
        return vector.FromElementsOp(type_, [_operation(term, [number]) for number in numbers]).result
    return ir.Operation.create(
        term.op, results=[_result_type(term.op, arguments)], operands=arguments, attributes=_attributes(term)
    ).results[0]


def _attributes(term: Call) -> dict[str, Any]:
    if term.predicate is None:
        return {}
    return {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), term.predicate)}


def _result_type(name: str, arguments: list[Any]) -> Any:
    type_ = arguments[-1].type
    if name not in COMPARISONS:
        return type_
    truth = ir.IntegerType.get_signless(1)
    return ir.VectorType.get(list(type_.shape), truth) if isinstance(type_, ir.VectorType) else truth


def _constant(type_: Any, number: float | int) -> Any:
    vector = isinstance(type_, ir.VectorType)
    element = type_.element_type if vector else type_
    attribute = constants.number(element, number)
    if vector:
        return constants.splat(type_, attribute)
    return ir.Operation.create("arith.constant", results=[element], attributes={"value": attribute}).results[0]
