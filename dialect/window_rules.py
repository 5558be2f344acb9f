"""What must hold for views by windows (`tile.windows`), and for copies of them by the copy engine."""

from __future__ import annotations

from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.verifier import Kind

NUMBERS_EACH = Kind(
    lambda given: isinstance(given, ir.ArrayAttr) and all(isinstance(each, ir.DenseI64ArrayAttr) for each in given),
    "numbers for each dimension, such as [array<i64: 4>, array<i64: 3, 8>]",
)


_WINDOWS = ("offset", "sizes", "strides", "shape", "low", "high")


def _is_dense(type_: Any) -> bool:
    """Whether a memref is in global memory, each of its elements beside the last."""
    if type_.memory_space is not None or not type_.has_static_shape:
        return type_.memory_space is None
    wanted = [prod(type_.shape[place + 1 :]) for place in range(type_.rank)]
    return list(type_.get_strides_and_offset()[0]) == wanted


def windows(op: Any) -> str:
    """What a tile.windows gives has a dimension for each of its lists of sizes, of their product, and lies within the
    source."""
    missing = [name for name in _WINDOWS if name not in op.attributes]
    if missing:
        return f"{missing[0]} is missing; expected {', '.join(_WINDOWS)}"
    type_, source = op.results[0].type, op.operands[0].type
    kind = ir.RankedTensorType if isinstance(source, ir.RankedTensorType) else ir.MemRefType
    if not isinstance(source, kind) or not isinstance(type_, kind) or type_.element_type != source.element_type:
        return f"source is {source} and result is {type_}; expected two tensors, or two memrefs, of the same elements"
    if kind is ir.MemRefType and not (_is_dense(source) and _is_dense(type_)):
        return f"source is {source} and result is {type_}; expected dense memory on the GPU, without a space of its own"
    sizes, strides = ([list(each) for each in op.attributes[name]] for name in ("sizes", "strides"))
    if [len(each) for each in sizes] != [len(each) for each in strides]:
        return f"has sizes {sizes} and strides {strides}; expected as many of each"
    if not (type_.has_static_shape and source.has_static_shape) or list(type_.shape) != [prod(each) for each in sizes]:
        return f"result is {type_}; expected the sizes {[prod(each) for each in sizes]}"
    pairs = [pair for one in zip(sizes, strides, strict=True) for pair in zip(*one, strict=True)]
    if any(size < 1 or stride < 0 for size, stride in pairs):
        return f"has sizes {sizes} and strides {strides}; expected sizes of at least 1 and strides of at least 0"
    shape, low, high = (list(op.attributes[name]) for name in ("shape", "low", "high"))
    if not len(shape) == len(low) == len(high) or prod(shape) != prod(source.shape) or min(low + high, default=0) < 0:
        return f"has shape {shape}, low {low} and high {high}; expected the sizes of an image of {source}, and zeros"
    count = prod(map(sum, zip(shape, low, high, strict=True)))
    last = ir.IntegerAttr(op.attributes["offset"]).value + sum((size - 1) * stride for size, stride in pairs)
    if last < count:
        return ""
    return f"reaches element {last} of an image that has {count} with the zeros around it; expected one below"
