"""multiply-remainders: products of f64 become products of 8-bit integers, by Ozaki's second scheme.

Expects linalg.generic on tensors, all work but the separation of results done. Where `precision`, else the `precision`
of the function's `tile.schedule`, is `ozaki`, a product of f64 becomes (`dialect/remainders.py`)

1. for each row of A and each column of B the power of two below the largest magnitude;
2. the integers to which that scales and rounds their elements, by their remainders: an 8-bit tensor for each modulus;
3. a product of 8-bit integers for each modulus, reduced to its remainder;
4. the f64 that has these remainders.

The function's schedule then says nothing of the precision: what is left is exact. A second run changes nothing. Leaves
alone products of more than 131,071 elements of k; refuses one whose operands are read at computed places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.emulation import asked, say
from mlir_gemm.dialect.linalg.component_products import is_zero
from mlir_gemm.dialect.linalg.generics import Generic, Map, build, empty, erase_dead, generics, read, zero
from mlir_gemm.dialect.linalg.products import Factor, Product, product_of
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.remainders import (
    Scheme,
    combined,
    exponent_of,
    last_bits,
    reduced,
    remainder,
    rounded,
    scheme_of,
)
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.emulation import REMAINDERS


@dataclass(frozen=True)
class MultiplyRemainders(Pass):
    """Multiply f64 by remainders of integers."""

    name: ClassVar[str] = "multiply-remainders"
    precision: str = ""
    """`ozaki`; empty for the precision of the function's `tile.schedule`, if it has one."""

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if asked(function, self.precision) != REMAINDERS:
                continue
            for operation in generics(function):
                product = product_of(operation)
                if product is not None and _is_f64(product):
                    _rewrite(product)
            say(function, "")
            erase_dead(function)


def _is_f64(product: Product) -> bool:
    types = {str(factor.core.type) for factor in (product.a, product.b)}
    return product.algebra is None and not product.is_pointwise and types == {"f64"}


def _rewrite(product: Product) -> None:
    generic = read(product.op)
    if generic is None:
        raise input_error(product.op, f"precision={REMAINDERS} for a product whose operands are read at computed "
                          "places; expected whole loops, or another precision")  # fmt: skip
    shared = [loop for loop, added in enumerate(generic.reductions) if added]
    scheme = scheme_of(prod(generic.sizes[loop] for loop in shared))
    if scheme is None:
        return
    with ir.InsertionPoint(product.op), product.op.location:
        sides = [_Side(generic, factor, shared) for factor in (product.a, product.b)]
        powers = [side.powers() for side in sides]
        parts = [
            side.remainders(power, bits, scheme) for side, power, bits in zip(sides, powers, scheme.bits, strict=True)
        ]
        totals = [
            _product(generic, (sides[0].order, sides[1].order), factors, modulus, scheme)
            for *factors, modulus in zip(*parts, scheme.moduli, strict=True)
        ]
        maps = [tuple(loop for loop in side.order if loop not in shared) for side in sides]
        made = _combined(generic, totals, powers, maps, scheme)
    product.op.results[0].replace_all_uses_with(made)
    product.op.erase()


