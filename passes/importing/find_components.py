"""find-components: a product's B that a kernel in front lays out of elements with components says so.

Expects a program as `import` leaves it. Marks the argument of a product's kernel with `tile.laid_out` where its buffer
is B, and nothing but the numbers that the product needs of elements whose components lie side by side, as
`expand-algebras` has them laid out: how many components they have, the order in which the elements lie, and `planes`
where each component has a buffer of its own. The model may then have the product read the elements (`read-components`).
A second run changes nothing. Refuses the mark on any other argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, marked_arguments, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Product, product_of
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.outlining import laid_out, programs
from mlir_gemm.dialect.outlining.stand_ins import fixed, primes_of
from mlir_gemm.dialect.walk import body, in_block, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import LAID_OUT
from mlir_gemm.spec.launch import dense


@dataclass(frozen=True)
class FindComponents(Pass):
    """Find buffers that are laid out of elements with components."""

    name: ClassVar[str] = "find-components"

    def run(self, module: Any) -> None:
        found: list[Any] = []
        for name, inner in programs.kernel_modules(module).items():
            function = programs.function_of(inner)
            primes = primes_of(function)
            closed = fixed(function, primes) if primes else function
            number = _only_b(closed)
            known = laid_out.of_argument(module, name, number) if number is not None else None
            if number is not None and known is not None:
                attributes = argument_attributes(function)
                order = "kn" if _is_kn(closed) != known.turned else "nk"
                planes = " planes" if known.in_planes else ""
                attributes[number][LAID_OUT] = ir.StringAttr.get(f"{len(known.table)} {order}{planes}")
                set_argument_attributes(function, attributes)
                found.append(body(function).arguments[number])
        for function, argument in marked_arguments(module, LAID_OUT):
            if argument not in found:
                raise input_error(
                    function, f"argument {argument.arg_number} with '{LAID_OUT}' is not what a kernel in front lays "
                    "out of elements with components; expected no mark, since import finds those"
                )  # fmt: skip


def _only_b(function: Any) -> int | None:
    """The number of the argument that is B of a function's only product, a matrix, or one for each index of a batch,
    that nothing else reads."""
    product = _only_product(function)
    if product is None or not product.b.plain or len(product.b.operands) != 1 or len(product.batch) > 1:
        return None
    memory, arguments = product.generic.operands[product.b.operands[0]], list(body(function).arguments)
    if memory not in arguments or len(users(memory)) != 1 or product.algebra is not None:
        return None
    one = [len(each) for each in (product.n, product.k)] == [1, 1]
    if not one or not memory.type.has_static_shape or len(memory.type.shape) != 2 + len(product.batch):
        return None
    first = [each.position for each in product.generic.maps[product.b.operands[0]].results][: len(product.batch)]
    packed = memory.type.get_strides_and_offset() == (list(dense(tuple(memory.type.shape))), 0)
    return arguments.index(memory) if packed and first == list(product.batch) else None


def _only_product(function: Any) -> Product | None:
    generics = [op.operation for op in in_block(body(function)) if structured.is_generic(op.operation)]
    products = [product for product in map(product_of, generics) if product is not None]
    return products[0] if len(products) == 1 else None


def _is_kn(function: Any) -> bool:
    product = _only_product(function)
    assert product is not None
    map_ = product.generic.maps[product.b.operands[0]]
    return map_.results[-2].position in product.k
