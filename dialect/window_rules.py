"""What must hold for views that compute where elements lie: by windows (`tile.windows`), of which the copy engine makes
copies, and of 2:4 sparse tiles (`tile.sparse`)."""

from __future__ import annotations

from math import prod
from typing import Any

from mlir_gemm.dialect import rules
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.verifier import FLAG, Kind
from mlir_gemm.dialect.windows import OPEN, STRIDED
from mlir_gemm.spec.sparse import DEPTH, ELEMENTS, KEPT, ROWS

NUMBERS_EACH = Kind(
    lambda given: isinstance(given, ir.ArrayAttr) and all(isinstance(each, ir.DenseI64ArrayAttr) for each in given),
    "numbers for each dimension, such as [array<i64: 4>, array<i64: 3, 8>]",
)


WINDOWS = {
    "sizes": NUMBERS_EACH, "strides": NUMBERS_EACH, "shape": rules.NUMBERS, "low": rules.NUMBERS, "high": rules.NUMBERS,
    STRIDED: FLAG,
}  # fmt: skip
"""What the attributes of a tile.windows are, but for the offset."""
_WINDOWS = ("offset", "sizes", "strides", "shape", "low", "high")


def _is_dense(type_: Any) -> bool:
    """Whether a memref is in global memory, each of its elements beside the last."""
    if type_.memory_space is not None or OPEN in type_.shape[1:]:
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
    counts = [OPEN if OPEN in each else prod(each) for each in sizes]
    if list(type_.shape) != counts or counts.count(OPEN) != len(op.operands) - 1 or OPEN in source.shape[1:]:
        return f"result is {type_}; expected the sizes {['?' if count == OPEN else count for count in counts]}"
    if counts.count(OPEN) > 1 or (OPEN in counts) != (OPEN in source.shape) or any(OPEN in each[1:] for each in sizes):
        return f"has sizes {sizes} in {source}; expected one open number, outermost, where the first size is open"
    pairs = [pair for one in zip(sizes, strides, strict=True) for pair in zip(*one, strict=True)]
    pairs = [(1, stride) if size == OPEN else (size, stride) for size, stride in pairs]  # the first image's
    is_strided = STRIDED in op.attributes
    if any(size < 1 or (stride < 0 and not is_strided) for size, stride in pairs):
        return f"has sizes {sizes} and strides {strides}; expected sizes of at least 1 and strides of at least 0"
    shape, low, high = (list(op.attributes[name]) for name in ("shape", "low", "high"))
    if is_strided and (OPEN in source.shape or any(len(each) != 1 for each in sizes) or any((*low, *high))):
        return f"is {STRIDED}, with sizes {sizes} and zeros {low}, {high}; expected one known size each, and no zeros"
    is_open = OPEN in source.shape
    if is_open != (OPEN in shape) or OPEN in shape[1:] or (is_open and any((*low[:1], *high[:1]))):
        return f"has shape {shape} in {source}; expected the first size of both open, without zeros around it"
    shape, seen = ([1 if size == OPEN else size for size in each] for each in (shape, source.shape))  # the first image
    if not len(shape) == len(low) == len(high) or prod(shape) != prod(seen) or min(low + high, default=0) < 0:
        return f"has shape {shape}, low {low} and high {high}; expected the sizes of an image of {source}, and zeros"
    count = prod(map(sum, zip(shape, low, high, strict=True)))
    offset = ir.IntegerAttr(op.attributes["offset"]).value
    first, last = (offset + sum((size - 1) * way(stride, 0) for size, stride in pairs) for way in (min, max))
    if first >= 0 and last < count:
        return ""
    reached = last if first >= 0 else first
    return f"reaches element {reached} of an image that has {count} with the zeros around it; expected one of these"


def sparse(op: Any) -> str:
    """What a tile.sparse gives has twice as many columns as its values; its metadata is for all of these."""
    values, metadata, type_ = (value.type for value in [*op.operands, op.results[0]])
    if str(values.element_type) not in ELEMENTS or values.element_type != metadata.element_type:
        return f"values are {values} and metadata is {metadata}; expected one type of {' or '.join(ELEMENTS)}"
    m, half = values.shape
    k = KEPT * half
    if m % ROWS or k % DEPTH:
        return f"values are {values}; expected rows that {ROWS} divides, and columns that {DEPTH // KEPT} divides"
    if list(metadata.shape) != [m // ROWS, k]:
        return f"values are {values} and metadata is {metadata}; expected metadata of {m // ROWS}x{k}"
    if not isinstance(type_, ir.MemRefType) or not type_.has_rank or not type_.has_static_shape:
        return f"result is {type_}; expected a memref of {m}x{k}"
    same = type_.element_type == values.element_type and str(type_.memory_space) == str(values.memory_space)
    if same and list(type_.shape) == [m, k] and type_.get_strides_and_offset() == ([k, 1], 0):
        return ""
    return f"result is {type_}; expected a dense {m}x{k} of the elements and the memory of {values}"
