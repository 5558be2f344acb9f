"""The problem of a kernel whose sizes are known at run time only: what holds for all sizes, at typical ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from mlir_gemm.dialect import symbols, windows
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.sizes import argument_sizes, sizes_of, strides_of
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.problem_of import problem_of
from mlir_gemm.spec.attributes import DIVISORS, HINTS, STRIDES
from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.variants import DEFAULT_HINT

_LEAST = 1009
"""Where primes start that divide nothing else."""
_LARGE = 1 << 40


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


def symbols_in(function: Any) -> tuple[str, ...]:
    """The symbols of a kernel's or program's function, in the order of its arguments: those of sizes, and then those of
    strides alone; none for constant sizes."""
    found = [symbol for _, _, size in argument_sizes(function) for symbol in size.symbols]
    if found:
        arguments = zip(body(function).arguments, argument_attributes(function), strict=True)
        strides = [strides_of(function, each.type, marks) for each, marks in arguments if STRIDES in marks]
        found += [symbol for each in strides for stride in each for symbol in stride.symbols]
    return tuple(dict.fromkeys(found))


def dynamic_problem_of(function: Any, hints: Mapping[str, int], divisors: Mapping[str, int]) -> Problem:
    """The problem of a kernel with dynamic sizes: sizes are those for the hints, and how wide accesses may be is what
    is so for every value of the symbols that its divisor divides."""
    names = symbols_in(function)
    primes = dict(zip(names, symbols.primes_above(_LEAST, len(names), list(_numbers(function))), strict=True))
    typical = problem_of(fixed(function, {name: hints.get(name, DEFAULT_HINT) for name in names}))
    general = problem_of(fixed(function, {name: divisors.get(name, 1) * prime for name, prime in primes.items()}))
    parts = {"b": general.batch, "m": general.m, "n": general.n, "k": general.k}
    dynamic = "".join(letter for letter, size in parts.items() if any(size % prime == 0 for prime in primes.values()))
    return dataclasses.replace(general, m=typical.m, n=typical.n, k=typical.k, batch=typical.batch, dynamic=dynamic)


def _numbers(function: Any) -> Iterator[int]:
    for argument in body(function).arguments:
        yield from (size for size in argument.type.shape if 0 < size < _LARGE)


def fixed(function: Any, numbers: Mapping[str, int]) -> Any:
    """A clone of a kernel's function, on its own, with numbers in the place of symbols."""
    new = function.operation.clone()
    for argument, attributes in zip(body(new).arguments, argument_attributes(new), strict=True):
        argument.set_type(_fixed_type(function, argument.type, attributes, numbers))
    for alloc in named(new, "memref.alloc"):
        old = alloc.operation.results[0]
        with ir.InsertionPoint(alloc), alloc.location:
            type_ = _fixed_type(alloc, old.type, alloc.operation.attributes, numbers)
            old.replace_all_uses_with(dialect("memref").AllocOp(type_, [], []).result)
        alloc.operation.erase()
    for view in named(new, windows.NAME):
        old = view.operation.results[0]
        with ir.InsertionPoint(view), view.location:
            type_ = _fixed_type(view, old.type, view.operation.attributes, numbers)
            old.replace_all_uses_with(windows.closed_of(old, type_))
        view.operation.erase()
    return new


def _fixed_type(operation: Any, type_: Any, attributes: Any, numbers: Mapping[str, int]) -> Any:
    if not isinstance(type_, ir.MemRefType) or type_.has_static_shape:
        return type_
    shape = [size.value(numbers) for size in sizes_of(operation, type_, attributes)]
    if type_ == ir.MemRefType.get(list(type_.shape), type_.element_type):
        return ir.MemRefType.get(shape, type_.element_type)
    strides = [stride.value(numbers) for stride in strides_of(operation, type_, attributes)]
    offset = type_.get_strides_and_offset()[1]
    return ir.MemRefType.get(shape, type_.element_type, ir.StridedLayoutAttr.get(offset, strides))
