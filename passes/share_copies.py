"""share-copies: blocks of a cluster copy parts of what they all need, and hand them to each other.

Expects an scf.forall over blocks with `tile.cluster` (how many blocks a cluster has, which `map-blocks` writes), and in
it a tile.specialize. A copy whose place does not depend on which block of the cluster this is (tile.rank) fetches the
same for all of them; with `tile.split` for all that have the same part of the steps (a `group`). Leaves it copying one
part of the tile's rows, the one that the rank numbers, into all these blocks at once (`multicast` is how many); the
ring then is one of that many blocks (`blocks`): a stage is empty once all of them have released it. A second run
changes nothing. Refuses tiles whose rows do not divide into parts of whole 8 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.map_blocks import SPLIT
from mlir_gemm.passes.split_steps import group_of_blocks

MULTICAST, BLOCKS = "multicast", "blocks"
ROWS = 8
"""Rows after which the swizzle of a stage repeats."""


@dataclass(frozen=True)
class ShareCopies(Pass):
    """Copy in parts for a whole cluster."""

    name: ClassVar[str] = "share-copies"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            parts, size = constants.number_of(forall, SPLIT, 1), group_of_blocks(forall)
            if size > 1:
                copies = [op.operation for op in named(forall, "tile.copy_bulk") if not _depends_on_rank(op.operation)]
                for copy in copies:
                    if MULTICAST not in copy.attributes:
                        _share(copy, size, parts)
                if copies:
                    for op in named(forall, "tile.ring", "tile.release"):
                        op.operation.attributes[BLOCKS] = constants.integer(size)
                        if parts > 1:
                            op.operation.attributes[rings.GROUP] = constants.integer(size)


def _depends_on_rank(copy: Any) -> bool:
    """Whether the place of a copy is computed from tile.rank; loops around it count tiles and steps, which are the same
    for a whole cluster."""
    pending, seen = list(tile.place_of(copy).offsets), set[Any]()
    while pending:
        value = pending.pop()
        if value in seen or hasattr(value.owner, "operations"):
            continue
        seen.add(value)
        if value.owner.name == "tile.rank" and rings.PART not in value.owner.attributes:
            return True
        pending += value.owner.operation.operands
    return False


def _share(copy: Any, size: int, parts: int) -> None:
    target, source, barriers, slot, *_ = copy.operands
    rows, columns = target.type.shape
    if rows % (size * ROWS):
        raise pass_error(copy, f"a tile of {rows} rows does not divide among the {size} blocks of a cluster into whole "
                         f"{ROWS} rows")  # fmt: skip
    part = rows // size
    place = tile.place_of(copy)
    with ir.InsertionPoint(copy), copy.location:
        first = indexing.mul(rings.rank(size if parts > 1 else 1), part)
        view = subview(target, [first, constants.index(0)], [part, columns])
        axis = place.dims.index(0)
        offsets = list(place.offsets)
        offsets[axis] = indexing.add(offsets[axis], first)
        new = rings.copy_bulk(view, source, barriers, slot, tile.Place(tuple(offsets), place.dims, place.in_bounds))
        new.attributes[MULTICAST] = constants.integer(size)
        if parts > 1:
            new.attributes[rings.GROUP] = constants.integer(size)
    copy.erase()
