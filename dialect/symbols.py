"""Sizes that are known at run time only, as products of a number and symbols: `s0`, `5*s0`, `24`.

Each dynamic size of an argument is a symbol. Every other size must follow from them by multiplication: that is enough
for reshapes, and two such sizes are equal for all values of the symbols exactly if they are the same product. What is a
sum, a difference or a quotient is a symbol of its own, whose name says what it is: `(s0+s1)`, `((s0+1)//2)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.errors import InputError
from mlir_gemm.spec import sizes as expressions


@dataclass(frozen=True)
class Size:
    """`number` times `symbols`, which are sorted and may repeat."""

    number: int = 1
    symbols: tuple[str, ...] = ()

    @staticmethod
    def of_text(text: str) -> Size:
        """The inverse of `str`. Raises ValueError for other text."""
        number, symbols = 1, list[str]()
        for part in _factors(text):
            if part.removeprefix("-").isdecimal():
                number *= int(part)
            elif part.isidentifier() or _is_sum(part):
                symbols.append(part)
            else:
                raise ValueError(f"'{text}' is no product of numbers and symbols")
        return Size(number, tuple(sorted(symbols)))

    def __str__(self) -> str:
        number = [str(self.number)] if self.number != 1 or not self.symbols else []
        return "*".join([*number, *self.symbols])

    @property
    def is_number(self) -> bool:
        """Whether no symbol is in it."""
        return not self.symbols or not self.number

    def times(self, other: Size) -> Size:
        """The product."""
        return Size(self.number * other.number, tuple(sorted((*self.symbols, *other.symbols))))

    def over(self, other: Size) -> Size | None:
        """The quotient where the division leaves nothing for every value of the symbols, else None."""
        left = list(self.symbols)
        for symbol in other.symbols:
            if symbol not in left:
                return None
            left.remove(symbol)
        if not other.number or self.number % other.number:
            return None
        return Size(self.number // other.number, tuple(left))

    def with_sizes(self, known: Mapping[str, Size]) -> Size:
        """With some symbols replaced by what is known about them."""
        found = Size(self.number)
        for symbol in self.symbols:
            found = found.times(known.get(symbol, Size(1, (symbol,))))
        return found

    def value(self, numbers: Mapping[str, int]) -> int:
        """The number that it is for these values of the symbols."""
        return self.number * prod(value_of(symbol, numbers) for symbol in self.symbols)


def value_of(symbol: str, numbers: Mapping[str, int]) -> int:
    """What a symbol is, or the sum that its name says."""
    return numbers[symbol] if symbol in numbers else expressions.value(expressions.parsed(symbol), numbers)


def _factors(text: str) -> list[str]:
    """The parts of a product, of which some are sums in parentheses."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "*" and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


def _is_sum(text: str) -> bool:
    """Whether a text is the name of a sum."""
    if not text.startswith("("):
        return False
    try:
        return isinstance(expressions.parsed(text), tuple)
    except InputError:
        return False


def taken_apart(number: int, stand_ins: Mapping[str, int]) -> Size:
    """The size that a number stands for, where primes stand for the symbols and divide no other factor."""
    symbols: list[str] = []
    if number:
        for symbol, stand_in in stand_ins.items():
            while number % stand_in == 0:
                number //= stand_in
                symbols.append(symbol)
    return Size(number, tuple(sorted(symbols)))


_ALIGNED = 128
"""Bits of which a place that sizes say is a multiple, where memory may start there: those of the widest access."""


def is_aligned(place: Size, element: Any) -> bool:
    """Whether a number of elements from an aligned address on is an aligned address for all values of the symbols."""
    return place.number * element.width % _ALIGNED == 0


def primes_above(least: int, count: int, others: Sequence[int], below: int | None = None) -> list[int]:
    """The first `count` primes from `least` on, and `below` a number if there is one, that divide none of those."""
    found: list[int] = []
    candidate = least
    while len(found) < count and (below is None or candidate < below):
        is_prime = all(candidate % factor for factor in range(2, int(candidate**0.5) + 1))
        if is_prime and all(other % candidate or not other for other in others):
            found.append(candidate)
        candidate += 1
    return found


def read(attributes: Any, name: str, count: int) -> list[Size | None]:
    """The sizes in an attribute, None where it says nothing. Raises ValueError for other text."""
    if name not in attributes:
        return [None] * count
    texts = [ir.StringAttr(each).value for each in ir.ArrayAttr(attributes[name])]
    return [Size.of_text(text) if text else None for text in texts]


def written(sizes: Sequence[Size]) -> Any:
    """The attribute for some sizes: empty text for those that are numbers."""
    return ir.ArrayAttr.get([ir.StringAttr.get("" if size.is_number else str(size)) for size in sizes])


def integers(attribute: Any) -> dict[str, int]:
    """A dictionary attribute of integers, as a dict."""
    found = ir.DictAttr(attribute)
    return {each.name: ir.IntegerAttr(each.attr).value for each in (found[i] for i in range(len(found)))}


def dictionary(numbers: Mapping[str, int]) -> Any:
    """The attribute that `integers` reads."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.DictAttr.get({name: ir.IntegerAttr.get(i64, number) for name, number in numbers.items()})
