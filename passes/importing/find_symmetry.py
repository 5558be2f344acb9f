"""find-symmetry: a product with its own transpose has a result that equals its transpose, which its kernel says.

Expects kernels as `import` leaves them. Marks the function of a kernel with `tile.symmetric` where its product
multiplies a matrix by the transpose of the same matrix, D[m, n] = sum over k of A[m, k] A[n, k], and what follows keeps
the symmetry: elementwise operations at the same place of the result and of matrices whose arguments say
`tile.symmetric`, and numbers that are the same everywhere. So does one whose result says `tile.symmetric`: that is a
promise. Sums must start from zero, and the kernel must write one memory, which it does not read: else an element that
was stored already would be added once more. A promised result whose sizes are known at run time only is left alone. A
second run changes nothing. Refuses the mark on what is no square matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Product, product_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SYMMETRIC


@dataclass(frozen=True)
class FindSymmetry(Pass):
    """Find results that equal their transposes."""

    name: ClassVar[str] = "find-symmetry"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                promised = _promised(function)
                if is_symmetric(function, promised):
                    function.attributes[SYMMETRIC] = ir.UnitAttr.get()


def _promised(function: Any) -> list[Any]:
    """The arguments that say that they equal their transposes."""
    found: list[Any] = []
    for argument, given in zip(body(function).arguments, argument_attributes(function), strict=True):
        if SYMMETRIC not in given:
            continue
        shape = list(argument.type.shape) if isinstance(argument.type, ir.ShapedType) else []
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise input_error(function, f"'{SYMMETRIC}' on {argument.type}; expected a square matrix")
        found.append(argument)
    return found


def is_symmetric(function: Any, promised: list[Any]) -> bool:
    """Whether a kernel's function leaves a matrix that equals its transpose."""
    inside = [op.operation for op in in_block(body(function))]
    generics = [structured.read(op) for op in inside if structured.is_generic(op)]
    products = [product for product in (product_of(each.op) for each in generics) if product is not None]
    if len(products) != 1:
        return False
    known = all(value.type.has_static_shape for each in generics for value in each.operands)
    product, arguments = products[0], list(body(function).arguments)
    written = {value for each in generics for value in each.outputs if value in arguments}
    if len(written) != 1 or len(product.m) != 1 or len(product.n) != 1:
        return False
    (result,) = written
    if any(result in each.inputs or _is_read(each, result) for each in generics) or not _starts_anew(inside, product):
        return False
    sizes, last = structured.sizes_of(product.generic), product.generic.maps[len(product.generic.inputs)]
    if sizes[product.m[0]] != sizes[product.n[0]] or _loops(last)[-2:] != [product.m[0], product.n[0]]:
        return False
    if result in promised and known:
        return True
    if not _is_by_itself(product):
        return False
    kept = {product.accumulator, *promised}
    for each in generics:
        if each.op == product.op:
            continue
        if not _keeps(each, kept):
            return False
        kept.update(each.outputs)
    return True


def _loops(map_: Any) -> list[int]:
    return [getattr(each, "position", -1) for each in map_.results]


def _is_read(generic: Generic, memory: Any) -> bool:
    """Whether an elementwise operation reads the old elements of a memory that it writes."""
    first = len(generic.inputs)
    old = (generic.reads(first + number) for number, value in enumerate(generic.outputs) if value == memory)
    return generic.elementwise and any(old)


def _starts_anew(inside: list[Any], product: Product) -> bool:
    """Whether the product's sums start from one number, and nothing else is written to them before."""
    before: list[Any] = []
    for op in inside:
        if op == product.op:
            break
        if product.accumulator in op.operands:
            before.append(op)
    return len(before) == 1 and before[0].name == "linalg.fill"


def _is_by_itself(product: Product) -> bool:
    """Whether both factors are the same elements, of one matrix and of its transpose."""
    if product.algebra is not None or not (product.a.plain and product.b.plain):
        return False
    generic, (m,), (n,) = product.generic, product.m, product.n
    (a, *_), (b, *_) = product.a.operands, product.b.operands
    if generic.operands[a] != generic.operands[b] or product.unsigned not in ("", "ab"):
        return False
    turned = {m: n, n: m}
    return [turned.get(loop, loop) for loop in _loops(generic.maps[a])] == _loops(generic.maps[b])


def _keeps(generic: Generic, known: set[Any]) -> bool:
    """Whether an elementwise operation on matrices that equal their transposes leaves such a matrix."""
    if not generic.elementwise or any(op.operation.name == "linalg.index" for op in in_block(generic.body)):
        return False
    loops = list(range(len(generic.parallel)))
    turned = [*loops[:-2], *reversed(loops[-2:])]
    for value, map_ in zip(generic.operands, generic.maps, strict=True):
        along = _loops(map_)
        if value in generic.outputs:
            if along != loops:
                return False
        elif (set(loops[-2:]) & set(along) and not (value in known and along in (loops, turned))) or -1 in along:
            return False
    return True
