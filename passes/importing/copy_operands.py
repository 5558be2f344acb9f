"""copy-operands: an operand that cannot be read in place is copied first.

Expects one function on tensors. Leaves elementwise operations that copy, each with `tile.note`, in two places:

- in front of a reshape of elements that do not follow one another evenly (only strided memref arguments and slices do);
- in front of a product with several k dimensions that do not follow one another evenly in both operands, such as
  `A[m, i, j] B[j, i, n]`. The smaller operand is laid out anew in the order of the other one, or both where neither
  can be read with one k. What computes the operand from memory goes into the copy, except for an exact extension.

A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Factor, Product, loops_of, product_of
from mlir_gemm.dialect.outlining.kernels import Kernel
from mlir_gemm.dialect.outlining.tensors import place_in_tensors, place_of_tensor, reshaped
from mlir_gemm.dialect.walk import in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.copy_results import copied
from mlir_gemm.spec.attributes import NOTE


@dataclass(frozen=True)
class CopyOperands(Pass):
    """Copy operands that cannot be read where they lie."""

    name: ClassVar[str] = "copy-operands"

    def run(self, module: Any) -> None:
        for op in [each.operation for each in named(module, "tensor.collapse_shape", "tensor.expand_shape")]:
            if reshaped(op, place_of_tensor(op.operands[0])[1]) is None:
                with ir.InsertionPoint(op), op.location:
                    op.operands[0] = copied(
                        op.operands[0], f"{op.name} of elements that do not follow one another evenly: they are copied"
                    )
        for op in [each.operation for each in named(module, "linalg.generic", "linalg.matmul")]:
            product = product_of(op) if len(op.results) else None
            if product is not None and not has_one_k(product, (product.a, product.b)):
                _lay_out(product)


def has_one_k(product: Product, sides: tuple[Factor, ...]) -> bool:
    """Whether the k dimensions can be merged as far as these factors are concerned."""
    kernel = Kernel()
    statement = kernel.seed(product.op, place_in_tensors)
    for loop in [loop for loop, kind in kernel.kinds.items() if kind != "k"]:
        kernel.kinds.pop(loop)
        kernel.space.sizes.pop(loop)
    found = [statement.accesses[number] for side in sides for number in side.operands]
    kernel.space.merge(kernel.kinds, [access for access in found if access is not None and not access.windows])
    return len(kernel.kinds) <= 1


def _lay_out(product: Product) -> None:
    sides = {"A": product.a, "B": product.b}
    choices = [names for names in (("A",), ("B",)) if has_one_k(product, (sides["B" if names[0] == "A" else "A"],))]
    chosen = min(choices, key=lambda names: _elements(product, sides[names[0]]), default=("A", "B"))
    kept = [side for name, side in sides.items() if name not in chosen]
    k = order_in(product, kept[0]) if kept else list(product.k)
    replaced: dict[str, tuple[Any, list[int]]] = {}
    with ir.InsertionPoint(product.op), product.op.location:
        for name in chosen:
            replaced[name] = _copy_of(product, name, sides[name], k)
        new = rebuilt(product, {name: (sides[name], *each) for name, each in replaced.items()})
    product.op.results[0].replace_all_uses_with(new.results[0])
    product.op.erase()


def _elements(product: Product, side: Factor) -> int:
    sizes = structured.sizes_of(product.generic)
    return prod(sizes[loop] for loop in _loops(product, side))


def _loops(product: Product, side: Factor) -> set[int]:
    return set[int]().union(*(loops_of(product.generic, number) for number in side.operands))


def order_in(product: Product, side: Factor) -> list[int]:
    """The k loops in the order in which they lie in a factor, outermost first."""
    statement = Kernel().seed(product.op, place_in_tensors)
    sizes = structured.sizes_of(product.generic)
    numbers: dict[int, int] = {}
    for loop in range(len(sizes)):
        if sizes[loop] != 1:
            numbers[loop] = len(numbers)  # loops of a seed are numbered in order
    access = statement.accesses[side.operands[0]]
    strides = access.strides if access is not None else {}
    return sorted(product.k, key=lambda loop: -strides.get(numbers.get(loop, -1), 0))


def _copy_of(product: Product, name: str, side: Factor, k: list[int]) -> tuple[Any, list[int]]:
    """A factor computed to a tensor of its own, its k dimensions last and in this order; and the loops of its axes."""
    outer = [loop for loop in range(len(product.generic.parallel)) if loop in _loops(product, side) and loop not in k]
    loops = [*outer, *k]
    note = (
        f"operand {name} of a product is laid out anew: its {len(k)} dimensions that are summed over do not follow one "
        "another evenly in both operands"
    )
    return laid_out(product, side, loops, note), loops


def laid_out(product: Product, side: Factor, loops: list[int], note: str) -> Any:
    """A factor computed to a tensor of its own, at the insertion point, its axes along these loops."""
    generic = product.generic
    sizes = structured.sizes_of(generic)
    empty = dialect("tensor").EmptyOp([sizes[loop] for loop in loops], side.core.type).result
    maps = [_renamed(generic.maps[number], loops) for number in side.operands]
    inputs = [generic.operands[number] for number in side.operands]
    identity = ir.AffineMap.get_identity(len(loops))
    copy, block = structured.make(inputs, [empty], [*maps, identity], [True] * len(loops))
    values = {generic.body.arguments[n]: new for n, new in zip(side.operands, block.arguments, strict=False)}
    with ir.InsertionPoint(block):
        structured.yield_(clone_slice([side.core], generic.body, values))
    copy.attributes[NOTE] = ir.StringAttr.get(note)
    return copy.results[0]


def _renamed(map_: Any, loops: list[int]) -> Any:
    places = [loops.index(expression.position) for expression in map_.results]
    return ir.AffineMap.get(len(loops), 0, [ir.AffineDimExpr.get(place) for place in places])


def rebuilt(product: Product, replaced: dict[str, tuple[Factor, Any, list[int]]]) -> Any:
    """The same product with some of its factors read from tensors."""
    generic = product.generic
    sides = {"A": product.a, "B": product.b}
    still = {number for name, side in sides.items() if name not in replaced for number in side.operands}
    gone = {number for side, _, _ in replaced.values() for number in side.operands} - still
    kept = [number for number in range(len(generic.inputs)) if number not in gone]
    count = len(generic.parallel)
    inputs = [*(generic.inputs[number] for number in kept), *(value for _, value, _ in replaced.values())]
    maps = [generic.maps[number] for number in kept]
    for _, _, loops in replaced.values():
        maps.append(ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(loop) for loop in loops]))
    new, block = structured.make(inputs, generic.outputs, [*maps, generic.maps[-1]], generic.parallel)
    arguments = list(block.arguments)
    values = {generic.body.arguments[number]: arguments[place] for place, number in enumerate(kept)}
    for place, (side, _, _) in enumerate(replaced.values()):
        values[side.core] = arguments[len(kept) + place]
    values[generic.body.arguments[len(generic.inputs)]] = arguments[-1]
    with ir.InsertionPoint(block):
        structured.yield_(clone_slice(in_block(generic.body)[-1].operands, generic.body, values))
    return new
