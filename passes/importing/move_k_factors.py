"""move-k-factors: factors of an operand along k multiply the other operand instead, where that is smaller.

Expects linalg.generic on tensors (after fuse-elementwise). By `(X diag(w)) W = X (diag(w) W)` numbers along k, such as
the weights of an RMS norm, may multiply either operand. They move to the other one where that saves memory traffic: the
operand is in memory without them (or with factors for each row alone, which `move-row-factors` moves too), so it need
not be written, and the other one has fewer bytes to read and to write by a kernel of its own, or is computed already.

Each element of one operand is rounded once more, and each of the other once less: the error stays as large. Only for
bf16, f32 and f64: numbers that bring an operand into the range of f16 may take the other one out of it.

Leaves an operand alone that others than the product read. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.factors import Factor, Operand, multiplied, operands
from mlir_gemm.dialect.linalg.generics import (
    Map,
    build,
    empty,
    erase_dead,
    generics,
    one_use,
    producer,
    rebuild,
    writes_once,
)
from mlir_gemm.passes.base import Pass

LAUNCH_BYTES = 8 << 20
"""What memory moves while another kernel starts: 2 us at the 4.8 TB/s of an H200."""
_RANGE_OF_F32 = (ir.BF16Type, ir.F32Type, ir.F64Type)


@dataclass(frozen=True)
class MoveKFactors(Pass):
    """Multiply the smaller operand by numbers along k."""

    name: ClassVar[str] = "move-k-factors"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            found = next(filter(_pays, operands(operation)), None)
            if found is not None:
                _rewrite(found)
        erase_dead(module)


def _along_k(operand: Operand) -> list[Factor]:
    """The factors that depend on the loops that are added up alone."""
    return [factor for factor in operand.factors if factor.loops and operand.along(factor) <= operand.shared]


def _pays(operand: Operand) -> bool:
    product, own = operand.product, operand.source.outputs[0].type
    if len(product.inputs) != 2 or not _along_k(operand) or not one_use(product.inputs[operand.position]):
        return False
    if not isinstance(own.element_type, _RANGE_OF_F32) or not operand.is_stored:
        return False
    if any(operand.along(f) & operand.shared and not operand.along(f) <= operand.shared for f in operand.factors):
        return False
    bare = operand.source.inputs[ir.BlockArgument(operand.whole.value).arg_number]
    made = producer(bare)
    if made is not None and made.parallel and one_use(bare):
        return False  # it would be written instead
    other = product.inputs[1 - operand.position]
    if other.type.element_type != own.element_type or prod(other.type.shape) >= prod(own.shape):
        return False
    computed = producer(other)
    if computed is not None and writes_once(computed) and one_use(other):
        return True
    width = own.element_type.width // 8
    return 2 * width * prod(other.type.shape) + LAUNCH_BYTES < width * prod(own.shape)


def _rewrite(operand: Operand) -> None:
    product, moved = operand.product, _along_k(operand)
    rest = [factor for factor in operand.factors if factor not in moved]
    other = 1 - operand.position
    inputs, maps = list(product.inputs), list(product.maps)
    with ir.InsertionPoint(product.operation), product.operation.location:
        numbers, along = operand.tensor_of(moved)
        if rest:
            inputs[operand.position] = operand.times(rest)
        else:
            inputs[operand.position], maps[operand.position] = operand.bare()
        inputs[other] = _scaled(inputs[other], maps[other], numbers, along)
        new = rebuild(product, inputs=inputs, maps=maps)
    product.operation.results[0].replace_all_uses_with(new.results[0])
    product.operation.erase()


def _scaled(tensor: Any, loops: Map, numbers: Any, along: Map) -> Any:
    """An operand that a product reads through `loops`, times numbers that it would read through `along`."""
    type_ = tensor.type.element_type
    wide = type_ if isinstance(type_, ir.F64Type) else ir.F32Type.get()
    identity = tuple(range(len(loops)))
    place = {loop: at for at, loop in enumerate(loops)}

    def emit(arguments: list[Any]) -> list[Any]:
        found = multiplied(None, [(arguments[0], False), (arguments[1], False)], wide)
        return [found if wide == type_ else dialect("arith").TruncFOp(type_, found).result]

    output = empty(tensor.type.shape, type_)
    maps = [identity, tuple(place.get(loop, loop) for loop in along), identity]
    return build([tensor, numbers], [output], maps, [False] * len(loops), emit).results[0]
