"""find-sparse: an argument that is given as a 2:4 sparse matrix is an operand of a product, and nothing else.

Expects kernels as `import` leaves them. Changes nothing: it refuses arguments with `tile.sparse` that something else
reads than one product of the only kernel, which multiplies them as they are; elements of other types than f16 and bf16;
and matrices that are not dense, whose sizes are known at run time only, or whose k, which runs along their rows, 64
does not divide. Whatever else read such an argument would take it for a matrix with its zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import marked_arguments
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.source import is_row_major
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SPARSE
from mlir_gemm.spec.sparse import DEPTH, ELEMENTS


@dataclass(frozen=True)
class FindSparse(Pass):
    """Check sparse operands."""

    name: ClassVar[str] = "find-sparse"

    def run(self, module: Any) -> None:
        for function, argument in marked_arguments(module, SPARSE):
            _check(function, argument)


def _check(function: Any, argument: Any) -> None:
    name = f"argument {argument.arg_number} with {SPARSE}"
    type_, readers = argument.type, [user.operation for user in users(argument)]
    generic = readers[0] if len(readers) == 1 and structured.is_generic(readers[0]) else None
    product = product_of(generic) if generic is not None else None
    others = [op for op in in_block(body(function)) if op.operation.name == "tile.run"]
    sides = (product.a, product.b) if product is not None else ()
    reads = (product is not None and argument in [product.generic.operands[number] for number in each.operands]
             for each in sides)  # fmt: skip
    factor = next((each for each, own in zip(sides, reads, strict=True) if own), None)
    if product is None or factor is None or not factor.plain or len(factor.operands) != 1 or others:
        raise input_error(
            function, f"{name} is not only an operand of the one product of a function that is one kernel; expected "
            "that, or the matrix with its zeros"
        )  # fmt: skip
    if str(type_.element_type) not in ELEMENTS or len(type_.shape) != 2 or not type_.has_static_shape:
        raise input_error(function, f"{name} is {type_}; expected a matrix of {' or '.join(ELEMENTS)}, of known sizes")
    last = product.generic.maps[factor.operands[0]].results[-1]
    if getattr(last, "position", -1) not in product.k or type_.shape[1] % DEPTH or not is_row_major(type_):
        raise input_error(
            function, f"{name} is {type_}; expected dense rows that run along a k that {DEPTH} divides"
        )  # fmt: skip
