"""Sizes known at run time only as values in a kernel's or program's function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mlir_gemm.dialect import constants, indexing, symbols
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.errors import PassError
from mlir_gemm.spec.attributes import OFFSET, STRIDES, SYMBOLS

NAME = "tile.size"


def told(op: Any) -> Size:
    """The size that a tile.size is."""
    return Size.of_text(ir.StringAttr(op.attributes["size"]).value)


def symbol_values(function: Any, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """The values of the symbols that a function's arguments tell, when these have some shapes; none of a function whose
    sizes have no names."""
    found: dict[str, int] = {}
    try:
        known = list(argument_sizes(function))
    except PassError:
        return found
    for argument, axis, size in known:
        if len(size.symbols) == 1 and size.symbols[0].isidentifier():
            found[size.symbols[0]] = shapes[argument.arg_number][axis] // size.number
    return found


def argument_sizes(function: Any) -> Iterator[tuple[Any, int, Size]]:
    """Each dynamic dimension of an argument: the argument, the dimension and its size."""
    for argument, attributes in zip(body(function).arguments, argument_attributes(function), strict=True):
        if not isinstance(argument.type, ir.MemRefType):
            continue
        for axis, size in enumerate(sizes_of(function, argument.type, attributes)):
            if not size.is_number:
                yield argument, axis, size


def sizes_of(operation: Any, type_: Any, attributes: Any) -> list[Size]:
    """The size of each dimension of a memref type, from the attributes that go with it. Raises PassError where they do
    not determine a dynamic one."""
    texts = _read(operation, attributes, SYMBOLS, len(type_.shape))
    found: list[Size] = []
    for axis, (size, text) in enumerate(zip(type_.shape, texts, strict=True)):
        if type_.is_dynamic_dim(axis) and text is None:
            raise pass_error(
                operation, f"{type_} with a dynamic size that {SYMBOLS} does not name; name-sizes writes it"
            )
        found.append(text if text is not None and type_.is_dynamic_dim(axis) else Size(size))
    return found


def strides_of(operation: Any, type_: Any, attributes: Any) -> list[Size]:
    """The stride of each dimension of a memref type, by the attributes beside it."""
    sizes = sizes_of(operation, type_, attributes)
    dense: list[Size] = []
    for axis in range(len(sizes)):
        stride = Size()
        for size in sizes[axis + 1 :]:
            stride = stride.times(size)
        dense.append(stride)
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    texts = _read(operation, attributes, STRIDES, len(sizes))
    numbers = type_.get_strides_and_offset()[0]
    return [
        Size(number) if number != marker else text or step
        for number, text, step in zip(numbers, texts, dense, strict=True)
    ]


def offset_of(operation: Any, type_: Any, attributes: Any) -> Size:
    """How many elements after its address a memref starts, by the attributes beside its type."""
    offset = type_.get_strides_and_offset()[1]
    if offset != ir.ShapedType.get_dynamic_stride_or_offset():
        return Size(offset)
    if OFFSET not in attributes:
        raise pass_error(operation, f"{type_} starts at an offset that {OFFSET} does not name")
    try:
        return Size.of_text(ir.StringAttr(attributes[OFFSET]).value)
    except ValueError as error:
        raise pass_error(operation, f"{OFFSET}: {error}") from None


def _read(operation: Any, attributes: Any, name: str, count: int) -> list[Size | None]:
    try:
        found = symbols.read(attributes, name, count)
    except ValueError as error:
        raise pass_error(operation, f"{name}: {error}") from None
    if len(found) != count:
        raise pass_error(operation, f"{name} has {len(found)} entries; expected {count}")
    return found


def size_value(function: Any, size: Size) -> Any:
    """A size as an index value at the insertion point: told from the function's arguments, or, where these do not tell
    it, as a size that the call knows (`tile.size`)."""
    if size.is_number:
        return constants.index(size.number)
    known = list(argument_sizes(function))
    for argument, axis, each in known:
        if each == size:
            return dialect("memref").DimOp(argument, constants.index(axis)).result
    if len(size.symbols) == 1 and size.number == 1:
        for argument, axis, each in known:
            times = each.over(size)
            if times is not None and times.is_number and times.number:
                whole = dialect("memref").DimOp(argument, constants.index(axis)).result
                return indexing.div(whole, times.number)
        attributes = {"size": ir.StringAttr.get(str(size))}
        return ir.Operation.create(NAME, results=[ir.IndexType.get()], attributes=attributes).results[0]
    found: Any = None
    for symbol in size.symbols:
        value = size_value(function, Size(1, (symbol,)))
        found = value if found is None else indexing.mul(found, value)
    return found if size.number == 1 else indexing.mul(found, size.number)


def size_of(memory: Any, axis: int) -> Any:
    """The size of a dimension of a memref: what `known_size` tells, else a memref.dim at the insertion point."""
    found = known_size(memory, axis)
    return dialect("memref").DimOp(memory, constants.index(axis)).result if found is None else found


def known_size(memory: Any, axis: int) -> Any:
    """The size of a dimension of a memref: a number, or for a dynamic one the index value that the function's block
    holds for it (`share-sizes`) or that it was allocated with; None where there is none."""
    if not memory.type.is_dynamic_dim(axis):
        return memory.type.shape[axis]
    owner = memory.owner
    if getattr(owner, "name", "") in ("memref.alloc", "tile.position"):
        place = sum(memory.type.is_dynamic_dim(each) for each in range(axis))
        return list(owner.operation.operands)[place]
    if getattr(owner, "name", "") == "tile.windows":
        place = sum(memory.type.is_dynamic_dim(each) for each in range(axis))
        return list(owner.operation.operands)[1 + place]
    if getattr(owner, "name", "") == "memref.reinterpret_cast":
        return cast_values(owner.operation, "sizes")[axis]
    if getattr(owner, "name", "") == "tile.composite":
        return _known_of_composite(memory, axis)
    if not hasattr(owner, "operations") or owner.owner.operation.name != "func.func":
        return None
    try:
        size = sizes_of(owner.owner, memory.type, argument_attributes(owner.owner)[memory.arg_number])[axis]
        return shared_sizes(owner.owner).get(size)
    except PassError:  # a function whose sizes nobody named
        return None


def _known_of_composite(memory: Any, axis: int) -> Any:
    """The same of a matrix of elements with components, whose rows are as many as those of its source, for each
    component."""
    source, rank = memory.owner.operation.operands[0], len(memory.type.shape)
    function = getattr(source.owner, "owner", None)
    if axis != rank - 2 or function is None or function.operation.name != "func.func":
        return known_size(source, axis)
    count = memory.owner.operation.attributes["constants"].type.shape[0]
    rows = sizes_of(function, source.type, argument_attributes(function)[source.arg_number])[axis]
    return shared_sizes(function).get(rows.times(Size(count)))


def cast_values(cast: Any, kind: str) -> list[Any]:
    """The `offsets`, `sizes` or `strides` that a memref.reinterpret_cast gives, as integers and index values."""
    segments = list(ir.DenseI32ArrayAttr(cast.attributes["operandSegmentSizes"]))
    first = sum(segments[: 1 + ("offsets", "sizes", "strides").index(kind)])
    values = iter(list(cast.operands)[first:])
    marker = ir.ShapedType.get_dynamic_size()
    static = ir.DenseI64ArrayAttr(cast.attributes[f"static_{kind}"])
    return [next(values) if number == marker else number for number in static]


def shared_sizes(function: Any) -> dict[Size, Any]:
    """The values in a function's block that are sizes of its arguments: the first for each size."""
    sizes = {(argument, axis): size for argument, axis, size in argument_sizes(function)}
    found: dict[Size, Any] = {}
    for operation in in_block(body(function)):
        if operation.operation.name == "memref.dim":
            source, axis = operation.operation.operands
            number = constants.integer_of(axis)
            if number is not None and (source, number) in sizes:
                found.setdefault(sizes[source, number], operation.operation.results[0])
    return found
