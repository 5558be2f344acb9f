"""Loads of a warpgroup's tile from a buffer of panels in shared memory, as the copy engine leaves it there.

The 16-byte chunks of a panel's row have changed places by XOR with bits of the row's number (`shared_address`), so that
the eight rows of a matrix, of which each four lanes have one, lie in different banks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.rings import PANELS
from mlir_gemm.lowering import shared_address
from mlir_gemm.lowering.layouts import Lane, Layout
from mlir_gemm.lowering.memory_order import root_of
from mlir_gemm.spec.attributes import LAYOUT

CHUNK, LINE, ROWS = 16, 128, 8
"""Bytes of a chunk and of a line of shared memory, and rows after which each pattern repeats."""


def is_panels(memory: Any) -> bool:
    """Whether a memref is a view of a buffer of panels."""
    if not in_shared(memory):
        return False
    maker = root_of(memory).owner
    if hasattr(maker, "operations"):
        return False
    attributes = maker.operation.attributes
    return LAYOUT in attributes and str(attributes[LAYOUT]).strip('"') in PANELS


@dataclass
class PanelLoads:
    """A tile.load of a buffer of panels, as loads of one thread. The layout's pieces must lie a multiple of eight rows
    apart."""

    operation: Any
    layout: Layout
    lane: Lane
    _own: Any = field(default=None)

    def load(self, number: int) -> Any:
        """Piece `number` of the tile."""
        memory = tile.memory_of(self.operation)
        type_ = self.layout.piece_type(memory.type.element_type)
        item, width = memory.type.element_type.width // 8, shared_address.panel_bytes(memory)
        rows, columns = memory.type.shape
        down, along = self.layout.place(number, (rows, columns))
        assert down % ROWS == 0
        if self._own is None:
            self._own = self._first(memory, item, width)
        start, inside = self._own
        beyond, within = divmod(along * item, width)
        if within:
            inside = dialect("arith").XOrIOp(inside, constants.index(within)).result
        at = indexing.add(indexing.add(start, inside), down * width + beyond * shared_address.rows_of(memory) * width)
        alignment = self.layout.width * item
        return dialect("llvm").LoadOp(type_, shared_address.pointer(at), alignment=alignment).operation.results[0]

    def _first(self, memory: Any, item: int, width: int) -> tuple[Any, Any]:
        """Where the buffer starts, and how far inside its first panel the thread's first piece lies, in bytes."""
        row, column = self.lane.row, indexing.mul(self.lane.column, item)
        moved = indexing.rem(indexing.div(row, LINE // width), width // CHUNK)
        chunk = dialect("arith").XOrIOp(indexing.div(column, CHUNK), moved).result
        inside = indexing.add(indexing.mul(chunk, CHUNK), indexing.rem(column, CHUNK))
        return shared_address.address(memory), indexing.add(indexing.mul(row, width), inside)
