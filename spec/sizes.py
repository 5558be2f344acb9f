"""Sizes that are known at run time only: numbers, symbols (`"s0"`) and arithmetic on them, as plain data.

An expression is `("mul", x, y)` with one of the names below, and in JSON the same as a list. `compiled` makes a
function of several expressions at once, so that a call evaluates them in about a microsecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from mlir_gemm.errors import InputError

Size: TypeAlias = "int | str | tuple[str, Size, Size]"
"""A number of elements, bytes or blocks; a symbol; or an operation on two sizes."""

OPERATIONS = {
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "floordiv": "({0} // {1})",
    "ceildiv": "(-(-{0} // {1}))",
    "mod": "({0} % {1})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
}
"""What each operation is in Python. Division rounds towards minus infinity, or up (ceildiv)."""
_SIGNS = {"add": " + ", "sub": " - ", "mul": "*", "floordiv": " / ", "mod": " % "}


def checked(size: Any) -> Size:
    """`size` if it is an expression, lists in it as tuples. Raises InputError."""
    if isinstance(size, str) and size.isidentifier():
        return size
    if isinstance(size, int) and not isinstance(size, bool):
        return size
    if isinstance(size, list | tuple):
        parts = cast("Sequence[Any]", size)
        if len(parts) == 3 and parts[0] in OPERATIONS:
            return parts[0], checked(parts[1]), checked(parts[2])
    names = ", ".join(OPERATIONS)
    raise InputError(f"{size!r} is no size; expected a number, a symbol, or an operation on two sizes: {names}")


def parsed(text: str) -> Size:
    """The expression that a text says: sums and products of numbers and symbols, divided by numbers and rounded down,
    such as `(s0+s1)` or `2*((s0-1)//2)`. Raises InputError for any other."""
    words = re.findall(r"//|[-+*()]|\w+|\S", text)

    def one() -> Size:
        word = words.pop(0) if words else ""
        if word == "(":
            found = sum_()
            if words.pop(0) if words else "":
                return found
        elif word == "-":
            return "sub", 0, one()
        elif word.isdecimal():
            return int(word)
        elif word.isidentifier():
            return word
        raise InputError(f"'{text}' is no size; expected numbers, symbols, +, -, *, // and parentheses")

    def product_() -> Size:
        found = one()
        while words[:1] in (["*"], ["//"]):
            found = ("mul" if words.pop(0) == "*" else "floordiv"), found, one()
        return found

    def sum_() -> Size:
        found = product_()
        while words[:1] in (["+"], ["-"]):
            found = ("add" if words.pop(0) == "+" else "sub"), found, product_()
        return found

    found = sum_()
    if words:
        raise InputError(f"'{text}' is no size; '{words[0]}' is left")
    return found


def symbols_of(*sizes: Size) -> tuple[str, ...]:
    """The symbols in some sizes, each once, in the order in which they come first."""
    return tuple(dict.fromkeys(name for size in sizes for name in _symbols(size)))


def compiled(sizes: Sequence[Size], symbols: Sequence[str]) -> Callable[[Sequence[int]], tuple[int, ...]]:
    """A function from the values of `symbols`, in their order, to the values of `sizes`. Raises InputError for a size
    with a symbol that is not among them."""
    places = {name: f"v[{number}]" for number, name in enumerate(symbols)}
    parts = "".join(f"{_python(checked(size), places)}, " for size in sizes)
    # Only numbers, operations of the table and indices get into this text.
    return eval(f"lambda v: ({parts})", {"__builtins__": {"min": min, "max": max}})


def value(size: Size, values: Mapping[str, int]) -> int:
    """The value of one size. Raises InputError for a symbol that has no value."""
    return compiled((size,), tuple(values))(tuple(values.values()))[0]


def product(sizes: Sequence[Size]) -> Size:
    """The product of some sizes, with the numbers multiplied out."""
    number = 1
    rest: list[Size] = []
    for size in sizes:
        if isinstance(size, int):
            number *= size
        else:
            rest.append(size)
    if not rest or number == 0:
        return number
    found = rest[0]
    for size in rest[1:]:
        found = ("mul", found, size)
    return found if number == 1 else ("mul", found, number)


def multiple(size: Size) -> tuple[str, int]:
    """The symbol and the number that a size is a product of; no symbol for any other size."""
    if isinstance(size, str):
        return size, 1
    if isinstance(size, tuple):
        name, first, second = cast("tuple[str, Size, Size]", size)
        for symbol, number in ((first, second), (second, first)):
            if name == "mul" and isinstance(symbol, str) and isinstance(number, int) and number > 0:
                return symbol, number
    return "", 0


def added(first: Size, second: Size) -> Size:
    """The sum of two sizes."""
    if isinstance(first, int) and isinstance(second, int):
        return first + second
    if first == 0 or second == 0:
        return second if first == 0 else first
    return "add", first, second


def shown(size: Size) -> str:
    """A size as a person writes it."""
    if not isinstance(size, tuple):
        return str(size)
    name, *parts = size
    first, second = (shown(part) for part in parts)
    if name not in _SIGNS:
        return f"{name}({first}, {second})"
    inner = [
        f"({text})" if isinstance(part, tuple) and part[0] in _SIGNS else text
        for part, text in zip(parts, (first, second), strict=True)
    ]
    return _SIGNS[name].join(inner)


def _symbols(size: Size) -> Iterator[str]:
    if isinstance(size, str):
        yield size
    elif isinstance(size, tuple):
        yield from _symbols(size[1])
        yield from _symbols(size[2])


def _python(size: Size, places: Mapping[str, str]) -> str:
    if isinstance(size, int):
        return f"({size})"
    if isinstance(size, str):
        if size not in places:
            known = ", ".join(places) or "none"
            raise InputError(f"the size '{size}' is not that of any argument; known sizes: {known}")
        return places[size]
    return OPERATIONS[size[0]].format(_python(size[1], places), _python(size[2], places))
