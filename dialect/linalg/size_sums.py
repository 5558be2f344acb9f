"""Sums, differences and quotients of sizes that are known at run time only, which are symbols of their own.

A size is a product of a number and symbols. What is none, such as the length of two sequences together, gets a symbol
whose definition is kept here: a sum of products, divided by a number and rounded down. Two that are the same sum are
the same symbol, so that sizes are equal exactly if they are the same product, as before. In the end such a symbol's
name is its definition: `(s0+s1)`, `(s0//2)`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import gcd

from mlir_gemm.dialect.symbols import Size

Terms = dict[tuple[str, ...], int]
"""A sum: for each product of symbols how often it counts, the empty one for the number."""
_COMPARISONS: dict[int, Callable[[int, int], bool]] = {
    0: operator.eq, 1: operator.ne, 2: operator.lt, 3: operator.le, 4: operator.gt, 5: operator.ge,
    6: operator.lt, 7: operator.le, 8: operator.gt, 9: operator.ge,
}  # fmt: skip
"""By the predicates of arith.cmpi."""
_REFLEXIVE = (0, 3, 5, 7, 9)
_SMALL = 64
"""The most that a size is taken to be at least: `x[:, 3:]` says that there are 3 elements to leave out."""
_LARGE = 1 << 31
"""The most that a slice may say of a size: `x[:, :4096]` has 4096 elements to take."""
_UNKNOWN = -(1 << 40)
_AT_LEAST, _ABOVE, _AT_MOST, _BELOW = (5, 9), (4, 8), (3, 7), (2, 6)


class SizeSums:
    """The symbols of a function: what is known of each, and what those that are sums are."""

    def __init__(self) -> None:
        self.known: dict[str, Size] = {}
        """Symbols that have turned out to be something else."""
        self.defined: dict[str, tuple[Terms, int]] = {}
        """Symbols that are a sum, divided by a number and rounded down."""
        self.least: dict[str, int] = {}
        """What arguments' sizes are taken to be at least, which a call checks."""
        self.most: dict[str, int] = {}
        """The same at most: `table[:t]` has as many rows as the table."""
        self.count = 0

    def new(self) -> Size:
        """A size of which nothing is known."""
        self.count += 1
        return Size(1, (f"t{self.count - 1}",))

    def resolved(self, size: Size) -> Size:
        """A size in terms of the symbols that are left, the same for sizes that are equal."""
        while any(symbol in self.known for symbol in size.symbols):
            size = size.with_sizes(self.known)
        sums = {symbol: self._simplest(symbol) for symbol in size.symbols if symbol in self.defined}
        return size.with_sizes(sums) if sums else size

    def terms(self, size: Size) -> Terms:
        """A size as a sum of products."""
        while any(symbol in self.known for symbol in size.symbols):
            size = size.with_sizes(self.known)
        found: Terms = {(): size.number}
        for symbol in size.symbols:
            terms, divisor = self.defined.get(symbol, ({(symbol,): 1}, 1))
            if symbol in self.defined and divisor == 1:
                found = _times(found, self._again(terms))
            else:
                found = _times(found, {(symbol,): 1})
        return found

    def sum(self, left: Size, right: Size, sign: int = 1) -> Size:
        """`left + sign * right`."""
        found = dict(self.terms(left))
        for product, number in self.terms(right).items():
            found[product] = found.get(product, 0) + sign * number
        return self._size(found)

    def product(self, left: Size, right: Size) -> Size:
        """The product."""
        return self.resolved(left.times(right))

    def quotient(self, left: Size, right: Size, *, up: bool = False, exact: bool = False) -> Size | None:
        """A size divided by another: by a number rounded down or `up`; None where it is rounded and must be `exact`, or
        is divided by another one that is no factor."""
        found = self.resolved(left).over(self.resolved(right))
        if found is None and exact:
            return self._inferred(self.resolved(left), self.resolved(right))
        if found is not None or not right.is_number or right.number < 1:
            return found
        terms = dict(self.terms(left))
        terms[()] = terms.get((), 0) + (right.number - 1 if up else 0)
        return self._divided(_tidy(terms), right.number)

    def _inferred(self, left: Size, right: Size) -> Size | None:
        """The size that a view leaves to be told, as of `y.view(x.shape[0], 1, -1)`: that of a tensor divided by one of
        another, which is required to be the tensor's first."""
        plain = [symbol for symbol in left.symbols if symbol not in self.defined]
        if len(right.symbols) != 1 or right.number != 1 or right.symbols[0] in self.defined or len(plain) < 2:
            return None
        self.equal(Size(1, (min(plain, key=lambda symbol: int(symbol[1:])),)), right)
        return self.resolved(left).over(self.resolved(right))

    def bounded(self, left: Size, right: Size, *, least: bool) -> Size | None:
        """The smaller one of two sizes, or the larger one where it is not the `least`, if that is known."""
        above = _tidy(self.terms(self.sum(left, right, -1)))
        below = {product: -number for product, number in above.items()}
        for assume in (False, True):
            for terms, smaller, larger in ((above, right, left), (below, left, right)):
                if self._is_natural(terms, assume=assume):
                    return smaller if least else larger
        return None

    def compared(self, predicate: int, left: Size, right: Size) -> bool | None:
        """The result of comparing two sizes where it is the same for all values of the symbols, or for all that are
        not very small: then this is noted in `least`. None for any other."""
        if right == Size(0) and predicate in (*_AT_LEAST, *_BELOW) and self._lower_of(left) >= 0:
            return predicate in _AT_LEAST
        terms = _tidy(self.terms(self.sum(left, right, -1)))
        if set(terms) <= {()}:
            return _COMPARISONS[predicate](terms.get((), 0), 0)
        if predicate in (0, 1):
            return None
        swapped = predicate in (*_AT_MOST, *_BELOW)
        strict = predicate in (*_ABOVE, *_BELOW)
        if swapped:  # l <= r is r - l >= 0
            terms = {product: -number for product, number in terms.items()}
        if strict:
            terms = {**terms, (): terms.get((), 0) - 1}
        if self._is_natural(terms, assume=False):
            return True
        other = {product: -number for product, number in terms.items()}
        other[()] = other.get((), 0) - 1
        if self._is_natural(other, assume=False):
            return False
        if self._is_natural(terms, assume=True):
            return True
        return False if self._is_natural(other, assume=True) else None

    def at_most(self, size: Size, number: int) -> bool:
        """Whether a size can be required to be at most a number, as one symbol, times and plus numbers. Notes it in
        `most`."""
        terms = _tidy(self.terms(size))
        products = [product for product in terms if product]
        if len(products) != 1 or len(products[0]) != 1 or products[0][0] in self.defined or terms[products[0]] < 0:
            return False
        found = (number - terms.get((), 0)) // terms[products[0]]
        self.most[products[0][0]] = min(found, self.most.get(products[0][0], found))
        return True

    def lies_in(self, whole: Size, start: Size, size: Size, step: int) -> bool:
        """Whether every `step`-th of `size` elements from `start` on is one of `whole`: for all values of the symbols,
        or for all that are large enough, or small enough for one of constant size, which is then noted."""
        start = self.resolved(start)
        if self.resolved(whole).is_number and not self.resolved(size).is_number:
            most = (self.resolved(whole).number - start.number + step - 1) // step
            return start.is_number and self.at_most(size, most)
        terms = dict(self.terms(self.sum(self.sum(whole, start, -1), self.product(size, Size(step)), -1)))
        for product, number in list(terms.items()):
            parts, divisor = self.defined.get(product[0], ({}, 1)) if len(product) == 1 else ({}, 1)
            if number < 0 and divisor > 1 and not number % divisor:  # a quotient is at most what is divided, divided
                del terms[product]
                for each, times in self._again(parts).items():
                    terms[each] = terms.get(each, 0) + number // divisor * times
        terms[()] = terms.get((), 0) + step - 1
        return self._is_natural(_tidy(terms), assume=True, most=_LARGE)

    def equal(self, left: Size, right: Size) -> bool | None:
        """Requires two sizes to be equal. False where they never are, None where nothing can be told."""
        left, right = self.resolved(left), self.resolved(right)
        if left == right:
            return True
        if left.is_number and right.is_number:
            return False
        left, right = without_shared(left, right)
        if left == right:
            return True
        sides = sorted((left, right), key=self._age, reverse=True)
        for one, other in (sides, sides[::-1]):
            if self._is_free(one, other):
                self.known[one.symbols[0]] = other
                return True
        return self._solved(_tidy(self.terms(self.sum(left, right, -1))))

    def shown(self, size: Size) -> str:
        """A size as a reader sees it, sums in full."""
        parts = [self._text(symbol, {}) if symbol in self.defined else symbol for symbol in self.resolved(size).symbols]
        return "*".join([*([str(size.number)] if size.number != 1 or not parts else []), *parts])

    def named(self) -> list[str]:
        """Gives the symbols that are left names (s0, s1, ...), and sums their definitions as names; all names."""
        left = [f"t{number}" for number in range(self.count) if f"t{number}" not in self.known]
        plain = [symbol for symbol in left if symbol not in self.defined]
        names = {old: f"s{number}" for number, old in enumerate(plain)}
        self.least = {name: max(each) for name, each in self._of_names(self.least, names, up=True).items()}
        self.most = {name: min(each) for name, each in self._of_names(self.most, names, up=False).items()}
        sums = [symbol for symbol in left if symbol in self.defined and self._simplest(symbol).symbols == (symbol,)]
        texts = {symbol: self._text(symbol, names) for symbol in sums}
        for old in left:
            if old in self.defined and old not in sums:
                self.known[old] = self._simplest(old)
        self.known.update({old: Size(1, (new,)) for old, new in (names | texts).items()})
        self.defined = {}
        return [*names.values(), *dict.fromkeys(texts.values())]

    def _of_names(self, bounds: dict[str, int], names: dict[str, str], *, up: bool) -> dict[str, list[int]]:
        """The bounds of symbols as those of the symbols that are left, times and plus numbers."""
        found: dict[str, list[int]] = {}
        for symbol, bound in bounds.items():
            terms = _tidy(self.terms(Size(1, (symbol,))))
            products = [product for product in terms if product]
            if len(products) == 1 and len(products[0]) == 1 and terms[products[0]] > 0 and products[0][0] in names:
                rest, number = bound - terms.get((), 0), terms[products[0]]
                found.setdefault(names[products[0][0]], []).append(-(-rest // number) if up else rest // number)
        return found

    def _age(self, size: Size) -> int:
        return int(size.symbols[0][1:]) if size.symbols else -1

    def _is_free(self, one: Size, other: Size) -> bool:
        """Whether a size is one symbol that may be `other` instead, which is one product."""
        if len(one.symbols) != 1 or one.number != 1 or one.symbols[0] in self.defined:
            return False
        if other.is_number:
            return other.number >= 0
        return other.number == 1 and len(other.symbols) == 1 and not self._mentions(other.symbols[0], one.symbols[0])

    def _solved(self, terms: Terms) -> bool | None:
        """Whether a sum is 0 by what a symbol in it then is: `s0 - s1`, or `2*s0 - 8`."""
        products = [product for product in terms if product]
        if len(products) == 1 and len(products[0]) == 1 and products[0][0] not in self.defined:
            number, rest = divmod(-terms.get((), 0), terms[products[0]])
            if not rest and number >= 0:
                self.known[products[0][0]] = Size(number)
                return True
            return False
        plain = [product[0] for product in products if len(product) == 1 and product[0] not in self.defined]
        for symbol in sorted(plain, key=lambda each: -int(each[1:])):
            rest = {product: -number * terms[symbol,] for product, number in terms.items() if product != (symbol,)}
            if abs(terms[symbol,]) == 1 and not any(self._mentions(each, symbol) for each in sum(rest, ())):
                self.known[symbol] = self._size(rest)
                return True
        return None

    def _is_natural(self, terms: Terms, *, assume: bool, most: int = _SMALL) -> bool:
        """Whether a sum is at least 0: for all values of the symbols, or where one is not too small, if that may be
        assumed."""
        products = [product for product, number in terms.items() if product and number]
        if any(terms[product] < 0 for product in products):
            return False
        if self._lower(terms) >= 0:
            return True
        if not assume or len(products) != 1 or len(products[0]) != 1 or products[0][0] in self.defined:
            return False
        needed = -(terms.get((), 0) // terms[products[0]])
        if needed > most:
            return False
        self.least[products[0][0]] = max(needed, self.least.get(products[0][0], 0))
        return True

    def _lower(self, terms: Terms) -> int:
        """What a sum is at least; a very small number where that is not known."""
        found = 0
        for product, number in terms.items():
            lower = self._lower_of(Size(1, product))
            found += number * lower if number >= 0 and (lower >= 0 or len(product) < 2) else _UNKNOWN
        return max(found, _UNKNOWN)

    def _lower_of(self, size: Size) -> int:
        """The same of a product."""
        found = size.number
        for symbol in self.resolved(size).symbols:
            terms, divisor = self.defined.get(symbol, ({(): self.least.get(symbol, 0)}, 1))
            lower = self._lower(self._again(terms)) // divisor
            if lower < 0 and len(size.symbols) > 1:
                return _UNKNOWN
            found *= lower
        return found

    def _mentions(self, symbol: str, wanted: str) -> bool:
        if symbol == wanted:
            return True
        if symbol not in self.defined:
            return False
        return any(self._mentions(each, wanted) for product in self._again(self.defined[symbol][0]) for each in product)

    def _again(self, terms: Terms) -> Terms:
        """A sum in terms of the symbols that are left."""
        found: Terms = {}
        for product, number in terms.items():
            for each, times in self.terms(Size(number, product)).items():
                found[each] = found.get(each, 0) + times
        return _tidy(found)

    def _simplest(self, symbol: str) -> Size:
        """The size that a sum is by now."""
        terms, divisor = self.defined[symbol]
        terms = self._again(terms)
        if divisor == 1:
            return self._size(terms)
        found = self._divided(terms, divisor)
        return Size(1, (symbol,)) if found.symbols == (symbol,) else found

    def _divided(self, terms: Terms, divisor: int) -> Size:
        """A sum divided by a number, rounded down: what the number divides, and a quotient of the rest."""
        whole = {product: number // divisor for product, number in terms.items() if not product or not number % divisor}
        rest = {product: number - divisor * whole.get(product, 0) for product, number in terms.items()}
        rest = _tidy(rest)
        if set(rest) <= {()}:
            return self._size(whole)
        return self.sum(self._size(whole), self._symbol(rest, divisor))

    def _size(self, terms: Terms) -> Size:
        terms = _tidy(terms)
        if len(terms) < 2:
            product, number = next(iter(terms.items()), ((), 0))
            return Size(number, product)
        factor = gcd(*terms.values())
        shared = _shared(list(terms))
        rest = {_without(product, shared): number // factor for product, number in terms.items()}
        return Size(factor, shared).times(self._symbol(rest, 1))

    def _symbol(self, terms: Terms, divisor: int) -> Size:
        for symbol, (other, number) in self.defined.items():
            if number == divisor and symbol not in self.known and self._again(other) == terms:
                return Size(1, (symbol,))
        found = self.new()
        self.defined[found.symbols[0]] = terms, divisor
        return found

    def _text(self, symbol: str, names: dict[str, str]) -> str:
        terms, divisor = self.defined[symbol]
        text = ""
        for product, number in sorted(self._again(terms).items(), key=lambda term: (not term[0], term[1] < 0, term[0])):
            parts = [names.get(each) or (self._text(each, names) if each in self.defined else each) for each in product]
            factors = "*".join([*([str(abs(number))] if abs(number) != 1 or not parts else []), *parts])
            text += ("-" if number < 0 else "+" if text else "") + factors
        if divisor == 1:
            return f"({text})"
        return f"({text}//{divisor})" if len(terms) == 1 else f"(({text})//{divisor})"


def without_shared(left: Size, right: Size) -> tuple[Size, Size]:
    """Two sizes that are to be equal, without the factors of both: n * s0 == m * s0 says n == m for any size that is
    not empty."""
    for symbol in [symbol for symbol in left.symbols if symbol in right.symbols]:
        left, right = (size.over(Size(1, (symbol,))) or size for size in (left, right))
    factor = Size(gcd(left.number, right.number) or 1)
    left, right = (size.over(factor) or size for size in (left, right))
    return left, right


def _tidy(terms: Terms) -> Terms:
    return {product: number for product, number in terms.items() if number}


def _times(left: Terms, right: Terms) -> Terms:
    found: Terms = {}
    for one, number in left.items():
        for other, times in right.items():
            product = tuple(sorted((*one, *other)))
            found[product] = found.get(product, 0) + number * times
    return found


def _shared(products: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The symbols that all products have."""
    found: list[str] = []
    rest = [list(product) for product in products]
    for symbol in products[0]:
        if all(symbol in each for each in rest):
            for each in rest:
                each.remove(symbol)
            found.append(symbol)
    return tuple(found)


def _without(product: tuple[str, ...], shared: tuple[str, ...]) -> tuple[str, ...]:
    left = list(product)
    for symbol in shared:
        left.remove(symbol)
    return tuple(left)
