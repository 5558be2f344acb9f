"""mirror-stores: the tiles on and below the diagonal of a result that equals its transpose are stored twice.

Expects an scf.parallel over (batch ..., tile rows, tile columns) of one number of rows and columns, with tile.store of
square tiles to global memory whose last two dimensions run along the tile. Leaves after each such store another one of
the same tile, transposed, at the place that mirrors its own. A tile on the diagonal is its own mirror: its second store
lies beyond the memory, where nothing is written, so that no element is written twice. With `half` clusters have tiles
on the other side of the diagonal too, which others store: both of their stores lie beyond. A second run changes
nothing.
`rasterize-blocks{space=triangle}` is for the tiles above the diagonal. Refuses tiles and grids that are not square, and
stores to other places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing, stores, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import known_size
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.tile_space import LOWER, UPPER


@dataclass(frozen=True)
class MirrorStores(Pass):
    """Store tiles of a symmetric result at both places."""

    name: ClassVar[str] = "mirror-stores"
    half: str = ""
    """Which tiles are stored, `lower` ones, where clusters have others too."""

    def __post_init__(self) -> None:
        check_half(self, self.half)

    def run(self, module: Any) -> None:
        for parallel in named(module, "scf.parallel"):
            found = [op.operation for op in named(parallel, "tile.store") if op.operands[1].type.memory_space is None]
            if any(stores.mirrors(one, other) for one in found for other in found):
                continue
            for store in found:
                _mirror(parallel, store, self.half)


def check_half(given: Pass, half: str) -> None:
    """Refuses what is no half of the tiles. Raises PassError."""
    if half not in ("", LOWER, UPPER):
        raise PassError(f"pass '{given}': expected half={LOWER} or {UPPER}, or none where there are no clusters")


def _mirror(parallel: Any, store: Any, half: str) -> None:
    with ir.InsertionPoint.after(store), store.location:
        place = mirrored_place(parallel, store, half, transposed=True)
        tile.store(store.operands[0], store.operands[1], place).attributes[tile.APART] = ir.UnitAttr.get()
    if half:
        leave_out(parallel, store, half)


def leave_out(parallel: Any, store: Any, half: str) -> None:
    """Moves a store of a tile on the other side of the diagonal than `half` beyond the memory."""
    place, count = tile.place_of(store), len(store.operands)
    with ir.InsertionPoint(store), store.location:
        wide = known_size(store.operands[1], len(place.offsets) - 1)
        store.operands[count - 1] = indexing.select(_is_beside(parallel, half), wide, place.offsets[-1])
    store.attributes[tile.IN_BOUNDS] = ir.DenseBoolArrayAttr.get([*place.in_bounds[:-1], False])


def _is_beside(parallel: Any, half: str, *, diagonal: bool = False) -> Any:
    """Whether a tile lies on the other side of the diagonal than `half`, or, with `diagonal`, on it."""
    row, column = list(body(parallel).arguments)[-2:]
    less, more = (column, row) if half == UPPER else (row, column)
    predicates = dialect("arith").CmpIPredicate
    return dialect("arith").CmpIOp(predicates.ule if diagonal else predicates.ult, less, more).result


def mirrored_place(parallel: Any, store: Any, half: str, *, transposed: bool) -> tile.Place:
    """The place that mirrors that of a store, for the same tile transposed, or for another one of its shape; beyond the
    memory for a tile on the diagonal, and with `half` for those on the other side of it. Computed at the insertion
    point. Raises PassError where there is none."""
    value, memory = list(store.operands)[:2]
    place = tile.place_of(store)
    shape, sizes = list(value.type.shape), list(memory.type.shape)
    if len(shape) != 2 or shape[0] != shape[1] or place.dims[-2:] not in ((0, 1), (1, 0)):
        raise pass_error(store, f"a store of {value.type}; expected square tiles along the memory's last dimensions")
    high, wide = (known_size(memory, len(sizes) + axis) for axis in (-2, -1))
    if high is None or isinstance(high, int) != isinstance(wide, int) or high != wide:
        raise pass_error(store, f"a store to {memory.type}; expected a square matrix")
    row, column = list(body(parallel).arguments)[-2:]
    *batch, first, second = place.offsets
    arith = dialect("arith")
    same = arith.CmpIOp(arith.CmpIPredicate.eq, row, column).result if not half else None
    same = _is_beside(parallel, half, diagonal=True) if same is None else same
    beyond = indexing.select(same, high, second)
    known = tuple(place.in_bounds)
    ends = tuple(reversed(place.dims[-2:])) if transposed else place.dims[-2:]
    return tile.Place((*batch, beyond, first), (*place.dims[:-2], *ends), (*known[:-2], False, known[-2]))
