"""Tiles of rows that shared memory keeps from the first pass over them to the last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import shared_buffer


@dataclass
class StagedRows:
    """What a block keeps of its rows, built at the insertion point."""

    cluster: int
    """Blocks that share the rows: each keeps its part."""
    first: Any
    """The block of operations in which everything is built."""
    elements: int = 0
    """If not 0, elements of a tile, by which places are counted: blocks that are no power of two divide nothing."""
    shared: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What is kept, by what was loaded."""
    filled: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What this pass puts there."""
    waiting: list[tuple[Any, Any, Any]] = field(default_factory=list[tuple[Any, Any, Any]])
    """What was loaded and is still to be put there, and where: what was loaded, the tile, the distance from the row's
    start that the tiles of all blocks have in common."""

    def load(self, key: Any, passed: Any, type_: Any) -> Any:
        """A tile that is kept."""
        return tile.load(self.shared[key], self._place(passed), type_)

    def put(self, size: int) -> None:
        """Puts there what waits for it, in buffers of `size` elements of a row."""
        for key, value, passed in self.waiting:
            if key not in self.filled:
                with ir.InsertionPoint.at_block_begin(self.first):
                    self.filled[key] = shared_buffer([value.type.shape[0], size], value.type.element_type)
            tile.store(value, self.filled[key], self._place(passed))
        self.waiting.clear()

    def end_pass(self) -> None:
        """From now on what was put there can be loaded."""
        self.shared.update(self.filled)
        self.filled.clear()

    def _place(self, passed: Any) -> tile.Place:
        own = indexing.div(passed, self.cluster) if self.cluster > 1 and not self.elements else passed
        if self.elements:
            own = indexing.mul(indexing.div(passed, self.cluster * self.elements), self.elements)
        return tile.Place((constants.index(0), own), (0, 1), (True, True))
