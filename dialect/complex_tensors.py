"""Tensors of complex numbers as tensors of real ones with a last dimension of 2: their types, fills and reshapes."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import complex_numbers
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.complex_numbers import Pair, is_complex
from mlir_gemm.dialect.linalg import generics, structured
from mlir_gemm.dialect.linalg.components import at
from mlir_gemm.dialect.linalg.reshapes import reshape
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block

PARTS = 2


def real_type(type_: Any) -> Any:
    """A type with real numbers in the place of complex ones."""
    if not is_complex(type_):
        return type_
    if not isinstance(type_, ir.RankedTensorType):
        return type_
    return ir.RankedTensorType.get([*type_.shape, PARTS], ir.ComplexType(type_.element_type).element_type)


def is_fill(op: Any) -> bool:
    """Whether a linalg.generic gives each element the same number."""
    if op.name != "linalg.generic" or len(op.operands) != 2 or isinstance(op.operands[0].type, ir.ShapedType):
        return False
    block = body(op)
    return list(in_block(block)[-1].operation.operands) == [block.arguments[0]]


def filled(op: Any, output: Any) -> Any:
    """A tensor with a complex number everywhere."""
    pair = complex_numbers.constant_of(op.operands[0])
    if pair is None:
        raise input_error(op, "a fill with a complex number that is no constant; expected complex.constant")
    if pair[0].attribute == pair[1].attribute:
        return generics.fill(list(output.type.shape), output.type.element_type, pair[0].build())
    rank = output.type.rank
    maps = [ir.AffineMap.get_identity(rank)]
    generic, block = structured.make([], [output], maps, [True] * rank)
    with ir.InsertionPoint(block):
        structured.yield_([part(rank - 1, Pair(*(number.build() for number in pair)))])
    return generic.results[0]


def part(loop: int, pair: Pair) -> Any:
    """The part of a complex number that a loop of two steps is at."""
    return at(loop, (pair.re, pair.im))


def drop_broadcast_dims(generic: Any) -> None:
    """Lets a linalg.generic read complex inputs without their dimensions of size 1 that its maps index by 0."""
    maps = [each.value for each in generic.attributes["indexing_maps"]]
    count = ir.DenseI32ArrayAttr(generic.attributes["operandSegmentSizes"])[0]
    for number in range(count):
        value, map_ = generic.operands[number], maps[number]
        keep = [not isinstance(each, ir.AffineConstantExpr) for each in map_.results]
        units = all(size == 1 for size, kept in zip(getattr(value.type, "shape", []), keep, strict=False) if not kept)
        if not isinstance(value.type, ir.RankedTensorType) or not is_complex(value.type) or all(keep) or not units:
            continue
        with ir.InsertionPoint(generic), generic.location:
            shape = [size for size, kept in zip(value.type.shape, keep, strict=True) if kept]
            generic.operands[number] = reshape(value, shape)
        maps[number] = ir.AffineMap.get(map_.n_dims, 0, [e for e, kept in zip(map_.results, keep, strict=True) if kept])
    generic.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])


def alike(op: Any, operands: list[Any]) -> Any:
    """A reshape or slice with the dimension of the parts, whole and last."""
    type_ = real_type(op.results[0].type)
    attributes = attributes_of(op)
    rank = op.results[0].type.rank
    i64 = ir.IntegerType.get_signless(64)
    if op.name in ("tensor.collapse_shape", "tensor.expand_shape"):
        groups = [list(map(int, each)) for each in attributes["reassociation"]]
        inner = (operands[0] if op.name == "tensor.collapse_shape" else op.results[0]).type.rank
        last = inner - 1 if op.name == "tensor.collapse_shape" else inner
        given = [[ir.IntegerAttr.get(i64, number) for number in group] for group in [*groups, [last]]]
        attributes["reassociation"] = ir.ArrayAttr.get([ir.ArrayAttr.get(group) for group in given])
        if "static_output_shape" in attributes:
            shape = [*ir.DenseI64ArrayAttr(attributes["static_output_shape"]), PARTS]
            attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape)
    elif op.name == "tensor.extract_slice":
        for name, number in (("static_offsets", 0), ("static_sizes", PARTS), ("static_strides", 1)):
            attributes[name] = ir.DenseI64ArrayAttr.get([*ir.DenseI64ArrayAttr(attributes[name]), number])
    elif rank + 1 != type_.rank:
        raise input_error(op, f"'{op.name}' gives {op.results[0].type}, which is no complex tensor")
    return ir.Operation.create(op.name, results=[type_], operands=operands, attributes=attributes).results[0]
