"""Algebras of products: what takes the place of plus and of times in a sum of products.

An algebra is a text such as `arith.minimumf(c, arith.addf(a, b))`: operations of `arith` and `math`, by MLIR's names,
on `a` and `b`, elements of A and B as the accumulator's type has them, on `c`, what has been combined so far, and on
numbers. The outermost operation is the plus: associative, commutative, with a neutral element. The term that it adds is
the times: any arithmetic. A comparison has the number of its predicate in MLIR: `arith.cmpf:4(a, b)`. The empty
text stands for plus and times of numbers.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from mlir_gemm.spec.element_types import ELEMENT_BYTES

A, B, C = "a", "b", "c"
LEAST, MOST, ZERO, ONE, ALL = "least", "most", "zero", "one", "all"
NEUTRAL = {
    "arith.addf": ZERO, "arith.addi": ZERO, "arith.mulf": ONE, "arith.muli": ONE,
    "arith.maximumf": LEAST, "arith.maxnumf": LEAST, "arith.minimumf": MOST, "arith.minnumf": MOST,
    "arith.maxsi": LEAST, "arith.minsi": MOST, "arith.maxui": ZERO, "arith.minui": ALL,
    "arith.andi": ALL, "arith.ori": ZERO, "arith.xori": ZERO,
}  # fmt: skip
"""What combines: associative and commutative (sums and products of floating-point numbers up to rounding), and the
element that is neutral to it."""
_FLOATS = {
    1: ("arith.negf", *(f"math.{name}" for name in ("absf", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh"))),
    2: ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
        "arith.minnumf", "arith.cmpf"),
}  # fmt: skip
_INTEGERS = {
    1: ("math.absi", "math.ctpop"),
    2: ("arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi",
        "arith.shrui", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.cmpi"),
}  # fmt: skip
_EITHER = {3: ("arith.select",)}
OPERATIONS: Mapping[str, tuple[int, str]] = {
    name: (count, kind)
    for kind, table in (("floating-point numbers", _FLOATS), ("integers", _INTEGERS), ("", _EITHER))
    for count, names in table.items()
    for name in names
}
"""What an algebra may be made of: how many operands each takes, and of what, where it matters."""
COMPARISONS = {"arith.cmpf": 16, "arith.cmpi": 10}
"""Those that compare, and how many predicates they have."""
_TOKEN = re.compile(r"\s*([(),]|[^\s(),]+)")
_OPERATION = re.compile(r"(?:arith|math)\.[a-z0-9_]+(?::\d+)?")

Number = float | int


@dataclass(frozen=True)
class Call:
    """An operation on elements."""

    op: str
    arguments: tuple[Any, ...]
    """Operations, `a`, `b`, `c`, or numbers."""
    predicate: int | None = None
    """Of a comparison."""

    def __str__(self) -> str:
        name = self.op if self.predicate is None else f"{self.op}:{self.predicate}"
        return f"{name}({', '.join(map(str, self.arguments))})"


Term = Call | str | float | int
"""An operation, one of `a`, `b`, `c`, or a number."""


@dataclass(frozen=True)
class Algebra:
    """What combines, and what it combines."""

    plus: str
    """The name of the operation that takes a term in."""
    times: Call
    """The term: arithmetic on `a` and `b`."""

    def __str__(self) -> str:
        return str(Call(self.plus, (C, self.times)))

    def swapped(self) -> Algebra:
        """The same with `a` and `b` exchanged."""
        return Algebra(self.plus, _exchanged(self.times))

    @property
    def operations(self) -> tuple[str, ...]:
        """The names of all operations for one term, the plus last."""
        return (*operations_of(self.times), self.plus)


def _exchanged(call: Call) -> Call:
    names: dict[Term, Term] = {A: B, B: A}
    arguments = (_exchanged(each) if isinstance(each, Call) else names.get(each, each) for each in call.arguments)
    return Call(call.op, tuple(arguments), call.predicate)


@lru_cache(maxsize=256)
def parse(text: str) -> Algebra:
    """The algebra that a text says. Raises ValueError, in words, where it says none."""
    tokens = _TOKEN.findall(text)
    term, rest = _term(tokens)
    if rest:
        raise ValueError(f"'{rest[0]}' after the end of '{text}'")
    if not isinstance(term, Call) or term.op not in NEUTRAL or len(term.arguments) != 2 or term.arguments[0] != C:
        known = ", ".join(NEUTRAL)
        raise ValueError(f"'{text}' does not combine c with a term; expected one of {known} of c and a term")
    times = term.arguments[1]
    if not isinstance(times, Call) or set(leaves(times)) & {A, B, C} != {A, B}:
        raise ValueError(f"the term '{times}' is not computed from a and b; expected operations on both, without c")
    return Algebra(term.op, times)


def _term(tokens: list[str]) -> tuple[Term, list[str]]:
    if not tokens:
        raise ValueError("the text ends where an element or an operation was expected")
    head, *rest = tokens
    if head in (A, B, C):
        return head, rest
    if not _OPERATION.fullmatch(head):
        return _number(head), rest
    if rest[:1] != ["("]:
        raise ValueError(f"'{head}' without arguments; expected '(' after it")
    arguments: list[Term] = []
    while rest and rest[0] in ("(", ","):
        argument, rest = _term(rest[1:])
        arguments.append(argument)
    if rest[:1] != [")"]:
        raise ValueError(f"the arguments of '{head}' do not end; expected ')'")
    name, _, predicate = head.partition(":")
    call = Call(name, tuple(arguments), int(predicate) if predicate else None)
    _check(call)
    return call, rest[1:]


def _check(call: Call) -> None:
    if call.op not in OPERATIONS:
        raise ValueError(f"'{call.op}' is no operation of an algebra; expected one of {', '.join(OPERATIONS)}")
    count, _ = OPERATIONS[call.op]
    if len(call.arguments) != count:
        raise ValueError(f"'{call}' has {len(call.arguments)} arguments; expected {count}")
    most = COMPARISONS.get(call.op, 0)
    if (call.predicate is None) != (most == 0) or (call.predicate or 0) >= most > 0:
        wanted = f"a predicate from 0 to {most - 1}" if most else "no predicate"
        raise ValueError(f"'{call}'; expected {wanted}")


def misfit(algebra: Algebra, is_float: bool) -> str:
    """Why an algebra does not go with floating-point elements, or with integers; empty where it does."""
    wanted = "floating-point numbers" if is_float else "integers"
    wrong = [name for name in algebra.operations if OPERATIONS[name][1] not in ("", wanted)]
    return f"'{wrong[0]}' is an operation on {OPERATIONS[wrong[0]][1]}; the accumulator has {wanted}" if wrong else ""


def _number(text: str) -> Number:
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        raise ValueError(f"'{text}' is no operation of arith or math, no element and no number") from None


def leaves(term: Term) -> Iterator[Term]:
    """The elements and numbers of a term."""
    if isinstance(term, Call):
        for argument in term.arguments:
            yield from leaves(argument)
    else:
        yield term


def operations_of(term: Term) -> tuple[str, ...]:
    """The names of the different operations of a term, each after those that it takes; equal ones are computed once."""
    found: dict[Call, None] = {}

    def visit(each: Term) -> None:
        if isinstance(each, Call):
            for argument in each.arguments:
                visit(argument)
            found[each] = None

    visit(term)
    return tuple(call.op for call in found)


def neutral_number(name: str, element: str) -> Number:
    """The number that changes nothing, for a combining operation and an element type by their names. Integers are as
    signed ones. -0.0 for sums, which keeps the sign of a sum of -0.0."""
    kind = NEUTRAL[name]
    if not element.startswith("i"):
        return {LEAST: -math.inf, MOST: math.inf, ZERO: -0.0, ONE: 1.0}[kind]
    bits = int(element[1:])
    if bits == 1:
        return int(kind in (ONE, ALL))
    return {LEAST: -(1 << (bits - 1)), MOST: (1 << (bits - 1)) - 1, ZERO: 0, ONE: 1, ALL: -1}[kind]


_PYTHON: Any = operator  # its functions take any numbers, which its types do not say


def _count_bits(number: Any) -> int:
    return int(number).bit_count()


_VALUES: Mapping[str, Any] = {
    "arith.addf": _PYTHON.add, "arith.subf": _PYTHON.sub, "arith.mulf": _PYTHON.mul, "arith.addi": _PYTHON.add,
    "arith.subi": _PYTHON.sub, "arith.muli": _PYTHON.mul, "arith.maximumf": max, "arith.maxnumf": max,
    "arith.minimumf": min, "arith.minnumf": min, "arith.maxsi": max, "arith.minsi": min, "arith.andi": _PYTHON.and_,
    "arith.ori": _PYTHON.or_, "arith.xori": _PYTHON.xor, "arith.negf": _PYTHON.neg, "math.absf": abs,
    "math.absi": abs, "math.ctpop": _count_bits,
}  # fmt: skip
"""What some operations give of numbers, where nothing overflows."""


def evaluated(term: Term, values: Mapping[str, Number]) -> Number | None:
    """A term of numbers, None where that is not known here."""
    if isinstance(term, str):
        return values[term]
    if not isinstance(term, Call):
        return term
    arguments = [evaluated(each, values) for each in term.arguments]
    if term.op not in _VALUES or any(each is None or each != each for each in arguments):  # != itself: NaN
        return None
    if term.op == "math.ctpop" and any(each is not None and each < 0 for each in arguments):
        return None
    return _VALUES[term.op](*arguments)


@lru_cache(maxsize=256)
def padding(text: str, a: str, b: str, acc: str) -> tuple[Number, Number] | None:
    """Numbers of the types `a` and `b` whose product changes nothing in the sum, so that A and B can be padded with
    them beyond the end of k; zeros where zeros do. None where none are known.

    That is a product that is neutral to the plus, or of a maximum one that no other product is less than (of a minimum,
    greater): a sum has a product of two elements at least, so that it is no less already. Maxima and minima that pass
    over NaN are left out: a sum may have nothing but NaN.
    """
    algebra = parse(text)
    wanted = [neutral_number(algebra.plus, acc)]
    if not acc.startswith("i") and algebra.plus in _ENDS:
        wanted.append(bounds(algebra.times)[_ENDS[algebra.plus]])
    for number in wanted:
        for left, right in product(_candidates(a), _candidates(b)):
            found = evaluated(algebra.times, {A: left, B: right})
            if found is not None and found == number:
                return left, right
    return None


def is_neutral(text: str, a: str, b: str, acc: str) -> bool:
    """Whether the product of these numbers is neutral to the plus, so that a sum may even consist of nothing else."""
    found, algebra = padding(text, a, b, acc), parse(text)
    return found is not None and evaluated(algebra.times, {A: found[0], B: found[1]}) == neutral_number(
        algebra.plus, acc
    )


_ENDS = {"arith.maximumf": 0, "arith.minimumf": 1}
"""Which bound of its terms a combining operation passes over."""
_ANY = (-math.inf, math.inf)


def bounds(term: Term) -> tuple[float, float]:
    """Numbers that a term of floating-point elements is never below, and never above, where it is no NaN."""
    if not isinstance(term, Call):
        return _ANY if isinstance(term, str) else (float(term), float(term))
    inner = [bounds(each) for each in term.arguments]
    if term.op in ("math.absf", "math.sqrt", "math.exp", "math.exp2"):
        return 0.0, math.inf
    if term.op == "arith.mulf" and term.arguments[0] == term.arguments[1]:
        return 0.0, math.inf
    if term.op == "arith.negf":
        return -inner[0][1], -inner[0][0]
    combine = {"arith.addf": _PYTHON.add, "arith.maximumf": max, "arith.minimumf": min}.get(term.op)
    if combine is None:
        return _ANY
    ends = [combine(one, other) for one, other in zip(*inner, strict=True)]
    return (ends[0], ends[1]) if not any(map(math.isnan, ends)) else _ANY


def _candidates(element: str) -> list[Number]:
    if element.startswith("i"):
        most = (1 << (8 * ELEMENT_BYTES[element] - 1)) - 1
        return [0, 1, -1, most, -most - 1]
    infinite = [math.inf, -math.inf] if element in ("f16", "bf16", "f32", "f64") else []
    return [0.0, *infinite, 1.0]
