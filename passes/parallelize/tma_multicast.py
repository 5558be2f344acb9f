"""tma-multicast: blocks of a cluster copy parts of what they all need, and hand them to each other.

Expects an scf.forall over blocks with `tile.cluster` (how many blocks a cluster has, which `rasterize-blocks` writes),
and in it a tile.warp_specialize. A copy whose place does not depend on which block of the cluster this is (tile.rank)
fetches the same for all of them; with `tile.split_k_cluster` for all that have the same slice of the steps (a `group`);
in a cluster that is neither a row nor a column (`tile.cluster_rows`) for all of its row, or of its column. Leaves it
copying one part of the tile's rows, the one that the rank numbers, into all these blocks at once (`multicast` is how
many, `stride` how far apart their numbers are); the ring then is one of all blocks with the same slice of the steps
(`blocks`): a stage is empty once all of them have released it. A second run changes nothing. Refuses tiles whose rows
do not divide into parts of whole 8 rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, rings, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.rings import Axis
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.distribute.split_k_in_cluster import blocks_of_cluster_group
from mlir_gemm.spec.attributes import CLUSTER_ROWS, SPLIT_K_CLUSTER

MULTICAST, BLOCKS = "multicast", "blocks"
ROWS = 8
"""Rows after which the swizzle of a stage repeats."""


@dataclass(frozen=True)
class TmaMulticast(Pass):
    """Copy in parts for a whole cluster."""

    name: ClassVar[str] = "tma-multicast"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            parts, size = constants.number_of(forall, SPLIT_K_CLUSTER, 1), blocks_of_cluster_group(forall)
            if size > 1:
                axes = _axes(forall, size)
                shared = [(op.operation, axis) for op in named(forall, "tile.tma_load")
                          if (axis := _shared(op.operation, axes))]  # fmt: skip
                for copy, axis in shared:
                    if MULTICAST not in copy.attributes:
                        _share(copy, axis, several=axis.count < size * parts)
                if shared:
                    for op in named(forall, "tile.ring", "tile.consumer_release"):
                        op.operation.attributes[BLOCKS] = constants.integer(size)
                        if parts > 1:
                            op.operation.attributes[rings.CLUSTER_GROUP] = constants.integer(size)


def _axes(forall: Any, size: int) -> list[Axis]:
    """Which blocks of a cluster may share a copy: all with the same slice of the steps, or a column, or a row."""
    rows = constants.number_of(forall, CLUSTER_ROWS, size)
    return [Axis(1, size), *([Axis(1, rows), Axis(rows, size // rows)] if rows < size else [])]


def _shared(copy: Any, axes: list[Axis]) -> Axis | None:
    """The first of the axes along which the place of a copy is the same."""
    ranks = _ranks(copy)
    return next((axis for axis in axes if not any(axis.meets(each) for each in ranks)), None)


def _ranks(copy: Any) -> list[Axis]:
    """What the place of a copy is computed from, of the numbers of its block; loops around it count tiles and steps,
    which are the same for a whole cluster."""
    pending, seen, found = list(tile.place_of(copy).offsets), set[Any](), list[Axis]()
    while pending:
        value = pending.pop()
        if value in seen or hasattr(value.owner, "operations"):
            continue
        seen.add(value)
        if value.owner.name == "tile.rank":
            found.append(Axis.of(value.owner))
        pending += value.owner.operation.operands
    return found


def _share(copy: Any, axis: Axis, several: bool) -> None:
    """Makes a copy one of a part for all blocks along an axis, of which the cluster may have several."""
    size = axis.count
    target, source, barriers, slot, *_ = copy.operands
    rows, columns = target.type.shape
    if rows % (size * ROWS):
        raise pass_error(copy, f"a tile of {rows} rows does not divide among the {size} blocks of a cluster into whole "
                         f"{ROWS} rows")  # fmt: skip
    part = rows // size
    place = tile.place_of(copy)
    with ir.InsertionPoint(copy), copy.location:
        first = indexing.mul(rings.rank(axis if several else 1), part)
        view = subview(target, [first, constants.index(0)], [part, columns])
        along = place.dims.index(0)
        offsets = list(place.offsets)
        offsets[along] = indexing.add(offsets[along], first)
        new = rings.tma_load(view, source, barriers, slot, tile.Place(tuple(offsets), place.dims, place.in_bounds))
        new.attributes[MULTICAST] = constants.integer(size)
        if several:
            new.attributes[rings.CLUSTER_GROUP] = constants.integer(size)
        if axis.stride > 1:
            new.attributes[rings.STRIDE] = constants.integer(axis.stride)
    copy.erase()
