"""multiply-integers: a product of numbers that were bytes before they were scaled multiplies the bytes.

Expects linalg.generic on tensors (after fold-operands). Where both factors of a product are integers of at most 8 bits,
perhaps extended and less a constant zero point, converted to a floating-point type and times numbers that are the same
along k (dequantised, as frameworks write that), the product becomes one of integers into i32, whose sums are converted
and multiplied by those numbers once. Only where no sum can leave 32 bits: the largest magnitudes of both factors, times
each other and the number of terms, are less than 2^31. Then the sums are exact, and one rounding is left of those of
each term: the error falls. A tensor core multiplies bytes; it does not multiply f32.

Leaves alone a product that reads each element of an operand fewer than 16 times, and one whose sums start from
something. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, symbols
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    Map,
    build,
    empty,
    erase_dead,
    generics,
    read,
    replace,
    scalar_of,
    zero,
)
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.zero_points import LEAST_READS
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAND_INS

_CONVERSIONS = {"arith.sitofp": True, "arith.uitofp": False}
_EXTENSIONS = {"arith.extsi": True, "arith.extui": False}


@dataclass(frozen=True)
class _Bytes:
    """A factor: elements of operand `operand`, signed or not, less `zero_point`, times `scales`, each with how the
    result's elements read it."""

    operand: int
    signed: bool
    zero_point: int
    scales: tuple[tuple[Any, Map], ...]
    width: int

    @property
    def magnitude(self) -> int:
        """The largest of an element less the zero point."""
        low = -(1 << (self.width - 1)) if self.signed else 0
        return max(abs(low - self.zero_point), abs(low + (1 << self.width) - 1 - self.zero_point))

    def value(self, element: Any) -> Any:
        """The factor in i32, at the insertion point."""
        arith, i32 = dialect("arith"), ir.IntegerType.get_signless(32)
        found = (arith.ExtSIOp if self.signed else arith.ExtUIOp)(i32, element).result
        return arith.SubIOp(found, arith.ConstantOp(i32, self.zero_point).result).result if self.zero_point else found


@dataclass(frozen=True)
class MultiplyIntegers(Pass):
    """Multiply dequantised bytes as bytes."""

    name: ClassVar[str] = "multiply-integers"

    def run(self, module: Any) -> None:
        attributes = module.operation.attributes
        stand_ins = symbols.integers(attributes[STAND_INS]) if STAND_INS in attributes else {}
        for operation in generics(module):
            generic = read(operation)
            found = None if generic is None else _factors(generic, stand_ins)
            if generic is not None and found is not None:
                _rewrite(generic, *found)
        erase_dead(module)


def _factors(generic: Generic, stand_ins: dict[str, int]) -> tuple[_Bytes, _Bytes] | None:
    """The two factors of a product of dequantised bytes; None for anything else."""
    product = product_of(generic.operation)
    if product is None or product.algebra is not None or not isinstance(generic.yielded[0].type, ir.FloatType):
        return None
    start = scalar_of(generic.outputs[0])
    if start is None or not _is_nothing(start):
        return None
    a, b = (_bytes(generic, value) for value in (product.a.value, product.b.value))
    if a is None or b is None or a.operand == b.operand:
        return None
    terms = [symbols.taken_apart(generic.sizes[loop], stand_ins) for loop in product.k]
    if not all(each.is_number for each in terms):
        return None
    if a.magnitude * b.magnitude * prod(each.number for each in terms) >= 1 << 31:
        return None
    reads = (prod(generic.sizes[loop] for loop in loops) for loops in (product.m, product.n))
    return (a, b) if min(reads) >= LEAST_READS else None


def _is_nothing(value: Any) -> bool:
    owner = value.owner
    return getattr(owner, "name", "") == "arith.constant" and ir.FloatAttr(owner.attributes["value"]).value == 0.0


def _bytes(generic: Generic, value: Any) -> _Bytes | None:
    """A factor, read from what is multiplied back to the element."""
    scales: list[tuple[Any, Map]] = []
    while (name := getattr(value.owner, "name", "")) not in _CONVERSIONS:
        operands = list(value.owner.operands) if name in ("arith.mulf", "arith.extf") else []
        numbers = [each for each in operands if _is_scale(generic, each)] if name == "arith.mulf" else []
        if not operands or len(operands) != 1 + len(numbers):
            return None
        scales += [_outside(generic, each) for each in numbers]
        value = next(each for each in operands if each not in numbers)
    signed, value, zero_point = _CONVERSIONS[name], value.owner.operands[0], 0
    if getattr(value.owner, "name", "") == "arith.subi":
        value, less = value.owner.operands
        known = constants.integer_of(less)
        if known is None or not signed:
            return None
        zero_point = known
    extension = getattr(value.owner, "name", "")
    if extension in _EXTENSIONS:
        if _EXTENSIONS[extension] and not signed:
            return None
        signed, value = _EXTENSIONS[extension], value.owner.operands[0]
    elif zero_point:
        return None
    if not isinstance(value, ir.BlockArgument) or value.owner != generic.block or not 1 < value.type.width <= 8:
        return None
    return _Bytes(value.arg_number, signed, zero_point, tuple(scales), value.type.width)


def _is_scale(generic: Generic, value: Any) -> bool:
    """Whether a value in the body is the same for all terms of a sum."""
    if isinstance(value, ir.BlockArgument):
        number: int = value.arg_number
        own = generic.maps[number] if value.owner == generic.block else ()
        return not any(loop != ONE and generic.reductions[loop] for loop in own)
    return value.owner.operation.block != generic.block or value.owner.name == "arith.constant"


def _outside(generic: Generic, value: Any) -> tuple[Any, Map]:
    """What a body sees as `value`, and how the result's elements read it, where that is an operand."""
    if not isinstance(value, ir.BlockArgument) or value.owner != generic.block:
        return value, ()
    number: int = value.arg_number
    written, own = generic.output_maps[0], generic.maps[number]
    return generic.operands[number], tuple(ONE if loop == ONE else written.index(loop) for loop in own)


def _rewrite(generic: Generic, a: _Bytes, b: _Bytes) -> None:
    arith, i32 = dialect("arith"), ir.IntegerType.get_signless(32)
    shape, out = generic.outputs[0].type.shape, generic.yielded[0].type
    scales = [*a.scales, *b.scales]
    known = [each.owner.operation for each, _ in scales if getattr(each.owner, "name", "") == "arith.constant"]
    moving = [each for each in scales if getattr(each[0].owner, "name", "") != "arith.constant"]

    def multiply(arguments: list[Any]) -> list[Any]:
        x, y = a.value(arguments[0]), b.value(arguments[1])
        return [arith.AddIOp(arguments[2], arith.MulIOp(x, y).result).result]

    def scale(arguments: list[Any]) -> list[Any]:
        found = arith.SIToFPOp(out, arguments[0]).result
        for number in (*(each.clone().results[0] for each in known), *arguments[1:-1]):
            wide = number if number.type == out else arith.ExtFOp(out, number).result
            found = arith.MulFOp(found, wide).result
        return [found]

    with ir.InsertionPoint(generic.operation), generic.operation.location:
        inputs, maps = ([each[place.operand] for place in (a, b)] for each in (generic.inputs, generic.maps))
        sums = build(inputs, [zero(shape, i32)], [*maps, generic.maps[-1]], generic.reductions, multiply).results[0]
        loops = tuple(range(len(shape)))
        made = build(
            [sums, *(each for each, _ in moving)], [empty(shape, out)], [loops, *(own for _, own in moving), loops],
            [False] * len(loops), scale,
        )  # fmt: skip
    replace(generic, made)
