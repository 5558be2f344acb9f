"""Views of memory."""

from __future__ import annotations

from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import constants, symbols
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.sizes import cast_values, known_size, offset_of, strides_of
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.spec.attributes import DIVISORS, LAYOUT

SHARED = 3
"""The memory space of what a block's threads share."""


def in_shared(memory: Any) -> bool:
    """Whether a memref is in shared memory."""
    space = memory.type.memory_space
    return isinstance(space, ir.IntegerAttr) and space.value == SHARED


def shared_buffer(shape: list[int], element: Any, layout: str = "") -> Any:
    """A memref.alloc in shared memory at the insertion point, with a `tile.layout` where one is given; the memref."""
    type_ = ir.MemRefType.get(shape, element, memory_space=constants.integer(SHARED))
    alloc = dialect("memref").AllocOp(type_, [], [])
    if layout:
        alloc.operation.attributes[LAYOUT] = ir.StringAttr.get(layout)
    return alloc.result


def subview(memory: Any, offsets: list[Any], shape: list[int]) -> Any:
    """A memref.subview of `shape` at `offsets` (index values) of a memref, with unit steps, at the insertion point.
    Leading dimensions beyond those of `shape` are left out, at one index each."""
    strides, _ = memory.type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    outer = len(offsets) - len(shape)
    layout = ir.StridedLayoutAttr.get(dynamic, strides[outer:])
    type_ = ir.MemRefType.get(shape, memory.type.element_type, layout, memory.type.memory_space)
    marker = [ir.ShapedType.get_dynamic_size()] * len(offsets)
    ones = [1] * len(offsets)
    sizes = [*ones[:outer], *shape]
    return dialect("_memref_ops_gen").SubViewOp(type_, memory, offsets, [], [], marker, sizes, ones).result


def collapsed(memory: Any) -> Any:
    """A memref of constant sizes, whose rows lie one after another, as one line, at the insertion point."""
    type_ = ir.MemRefType.get([prod(memory.type.shape)], memory.type.element_type,
                              memory_space=memory.type.memory_space)  # fmt: skip
    axes = ir.ArrayAttr.get([constants.integer(axis) for axis in range(len(memory.type.shape))])
    attributes = {"reassociation": ir.ArrayAttr.get([axes])}
    made = ir.Operation.create("memref.collapse_shape", results=[type_], operands=[memory], attributes=attributes)
    return made.results[0]


def open_subview(line: Any, offset: Any, size: Any) -> Any:
    """So many elements of a memref of one dimension, from an offset on; both are index values."""
    dynamic = ir.ShapedType.get_dynamic_size()
    layout = ir.StridedLayoutAttr.get(ir.ShapedType.get_dynamic_stride_or_offset(), [1])
    type_ = ir.MemRefType.get([dynamic], line.type.element_type, layout, line.type.memory_space)
    return dialect("_memref_ops_gen").SubViewOp(type_, line, [offset], [size], [], [dynamic], [dynamic], [1]).result


def has_rows(type_: Any, bits: int) -> bool:
    """Whether a memref is a matrix of rows of consecutive elements, a constant multiple of `bits` bits apart."""
    strides, _ = type_.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    return (
        len(strides) == 2
        and strides[1] == 1
        and dynamic != strides[0]
        and strides[0] * type_.element_type.width % bits == 0
    )


