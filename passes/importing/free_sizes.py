"""free-sizes: what `name-sizes` put numbers for becomes dynamic again, after `import`.

Expects kernels and programs on memrefs in which a prime stands for each symbol (`tile.stand_ins` on the module). Leaves
`?` for each size and stride that such a prime divides, and says on each argument and memref.alloc which products of
symbols they are (`tile.symbols`, and `tile.strides` where memory is not dense); windows (`tile.windows`) of as many
images as there are hold their sizes too. Sizes of an allocation are told from
the arguments' (memref.dim). Refuses an operation that holds such a number in any other way. A module without
`tile.stand_ins` is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, positions, symbols, windows
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining.stand_ins import freed_type
from mlir_gemm.dialect.sizes import size_value
from mlir_gemm.dialect.symbols import Size, taken_apart
from mlir_gemm.dialect.walk import body, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAND_INS, STRIDES, SYMBOLS

_PLAIN = (
    "linalg.generic", "linalg.matmul", "linalg.fill", "linalg.copy", "tile.run", "func.return", "memref.get_global",
    "memref.extract_aligned_pointer_as_index", "memref.dealloc", "memref.copy", "tile.copy",
)  # fmt: skip
"""Operations that say nothing of sizes but by their operands' types."""


@dataclass(frozen=True)
class FreeSizes(Pass):
    """Make sizes dynamic again."""

    name: ClassVar[str] = "free-sizes"

    def run(self, module: Any) -> None:
        attributes = module.operation.attributes
        if STAND_INS not in attributes:
            return
        stand_ins = symbols.integers(attributes[STAND_INS])
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _free(function, stand_ins)
        del attributes[STAND_INS]


def _free(function: Any, stand_ins: Mapping[str, int]) -> None:
    attributes = argument_attributes(function)
    for argument, each in zip(body(function).arguments, attributes, strict=True):
        if isinstance(argument.type, ir.MemRefType):
            type_, each_found = freed_type(function, argument.type, stand_ins)
            argument.set_type(type_)
            each.update(each_found)
    set_argument_attributes(function, attributes)
    types = [argument.type for argument in body(function).arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    for operation in list(operations(function)):
        if operation.operation.name in ("memref.alloc", positions.NAME):
            _free_alloc(function, operation.operation, stand_ins)
        elif operation.operation.name == windows.NAME:
            _free_windows(function, operation.operation, stand_ins)
        else:
            _check(operation.operation, stand_ins)


def _free_alloc(function: Any, alloc: Any, stand_ins: Mapping[str, int]) -> None:
    old = alloc.results[0]
    sizes = [taken_apart(size, stand_ins) for size in old.type.shape]
    size = positions.size_in(old) if alloc.name == positions.NAME else ""
    if size:
        with ir.InsertionPoint.at_block_begin(body(function)), alloc.location:
            value = size_value(function, Size.of_text(size))
        with ir.InsertionPoint(alloc), alloc.location:
            old.replace_all_uses_with(positions.make(old.type, [value], size))
        alloc.erase()
        return
    if all(size.is_number for size in sizes):
        return
    type_, found = freed_type(alloc, old.type, stand_ins)
    if STRIDES in found:
        raise pass_error(alloc, f"a buffer of {old.type}; expected dense memory where sizes are dynamic")
    with ir.InsertionPoint.at_block_begin(body(function)), alloc.location:
        values = [size_value(function, size) for size in sizes if not size.is_number]
    with ir.InsertionPoint(alloc), alloc.location:
        if alloc.name == positions.NAME:
            new = positions.make(type_, values).owner
        else:
            new = dialect("memref").AllocOp(type_, values, []).operation
    for name, attribute in found.items():
        new.attributes[name] = attribute
    old.replace_all_uses_with(new.results[0])
    alloc.erase()


def _free_windows(function: Any, op: Any, stand_ins: Mapping[str, int]) -> None:
    """Windows of as many images as there are at run time."""
    old = op.results[0]
    sizes = [taken_apart(size, stand_ins) for size in old.type.shape]
    parts, image, offset = windows.parts_of(old), windows.image_of(old), windows.offset_of(old)

    def freed(number: int, may_be_open: bool) -> int:
        if taken_apart(number, stand_ins).is_number:
            return number
        if not may_be_open:
            raise pass_error(op, "windows of sizes that are known at run time only; expected that of the images alone")
        return windows.OPEN

    shape = tuple(freed(size, place == 0) for place, size in enumerate(image.shape))
    steps = [tuple((freed(size, place == 0), freed(stride, False)) for place, (size, stride) in enumerate(one))
             for one in parts]  # fmt: skip
    if windows.OPEN not in shape:
        return
    with ir.InsertionPoint.at_block_begin(body(function)), op.location:
        counts = [size_value(function, size) for size in sizes if not size.is_number]
    with ir.InsertionPoint(op), op.location:
        type_, found = freed_type(op, old.type, stand_ins)
        image = windows.Image(shape, image.low, image.high)
        new = windows.make(windows.source_of(old), type_, image, steps, freed(offset, False), counts)
        new.owner.attributes[SYMBOLS] = found[SYMBOLS]
    old.replace_all_uses_with(new)
    op.erase()


def _check(op: Any, stand_ins: Mapping[str, int]) -> None:
    """Refuses what depends on a number that stands for a symbol."""
    if op.name == "arith.constant":
        number = op.results[0].type
        if isinstance(number, ir.IndexType):
            _check_number(op, constants.integer_of(op.results[0]) or 0, stand_ins)
        return
    if op.parent.name.startswith("linalg."):
        return
    if "indexing_maps" in op.attributes:
        for found in re.findall(r"(?<![ds\w])\d+", str(op.attributes["indexing_maps"])):
            _check_number(op, int(found), stand_ins)
    if op.name in _PLAIN or not any(isinstance(each.type, ir.MemRefType) for each in (*op.operands, *op.results)):
        return
    for value in (*op.operands, *op.results):
        if isinstance(value.type, ir.MemRefType) and (
            not value.type.has_static_shape or freed_type(op, value.type, stand_ins)[1]
        ):
            raise pass_error(op, f"'{op.name}' of {value.type} with sizes known at run time only")


def _check_number(op: Any, number: int, stand_ins: Mapping[str, int]) -> None:
    size: Size = taken_apart(number, stand_ins)
    if not size.is_number:
        raise pass_error(op, f"'{op.name}' computes with the size {size}, which is known at run time only")