@dataclass(frozen=True)
class _Side:
    """A factor of a product, and what is computed from it."""

    generic: Generic
    factor: Factor
    shared: list[int]

    @property
    def order(self) -> Map:
        """Its loops, those that are added up last."""
        loops = {loop for number in self.factor.operands for loop in self.generic.maps[number] if loop >= 0}
        return (*sorted(loops - {*self.shared}), *(loop for loop in self.shared if loop in loops))

    def _computed(
        self,
        more: list[tuple[Any, Map]],
        outputs: list[tuple[Any, Map]],
        emit: Callable[[Any, list[Any], list[Any]], list[Any]],
        added: bool = False,
    ) -> list[Any]:
        """An operation over the factor's loops, told by their numbers in the product. `emit` gets the factor's element,
        those of other operands, and those of the outputs."""
        numbers, inputs = self.factor.operands, self.generic.inputs
        given = [*((inputs[n], self.generic.maps[n]) for n in numbers), *more, *outputs]
        place = {loop: at for at, loop in enumerate(self.order)}
        maps = [tuple(place.get(loop, loop) for loop in map_) for _, map_ in given]

        def body(arguments: list[Any]) -> list[Any]:
            known = {self.generic.argument(n): value for n, value in zip(numbers, arguments, strict=False)}
            (element,) = clone_slice([self.factor.core], self.generic.block, known)
            rest = arguments[len(numbers) :]
            return emit(element, rest[: len(more)], rest[len(more) :])

        reductions = [added and loop in self.shared for loop in self.order]
        operands = [value for value, _ in given[: len(numbers) + len(more)]]
        return list(build(operands, [value for value, _ in outputs], maps, reductions, body).results)

    def powers(self) -> Any:
        """The power of two of each row's largest magnitude, a tensor over the loops that are not added up."""
        kept = tuple(loop for loop in self.order if loop not in self.shared)
        shape, f64 = [self.generic.sizes[loop] for loop in kept], ir.F64Type.get()

        def largest(element: Any, _: list[Any], so_far: list[Any]) -> list[Any]:
            size = dialect("math").AbsFOp(element).result
            return [dialect("arith").MaximumFOp(size, so_far[0]).result]

        (sizes,) = self._computed([], [(zero(shape, f64), kept)], largest, added=True)
        identity = tuple(range(len(shape)))
        made = build([sizes], [empty(shape, f64)], [identity] * 2, [False] * len(shape),
                     lambda arguments: [exponent_of(arguments[0])])  # fmt: skip
        return made.results[0]

    def remainders(self, powers: Any, bits: int, scheme: Scheme) -> list[Any]:
        """The integers' remainders, a tensor for each modulus."""
        kept = tuple(loop for loop in self.order if loop not in self.shared)
        shape, i8 = [self.generic.sizes[loop] for loop in self.order], ir.IntegerType.get_signless(8)

        def emit(element: Any, given: list[Any], _: list[Any]) -> list[Any]:
            whole = rounded(element, given[0], bits)
            last = last_bits(whole)
            return [remainder(whole, last, modulus) for modulus in scheme.moduli]

        outputs = [(empty(shape, i8), self.order) for _ in scheme.moduli]
        return self._computed([(powers, kept)], outputs, emit)


def _product(generic: Generic, orders: tuple[Map, Map], factors: list[Any], modulus: int, scheme: Scheme) -> Any:
    """The remainders of the sums by one modulus."""
    (written,) = generic.output_maps
    shape = [generic.sizes[loop] for loop in written]
    i8, i32 = ir.IntegerType.get_signless(8), ir.IntegerType.get_signless(32)

    def multiply(arguments: list[Any]) -> list[Any]:
        arith = dialect("arith")
        x, y = (arith.ExtSIOp(i32, each).result for each in arguments[:2])
        return [arith.AddIOp(arguments[2], arith.MulIOp(x, y).result).result]

    sums = build(factors, [zero(shape, i32)], [*orders, written], generic.reductions, multiply).results[0]
    identity = tuple(range(len(shape)))
    made = build([sums], [empty(shape, i8)], [identity] * 2, [False] * len(shape),
                 lambda arguments: [reduced(arguments[0], modulus, scheme.depth)])  # fmt: skip
    return made.results[0]


def _combined(generic: Generic, totals: list[Any], powers: list[Any], rows: list[Map], scheme: Scheme) -> Any:
    """The product, from its remainders, added to what it starts from."""
    (written,), start = generic.output_maps, generic.outputs[0]
    place = {loop: at for at, loop in enumerate(written)}
    shape, identity = [generic.sizes[loop] for loop in written], tuple(range(len(written)))
    more = [] if is_zero(start) else [start]
    along = [tuple(place[loop] for loop in map_) for map_ in rows]

    def emit(arguments: list[Any]) -> list[Any]:
        count = len(totals)
        value = combined(arguments[:count], (arguments[count], arguments[count + 1]), scheme)
        return [dialect("arith").AddFOp(arguments[count + 2], value).result if more else value]

    maps = [*([identity] * len(totals)), *along, *([identity] * len(more)), identity]
    inputs = [*totals, *powers, *more]
    output = empty(shape, ir.F64Type.get())
    return build(inputs, [output], maps, [False] * len(shape), emit).results[0]
