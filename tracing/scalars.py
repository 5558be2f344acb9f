"""Elements that a Python function computes with while it is traced: each operation on them becomes one of MLIR.

Numbers meet as NumPy's do: of two types the wider one, of a whole and a floating-point number the latter; f16 and bf16
meet in f32. Python's own numbers take the type of what they meet, but a fraction makes f32 of whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.tracing.element_names import (
    TRUTH,
    element_name,
    is_complex,
    is_float,
    literal,
    location,
    part_of,
    refuse,
)

Numeral = int | float | bool | complex
UFUNCS: dict[str, Callable[..., Any]] = {}
"""What NumPy's ufuncs of an element become, by name (`numpy_functions.py`)."""
FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""The same of functions that are not ufuncs."""


@dataclass
class Trace:
    """The operations of a region, in order."""

    lines: list[str] = field(default_factory=list[str])
    values: int = 0

    def emit(self, operation: str, signature: str, type_: str) -> Scalar:
        """Adds an operation, written as MLIR writes it: its name and operands, and what follows the colon, if that is
        there."""
        name = f"%v{self.values}"
        self.values += 1
        self.lines.append(f"{name} = {operation}{' : ' if signature else ''}{signature}{location()}")
        return Scalar(self, name, type_)

    def constant(self, number: Numeral, type_: str) -> Scalar:
        """A number as an element."""
        if is_complex(type_):
            part, whole = part_of(type_), complex(number)
            parts = ", ".join(f"{literal(each, part)} : {part}" for each in (whole.real, whole.imag))
            return self.emit(f"complex.constant [{parts}]", type_, type_)
        if isinstance(number, complex):
            refuse(f"{number} with {type_}; expected a real number, or complex arrays")
        if type_ == TRUTH:
            return self.emit(f"arith.constant {'true' if number else 'false'}", "", type_)
        if is_float(type_):
            return self.emit(f"arith.constant {literal(float(number), type_)}", type_, type_)
        if int(number) != number:
            refuse(f"{number} is not a whole number, and {type_} has only those")
        return self.emit(f"arith.constant {int(number)}", type_, type_)


@dataclass(frozen=True, eq=False)
class Scalar:
    """One element, somewhere: a value of MLIR."""

    trace: Trace
    name: str
    type: str
    """Its type, by MLIR's name."""

    __hash__ = object.__hash__

    def astype(self, dtype: Any) -> Scalar:
        """The element in another type, by MLIR's, NumPy's or PyTorch's name, or a type of theirs."""
        return cast_to(self, element_name(dtype))

    @property
    def real(self) -> Scalar:
        """The real part; of a real element itself."""
        return self._part("re") if is_complex(self.type) else self

    @property
    def imag(self) -> Scalar:
        """The imaginary part of a complex element."""
        return self._part("im") if is_complex(self.type) else self * 0

    def conjugate(self) -> Scalar:
        """The conjugate; of a real element itself."""
        return self.trace.emit(f"complex.conj {self.name}", self.type, self.type) if is_complex(self.type) else self

    conj = conjugate

    def _part(self, name: str) -> Scalar:
        return self.trace.emit(f"complex.{name} {self.name}", self.type, part_of(self.type))

    def __add__(self, other: Any) -> Scalar:
        return arithmetic("add", self, other)

    def __radd__(self, other: Any) -> Scalar:
        return arithmetic("add", other, self)

    def __sub__(self, other: Any) -> Scalar:
        return arithmetic("sub", self, other)

    def __rsub__(self, other: Any) -> Scalar:
        return arithmetic("sub", other, self)

    def __mul__(self, other: Any) -> Scalar:
        return arithmetic("mul", self, other)

    def __rmul__(self, other: Any) -> Scalar:
        return arithmetic("mul", other, self)

    def __truediv__(self, other: Any) -> Scalar:
        return divided(self, other)

    def __rtruediv__(self, other: Any) -> Scalar:
        return divided(other, self)

    def __floordiv__(self, other: Any) -> Scalar:
        return floor_divided(self, other)

    def __rfloordiv__(self, other: Any) -> Scalar:
        return floor_divided(other, self)

    def __mod__(self, other: Any) -> Scalar:
        return self - floor_divided(self, other) * other

    def __rmod__(self, other: Any) -> Scalar:
        return other - floor_divided(other, self) * self

    def __pow__(self, other: Any) -> Scalar:
        return power(self, other)

    def __neg__(self) -> Scalar:
        if is_complex(self.type):
            return self.trace.emit(f"complex.neg {self.name}", self.type, self.type)
        if is_float(self.type):
            return self.trace.emit(f"arith.negf {self.name}", self.type, self.type)
        return 0 - self

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        if is_complex(self.type):
            return self._part("abs")
        return self.trace.emit(f"math.abs{'f' if is_float(self.type) else 'i'} {self.name}", self.type, self.type)

    def __and__(self, other: Any) -> Scalar:
        return bitwise("andi", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Scalar:
        return bitwise("ori", self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Scalar:
        return bitwise("xori", self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Scalar:
        return bitwise("xori", self, True if self.type == TRUTH else -1)

    def __lshift__(self, other: Any) -> Scalar:
        return bitwise("shli", self, other)

    def __rshift__(self, other: Any) -> Scalar:
        return bitwise("shrsi", self, other)

    def __lt__(self, other: Any) -> Scalar:
        return compared("lt", self, other)

    def __le__(self, other: Any) -> Scalar:
        return compared("le", self, other)

    def __gt__(self, other: Any) -> Scalar:
        return compared("gt", self, other)

    def __ge__(self, other: Any) -> Scalar:
        return compared("ge", self, other)

    def __eq__(self, other: object) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        return compared("eq", self, other)

    def __ne__(self, other: object) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        return compared("ne", self, other)

    def __bool__(self) -> NoReturn:
        refuse("whether this holds is known for each element only when the kernel runs, so that `if`, `and`, `or`, "
               "`not`, `min` and `max` cannot ask; use numpy.where, &, |, ~, numpy.minimum, numpy.maximum")  # fmt: skip

    def __float__(self) -> NoReturn:
        refuse("this element has no value yet, so that functions of `math` cannot take it; numpy's do")

    __int__ = __index__ = __complex__ = __float__

    def __iter__(self) -> NoReturn:
        refuse("this is one element, and has no others in it")

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or function.__name__ not in UFUNCS:
            known = ", ".join(sorted(UFUNCS))
            refuse(f"numpy.{function.__name__} of an element is not known; expected one of {known}")
        return UFUNCS[function.__name__](*inputs)

    def __array_function__(self, function: Any, _: Any, arguments: Any, options: Any) -> Any:
        if function.__name__ not in FUNCTIONS or options:
            known = ", ".join(sorted(FUNCTIONS))
            refuse(f"numpy.{function.__name__} of an element is not known; expected {known}, or a ufunc")
        return FUNCTIONS[function.__name__](*arguments)


def only_real(*values: Scalar) -> None:
    """Refuses complex elements."""
    if any(is_complex(value.type) for value in values):
        refuse(
            "complex elements have only sums, differences, products, quotients, -x, abs(x), x.conjugate(), "
            "x.real and x.imag"
        )


def together(left: Any, right: Any) -> tuple[Scalar, Scalar]:
    """Two elements, or an element and a number, in the type in which they meet."""
    one: Any = left if isinstance(left, Scalar) else right
    other: Any = right if one is left else left
    if isinstance(other, Scalar):
        type_ = meeting(one.type, other.type)
    elif isinstance(other, (bool, int, float, complex)) or hasattr(other, "item"):
        number: Any = getattr(other, "item", lambda: other)()
        fraction = isinstance(number, float) and not is_float(one.type)
        if isinstance(number, complex) and not is_complex(one.type):
            type_ = f"complex<{one.type if is_float(one.type) else 'f32'}>"
            return _of_type(left, type_, one.trace), _of_type(right, type_, one.trace)
        type_ = "f32" if fraction else "i64" if one.type == TRUTH and not isinstance(number, bool) else one.type
    else:
        refuse(f"an element and a {type(other).__name__}; expected elements and numbers")
    return _of_type(left, type_, one.trace), _of_type(right, type_, one.trace)


def _of_type(value: Any, type_: str, trace: Trace) -> Scalar:
    if isinstance(value, Scalar):
        return cast_to(value, type_)
    number: Any = getattr(value, "item", lambda: value)()
    return trace.constant(number, type_)


def meeting(one: str, other: str) -> str:
    """The type in which elements of two types meet."""
    if one == other:
        return one
    if is_complex(one) != is_complex(other):
        return one if is_complex(one) else other
    if is_complex(one):
        refuse(f"{one} and {other} of one contraction; expected one complex type")
    if is_float(one) != is_float(other):
        return one if is_float(one) else other
    wide, narrow = sorted((one, other), key=lambda name: TYPES[name].bytes, reverse=True)
    if TYPES[wide].bytes > TYPES[narrow].bytes or narrow == TRUTH:
        return wide
    return narrow if wide == TRUTH else "f32" if is_float(wide) else wide


def cast_to(value: Scalar, type_: str) -> Scalar:
    """An element in another type: rounded, or cut."""
    old = value.type
    if old == type_:
        return value
    if is_complex(old):
        refuse(f"{old} where {type_} is expected; take x.real or x.imag")
    if is_complex(type_):
        parts = cast_to(value, part_of(type_)), value.trace.constant(0.0, part_of(type_))
        return value.trace.emit(f"complex.create {parts[0].name}, {parts[1].name}", type_, type_)
    if is_float(old) and is_float(type_):
        wider = TYPES[type_].bytes > TYPES[old].bytes
        if TYPES[type_].bytes == TYPES[old].bytes:
            return cast_to(cast_to(value, "f32"), type_)
        name = "arith.extf" if wider else "arith.truncf"
    elif is_float(type_):
        name = "arith.uitofp" if old == TRUTH else "arith.sitofp"
    elif is_float(old):
        if type_ == TRUTH:
            return compared("ne", value, 0.0)
        name = "arith.fptosi"
    elif type_ == TRUTH:
        return compared("ne", value, 0)
    elif old == TRUTH or TYPES[type_].bytes > TYPES[old].bytes:
        name = "arith.extui" if old == TRUTH else "arith.extsi"
    else:
        name = "arith.trunci"
    return value.trace.emit(f"{name} {value.name}", f"{old} to {type_}", type_)


def arithmetic(name: str, left: Any, right: Any) -> Scalar:
    """An operation that floating-point and whole numbers have alike."""
    x, y = together(left, right)
    if x.type == TRUTH:
        x, y = cast_to(x, "i32"), cast_to(y, "i32")
    if is_complex(x.type):
        return x.trace.emit(f"complex.{name} {x.name}, {y.name}", x.type, x.type)
    return x.trace.emit(f"arith.{name}{'f' if is_float(x.type) else 'i'} {x.name}, {y.name}", x.type, x.type)


def divided(left: Any, right: Any) -> Scalar:
    """A quotient, of whole numbers too in f32."""
    x, y = together(left, right)
    if is_complex(x.type):
        return x.trace.emit(f"complex.div {x.name}, {y.name}", x.type, x.type)
    if not is_float(x.type):
        x, y = cast_to(x, "f32"), cast_to(y, "f32")
    return x.trace.emit(f"arith.divf {x.name}, {y.name}", x.type, x.type)


def floor_divided(left: Any, right: Any) -> Scalar:
    """A quotient rounded down."""
    x, y = together(left, right)
    if is_float(x.type):
        return unary("math.floor", divided(x, y))
    return x.trace.emit(f"arith.floordivsi {x.name}, {y.name}", x.type, x.type)


def power(base: Scalar, exponent: Any) -> Scalar:
    """A power; of a whole number, with a whole exponent from 1 to 4."""
    if not is_float(base.type):
        if isinstance(exponent, int) and 1 <= exponent <= 4:
            found = base
            for _ in range(exponent - 1):
                found = found * base
            return found
        base = cast_to(base, "f32")
    x, y = together(base, exponent)
    only_real(x, y)
    return x.trace.emit(f"math.powf {x.name}, {y.name}", x.type, x.type)


def bitwise(name: str, left: Any, right: Any) -> Scalar:
    """An operation on the bits of whole numbers, or on truth values."""
    x, y = together(left, right)
    if is_float(x.type):
        refuse(f"bits of {x.type}; expected whole numbers or truth values")
    return x.trace.emit(f"arith.{name} {x.name}, {y.name}", x.type, x.type)


def compared(name: str, left: Any, right: Any) -> Scalar:
    """Whether something holds of two elements; of a NaN only that it is not equal."""
    x, y = together(left, right)
    only_real(x, y)
    if is_float(x.type):
        predicate, kind = ("une" if name == "ne" else f"o{name}"), "cmpf"
    else:
        predicate, kind = (name if name in ("eq", "ne") else f"s{name}"), "cmpi"
    return x.trace.emit(f"arith.{kind} {predicate}, {x.name}, {y.name}", x.type, TRUTH)


def unary(name: str, value: Any, of_whole: str = "f32") -> Scalar:
    """A function of floating-point numbers; whole ones become f32 first."""
    if not isinstance(value, Scalar):
        refuse(f"{name} of a {type(value).__name__}; expected an element")
    only_real(value)
    x = value if is_float(value.type) else cast_to(value, of_whole)
    return x.trace.emit(f"{name} {x.name}", x.type, x.type)


def binary(floats: str, integers: str = "") -> Callable[[Any, Any], Scalar]:
    """A function of two elements, by its names for floating-point and for whole numbers."""

    def apply(left: Any, right: Any) -> Scalar:
        x, y = together(left, right)
        only_real(x, y)
        if not is_float(x.type) and not integers:
            x, y = cast_to(x, "f32"), cast_to(y, "f32")
        return x.trace.emit(f"{floats if is_float(x.type) else integers} {x.name}, {y.name}", x.type, x.type)

    return apply


def where(condition: Any, chosen: Any, otherwise: Any) -> Scalar:
    """`chosen` where a condition holds, else `otherwise`, as numpy.where."""
    if not isinstance(condition, Scalar):
        refuse(f"a condition that is a {type(condition).__name__}; expected one on elements")
    if not isinstance(chosen, Scalar) and not isinstance(otherwise, Scalar):
        type_ = "f32" if isinstance(chosen, float) or isinstance(otherwise, float) else "i32"
        chosen = condition.trace.constant(chosen, type_)
    x, y = together(chosen, otherwise)
    test = cast_to(condition, TRUTH)
    return x.trace.emit(f"arith.select {test.name}, {x.name}, {y.name}", x.type, x.type)
