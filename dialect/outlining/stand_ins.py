"""Numbers in the place of sizes that are known at run time only, and these again in the place of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlir_gemm.dialect import composites, symbols, windows
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import argument_sizes, offset_of, sizes_of, strides_of
from mlir_gemm.dialect.symbols import is_aligned, taken_apart
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.spec.attributes import OFFSET, STRIDES, SYMBOLS

_LEAST = 1009
"""Where primes start that divide nothing else."""
_LARGE = 1 << 40


def symbols_in(function: Any) -> tuple[str, ...]:
    """The symbols of a kernel's or program's function, in the order of its arguments: those of sizes, and then those of
    strides alone; none for constant sizes."""
    found = [symbol for _, _, size in argument_sizes(function) for symbol in size.symbols]
    if found:
        arguments = zip(body(function).arguments, argument_attributes(function), strict=True)
        strides = [[*strides_of(function, each.type, marks), offset_of(function, each.type, marks)]
                   for each, marks in arguments if STRIDES in marks]  # fmt: skip
        found += [symbol for each in strides for stride in each for symbol in stride.symbols]
    return tuple(dict.fromkeys(found))


def primes_of(function: Any) -> dict[str, int]:
    """A prime for each symbol of a function, that divides no number in its arguments' types."""
    names = symbols_in(function)
    return dict(zip(names, symbols.primes_above(_LEAST, len(names), list(_numbers(function))), strict=True))


def _numbers(function: Any) -> Iterator[int]:
    for argument in body(function).arguments:
        if isinstance(argument.type, ir.MemRefType):
            yield from (size for size in argument.type.shape if 0 < size < _LARGE)


def freed_type(place: Any, type_: Any, stand_ins: Mapping[str, int]) -> tuple[Any, dict[str, Any]]:
    """A type with dynamic sizes and strides, and the attributes that tell them."""
    sizes = [taken_apart(size, stand_ins) for size in type_.shape]
    if all(size.is_number for size in sizes):
        return type_, {}
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [size.number if size.is_number else dynamic for size in sizes]
    found = {SYMBOLS: symbols.written(sizes)}
    if type_ == ir.MemRefType.get(list(type_.shape), type_.element_type):
        return ir.MemRefType.get(shape, type_.element_type), found
    numbers, offset = type_.get_strides_and_offset()
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    start = taken_apart(offset, stand_ins)
    if not start.is_number:
        if not is_aligned(start, type_.element_type):
            raise pass_error(place, f"{type_} starts at an offset that depends on sizes known at run time only")
        found[OFFSET] = ir.StringAttr.get(str(start))
        offset = marker
    strides = [taken_apart(stride, stand_ins) for stride in numbers]
    steps = [stride.number if stride.is_number else marker for stride in strides]
    found[STRIDES] = symbols.written(strides)
    return ir.MemRefType.get(shape, type_.element_type, ir.StridedLayoutAttr.get(offset, steps)), found


def fixed(function: Any, numbers: Mapping[str, int]) -> Any:
    """A clone of a kernel's function, on its own, with numbers in the place of symbols."""
    new = function.operation.clone()
    for argument, attributes in zip(body(new).arguments, argument_attributes(new), strict=True):
        argument.set_type(fixed_type(function, argument.type, attributes, numbers))
    for alloc in named(new, "memref.alloc"):
        old = alloc.operation.results[0]
        with ir.InsertionPoint(alloc), alloc.location:
            type_ = fixed_type(alloc, old.type, alloc.operation.attributes, numbers)
            old.replace_all_uses_with(dialect("memref").AllocOp(type_, [], []).result)
        alloc.operation.erase()
    for view in named(new, composites.NAME):
        old = view.operation.results[0]
        with ir.InsertionPoint(view), view.location:
            made = composites.composite(view.operation.operands[0], view.operation.attributes["constants"])
        old.replace_all_uses_with(made)
        view.operation.erase()
    for view in named(new, windows.NAME):
        old = view.operation.results[0]
        with ir.InsertionPoint(view), view.location:
            type_ = fixed_type(view, old.type, view.operation.attributes, numbers)
            old.replace_all_uses_with(windows.closed_of(old, type_))
        view.operation.erase()
    return new


def fixed_type(operation: Any, type_: Any, attributes: Any, numbers: Mapping[str, int]) -> Any:
    """The type of a memref whose sizes and strides `attributes` tell, with numbers in the place of symbols."""
    if not isinstance(type_, ir.MemRefType) or type_.has_static_shape:
        return type_
    shape = [size.value(numbers) for size in sizes_of(operation, type_, attributes)]
    if type_ == ir.MemRefType.get(list(type_.shape), type_.element_type):
        return ir.MemRefType.get(shape, type_.element_type)
    strides = [stride.value(numbers) for stride in strides_of(operation, type_, attributes)]
    offset = offset_of(operation, type_, attributes).value(numbers)
    return ir.MemRefType.get(shape, type_.element_type, ir.StridedLayoutAttr.get(offset, strides))
