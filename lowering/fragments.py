"""What lanes hold of tiles: the pieces of the accumulator's flow in a kernel.

An accumulator is kept in a list of small vectors, which loops carry and products take (`Layout.kept_type`).
Arithmetic, loads and stores work on its pieces (`Layout.piece_type`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.lowering.layouts import Lane, Layout


@dataclass
class Fragments:
    """The vectors of a lane by the tiles that they are of."""

    layout: Layout
    flow: dict[Any, None]
    """The tiles that are held so, in order."""
    lane: Lane
    entry: Any
    """What every block may use is built before this operation."""
    kept: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])
    """The vectors that tiles are kept in."""
    pieces: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])
    """The pieces of tiles that arithmetic made."""

    def keep(self, value: Any) -> list[Any]:
        """The vectors that a tile is kept in; made of its pieces, at the insertion point, if need be."""
        if value in self.kept:
            return self.kept[value]
        return self.layout.keep(self.pieces[value], shape_of(value))

    def piece(self, value: Any, number: int) -> Any:
        """One piece of a tile; taken from a kept vector, at the insertion point, if need be."""
        if value in self.pieces:
            return self.pieces[value][number]
        return self.layout.take(self.kept[value], number, value.type)

    def count(self, value: Any) -> int:
        """Pieces of a tile in one lane."""
        return self.layout.count(shape_of(value))


def shape_of(value: Any) -> tuple[int, int]:
    """Rows and columns of a tile."""
    rows, columns = value.type.shape
    return rows, columns
