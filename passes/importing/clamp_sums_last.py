"""clamp-sums-last: a sum that saturates is added up first, and limited once.

Expects linalg.generic on tensors (after simplify-generics). Where a body computes `min(c + t, limit)` of integers, with
a term t that is never negative, the limit counts once a sum has reached it, so the sum may be taken without it: what is
left is a plain sum, so that a sum of products is a product, for tensor cores too, and an elementwise operation after it
takes the minimum. That holds where no sum can leave its type, which the operands' types, the number of terms and the
constant that the sum starts from must say; other sums, and those of sizes known at run time only, are left alone. A
second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.generics import Generic, build, empty, generics, owner_of, read
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAND_INS

_MINIMA = {"arith.minui": 0, "arith.minsi": 1}
"""Each with the bits of its numbers that are a sign."""


@dataclass(frozen=True)
class ClampSumsLast(Pass):
    """Limit saturating sums once."""

    name: ClassVar[str] = "clamp-sums-last"

    def run(self, module: Any) -> None:
        attributes = module.operation.attributes
        if STAND_INS in attributes and len(attributes[STAND_INS]):
            return
        for operation in generics(module):
            generic = read(operation)
            if generic is not None and not generic.parallel and len(generic.outputs) == 1:
                _clamp(generic)


def _clamp(generic: Generic) -> None:
    minimum, so_far = _maker(generic.yielded[0]), generic.argument(len(generic.inputs))
    if minimum is None or minimum.name not in _MINIMA or len(list(so_far.uses)) != 1:
        return
    sum_, limit = minimum.operands
    sum_, limit = (limit, sum_) if _constant(sum_) is not None else (sum_, limit)
    addition, most, start = _maker(sum_), _constant(limit), _start(generic.outputs[0])
    if most is None or start is None or addition is None or addition.name != "arith.addi" or len(list(sum_.uses)) != 1:
        return
    terms = [each for each in addition.operands if each != so_far]
    largest = _largest(terms[0]) if len(terms) == 1 else None
    width = sum_.type.width - _MINIMA[minimum.name]
    count = prod(size for size, added in zip(generic.sizes, generic.reductions, strict=True) if added)
    if largest is None or min(most, start) < 0 or start + count * largest >= 1 << width:
        return
    name: str = minimum.name
    in_block(generic.block)[-1].operation.operands[0] = sum_
    minimum.erase()
    result = generic.results[0]
    uses = list(result.uses)
    identity = tuple(range(len(result.type.shape)))

    def emit(arguments: list[Any]) -> list[Any]:
        attribute = ir.IntegerAttr.get(sum_.type, most)
        edge = dialect("arith").ConstantOp(sum_.type, attribute).result
        return [ir.Operation.create(name, results=[sum_.type], operands=[arguments[0], edge]).results[0]]

    with ir.InsertionPoint.after(generic.operation), generic.operation.location:
        limited = build([result], [empty(result.type.shape, sum_.type)], [identity, identity],
                        [False] * len(identity), emit)  # fmt: skip
    for use in uses:
        use.owner.operation.operands[use.operand_number] = limited.results[0]


def _maker(value: Any) -> Any | None:
    """The operation of the body that computes a value."""
    owner: Any = value.owner
    return None if hasattr(owner, "operations") else owner.operation


def _constant(value: Any) -> int | None:
    owner = _maker(value)
    if owner is None or owner.name != "arith.constant" or not isinstance(owner.attributes["value"], ir.IntegerAttr):
        return None
    return ir.IntegerAttr(owner.attributes["value"]).value


def _start(value: Any) -> int | None:
    """The number that a sum starts from."""
    owner = owner_of(value)
    if owner is None or owner.name != "linalg.fill":
        return None
    return _constant(owner.operands[0])


def _largest(value: Any) -> int | None:
    """The largest number that a value of a body can be, None where it may be negative or is not known."""
    owner = _maker(value)
    if owner is None:
        return None
    if owner.name == "arith.constant":
        number = _constant(value)
        return number if number is not None and number >= 0 else None
    if owner.name == "arith.extui":
        narrow = (1 << owner.operands[0].type.width) - 1
        inner = _largest(owner.operands[0])
        return narrow if inner is None else min(narrow, inner)
    if owner.name in ("arith.muli", "arith.addi"):
        left, right = (_largest(each) for each in owner.operands)
        if left is None or right is None:
            return None
        found = left * right if owner.name == "arith.muli" else left + right
        return found if found < 1 << (value.type.width - 1) else None
    if owner.name in ("arith.minui", "arith.andi"):
        known = [each for each in map(_largest, owner.operands) if each is not None]
        return min(known) if known else None
    return None
