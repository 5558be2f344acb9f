"""Operands of products as products of factors: a tensor with all dimensions, and numbers for each row or column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    Map,
    build,
    composed,
    empty,
    owner_of,
    producer,
    read,
    writes_once,
)
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.outlining.tensors import start_of

_CASTS = ("arith.extf", "arith.truncf")
_FROM_BYTES = ("arith.sitofp", "arith.uitofp")
BYTE = 8
"""Bits of the integers that are exact in every type that is multiplied."""


@dataclass(frozen=True)
class Factor:
    """A value in the body of what computes an operand, by which the rest is multiplied."""

    value: Any
    divides: bool
    """Whether the rest is divided by it."""
    loops: frozenset[int]
    """The loops of the operand's generic that it depends on."""


@dataclass(frozen=True)
class Operand:
    """An operand of a product that is computed element by element, as a product of factors."""

    product: Generic
    position: int
    """Among the product's inputs."""
    source: Generic
    """What computes it."""
    whole: Factor
    """The one factor with all dimensions: an element in memory, or one byte of it as a number. It is exact in the type
    that is multiplied."""
    factors: tuple[Factor, ...]
    """All others."""

    def along(self, factor: Factor) -> set[int]:
        """The loops of the product that a factor depends on."""
        loops = self.product.maps[self.position]
        (written,) = self.source.output_maps
        return {loops[written.index(loop)] for loop in factor.loops} - {ONE}

    @property
    def shared(self) -> set[int]:
        """The loops that are added up."""
        return {loop for loop, added in enumerate(self.product.reductions) if added}

    @property
    def is_stored(self) -> bool:
        """Whether the whole factor is an element in memory, as it is multiplied."""
        return isinstance(self.whole.value, ir.BlockArgument)

    def bare(self) -> tuple[Any, Map]:
        """The operand without any other factor, and the map through which the product reads it. Where that is not an
        element in memory, an operation that computes it, at the insertion point."""
        if self.is_stored:
            number = int(ir.BlockArgument(self.whole.value).arg_number)
            return self.source.inputs[number], self._read_through(self.source.maps[number])
        return self.times(()), self.product.maps[self.position]

    def times(self, factors: Sequence[Factor]) -> Any:
        """The whole factor times some others, in the type that is multiplied, computed at the insertion point."""
        output = self.source.outputs[0]
        type_ = output.type.element_type

        def emit(values: list[Any]) -> Any:
            if not factors:
                return values[0]
            wide = _wide(type_)
            divides = [factor.divides for factor in (self.whole, *factors)]
            found = multiplied(None, list(zip(values, divides, strict=True)), wide)
            return found if wide == type_ else dialect("arith").TruncFOp(type_, found).result

        (written,) = self.source.output_maps
        return self._computed([self.whole, *factors], output.type, written, emit)

    def tensor_of(self, factors: Sequence[Factor]) -> tuple[Any, Map]:
        """A tensor of the product of some factors, in f32 or f64 where it is computed, at the insertion point, and as
        it is where it is in memory; and the map through which the product would read it."""
        if len(factors) == 1 and isinstance(factors[0].value, ir.BlockArgument) and not factors[0].divides:
            number = int(ir.BlockArgument(factors[0].value).arg_number)
            return self.source.inputs[number], self._read_through(self.source.maps[number])
        own = tuple(sorted(set[int]().union(*(factor.loops for factor in factors))))
        wide = _wide(self.source.outputs[0].type.element_type)
        type_ = ir.RankedTensorType.get([self.source.sizes[loop] for loop in own], wide)

        def emit(values: list[Any]) -> Any:
            return multiplied(None, [(v, f.divides) for v, f in zip(values, factors, strict=True)], wide)

        return self._computed(factors, type_, own, emit), self._read_through(own)

    def _read_through(self, map_: Map) -> Map:
        """How the product would read what the operand's generic reads through a map."""
        (written,) = self.source.output_maps
        return composed(map_, written, self.product.maps[self.position])

    def _computed(self, factors: Sequence[Factor], type_: Any, written: Map, emit: Callable[[list[Any]], Any]) -> Any:
        """A tensor written through a map of the operand's loops, from the elements of factors."""
        source = self.source
        kept = sorted(set[int]().union(*(_inputs(source, factor.value) for factor in factors)))
        loops = sorted(written)
        place = {loop: at for at, loop in enumerate(loops)} | {ONE: ONE}
        maps = [tuple(place[loop] for loop in map_) for map_ in (*(source.maps[each] for each in kept), written)]

        def body(arguments: list[Any]) -> list[Any]:
            known = {source.argument(number): value for number, value in zip(kept, arguments, strict=False)}
            return [emit(clone_slice([factor.value for factor in factors], source.block, known))]

        output = empty(type_.shape, type_.element_type)
        inputs = [source.inputs[number] for number in kept]
        return build(inputs, [output], maps, [False] * len(loops), body).results[0]