def vector_bytes(type_: Any) -> int:
    """The alignment in bytes of an access of a vector type: its size, at most 16 (one byte for an i1)."""
    return max(1, min(16, type_.element_type.width * type_.shape[0] // 8))


def divisor_of(value: Any) -> int:
    """A number that divides an index value for sure; 0 for the constant zero, which every number divides."""
    number = constants.integer_of(value)
    if number is not None:
        return abs(number)
    if hasattr(value.owner, "operations"):  # a block argument
        loop = value.owner.owner.operation
        counts = loop.name == "scf.for" and value.arg_number == 0
        return gcd(divisor_of(loop.operands[0]), divisor_of(loop.operands[2])) if counts else 1
    operation = value.owner.operation
    if operation.name == "arith.muli":
        return divisor_of(operation.operands[0]) * divisor_of(operation.operands[1])
    if operation.name in ("arith.addi", "arith.subi"):
        return gcd(*map(divisor_of, operation.operands))
    return gcd(*map(divisor_of, list(operation.operands)[1:])) if operation.name == "arith.select" else 1


def offset_divisor(memory: Any) -> int:
    """A number of elements that divides the distance from an aligned address to the start of a memref; 0 where that
    distance is 0."""
    _, offset = memory.type.get_strides_and_offset()
    if offset != ir.ShapedType.get_dynamic_stride_or_offset():
        return offset
    if hasattr(memory.owner, "operations") and memory.owner.owner.operation.name == "func.func":
        return _told_offset(memory)
    if getattr(memory.owner, "name", "") == "memref.reinterpret_cast":
        return divisor_of(cast_values(memory.owner.operation, "offsets")[0])
    if getattr(memory.owner, "name", "") != "memref.subview":
        return 1
    view = memory.owner.operation
    source, *dynamic = view.operands
    strides, _ = source.type.get_strides_and_offset()
    marker, values = ir.ShapedType.get_dynamic_size(), iter(dynamic)
    starts = list(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]))
    steps = [divisor_of(next(values)) if start == marker else start for start in starts]
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    moves = [step * (1 if stride == unknown else stride) for step, stride in zip(steps, strides, strict=True)]
    return gcd(offset_divisor(source), *moves)


def _told_offset(memory: Any) -> int:
    """What divides the place that sizes say at which a function's argument starts."""
    function = memory.owner.owner
    try:
        return offset_of(function, memory.type, argument_attributes(function)[memory.arg_number]).number
    except PassError:
        return 1


def stride_divisors(memory: Any) -> list[int]:
    """For each dimension of a memref a number that divides its stride."""
    strides, _ = memory.type.get_strides_and_offset()
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    known: list[Any] = list(strides)
    cast = getattr(memory.owner, "name", "") == "memref.reinterpret_cast"
    if marker in strides and cast:
        known = [each if isinstance(each, int) else divisor_of(each)
                 for each in cast_values(memory.owner.operation, "strides")]  # fmt: skip
    if marker in strides and hasattr(memory.owner, "operations"):
        known = _promised_strides(memory) or known
    return [1 if each == marker else each for each in known]


def _promised_strides(memory: Any) -> list[int]:
    """What divides the strides of a function's argument, by its symbols and what divides these (`tile.divisors`);
    nothing where nobody named them."""
    function = memory.owner.owner
    if function.operation.name != "func.func":
        return []
    attributes = function.operation.attributes
    divisors = symbols.integers(attributes[DIVISORS]) if DIVISORS in attributes else {}
    try:
        strides = strides_of(function, memory.type, argument_attributes(function)[memory.arg_number])
    except PassError:
        return []
    return [size.number * prod(divisors.get(symbol, 1) for symbol in size.symbols) for size in strides]


def size_divisor(memory: Any, axis: int) -> int:
    """A number that divides the size of a dimension of a memref."""
    size = known_size(memory, axis)
    return 1 if size is None else size if isinstance(size, int) else divisor_of(size)


def with_last(memory: Any, axis: int) -> Any:
    """The same memory with one of its dimensions moved to the end: a cast at the insertion point."""
    type_ = memory.type
    order = [other for other in range(len(type_.shape)) if other != axis] + [axis]
    if order == sorted(order):
        return memory
    strides, offset = type_.get_strides_and_offset()
    shape, steps = [type_.shape[other] for other in order], [strides[other] for other in order]
    layout = ir.StridedLayoutAttr.get(offset, steps)
    result = ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space)
    sizes, moves = list[Any](), list[Any]()
    if getattr(memory.owner, "name", "") == "memref.reinterpret_cast":
        found = {kind: cast_values(memory.owner.operation, kind) for kind in ("sizes", "strides")}
        sizes, moves = ([found[kind][other] for other in order] for kind in ("sizes", "strides"))
        sizes, moves = ([each for each in values if not isinstance(each, int)] for values in (sizes, moves))
    cast = dialect("_memref_ops_gen").ReinterpretCastOp
    return cast(result, memory, [], sizes, moves, [offset], shape, steps).result


def rounds_to_halves(kernel: Any) -> bool:
    """Whether a kernel stores floating-point numbers of 16 bits and fewer to global memory, and nothing else."""
    memories = [store.operation.operands[1].type for store in named(kernel, "vector.store", "memref.store")]
    elements = [type_.element_type for type_ in memories if type_.memory_space is None]
    return bool(elements) and all(isinstance(each, ir.FloatType) and each.width <= 16 for each in elements)
