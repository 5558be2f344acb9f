"""separate-results: every result, and every argument that is written, gets a tensor of its own.

Expects linalg on tensors, one function (after raise-to-tensors). A tensor that is returned or put into an argument
though it is an argument or a constant (or a reshape of one), or that already left the function, is copied by a
linalg.generic first; a filled one is written by a linalg.generic that yields the scalar, and so is one that a generic
reads as an input, so that a linalg.fill is only ever the start of a reduction. Refuses a result that is never computed.
A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import build, element_of, empty, erase_dead, generics, owner_of, scalar_of
from mlir_gemm.dialect.linalg.reshapes import root_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

MATERIALIZE = "bufferization.materialize_in_destination"


@dataclass(frozen=True)
class SeparateResults(Pass):
    """Give every result a tensor of its own."""

    name: ClassVar[str] = "separate-results"

    def run(self, module: Any) -> None:
        left: list[Any] = []
        for operation in named(module, MATERIALIZE, "func.return"):
            count = 1 if operation.operation.name == MATERIALIZE else len(operation.operation.operands)
            for position in range(count):
                _separate(operation.operation, position, left)
        for operation in generics(module):
            _write_inputs(operation.operation)
        erase_dead(module)


def _write_inputs(operation: Any) -> None:
    """Filled tensors that a generic reads as inputs are written by a generic of their own."""
    count, _ = ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"])
    for position in range(count):
        value = operation.operands[position]
        scalar = scalar_of(root_of(value))
        if scalar is not None:
            operation.operands[position] = _written(operation, value, scalar)


def _separate(operation: Any, position: int, left: list[Any]) -> None:
    value = operation.operands[position]
    if not isinstance(value.type, ir.RankedTensorType):
        return
    root = root_of(value)
    owner = owner_of(root)
    if owner is not None and owner.name == "tensor.empty":
        raise pass_error(operation, f"result {position} is never computed (it is a tensor.empty)")
    if owner is not None and owner.name == "linalg.generic" and root not in left:
        left.append(root)
        return
    operation.operands[position] = _written(operation, value, scalar_of(root))
    left.append(operation.operands[position])


def _written(operation: Any, value: Any, scalar: Any | None) -> Any:
    """A tensor that is copied from another in front of an operation, or filled with a scalar."""
    loops = tuple(range(len(value.type.shape)))
    owner = owner_of(value)
    place = operation if owner is None or owner.name == "arith.constant" else owner
    with ir.InsertionPoint(operation), place.location:
        inputs = [] if scalar is not None else [value]
        maps = [loops] * (len(inputs) + 1)
        output = empty(value.type.shape, element_of(value))
        copy = build(inputs, [output], maps, [False] * len(loops), lambda a: [a[0] if scalar is None else scalar])
    return copy.results[0]
