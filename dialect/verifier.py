"""How the tile dialect's operations verify themselves.

An operation's class says beside its operands what must hold: a rule, which looks at the operation, and a kind for each
attribute. MLIR asks wherever it verifies: when text is parsed, when a pass manager has run a pass, and in
`module.operation.verify()`. A rule gives the reason why an operation is wrong, with what would be right, and an empty
text where nothing is.

MLIR asks before it has looked at the operation's signature, so that is looked at here first.
"""

from __future__ import annotations

import difflib
import functools
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from mlir_gemm.dialect.bindings import ir

Rule = Callable[[Any], str]
"""From an operation to what is wrong with it; empty where nothing is."""


@dataclass(frozen=True)
class Kind:
    """What an attribute may be."""

    accepts: Callable[[Any], bool]
    wanted: str


def verifier(*rules: Rule, **attributes: Kind) -> Any:
    """The `verify_invariants` of an operation's class: its signature, the attributes that it may have, then its rules
    in order. Those with a dot in their name belong to others, and are left alone."""

    def verify(view: Any) -> bool:
        if _trusted.depth:
            return True
        op = view.operation
        try:
            signature = _signature_of(view.__class__)
            reason = signature.wrong(op) or _attributes(op, signature, attributes) or first(op, *rules)
        except Exception as error:  # it would unwind through MLIR, which is built without exceptions
            reason = f"cannot be verified, which is a bug: {type(error).__name__}: {error}"
        if reason:
            op.location.emit_error(f"'{op.name}': {reason}")
        return not reason

    return staticmethod(verify)


class _Trusted(threading.local):
    depth = 0


_trusted = _Trusted()


@contextmanager
def trusted() -> Generator[None]:
    """Inside, the rules of the dialect's operations are not asked: for what upstream's passes are given, to which they
    are operations like any other."""
    _trusted.depth += 1
    try:
        yield
    finally:
        _trusted.depth -= 1


def first(op: Any, *rules: Rule) -> str:
    """What the first rule that an operation breaks says."""
    return next((reason for rule in rules if (reason := rule(op))), "")


_SEGMENTS, _RESULT_SEGMENTS = "operandSegmentSizes", "resultSegmentSizes"
_MANY = 2
"""irdl's number for operands of which there may be any number."""


@dataclass(frozen=True)
class _Signature:
    """What an operation's class says of its operands, results and attributes: its fields of each kind."""

    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    attributes: tuple[str, ...]
    """The names of those that must be there."""

    def wrong(self, op: Any) -> str:
        """What does not agree with it: how many there are, where an index is expected, and where one type variable says
        that types are the same."""
        known: dict[Any, tuple[str, Any]] = {}
        for kind, wanted, values in (("operand", self.operands, op.operands), ("result", self.results, op.results)):
            least, count = len(wanted), len(values)
            many = _many(wanted)
            if count < least - many or (count > least and not many):
                return f"has {counted(count, kind)}; expected {', '.join(field.name for field in wanted) or 'none'}"
            for place, value in enumerate(values):
                field = wanted[min(place, least - 1)]
                if field.constraint is ir.IndexType:
                    if not isinstance(value.type, ir.IndexType):
                        return f"{field.name} is {value.type}; expected index"
                elif isinstance(field.constraint, TypeVar):
                    name, type_ = known.setdefault(field.constraint, (field.name, value.type))
                    if value.type != type_:
                        return f"{name} is {type_} and {field.name} is {value.type}; expected the same type"
        return ""

    def segments(self, op: Any, given: Any) -> str:
        """What is wrong with the lengths of the operands' parts."""
        return _lengths(_SEGMENTS, given, self.operands, len(op.operands))

    def result_segments(self, op: Any, given: Any) -> str:
        """What is wrong with the lengths of the results' parts."""
        return _lengths(_RESULT_SEGMENTS, given, self.results, len(op.results))


def _lengths(name: str, given: Any, fields: tuple[Any, ...], values: int) -> str:
    many = _many(fields)
    single = len(fields) - many
    right = [*([1] * single), values - single, *([0] * (many - 1))]
    if isinstance(given, ir.DenseI32ArrayAttr):
        own = list(given)
        if own[:single] == right[:single] and len(own) == len(right) and min(own) >= 0 and sum(own) == values:
            return ""
    such = ", or others of the same sum" if many > 1 else ""
    return f"{name} = {given}; expected array<i32: {', '.join(map(str, right))}>{such}"


def _many(fields: tuple[Any, ...]) -> int:
    """How many of some operands, the last ones, stand for any number of them."""
    return sum(field.variadicity.value == _MANY for field in fields)


@functools.cache
def _signature_of(class_: Any) -> _Signature:
    def of_kind(kind: str) -> tuple[Any, ...]:
        return tuple(field for field in class_._fields if type(field).__name__ == f"{kind}Def")

    return _Signature(of_kind("Operand"), of_kind("Result"), tuple(each.name for each in of_kind("Attribute")))


def counted(number: int, name: str) -> str:
    """A number of things."""
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


def _attributes(op: Any, signature: _Signature, kinds: dict[str, Kind]) -> str:
    attributes = op.attributes
    names = list(attributes)
    for name in names:
        if name in kinds:
            if not kinds[name].accepts(attributes[name]):
                return f"{name} = {attributes[name]}; expected {kinds[name].wanted}"
        elif name == _SEGMENTS and _many(signature.operands):
            if why := signature.segments(op, attributes[name]):
                return why
        elif name == _RESULT_SEGMENTS and _many(signature.results):
            if why := signature.result_segments(op, attributes[name]):
                return why
        elif "." not in name:
            close = difflib.get_close_matches(name, kinds, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            return f"has no attribute '{name}'{hint} (it may have {', '.join(kinds) or 'none'})"
    missing = next((name for name in signature.attributes if name not in names), None)
    return "" if missing is None else f"'{missing}' is missing; expected {kinds[missing].wanted}"


def at_least(least: int) -> Kind:
    """A whole number."""
    return Kind(lambda attribute: is_number(attribute) and attribute.value >= least, f"a number from {least} on (i64)")


def between(least: int, most: int, step: int = 1) -> Kind:
    """A whole number in a range, which `step` divides."""

    def accepts(attribute: Any) -> bool:
        return is_number(attribute) and least <= attribute.value <= most and attribute.value % step == 0

    return Kind(accepts, f"a number from {least} to {most} (i64){f', a multiple of {step}' if step > 1 else ''}")


def is_number(attribute: Any) -> bool:
    """Whether an attribute is a whole number of 64 bits, as one without a type in the text is."""
    return isinstance(attribute, ir.IntegerAttr) and is_integer(attribute.type, 64)


def is_integer(type_: Any, bits: int) -> bool:
    """Whether a type is that of integers of this many bits, which the type gives no sign."""
    return isinstance(type_, ir.IntegerType) and type_.is_signless and type_.width == bits


def word(*choices: str) -> Kind:
    """One of some words, or any where none are given."""

    def accepts(attribute: Any) -> bool:
        return isinstance(attribute, ir.StringAttr) and attribute.value in (choices or (attribute.value or None,))

    return Kind(accepts, " or ".join(f'"{choice}"' for choice in choices) or "a name in quotes")


FLAG = Kind(lambda attribute: isinstance(attribute, ir.UnitAttr), "no value: it is there or not")
NUMBERS = Kind(lambda attribute: isinstance(attribute, ir.DenseI64ArrayAttr), "numbers, such as array<i64: 0, 1>")
TRUTHS = Kind(
    lambda attribute: isinstance(attribute, ir.DenseBoolArrayAttr), "truth values, such as array<i1: true, false>"
)
