"""Addresses in shared memory as numbers, for instructions that do not take memrefs.

Stages of the layouts `swizzle128`, `swizzle64` and `swizzle32` are rows of panels: as many bytes of columns each, all
rows of one panel after each other, and in each row chunks of 16 bytes change places by XOR with bits of the row's
number. An address of a row that is a multiple of 8 is not changed by that.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, indexing, transposes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import PANELS, swizzle_of
from mlir_gemm.lowering.multiples import multiple_of
from mlir_gemm.spec.attributes import LAYOUT

ROWS = 8
"""Rows after which the pattern of each swizzle repeats."""


def base(memory: Any) -> Any:
    """Where a memref in shared memory starts, in bytes, as an index value at the insertion point."""
    return dialect("memref").ExtractAlignedPointerAsIndexOp(memory).result


def pointer(address: Any, space: int = 3) -> Any:
    """An address in shared memory as a pointer: of the block's own shared memory (3) or the cluster's (7)."""
    llvm = dialect("llvm")
    number = dialect("arith").IndexCastUIOp(ir.IntegerType.get_signless(64), address).result
    found = llvm.IntToPtrOp(ir.Type.parse("!llvm.ptr<3>"), number).operation.results[0]
    if space == 3:
        return found
    return llvm.AddrSpaceCastOp(ir.Type.parse(f"!llvm.ptr<{space}>"), found).operation.results[0]


def barrier(barriers: Any, row: int, slot: Any) -> Any:
    """A pointer to a barrier of a ring: row 0 holds the full ones, row 1 the empty ones."""
    return pointer(place_of_barrier(barriers, row, slot))


def place_of_barrier(barriers: Any, row: int, slot: Any) -> Any:
    """Where a barrier of a ring is, in bytes."""
    stages = barriers.type.shape[1]
    return indexing.add(base(barriers), indexing.mul(indexing.add(slot, row * stages), 8))


def address(memory: Any) -> Any:
    """Where a view of a buffer of panels starts, in bytes. Refuses other memory, rows that do not start where the
    swizzle does, and parts of panels."""
    return place(memory)[0]


def place(memory: Any, part: int = 0) -> tuple[Any, Any | None]:
    """Where the panel starts in which a view of a buffer of panels does, in bytes, and how many bytes inside the panel
    that is: None for none. Refuses the same as `address`, but for views that start at multiples of `part` bytes inside
    a panel, where that is given."""
    width = panel_bytes(memory)
    root, offsets = followed(memory)
    *_, rows, columns = root.type.shape
    item = root.type.element_type.width // 8
    panel = width // item
    *stage, row, column = offsets
    whole = multiple_of(column) % panel == 0
    if multiple_of(row) % ROWS or not (whole or (part and multiple_of(column) * item % part == 0)):
        raise pass_error(memory.owner, f"a view that starts inside a panel of {ROWS} rows or {panel} columns")
    source = transposes.source_of(root)
    found = base(root) if source is None else address(source)
    if stage:
        found = indexing.add(found, indexing.mul(stage[0], rows * columns * item))
    if constants.integer_of(row) != 0:
        found = indexing.add(found, indexing.mul(row, width))
    if constants.integer_of(column) != 0:
        found = indexing.add(found, indexing.mul(indexing.div(column, panel), rows * width))
    return found, None if whole else indexing.mul(indexing.rem(column, panel), item)


def panel_bytes(memory: Any) -> int:
    """Bytes of a row of a panel of the buffer that a view belongs to. Refuses buffers that are not panels."""
    root = _root(memory)
    source = transposes.source_of(root)
    if source is not None and panel_bytes(source):  # rows that were columns
        return PANELS[swizzle_of(root.type.shape[-1] * root.type.element_type.width // 8) or ""]
    maker = root.owner.owner.operation if hasattr(root.owner, "operations") else root.owner.operation
    layout = str(maker.attributes[LAYOUT]).strip('"') if LAYOUT in maker.attributes else ""
    if layout not in PANELS:
        *others, last = PANELS
        shown = f"{', '.join(others)} or {last}"
        raise pass_error(maker, f"a buffer without the layout {shown}; the copy engine and wgmma need it here")
    return PANELS[layout]


def rows_of(memory: Any) -> int:
    """Rows of a panel of the buffer that a view belongs to."""
    return _root(memory).type.shape[-2]


def _root(memory: Any) -> Any:
    """The buffer that a chain of subviews starts from."""
    while getattr(memory.owner, "name", "") == "memref.subview":
        memory = memory.owner.operation.operands[0]
    return memory


def followed(memory: Any) -> tuple[Any, list[Any]]:
    """The buffer that a chain of subviews starts from, or another operation's view, and where the view starts in it."""
    if getattr(memory.owner, "name", "") != "memref.subview":
        return memory, [constants.index(0) for _ in memory.type.shape]
    view = memory.owner.operation
    root, inner = followed(view.operands[0])
    marker = ir.ShapedType.get_dynamic_size()
    dynamic = list(view.operands)[1:]
    starts = [dynamic.pop(0) if start == marker else constants.index(start)
              for start in ir.DenseI64ArrayAttr(view.attributes["static_offsets"])]  # fmt: skip
    missing = len(inner) - len(starts)
    return root, [*inner[:missing], *(indexing.add(a, b) for a, b in zip(inner[missing:], starts, strict=True))]
