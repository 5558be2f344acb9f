"""reveal-padding: an argument that is padded with zeros gets the type of the padded buffer.

Expects functions whose loops no longer take their bounds from memrefs (affine loops). An argument with the attribute
`tile.padded`, which holds the sizes of that buffer, gets the buffer's type and loses the attribute. Tiles and vectors
that reach over the operand's end then lie within the memory and read zeros, so that the later stages guard nothing. A
second run changes nothing. Refuses sizes that do not fit the type, and uses of the argument other than affine.load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining.padding import buffer_shape, set_type
from mlir_gemm.dialect.walk import body, named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import PADDED


@dataclass(frozen=True)
class RevealPadding(Pass):
    """Give padded arguments their padded size."""

    name: ClassVar[str] = "reveal-padding"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _reveal(function)


def _reveal(function: Any) -> None:
    for argument in body(function).arguments:
        shape = buffer_shape(function, argument.arg_number)
        if shape is None:
            continue
        for use in users(argument):
            if use.operation.name != "affine.load":
                raise pass_error(
                    use,
                    f"'{use.operation.name}' uses an argument with '{PADDED}'; expected affine.load only (run "
                    "convert-linalg-to-affine-loops first)",
                )
        set_type(function, argument.arg_number, ir.MemRefType.get(list(shape), argument.type.element_type))
        attributes = argument_attributes(function)
        del attributes[argument.arg_number][PADDED]
        set_argument_attributes(function, attributes)
