"""add-init-last: a product whose sum starts from something computed starts from zero; that is added at the end.

Expects linalg.generic on tensors. A product's start (its `outs`) that is neither a fill, nor an argument, nor a
constant (such as a bias that is broadcast, or C extended to the accumulator's type) becomes an elementwise addition
after the product, which is an epilogue like any other. The order of a sum's terms is not a property of a product. For
another algebra the product starts from the neutral element of its plus. A second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.generics import (
    Generic,
    build,
    element_of,
    empty,
    erase_dead,
    fill,
    generics,
    owner_of,
    read,
    rebuild,
    zero,
)
from mlir_gemm.dialect.linalg.products import Product, product_of
from mlir_gemm.dialect.linalg.reshapes import root_of
from mlir_gemm.dialect.reductions import neutral_of
from mlir_gemm.passes.base import Pass

_PLAIN = ("linalg.fill", "arith.constant", "bufferization.to_tensor", "tensor.empty")
"""What a product may start from as it is."""


@dataclass(frozen=True)
class AddInitLast(Pass):
    """Start products from zero and add a computed start after them."""

    name: ClassVar[str] = "add-init-last"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            generic = read(operation)
            product = product_of(operation) if generic is not None else None
            if generic is None or product is None:
                continue
            owner = owner_of(root_of(generic.outputs[0]))
            if owner is not None and owner.name not in _PLAIN:
                _add_last(generic, product)
        erase_dead(module)


def _neutral(shape: Sequence[int], name: str, element: Any) -> Any:
    """A tensor of the neutral element of a combining operation."""
    return fill(shape, element, dialect("arith").ConstantOp(element, neutral_of(name, element)).result)


def _add_last(generic: Generic, of: Product) -> None:
    start = generic.outputs[0]
    element = element_of(start)
    name = of.addition.name

    def add(arguments: list[Any]) -> list[Any]:
        return [ir.Operation.create(name, results=[element], operands=arguments[:2]).results[0]]

    with ir.InsertionPoint(generic.operation), generic.operation.location:
        shape = start.type.shape
        nothing = zero(shape, element) if of.algebra is None else _neutral(shape, name, element)
        product = rebuild(generic, outputs=[nothing])
        loops = tuple(range(len(shape)))
        output = empty(shape, element)
        sum_ = build([product.results[0], start], [output], [loops] * 3, [False] * len(loops), add)
    generic.results[0].replace_all_uses_with(sum_.results[0])
    generic.operation.erase()
