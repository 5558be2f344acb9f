"""widen-accumulator: a narrow sum or product accumulates in f32 or i32 and is rounded or cut once at the end.

Expects linalg on tensors or memrefs. A product on tensors (a linalg.generic that multiplies and adds up) into f16,
bf16 or an 8-bit float becomes one into an f32 tensor that starts as the old start extended (a fill with zero
directly), whose result is truncated by an elementwise linalg.generic. One into i8 or i16 does so in i32, which
changes no bit of the result. A sum along rows into f16, bf16 or an 8-bit float is widened likewise. So does a
`linalg.matmul` of f16 operands into f16 `outs(%c)`, also on memrefs. More exact than narrow accumulation, and what
the tensor cores do best; where the schedule allows sums in f16, `narrow-accumulator` brings them back. A product of
other types, or with a result of dynamic sizes, is left alone. A second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import algebras
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone, clone_slice
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.generics import (
    Generic,
    build,
    element_of,
    empty,
    generics,
    owner_of,
    read,
    scalar_of,
    zero,
)
from mlir_gemm.dialect.linalg.products import Product, product_of
from mlir_gemm.dialect.reductions import Combination, combinations_of
from mlir_gemm.dialect.walk import in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.element_types import TYPES


@dataclass(frozen=True)
class WidenAccumulator(Pass):
    """Accumulate products with f16 or other narrow results in f32."""

    name: ClassVar[str] = "widen-accumulator"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            generic = read(operation)
            if generic is not None and len(generic.outputs) == 1 and _is_narrow(element_of(generic.outputs[0])):
                _widen_generic(generic)
        for product in named(module, "linalg.matmul"):
            types = [ir.ShapedType(operand.type) for operand in product.operands]
            if {str(type_.element_type) for type_ in types} == {"f16"} and types[2].has_static_shape:
                _widen(product)


def _is_narrow(element: Any) -> bool:
    """Whether sums are not kept in this type."""
    return str(element) in TYPES and TYPES[str(element)].is_narrow


def _widen_generic(generic: Generic) -> None:
    product = product_of(generic.operation)
    combination = None if product else _sum_along_rows(generic)
    if (product is None and combination is None) or (product is not None and not _rounds(product)):
        return
    old = generic.outputs[0]
    shape, element = old.type.shape, element_of(old)
    whole = isinstance(element, ir.IntegerType)
    sum_type = ir.IntegerType.get_signless(32) if whole else ir.F32Type.get()
    loops = tuple(range(len(shape)))
    parallel = [False] * len(loops)

    def emit(arguments: list[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(zip(generic.block.arguments, arguments, strict=True))
        last = [combination.combiner] if combination else []
        last += [product.multiplication, product.addition] if product else []
        if product is not None and product.algebra is not None:
            a, b = clone_slice([product.a.value, product.b.value], generic.block, known)
            return [algebras.build(product.algebra, _extended(a, sum_type), _extended(b, sum_type), arguments[-1])]
        for inner in in_block(generic.block)[:-1]:
            if inner.operation not in last:
                clone(inner, known)
        if combination:
            value = _extended(known.get(combination.value, combination.value), sum_type)
            return [_cast_one(combination.combiner.name, sum_type, [arguments[-1], value])]
        assert product is not None  # one of the two was found
        a, b = (_extended(known.get(factor.value, factor.value), sum_type) for factor in (product.a, product.b))
        term = _cast_one(product.multiplication.name, sum_type, [a, b])
        return [_cast_one(product.addition.name, sum_type, [arguments[-1], term])]

    def widened(arguments: list[Any]) -> list[Any]:
        return [_extended(arguments[0], sum_type)]

    def rounded(arguments: list[Any]) -> list[Any]:
        return [_cast_one("arith.trunci" if whole else "arith.truncf", element, arguments[:1])]

    with ir.InsertionPoint(generic.operation), generic.operation.location:
        start = zero(shape, sum_type)
        if not _is_zero(old):
            start = build([old], [empty(shape, sum_type)], [loops] * 2, parallel, widened).results[0]
        wide = build(generic.inputs, [start], generic.maps, generic.reductions, emit).results[0]
        narrow = build([wide], [empty(shape, element)], [loops] * 2, parallel, rounded)
    generic.results[0].replace_all_uses_with(narrow.results[0])
    generic.operation.erase()


def _rounds(product: Product) -> bool:
    """Whether a narrow accumulator loses what a wide one keeps: the least of some numbers is one of them."""
    return product.algebra is None or product.addition.name in ("arith.addf", "arith.mulf")


def _sum_along_rows(generic: Generic) -> Combination | None:
    """How a sum, or product, of narrow floating-point numbers is combined; None for another reduction."""
    if generic.parallel or len(generic.outputs) != 1:
        return None
    found = combinations_of(structured.read(generic.operation))
    if not found or not isinstance(found[0], Combination):
        return None
    return found[0] if found[0].combiner.name in ("arith.addf", "arith.mulf") else None


def _cast_one(name: str, to: Any, operands: Sequence[Any]) -> Any:
    return ir.Operation.create(name, results=[to], operands=list(operands)).results[0]


def _extended(value: Any, wide: Any) -> Any:
    """A factor in f32 or i32, exactly."""
    return _cast_one("arith.extsi" if isinstance(wide, ir.IntegerType) else "arith.extf", wide, [value])


def _is_zero(tensor: Any) -> bool:
    scalar = scalar_of(tensor)
    owner = None if scalar is None else owner_of(scalar)
    if owner is None or owner.name != "arith.constant":
        return False
    value: Any = owner.attributes["value"]
    return float((ir.IntegerAttr if isinstance(value, ir.IntegerAttr) else ir.FloatAttr)(value).value) == 0.0


def _widen(product: Any) -> None:
    a, b, c = product.operands
    on_tensors = isinstance(c.type, ir.RankedTensorType)
    shape = ir.ShapedType(c.type).shape
    f32 = ir.F32Type.get()
    with ir.InsertionPoint(product), product.location:
        if on_tensors:
            wide = dialect("tensor").EmptyOp(shape, f32).result
        else:
            wide = dialect("memref").AllocOp(ir.MemRefType.get(shape, f32), [], []).result
        start = _cast("arith.extf", c, wide) or wide
        sum_ = _clone(product, [a, b, start])
        rounded = _cast("arith.truncf", sum_ or wide, c)
        if not on_tensors:
            dialect("memref").DeallocOp(wide)
    if on_tensors:
        product.results[0].replace_all_uses_with(rounded)
    product.erase()


def _clone(product: Any, operands: list[Any]) -> Any | None:
    """The same product on other operands; its result on tensors, None on memrefs."""
    clone = product.operation.clone()
    for position, operand in enumerate(operands):
        clone.operands[position] = operand
    block = clone.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, operands, strict=True):
        argument.set_type(ir.ShapedType(operand.type).element_type)
    _rebuild_body(clone, block)
    if not len(clone.results):
        return None
    clone.results[0].set_type(operands[2].type)
    return clone.results[0]


def _rebuild_body(clone: Any, block: Any) -> None:
    """Writes a product's body anew for its f32 accumulator: extend both factors, multiply, add."""
    for operation in reversed(list(block.operations)):
        operation.erase()
    a, b, c = block.arguments
    arith, f32 = dialect("arith"), ir.F32Type.get()
    with ir.InsertionPoint(block), clone.location:
        product = arith.MulFOp(arith.ExtFOp(f32, a).result, arith.ExtFOp(f32, b).result).result
        ir.Operation.create("linalg.yield", operands=[arith.AddFOp(c, product).result])


def _cast(name: str, source: Any, target: Any) -> Any | None:
    """An elementwise cast of `source` into `target` as a linalg.generic; its result on tensors, None on memrefs."""
    results = [target.type] if isinstance(target.type, ir.RankedTensorType) else []
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(2))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    types = [ir.ShapedType(value.type).element_type for value in (source, target)]
    generic = ir.Operation.create(
        "linalg.generic",
        results=results,
        operands=[source, target],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([identity, identity]),
            "iterator_types": ir.ArrayAttr.get([parallel, parallel]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
        },
        regions=1,
    )
    block = generic.regions[0].blocks.append(*types)
    with ir.InsertionPoint(block):
        cast = ir.Operation.create(name, results=[types[1]], operands=[block.arguments[0]])
        ir.Operation.create("linalg.yield", operands=[cast.result])
    return generic.results[0] if results else None
