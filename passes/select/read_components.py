"""read-components: a product reads elements with components as they lie, and makes its numbers of them in registers.

Expects a program as `import` leaves it, with a product whose B a kernel in front lays out (`tile.laid_out`). Leaves a
program without that kernel and its buffer: the product's argument is the matrix of the elements, and its B a
`tile.composite` of that. So each component goes through memory once. A product without such an argument is left alone,
so that a second run changes nothing. Refuses a mark on anything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import composites
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.products import the_product
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import cuts, kernel_modules, laid_out, padding, programs
from mlir_gemm.dialect.outlining.laid_out import LaidOut
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.spec.attributes import LAID_OUT


@dataclass(frozen=True)
class ReadComponents(Rewrite):
    """Let a product read elements with components."""

    name: ClassVar[str] = "read-components"

    def run(self, module: Any) -> None:
        outer, inner = kernel_modules.find_product(module, self.kernel)
        function, name = programs.function_of(inner), kernel_modules.name_of(inner) if inner is not outer else ""
        marked = [number for number, each in enumerate(argument_attributes(function)) if LAID_OUT in each]
        if not marked:
            return
        found = laid_out.of_argument(outer, name, marked[0]) if name else None
        if found is None:
            raise pass_error(function, f"argument {marked[0]} with '{LAID_OUT}', which no kernel lays out of elements "
                             "with components")  # fmt: skip
        _read_elements(function, marked[0], found)
        _drop_maker(outer, inner, name, marked[0], found)


def _read_elements(function: Any, number: int, found: LaidOut) -> None:
    """Lets the function take the elements."""
    product = the_product(function)
    argument = body(function).arguments[number]
    batch = list(argument.type.shape)[:-2]
    padding.set_type(function, number, found.elements(batch, argument.type.element_type))
    attributes = argument_attributes(function)
    del attributes[number][LAID_OUT]
    set_argument_attributes(function, attributes)
    with ir.InsertionPoint(in_block(body(function))[0]), product.op.operation.location:
        whole = composites.composite(argument, composites.numbers(found.table))
    op, operand = product.op.operation, product.b.operands[0]
    op.operands[operand] = whole
    if found.turned:
        maps = list(product.generic.maps)
        *outer, row, column = maps[operand].results
        maps[operand] = ir.AffineMap.get(maps[operand].n_dims, 0, [*outer, column, row])
        op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])


def _drop_maker(outer: Any, inner: Any, name: str, number: int, found: LaidOut) -> None:
    """Gives the kernel the elements in the place of the buffer, and takes the kernel away that laid it out."""
    maker = programs.kernel_of(found.run)
    run = next(each for each in named(outer, "tile.run") if programs.kernel_of(each) == name)
    buffers = programs.buffers_of(run)
    programs.set_buffers(run, [*buffers[:number], found.source, *buffers[number + 1 :]])
    programs.drop(found.run)
    if not users(found.alloc.results[0]):
        found.alloc.erase()
    programs.kernel_modules(outer)[maker].operation.erase()
    kept = {other: why for other, why in cuts.read(inner).items() if other != maker}
    cuts.write(inner, kept)
