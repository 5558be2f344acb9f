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
