"""Which tiles a block walks, where each has a number of them: neighbours, or tiles as far apart as there are blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect


@dataclass(frozen=True)
class Range:
    """The tiles of a block, as index values or numbers: from `first`, up to `end`, `step` apart."""

    first: Any
    end: Any
    step: Any
    turns: int = 0
    """Where other than 0: every other round of so many tiles goes backwards."""
    cluster: int = 1
    """Neighbouring tiles that keep their order then: those of a cluster of blocks."""

    def number(self, place: Any) -> Any:
        """The number of the tile at a place of the walk, at the insertion point."""
        if not self.turns:
            return place
        round_, inside = indexing.div(place, self.turns), indexing.rem(place, self.turns)
        goes_back = indexing.at_least(indexing.rem(round_, 2), 1)
        turned = _mirrored(inside, self.turns, self.cluster)
        return indexing.add(indexing.mul(round_, self.turns), indexing.select(goes_back, turned, inside))


def blocks_for(tiles: Any, each: int, cluster: int = 1) -> Any:
    """How many blocks walk so many tiles, `each` a block, in whole clusters: a number, or a value at the insertion
    point. The last ones may have fewer tiles."""
    if isinstance(tiles, int):
        return -(-tiles // (cluster * each)) * cluster
    if cluster > 1:
        return indexing.mul(indexing.ceildiv(tiles, cluster * each), cluster)
    return indexing.div(indexing.add(tiles, each - 1), each)


def range_of(block: Any, tiles: Any, blocks: Any, each: int, sequential: bool, cluster: int = 1) -> Range:
    """The tiles of one of so many blocks, at the insertion point: with `sequential` neighbours in the order of the
    raster. The blocks of a cluster have the tiles of one cluster at a time."""
    if not sequential:
        return Range(block, tiles, blocks)
    whole = each * cluster
    first = indexing.mul(block if cluster == 1 else indexing.div(block, cluster), whole)
    end = indexing.add(first, whole)
    if not isinstance(tiles, int) or tiles % whole:
        last = constants.index(tiles) if isinstance(tiles, int) else tiles
        end = dialect("arith").MinUIOp(end, last).result
    return Range(first if cluster == 1 else indexing.add(first, indexing.rem(block, cluster)), end, cluster)


def back_and_forth(block: Any, tiles: int, blocks: int, cluster: int = 1) -> Range:
    """The tiles of one of so many blocks, at the insertion point: one in each round of `blocks` tiles, of which every
    other one goes backwards. In the last one, which may have fewer, the first tiles are taken."""
    rounds, left = divmod(tiles, blocks)
    if not rounds:
        return Range(block, tiles, blocks)
    end: Any = rounds * blocks
    if left:
        place = _mirrored(block, blocks, cluster) if rounds % 2 else block
        none_left = indexing.at_least(place, left)
        end = indexing.select(none_left, rounds * blocks, (rounds + 1) * blocks)
    return Range(block, end, blocks, blocks, cluster)


def _mirrored(place: Any, count: int, cluster: int) -> Any:
    """The place from the end, of so many, of a whole cluster of places."""
    if cluster == 1:
        return indexing.sub(count - 1, place)
    first = indexing.sub(count // cluster - 1, indexing.div(place, cluster))
    return indexing.add(indexing.mul(first, cluster), indexing.rem(place, cluster))
