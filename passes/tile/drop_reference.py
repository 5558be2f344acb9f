"""drop-reference: a kernel's function no longer carries, as text, what it was before its loops were made.

Expects a module at any stage from `tile` on. Leaves every function without `tile.reference`, which `keep-reference`
wrote: for IR that is to be read, compared or sent on without the text of an earlier stage in it, and for IR that was
edited to compute something else. Up to the stage where tiles are no longer whole, `run` finds what a kernel computes in
the IR itself; of later text it has nothing then to compare results with, and says so. No stage has this pass in its
list; it is run by `opt`. A second run changes nothing. Refuses a reference that is not text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import REFERENCE


@dataclass(frozen=True)
class DropReference(Pass):
    """Take away the text of what a kernel computes."""

    name: ClassVar[str] = "drop-reference"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            attributes = function.operation.attributes
            if REFERENCE not in attributes:
                continue
            if not isinstance(attributes[REFERENCE], ir.StringAttr):
                raise pass_error(function, f"'{REFERENCE}' is {attributes[REFERENCE]}; expected the text of a function")
            del attributes[REFERENCE]
