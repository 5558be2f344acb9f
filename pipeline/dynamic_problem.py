"""The problem of a kernel whose sizes are known at run time only: what holds for all sizes, at typical ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.outlining.stand_ins import fixed, primes_of, symbols_in
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.problem_of import problem_of
from mlir_gemm.spec.attributes import DIVISORS, HINTS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.variants import DEFAULT_HINT


@dataclasses.dataclass(frozen=True)
class Variant:
    """What one compilation of a module with dynamic sizes is made for."""

    hints: Mapping[str, int] = dataclasses.field(default_factory=dict[str, int])
    """Typical values of symbols."""
    divisors: Mapping[str, int] = dataclasses.field(default_factory=dict[str, int])
    """Numbers that divide the values of symbols whenever it is called."""

    def checked(self) -> Variant:
        """The same. Raises InputError for values below 1."""
        for what, numbers in (("hint", self.hints), ("divisor", self.divisors)):
            for name, number in numbers.items():
                if type(number) is not int or number < 1:
                    raise InputError(f"the {what} {name}={number}; expected a number of at least 1")
        return self

    def problem_of(self, function: Any) -> Problem:
        """The problem of a kernel, of constant sizes or not."""
        if not symbols_in(function):
            return problem_of(function)
        with ir.Location.unknown():
            return dynamic_problem_of(function, self.hints, self.divisors)

    def write(self, function: Any) -> None:
        """Writes on a kernel's function what is said of its symbols."""
        for attribute, numbers, least in ((HINTS, self.hints, 1), (DIVISORS, self.divisors, 2)):
            found = {name: numbers[name] for name in symbols_in(function) if numbers.get(name, 0) >= least}
            if found:
                function.attributes[attribute] = symbols.dictionary(found)

    @staticmethod
    def text(values: Mapping[str, int]) -> str:
        """Values of symbols, as options of passes have them."""
        return ",".join(f"{name}={number}" for name, number in values.items())

    @staticmethod
    def read(function: Any) -> Variant:
        """What `write` has written on a kernel's function."""
        attributes = function.attributes
        found = [symbols.integers(attributes[name]) if name in attributes else {}
                 for name in (HINTS, DIVISORS)]  # fmt: skip
        return Variant(*found)


def dynamic_problem_of(function: Any, hints: Mapping[str, int], divisors: Mapping[str, int]) -> Problem:
    """The problem of a kernel with dynamic sizes: sizes are those for the hints, and how wide accesses may be is what
    is so for every value of the symbols that its divisor divides."""
    primes = primes_of(function)
    typical = problem_of(fixed(function, {name: hints.get(name, DEFAULT_HINT) for name in primes}))
    general = problem_of(fixed(function, {name: divisors.get(name, 1) * prime for name, prime in primes.items()}))
    parts = {"b": general.batch, "m": general.m, "n": general.n, "k": general.k}
    dynamic = "".join(letter for letter, size in parts.items() if any(size % prime == 0 for prime in primes.values()))
    return dataclasses.replace(general, m=typical.m, n=typical.n, k=typical.k, batch=typical.batch, dynamic=dynamic)
