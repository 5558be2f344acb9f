"""keep-reference: a kernel's function carries what it was before its loops are made.

Expects a kernel's module as `select` leaves it. Leaves in `tile.reference` of its function, as text, what the module
holds, less the decisions, which stay on the function. It says what the kernel computes, where later IR says how: `run`
compares the results of saved text with it. A second run changes nothing. Refuses a module that does not hold exactly
one function with a body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.outlining.programs import function_of
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import PROBLEM, REFERENCE, ROWS, SCHEDULE


@dataclass(frozen=True)
class KeepReference(Pass):
    """Keep what a kernel computes, as text, beside how it does."""

    name: ClassVar[str] = "keep-reference"

    def run(self, module: Any) -> None:
        attributes = function_of(module).operation.attributes
        if REFERENCE in attributes:
            return
        decided = {name: attributes[name] for name in (PROBLEM, SCHEDULE, ROWS) if name in attributes}
        for name in decided:
            del attributes[name]
        held = "\n".join(each.operation.get_asm(use_local_scope=True) for each in in_block(body(module)))
        for name, value in decided.items():
            attributes[name] = value
        attributes[REFERENCE] = ir.StringAttr.get(held)
