"""stage-components: an operand of elements with components is staged as it lies, each component once.

Expects a product of tiles after `tensorize`. Where it takes a tile that is copied to shared memory from a
`tile.composite`, leaves a copy of what that is made of to a buffer of a tile's elements, a fraction of the block's, and
a tile.composite of the buffer in front of the product, whose lowering makes the numbers in registers. A function
without a tile.composite in global memory is left alone, so that a second run changes nothing.
Refuses a tile.composite that anything else reads, and tiles that are not of whole elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, composites, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared, shared_buffer
from mlir_gemm.dialect.tile import Place
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import LAYOUT


@dataclass(frozen=True)
class StageComponents(Pass):
    """Stage elements of several components as they lie."""

    name: ClassVar[str] = "stage-components"

    def run(self, module: Any) -> None:
        for view in named(module, composites.NAME):
            if not in_shared(view.operation.results[0]):
                _stage(view.operation)


def _stage(view: Any) -> None:
    readers = [user.operation for user in users(view.results[0])]
    if len(readers) != 1 or readers[0].name != "tile.copy":
        raise pass_error(view, f"a {composites.NAME} that is used {len(readers)} times, or not by a tile.copy; "
                         "expected one, of a product's operand")  # fmt: skip
    copy = readers[0]
    buffer, place = copy.operands[0], tile.place_of(copy)
    others = [user.operation for user in users(buffer) if user.operation != copy]
    products = [op for op in others if op.name == "tile.mma" and op.operands[1] == buffer != op.operands[0]]
    if len(others) != 1 or others != products or not in_shared(buffer):
        raise pass_error(copy, f"a tile of a {composites.NAME} that is not B of one product, in shared memory")
    (rows, columns), count = buffer.type.shape, len(composites.table_of(view))
    *batch, row, column = place.offsets
    if rows % count or columns % count or place.dims != (*[-1] * len(batch), 0, 1):
        raise pass_error(copy, f"a tile of {rows}x{columns} of elements of {count} components; expected multiples of "
                         f"{count}, in the order of the matrix")  # fmt: skip
    alloc, source = buffer.owner.operation, view.operands[0]
    layout = ir.StringAttr(alloc.attributes[LAYOUT]).value if LAYOUT in alloc.attributes else ""
    with ir.InsertionPoint(alloc), alloc.location:
        staged = shared_buffer([rows // count, columns], buffer.type.element_type, layout)
    with ir.InsertionPoint(copy), copy.location:
        whole = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0), count)])
        start = affine.apply(whole, [row])
        tile.copy(staged, source, Place((*batch, start, column), place.dims, place.in_bounds))
    with ir.InsertionPoint(products[0]), products[0].location:
        products[0].operands[1] = composites.composite(staged, view.attributes["constants"])
    copy.erase()
    alloc.erase()
    view.erase()
