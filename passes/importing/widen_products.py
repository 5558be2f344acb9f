"""widen-products: products in 16 bits or fewer that are summed in a wider type are multiplied in the wider type.

Expects linalg.generic on tensors. A product whose body is `c + extf(a * b)`, with a and b in f16, bf16 or an 8-bit
float, becomes `c + extf(a) * extf(b)`: each multiplication is then exact in f32, and no longer rounded, or infinite
beyond the narrow type's range. That is what tensor cores compute, and closer to the sum that is meant. A reduction
other than a product of two matrices or vectors stays as it is, and so do integers, which wrap. A second run changes
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.generics import Generic, generics, owner_of, read
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.element_types import TYPES


@dataclass(frozen=True)
class WidenProducts(Pass):
    """Multiply in the type of the sum."""

    name: ClassVar[str] = "widen-products"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            generic = read(operation)
            if generic is not None and not generic.parallel and len(generic.outputs) == 1:
                _widen(generic)


def _widen(generic: Generic) -> None:
    addition = owner_of(generic.yielded[0])
    if addition is None or addition.name != "arith.addf":
        return
    for place, term in enumerate(addition.operands):
        extension = owner_of(term)
        if extension is None or extension.name != "arith.extf":
            continue
        multiplication = owner_of(extension.operands[0])
        if multiplication is None or multiplication.name != "arith.mulf" or not _is_narrow(extension.operands[0]):
            continue
        with ir.InsertionPoint(addition), multiplication.location:
            arith = dialect("arith")
            wide = [arith.ExtFOp(term.type, value).result for value in multiplication.operands]
            wider = arith.MulFOp(*wide).result
        addition.operands[place] = wider
        found = product_of(generic.operation)
        if found is None or found.is_pointwise:
            addition.operands[place] = term
            made = [wider.owner, *(value.owner for value in wide)]
        else:
            made = [extension, multiplication]
        for op in made:
            if not list(op.operation.results[0].uses):
                op.operation.erase()
        return


def _is_narrow(value: Any) -> bool:
    return str(value.type) in TYPES and TYPES[str(value.type)].is_narrow
