"""describe-arguments: writes down what each argument is for, before that is lost in loops.

Expects linalg on memrefs, after bufferisation. Leaves on every argument `tile.role`: `in` (only read), `out` (written
whole before it is read), `inout` (also whatever an operation outside linalg touches), or `result` (a tensor result that
bufferisation made an argument). Also turns memref.copy into linalg.copy, so that every computation of the function is a
linalg operation, and drops memref.dealloc. Roles that are there already are kept; a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import windows
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ROLE

_RESULT = "bufferize.result"


@dataclass(frozen=True)
class DescribeArguments(Pass):
    """Record the role of each argument."""

    name: ClassVar[str] = "describe-arguments"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if not len(function.regions[0].blocks):
                continue
            _copies_to_linalg(function)
            attributes = argument_attributes(function)
            for argument, each in zip(body(function).arguments, attributes, strict=True):
                each.pop("bufferization.writable", None)
                role = "result" if each.pop(_RESULT, None) is not None else _role(function, argument)
                each.setdefault(ROLE, ir.StringAttr.get(role))
            set_argument_attributes(function, attributes)


def _copies_to_linalg(function: Any) -> None:
    for copy in named(function, "memref.copy"):
        source, target = copy.operands
        with ir.InsertionPoint(copy), copy.location:
            _linalg_copy(source, target)
        copy.erase()
    for dealloc in named(function, "memref.dealloc"):
        dealloc.erase()


def _linalg_copy(source: Any, target: Any) -> None:
    element = source.type.element_type
    segments = ir.DenseI32ArrayAttr.get([1, 1])
    copy = ir.Operation.create(
        "linalg.copy", operands=[source, target], attributes={"operandSegmentSizes": segments}, regions=1
    )
    block = copy.regions[0].blocks.append(element, element)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])


def _role(function: Any, argument: Any) -> str:
    """Reads the operations in order: the first one that touches the argument tells whether its old contents matter."""
    written = read_first = False
    for operation in in_block(body(function)):
        reads, writes = _touches(operation, argument)
        read_first = read_first or (reads and not written)
        written = written or writes
    if not written:
        return "in"
    return "inout" if read_first else "out"


def _touches(operation: Any, argument: Any) -> tuple[bool, bool]:
    """Whether an operation reads an argument, and whether it writes it; both for one that is not linalg's."""
    if operation.operation.name == windows.NAME:
        return argument in list(operation.operation.operands), False
    if not operation.operation.name.startswith("linalg."):
        touched = isinstance(argument.type, ir.MemRefType) and any(
            argument in list(each.operation.operands) for each in [operation, *operations(operation)]
        )
        return touched, touched
    operands = list(operation.operation.operands)
    inputs = ir.DenseI32ArrayAttr(operation.operation.attributes["operandSegmentSizes"])[0]
    inside = body(operation).arguments
    positions = [position for position, operand in enumerate(operands) if operand == argument]
    loaded = any(argument in list(each.operation.operands) for each in operations(operation))
    reads = loaded or any(position < inputs or any(True for _ in inside[position].uses) for position in positions)
    return reads, any(position >= inputs for position in positions)
