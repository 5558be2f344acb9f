"""widen-accumulator: a product with an f16 result accumulates in f32 and is rounded once at the end.

Expects linalg on tensors or memrefs. Turns `linalg.matmul` of f16 operands into f16 `outs(%c)` into a product into an
f32 buffer that starts as %c extended, and truncates that into %c. More exact than f16 accumulation, and what the
tensor cores do best. A product of other types, or with a result of dynamic sizes, is left alone. A second run changes
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class WidenAccumulator(Pass):
    """Accumulate f16 products in f32."""

    name: ClassVar[str] = "widen-accumulator"

    def run(self, module: Any) -> None:
        for product in named(module, "linalg.matmul"):
            types = [ir.ShapedType(operand.type) for operand in product.operands]
            if {str(type_.element_type) for type_ in types} == {"f16"} and types[2].has_static_shape:
                _widen(product)


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
