"""move-row-factors: factors of an operand's rows multiply the product's rows instead.

Expects linalg.generic on tensors (after fuse-elementwise). By `diag(r) X W = diag(r) (X W)` an operand of a product
that is a tensor in memory times numbers for each row (of B: for each column of the result) is multiplied as it is, and
the product's sums, in f32 or f64, are multiplied by these numbers; what the numbers are computed from, such as the
sum of squares of an RMS norm, is a small tensor of its own. So operands go to tensor cores as they lie in memory, and a
kernel of rows need not write them. Division by a number for each row moves in the same way, and bytes are numbers.

Only an operand that is exact in the type that is multiplied moves: then the rounding of each of its products goes, and
one rounding of each sum to f32 comes, so that the error falls. Sums must fit their type without the factor; bf16 and
f32 have one range, and f16 cannot leave it.

Leaves an operand alone that something other than products reads, that would have to be written for this, or where the
result has more than 16 times its elements. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.factors import Factor, Operand, multiplied, operands
from mlir_gemm.dialect.linalg.generics import build, empty, erase_dead, generics, producer, rebuild
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.passes.base import Pass

MOST_RESULTS = 16
"""Elements of the result for each of the operand, up to which one multiplication of each costs less than computing the
operand: a write and a read of 2 bytes or more, or a multiplication for each tile that it is read for."""


@dataclass(frozen=True)
class MoveRowFactors(Pass):
    """Multiply rows of products instead of rows of operands."""

    name: ClassVar[str] = "move-row-factors"

    def run(self, module: Any) -> None:
        while any(_move(operation) for operation in generics(module)):
            erase_dead(module)


def _move(operation: Any) -> bool:
    """Whether the factors of an operand that a generic computes, and only products read, have been moved."""
    results = operation.operation.results
    uses = [use.owner.operation for use in results[0].uses] if len(results) == 1 else []
    if not uses or len(set(uses)) < len(uses) or any(product_of(use) is None for use in uses):
        return False
    found = [each for use in uses for each in operands(use) if each.source.operation == operation.operation]
    if len(found) < len(uses) or not all(map(_moves, found)):
        return False
    for operand in found:
        _rewrite(operand)
    return True


def _moves(operand: Operand) -> bool:
    product = operand.product
    if any(operand.along(factor) & operand.shared for factor in operand.factors):
        return False
    if not any(factor.loops for factor in operand.factors):
        return False
    if operand.is_stored and not _in_memory(operand):
        return False
    points = prod(size for size, added in zip(product.sizes, product.reductions, strict=True) if not added)
    return points <= MOST_RESULTS * prod(operand.source.sizes)


def _in_memory(operand: Operand) -> bool:
    """Whether the bare operand is in memory anyway: nothing computes it elementwise, or others read it too than the
    operand and what adds up its rows."""
    number = ir.BlockArgument(operand.whole.value).arg_number
    value = operand.source.inputs[number]
    made = producer(value)
    if made is None or not made.parallel:
        return True
    users = [use.owner.operation for use in value.uses]
    return any(user != operand.source.operation and _is_other(user) for user in users)


def _is_other(user: Any) -> bool:
    if user.name != "linalg.generic":
        return True
    return product_of(user) is not None or all("parallel" in str(kind) for kind in user.attributes["iterator_types"])


def _rewrite(operand: Operand) -> None:
    product, factors = operand.product, list[Factor](operand.factors)
    with ir.InsertionPoint(operand.source.operation), operand.source.operation.location:
        bare, map_ = operand.bare()
        numbers, along = operand.tensor_of(factors)
    inputs, maps = list(product.inputs), list(product.maps)
    inputs[operand.position], maps[operand.position] = bare, map_
    sums = rebuild(product, inputs=inputs, maps=maps).results[0]
    (written,) = product.output_maps
    type_ = sums.type.element_type
    identity = tuple(range(len(written)))
    place = {loop: at for at, loop in enumerate(written)}

    def emit(arguments: list[Any]) -> list[Any]:
        return [multiplied(arguments[0], [(arguments[1], False)], type_)]

    with ir.InsertionPoint(product.operation), product.operation.location:
        output = empty(sums.type.shape, type_)
        rows = tuple(place.get(loop, loop) for loop in along)
        new = build([sums, numbers], [output], [identity, rows, identity], [False] * len(written), emit)
    product.operation.results[0].replace_all_uses_with(new.results[0])
    product.operation.erase()
