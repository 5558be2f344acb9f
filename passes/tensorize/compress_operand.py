"""compress-operand: A that is given as a 2:4 sparse matrix is staged as it lies, compressed.

Expects a product of tiles after `tensorize`, whose A is copied to shared memory from an argument with `tile.sparse`.
Leaves that argument as the array of one dimension that it really is (`spec/sparse.py`), views of its values and of its
metadata, a copy of both to buffers of their own, and a tile.sparse of these, which is multiplied. A function without
such an argument is left alone, so that a second run changes nothing.
Refuses an argument that anything else uses, tiles that are not whole groups of k, and rows that run along m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, sparse_ops, tile
from mlir_gemm.dialect.arguments import argument_attributes, marked_arguments, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared, shared_buffer
from mlir_gemm.dialect.outlining import padding
from mlir_gemm.dialect.rings import PANELS, swizzle_of
from mlir_gemm.dialect.tile import Place
from mlir_gemm.dialect.walk import body, in_block, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec import sparse
from mlir_gemm.spec.attributes import LAYOUT, SPARSE


@dataclass(frozen=True)
class CompressOperand(Pass):
    """Stage a 2:4 sparse operand compressed."""

    name: ClassVar[str] = "compress-operand"

    def run(self, module: Any) -> None:
        for function, argument in marked_arguments(module, SPARSE):
            _compress(function, argument)


def _compress(function: Any, argument: Any) -> None:
    copies = users(argument)
    if len(copies) != 1 or copies[0].operation.name != "tile.copy":
        raise pass_error(
            function, f"an argument with {SPARSE} that is used {len(copies)} times, or not by a tile.copy; expected "
            "one, of a product's A"
        )  # fmt: skip
    copy = copies[0].operation
    buffer, place = copy.operands[0], tile.place_of(copy)
    products = [user.operation for user in users(buffer) if user.operation != copy]
    if len(products) != 1 or products[0].name != "tile.mma" or products[0].operands[0] != buffer:
        raise pass_error(copy, f"a tile of an argument with {SPARSE} that is not A of one product")
    rows, k = buffer.type.shape
    if tile.order_of(products[0], "a") != "mk" or place.dims != (0, 1) or not in_shared(buffer):
        raise pass_error(copy, f"a tile of an argument with {SPARSE} whose rows do not run along k")
    if rows % sparse.ROWS or k % sparse.DEPTH:
        raise pass_error(
            copy, f"a sparse tile of {rows}x{k}; expected rows that {sparse.ROWS} divides, and a k that {sparse.DEPTH} "
            "divides"
        )  # fmt: skip
    values, metadata = _views(function, argument)
    element, alloc = buffer.type.element_type, buffer.owner.operation
    sides: list[Any] = []
    for source, shape, by in (
        (values, [rows, k // sparse.KEPT], (1, sparse.KEPT)), (metadata, [rows // sparse.ROWS, k], (sparse.ROWS, 1))
    ):  # fmt: skip
        with ir.InsertionPoint(alloc), alloc.location:
            side = shared_buffer(shape, element, _layout(alloc, shape[1] * element.width // 8, source == values))
        with ir.InsertionPoint(copy), copy.location:
            starts = tuple(_divided(*each) for each in zip(place.offsets, by, strict=True))
            tile.copy(side, source, Place(starts, place.dims, place.in_bounds))
        sides.append(side)
    with ir.InsertionPoint(products[0]), products[0].location:
        products[0].operands[0] = sparse_ops.sparse(*sides)
    copy.erase()
    alloc.erase()


def _layout(alloc: Any, row: int, values: bool) -> str:
    """How rows of so many bytes lie where the whole tile would have lain in a buffer: in panels of the copy engine, or
    values as there. Lanes read metadata in words one after the other, without bank conflicts anyhow."""
    given = ir.StringAttr(alloc.attributes[LAYOUT]).value if LAYOUT in alloc.attributes else ""
    if given in PANELS:
        return swizzle_of(row) or ""
    return given if values else ""


def _views(function: Any, argument: Any) -> tuple[Any, Any]:
    """The values and the metadata of an argument, which becomes one array of one dimension."""
    (m, k), element = argument.type.shape, argument.type.element_type
    number, packed = argument.arg_number, ir.MemRefType.get([sparse.packed_elements(m, k)], argument.type.element_type)
    padding.set_type(function, number, packed)
    attributes = argument_attributes(function)
    del attributes[number][SPARSE]
    set_argument_attributes(function, attributes)
    start, cast = sparse.metadata_start(m, k), dialect("_memref_ops_gen").ReinterpretCastOp
    views: list[Any] = []
    with ir.InsertionPoint(in_block(body(function))[0]), function.location:
        for offset, shape in ((0, [m, k // sparse.KEPT]), (start, [sparse.metadata_rows(m), k])):
            layout = ir.StridedLayoutAttr.get(offset, [shape[1], 1])
            type_ = ir.MemRefType.get(shape, element, layout)
            views.append(cast(type_, argument, [], [], [], [offset], shape, [shape[1], 1]).result)
    return views[0], views[1]


def _divided(index: Any, by: int) -> Any:
    """An index divided by a number that divides it, at the insertion point."""
    if by == 1:
        return index
    return affine.apply(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0), by)]), [index])