def _wide(type_: Any) -> Any:
    """The type in which factors are multiplied."""
    return type_ if isinstance(type_, ir.F64Type) else ir.F32Type.get()


def multiplied(value: Any | None, factors: Sequence[tuple[Any, bool]], type_: Any) -> Any:
    """A value, or 1, times factors, or divided by those that are so marked, in a float type at least as wide."""
    arith = dialect("arith")
    for factor, divides in factors:
        wide = factor if factor.type == type_ else arith.ExtFOp(type_, factor).result
        if value is None and divides:
            value = arith.ConstantOp(type_, 1.0).result
        value = wide if value is None else (arith.DivFOp if divides else arith.MulFOp)(value, wide).result
    return value


def operands(operation: Any) -> Iterator[Operand]:
    """The computed operands of a product that are products of factors; none of another operation, of a product that
    adds to something, or whose sums are no wider than what is multiplied."""
    product, found = read(operation), product_of(operation)
    if product is None or found is None or found.algebra is not None or len(product.outputs) != 1:
        return
    start = start_of(product.outputs[0])
    result = product.outputs[0].type.element_type
    if start is None or not _is_zero(start) or not isinstance(result, ir.F32Type | ir.F64Type):
        return
    for position in range(len(product.inputs)):
        source = producer(product.inputs[position])
        found = _read(product, position, source) if source is not None and writes_once(source) else None
        if found is not None:
            yield found


def _is_zero(start: Any) -> bool:
    made = owner_of(start) if isinstance(start, ir.Value) else None
    constant = made.attributes["value"] if made is not None and made.name == "arith.constant" else start
    return isinstance(constant, ir.FloatAttr) and constant.value == 0


def _read(product: Generic, position: int, source: Generic) -> Operand | None:
    found = list(_factors(source, source.yielded[0], False))
    every = frozenset(range(len(source.sizes)))
    places = zip(source.output_maps[0], product.maps[position], strict=True)
    added = {loop for loop, at in places if at != ONE and product.reductions[at]}
    wholes = [factor for factor in found if factor.loops & added and factor.loops - added]
    rest = tuple(factor for factor in found if factor not in wholes)
    if len(wholes) != 1 or not rest or wholes[0].divides or wholes[0].loops != every:
        return None
    type_ = source.outputs[0].type.element_type
    value = wholes[0].value
    made = owner_of(value)
    if made is None:
        exact = value.type == type_
    else:
        given = made.operands[0]
        exact = made.name in _FROM_BYTES and isinstance(given, ir.BlockArgument) and given.type.width <= BYTE
        exact = exact and value.type == type_
    return Operand(product, position, source, wholes[0], rest) if exact else None


def _factors(source: Generic, value: Any, divides: bool) -> Iterator[Factor]:
    made = owner_of(value)
    if made is not None and made.name in _CASTS:
        yield from _factors(source, made.operands[0], divides)
    elif made is not None and made.name == "arith.mulf":
        for operand in made.operands:
            yield from _factors(source, operand, divides)
    elif made is not None and made.name == "arith.divf" and not divides:
        yield from _factors(source, made.operands[0], False)
        yield from _factors(source, made.operands[1], True)
    else:
        loops = {loop for number in _inputs(source, value) for loop in source.maps[number]}
        yield Factor(value, divides, frozenset(loops - {ONE}))


def _inputs(source: Generic, value: Any) -> set[int]:
    """The inputs of a generic on which a value of its body depends."""
    if isinstance(value, ir.BlockArgument):
        return {value.arg_number}
    made = owner_of(value)
    if made is None or made.block != source.block:
        return set()
    return set[int]().union(*(_inputs(source, operand) for operand in made.operands))
