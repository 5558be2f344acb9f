"""copy-results: each result of the function is computed into a buffer of its own.

Expects one function on tensors that returns tensors, or hands them to `bufferization.materialize_in_destination`. Where
such a value is an argument, a constant, a part of a tensor, or has been returned once already, an elementwise copy is
put in between. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.outlining.tensors import stripped
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import NOTE


@dataclass(frozen=True)
class CopyResults(Pass):
    """Copy results that are not computed into a buffer of their own."""

    name: ClassVar[str] = "copy-results"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _separate(function)


def _separate(function: Any) -> None:
    taken: list[Any] = []
    for op, position in sinks(function):
        value = op.operands[position]
        base = stripped(value)
        name = getattr(base.owner, "name", "")
        if name == "tensor.empty" or (name in ("linalg.generic", "linalg.matmul", "linalg.fill") and base not in taken):
            taken.append(base)
            continue
        why = "was returned before" if base in taken else "is not computed for it"
        with ir.InsertionPoint(op), op.location:
            op.operands[position] = copied(value, f"a result that {why} is copied")


def sinks(function: Any) -> list[tuple[Any, int]]:
    """The places, as operation and operand number, where tensors leave a function: first those for memory given."""
    block = in_block(body(function))
    found = [(each.operation, 0) for each in block if each.operation.name == "bufferization.materialize_in_destination"]
    return found + [(block[-1].operation, position) for position in range(len(block[-1].operation.operands))]


def copied(value: Any, note: str) -> Any:
    """A copy of a tensor, made at the insertion point."""
    type_ = ir.ShapedType(value.type)
    empty = dialect("tensor").EmptyOp(type_.shape, type_.element_type).result
    copy = structured.make_copy(value, empty)
    copy.attributes[NOTE] = ir.StringAttr.get(note)
    return copy.results[0]
